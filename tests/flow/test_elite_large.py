"""The search behind the elite graph: every way through it beside plain counting."""

from importlib import import_module

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from ensemblage.flow import _neighbours, _quotients, _strips, elite_graph
from ensemblage.flow._tiles import STRIP
from ensemblage.testing.strategies import votes

elite = import_module("ensemblage.flow.elite")  # `flow.elite_graph` is from there


def counted(table, n_neighbors):
    """The graph from all counts at once, for tables that the twin is too slow for."""
    counts = (table[:, None, :] == table[None, :, :]).sum(axis=2)
    np.fill_diagonal(counts, 0)
    place = max(len(table) - n_neighbors, 0)
    thresholds = np.maximum(np.partition(counts, place, axis=1)[:, place], 1)
    stays = (counts >= thresholds[:, None]) | (counts >= thresholds[None, :])
    return np.where(stays, counts, 0) / table.shape[1]


def nearest_centres(n, n_clusterings, n_labels, seed=0):
    """Votes as k-means gives them: rows that are near each other agree."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3)) + 4 * rng.integers(0, 3, (n, 1))
    members = [
        cdist(points, points[rng.choice(n, n_labels, replace=n < n_labels)]).argmin(axis=1)
        for _ in range(n_clusterings)
    ]
    return np.column_stack(members).astype(np.int32)


def assert_graph(table, n_neighbors):
    found = elite_graph(table, n_neighbors)
    np.testing.assert_array_equal(found.toarray(), counted(table, n_neighbors))
    assert found.has_canonical_format
    assert (found.data > 0).all()


@given(votes(max_objects=9, gaps=False), st.integers(1, 12), st.randoms(use_true_random=False))
def test_copies_of_rows_over_many_strips(matrix, n_neighbors, random):
    """Few different rows, shuffled, many times each: nothing but ties, in several strips."""
    table = np.repeat(matrix, 20, axis=0).astype(np.int32)
    random.shuffle(order := list(range(len(table))))
    assert_graph(table[order], n_neighbors)


@given(
    st.integers(1, 3 * STRIP + 1),
    st.integers(1, 12),
    st.integers(1, 90),
    st.integers(1, 260),
    st.integers(0, 99),
)
def test_any_shape_agrees_with_plain_counting(n, n_clusterings, n_labels, n_neighbors, seed):
    rng = np.random.default_rng(seed)
    assert_graph(rng.integers(0, n_labels, (n, n_clusterings)).astype(np.int32), n_neighbors)
    assert_graph(nearest_centres(n, n_clusterings, n_labels, seed), n_neighbors)


@pytest.mark.parametrize(
    ("n_clusterings", "n_labels"), [(20, 15), (300, 12), (8, 400), (300, 400), (5, 66_000)]
)
@pytest.mark.parametrize("n_neighbors", [1, 7, 699, 5000])
def test_bytes_and_wider_numbers(n_clusterings, n_labels, n_neighbors):
    """Votes and counts of 8, 16 and 32 bits, and from K = 1 to every link there is."""
    table = nearest_centres(700, n_clusterings, min(n_labels, 400))
    table[:, 0] += (n_labels - 1 - table[:, 0].max()) * (table[:, 0] > 3)  # a gap among labels
    assert_graph(table, n_neighbors)


def test_one_clustering_links_the_members_of_each_cluster():
    table = np.repeat(np.arange(5), [1, 2, 70, 300, 3])[:, None].astype(np.int32)
    found = elite_graph(table, 4).toarray()
    np.testing.assert_array_equal(found, (table == table.T) & ~np.eye(len(table), dtype=bool))


def test_rows_that_agree_nowhere_have_no_links():
    table = np.arange(200)[:, None].repeat(3, axis=1).astype(np.int32)
    table[150] = table[20]
    found = elite_graph(table, 5)
    assert found.nnz == 2
    assert found[20, 150] == 1.0


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
def test_threads_and_work_items_change_nothing(n_jobs, monkeypatch):
    table = nearest_centres(1500, 12, 30)
    expected = elite_graph(table, 9, n_jobs=1)
    monkeypatch.setattr(_neighbours, "_STRIPS_PER_ITEM", 1)
    found = elite_graph(table, 9, n_jobs=n_jobs)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_sorting_matters_for_speed_only(monkeypatch):
    table = nearest_centres(900, 10, 20)
    expected = elite_graph(table, 6).toarray()
    for keys in (1, 3):
        monkeypatch.setattr(_strips, "_SORT_KEYS", keys)
        np.testing.assert_array_equal(elite_graph(table, 6).toarray(), expected)


@pytest.fixture(scope="module")
def strips():
    return _strips.vote_strips(nearest_centres(1000, 15, 100))


def test_no_count_is_above_its_bound(strips):
    """The heart of the search: a strip may be skipped only for what it cannot hold."""
    n_strips, n_clusterings, _ = strips.codes.shape
    rows = strips.codes.transpose(0, 2, 1).reshape(-1, n_clusterings)[: len(strips.order)]
    counts = (rows[:, None, :] == rows[None, :, :]).sum(axis=2)
    bounds, ranked = np.empty(n_strips, np.uint8), np.empty(n_strips, np.int32)
    skipped = 0
    for s in range(n_strips):
        _strips.strips_by_bound(s, strips.labels_by_clustering, bounds, ranked)
        assert sorted(ranked) == list(range(n_strips))
        assert (np.diff(bounds[ranked].astype(int)) <= 0).all()
        for t in range(n_strips):
            block = counts[s * STRIP : (s + 1) * STRIP, t * STRIP : (t + 1) * STRIP]
            assert block.max() <= bounds[t]
            assert bounds[t] == _strips.common_labels(strips.labels[s], strips.labels[t])
        skipped += (bounds < n_clusterings).sum()
    assert skipped > n_strips  # so that the test above says something


def test_each_row_gets_its_own_neighbours_and_no_more(strips):
    found = _neighbours.nearest_rows(strips, 5, 1)
    rows = strips.codes.transpose(0, 2, 1).reshape(-1, strips.codes.shape[1])[: len(strips.order)]
    ends = np.concatenate([[0], np.cumsum(found.lengths)])
    for p in range(0, len(rows), 37):
        counts = (rows == rows[p]).sum(axis=1)
        counts[p] = 0
        threshold = np.sort(counts)[-5]
        assert found.thresholds[p] == threshold
        own = slice(ends[p], ends[p + 1])
        np.testing.assert_array_equal(
            np.sort(found.places[own]), np.flatnonzero(counts >= threshold)
        )
        np.testing.assert_array_equal(found.counts[own], counts[found.places[own]])


@pytest.mark.parametrize("n_clusterings", [1, 6, 300])
@pytest.mark.parametrize("n_neighbors", [1, 3, 1000])
@pytest.mark.parametrize("by_rank", [True, False])
def test_gaps_compare_quotients(n_clusterings, n_neighbors, by_rank, monkeypatch):
    if not by_rank:  # as for very many clusterings
        monkeypatch.setattr(elite, "MOST_CLUSTERINGS", 0)
    rng = np.random.default_rng(4)
    table = rng.integers(-1, 4, (100, n_clusterings)).astype(np.int32)
    table[(table < 0).all(axis=1), 0] = 0
    np.testing.assert_array_equal(
        elite_graph(table, n_neighbors).toarray(), twins.elite_graph(table, n_neighbors)
    )


def test_equal_quotients_have_one_rank_and_ranks_are_in_order():
    values, ranks = _quotients.all_quotients(12)
    assert (np.diff(values) > 0).all()
    for a in range(13):
        for b in range(max(a, 1), 13):
            assert values[ranks[a, b]] == a / b
    assert ranks[1, 2] == ranks[6, 12]
    assert (ranks[0] == 0).all()
    assert ranks[3, 0] == 0
