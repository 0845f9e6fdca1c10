"""The number of links that a graph will have, from a sample, beside the graph itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage import flow
from ensemblage.testing.strategies import votes


def crossed(side):
    """Two clusterings that cross: every row ties with 2·(side - 1) others."""
    rows = np.arange(side * side)
    return np.column_stack([rows // side, rows % side]).astype(np.int32)


def by_distance(n, n_clusterings, n_labels, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2)) + 3 * rng.integers(0, 3, (n, 1))
    columns = [
        ((points[:, None] - points[rng.choice(n, n_labels)]) ** 2).sum(axis=2).argmin(axis=1)
        for _ in range(n_clusterings)
    ]
    return np.unique(np.column_stack(columns), axis=0).astype(np.int32)


@given(votes(max_objects=12), st.integers(1, 14))
def test_between_half_and_twice_where_every_row_is_asked(matrix, n_neighbors):
    """Only whether the other end has the link too is a guess then, by one link of each row."""
    table = np.unique(matrix, axis=0).astype(np.int32)
    actual = flow.elite_graph(table, n_neighbors).nnz
    assert actual / 2 <= flow.expected_links(table, n_neighbors) <= 2 * actual


@pytest.mark.parametrize("n_neighbors", [1, 5, 20])
def test_ties_are_counted(n_neighbors):
    table = crossed(40)
    actual = flow.elite_graph(table, n_neighbors).nnz
    assert actual == 1600 * 78
    assert flow.expected_links(table, n_neighbors) == actual


@pytest.mark.parametrize("kind", ["counts", "gaps", "weights", "similarity"])
@pytest.mark.parametrize("n_neighbors", [3, 20, 5000])
def test_near_the_number_of_links(kind, n_neighbors):
    table = by_distance(2500, 8, 12)
    weights = None
    if kind == "gaps":
        table[np.random.default_rng(1).random(table.shape) < 0.1] = -1
    if kind == "weights":
        weights = np.random.default_rng(1).random(table.shape[1])
    if kind == "similarity":
        similarity = flow.coassociation(table)
        before = similarity.copy()
        actual = flow.elite_graph_of(similarity, n_neighbors).nnz
        found = flow.expected_links_of(similarity, n_neighbors)
        np.testing.assert_array_equal(similarity, before)
    else:
        actual = flow.elite_graph(table, n_neighbors, weights=weights).nnz
        found = flow.expected_links(table, n_neighbors, weights=weights)
    assert 0.9 * actual <= found <= 1.5 * actual


@pytest.mark.parametrize("method", [en.PTGP, en.PTA])
def test_a_graph_of_ties_is_refused_before_it_is_made(method, monkeypatch):
    """By their neighbours alone these 40,000 rows would have 2 million links, of 48 bytes."""
    monkeypatch.setattr(flow, "elite_graph", None)  # nobody comes so far
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(700_000_000))
    words = r"about 1592\d{4} links\) and 20 steps would take .* and 700.0 MB are available"
    with pytest.raises(en.MemoryBudgetError, match=words):
        method(5, n_jobs=1).fit(crossed(200))


def test_the_links_count_beside_the_similarity(monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(8 * 1600**2 + 1_000_000))
    with pytest.raises(en.MemoryBudgetError, match="1600 microclusters with about 124800 links"):
        en.trajectory_similarity(crossed(40))
