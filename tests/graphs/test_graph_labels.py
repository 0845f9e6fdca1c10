"""Communities in every type: what is missing, unknown or ambiguous."""

import numpy as np
import pandas as pd
import pytest

from ensemblage import graph

EDGES = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]])
VOTES = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]])
THREE = [
    {0: 0, 1: 0, 2: 0},
    {0: "A", 1: "A", 2: "A"},
    {0: "A", 1: "A", 2: "A", 3: None, 4: np.nan, 5: -1},
    [{0, 1, 2}],
    [7, 7, 7, -1, -1, -1],
    [7, 7, 7, np.nan, np.nan, np.nan],
    ["A", "A", "A", None, None, None],
    ["A", "A", "A", None, np.nan, -1],
    np.array([7.0, 7.0, 7.0, np.nan, np.nan, np.nan]),
    np.ma.array([7] * 6, mask=[0, 0, 0, 1, 1, 1]),
    pd.Series([7, 7, 7, None, None, None], dtype="Int64"),
    pd.Series(["A", "A", "A", None, None, None], dtype="category"),
]


@pytest.mark.parametrize("labels", THREE)
def test_vertices_without_a_label_are_separate_communities(labels):
    found = graph.consensus(EDGES, lambda _: labels, n_members=1, random_state=0)
    assert np.bincount(found.labels).tolist() == [3, 1, 1, 1]
    outside = graph.scores(VOTES, EDGES, labels).outside
    expected = graph.scores(VOTES, EDGES, [0, 0, 0, 1, 2, 3]).outside
    np.testing.assert_array_equal(outside, expected)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([{"0", "1", "2"}, {"3", "4", "5"}], r"vertices of the graph, got '\d', which is none"),
        ({"a": 1}, "got 'a', which is none of them. The vertices are 0, 1, 2"),
        ({None: 1}, "got None, which is none of them"),
        ({6: 1}, "got 6, which is none of them"),
        ({}, "got an empty dict"),
        ([{0, 1, 2}, {2, 3}], "vertex 2 is in communities 0 and 1"),
        ([[0, 1, 2], [3, 4]], "label for each of the 6 vertices, got .*a list of sets"),
        ([[0], [1], [2], [3], [4], [5]], "label for each of the 6 vertices, got .*a list of sets"),
    ],
)
def test_unclear_communities_are_refused(labels, message):
    with pytest.raises(ValueError, match=f"The labels of scores must .*{message}"):
        graph.scores(VOTES, EDGES, labels)
    with pytest.raises(ValueError, match=f"The result of the clusterer .* must .*{message}"):
        graph.consensus(EDGES, lambda _: labels)


@pytest.mark.parametrize("name", ["\x1b[2J\x1b]0;owned\x07", "a\x9b31m", "a\u202eb", "a\rb"])
def test_names_of_vertices_are_escaped_in_messages(name):
    nx = pytest.importorskip("networkx")
    edges = nx.Graph([(name, "b"), ("b", "c"), ("c", name)])
    for labels in ({"other": 1}, {f"other {name}": 1}, [{name, "b"}, {name, "c"}], [name], {}):
        with pytest.raises(ValueError, match="must") as told:
            graph.scores(VOTES[:3], edges, labels)
        with pytest.raises(ValueError, match="must") as also:
            graph.consensus(edges, lambda _, labels=labels: labels, n_members=1)
        assert str(told.value).isprintable()
        assert str(also.value).isprintable()
