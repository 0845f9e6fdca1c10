"""Series of the same objects in another order: matched by index in metrics, reports and graphs."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import ensemblage as en
from ensemblage import metrics

NAMES = list("stuvwxyz")
ORDER = [7, 0, 6, 1, 5, 2, 4, 3]
A = pd.Series([0, 0, 0, 0, 1, 1, 1, 1], index=NAMES)
B = A.iloc[ORDER]
V = [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
FRAME = pd.DataFrame(V, columns=list("abc"), index=NAMES)


@pytest.mark.parametrize("score", [metrics.nmi, metrics.ari, metrics.ecs])
def test_two_series(score):
    assert score(A, B) == score(B, A) == 1
    assert score(A.reset_index(drop=True), A.reset_index(drop=True).iloc[ORDER]) == 1
    by_position = score(A.to_numpy(), B.to_numpy())
    assert by_position < 1
    # Other objects, or an object twice: by position, as in scikit-learn.
    assert score(A, B.rename({"s": "?"})) == by_position
    assert score(A, B.rename({"s": "t"})) == by_position
    assert score(A, B.to_numpy()) == score(A, B.reset_index(drop=True)) == by_position


def test_each_object_of_ecs_is_in_the_order_of_the_first():
    c = pd.Series([0, 0, 0, 1, 1, 1, 1, 1], index=NAMES)
    expected = metrics.ecs(A.to_numpy(), c.to_numpy(), per_object=True)
    np.testing.assert_array_equal(metrics.ecs(A, c.iloc[ORDER], per_object=True), expected)
    np.testing.assert_array_equal(metrics.ecs(B, c, per_object=True), expected[ORDER])


@pytest.mark.parametrize("X", [FRAME, en.Ensemble(FRAME)], ids=["DataFrame", "Ensemble"])
def test_labels_beside_votes(X):
    for score in (metrics.ensemble_nmi, metrics.expected_loss):
        assert score(B, X) == score(A, X) == score(A.to_numpy(), V)
    around = metrics.consistency(V, A.to_numpy())
    np.testing.assert_array_equal(metrics.consistency(X, B), around)
    distances = metrics.credible_ball(A.to_numpy(), V).distances
    np.testing.assert_array_equal(metrics.credible_ball(B, X).distances, distances)


def test_what_is_beside_the_model_of_a_report():
    model = en.EAC(2).fit(FRAME)
    truth, ids = pd.Series(model.labels_, index=NAMES), pd.Series(list("STUVWXYZ"), index=NAMES)
    features = pd.DataFrame(np.arange(16.0).reshape(8, 2), index=NAMES)
    page = en.report.html(model, truth=truth, ids=ids, features=features)
    other = [beside.iloc[ORDER] for beside in (truth, ids, features)]
    assert en.report.html(model, truth=other[0], ids=other[1], features=other[2]) == page
    assert re.search(r"NMI 1\.000", page)


def test_vertices_of_a_graph():
    path = [[i, i + 1] for i in range(7)]
    expected = en.graph.scores(V, path, A.to_numpy()).outside
    np.testing.assert_array_equal(en.graph.scores(FRAME, path, B).outside, expected)
    graph = nx.relabel_nodes(nx.path_graph(8), dict(enumerate(NAMES)))
    for labels in (A, B, B.to_dict()):
        np.testing.assert_array_equal(en.graph.scores(V, graph, labels).outside, expected)
    fewer = en.graph.scores(V, graph, B.drop("s")).outside
    np.testing.assert_array_equal(fewer, en.graph.scores(V, graph, B.drop("s").to_dict()).outside)
