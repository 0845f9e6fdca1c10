"""Small inputs are left to NumPy, which gives what the kernels give, to the last bit."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage import flow
from ensemblage.flow import _tree, compiling
from ensemblage.testing.strategies import votes

DTYPES = st.sampled_from([np.int8, np.int32, np.int64])
SEEDS = st.integers(0, 2**32 - 1)


def by_both(function):
    """Return what `function` gives with kernels, and what it gives without any."""
    results = []
    for everything in (True, False):
        with compiling.kernels_for(everything=everything):
            results.append(function())
    return results


def assert_same(left, right):
    assert left.dtype == right.dtype
    np.testing.assert_array_equal(left, right)


@given(votes(), DTYPES, st.sampled_from([1, -7, 3]), st.booleans())
def test_microclusters(matrix, dtype, factor, turned):
    matrix = (np.where(matrix < 0, -1, matrix * factor)).astype(dtype)
    if turned:
        matrix = np.asfortranarray(matrix)
    (compiled, labels), (plain, plain_labels) = by_both(lambda: flow.microclusters(matrix))
    for ours, theirs in zip(compiled, plain, strict=True):
        assert_same(ours, theirs)
    for ours, theirs in zip(labels, plain_labels, strict=True):
        assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64])
def test_microclusters_of_unsigned_votes(dtype):
    matrix = np.array([[255, 0], [3, 0], [255, 0], [3, 1]], dtype=dtype)
    (compiled, labels), (plain, plain_labels) = by_both(lambda: flow.microclusters(matrix))
    for ours, theirs in zip([*compiled, *labels], [*plain, *plain_labels], strict=True):
        assert_same(ours, theirs)


def test_votes_too_far_apart_are_refused_by_both():
    matrix = np.array([[-(2**62)], [2**62], [2**62 - 1]])

    def refused():
        with pytest.raises(OverflowError):
            flow.microclusters(matrix)

    by_both(refused)


@given(SEEDS)
def test_spread(seed):
    rng = np.random.default_rng(seed)
    values, places = rng.integers(0, 9, 5), rng.integers(0, 5, 30).astype(np.int32)
    assert_same(*by_both(lambda: flow.spread(values, places)))


@given(votes(), votes(), SEEDS, st.booleans())
def test_coassociation(matrix, others, seed, weighted):
    table = flow.microclusters(matrix)[0].table
    width = min(table.shape[1], others.shape[1])
    weights = np.random.default_rng(seed).random(table.shape[1]) if weighted else None
    assert_same(*by_both(lambda: flow.coassociation(table, weights=weights)))
    narrow, few = np.ascontiguousarray(table[:, :width]), others[:, :width].astype(np.int32)
    weights = None if weights is None else weights[:width]
    assert_same(*by_both(lambda: flow.coassociation(narrow, few, weights=weights)))


@pytest.mark.parametrize("rows_per_step", [0, 1e9])  # by lists of rows always, and never
@given(votes(), SEEDS, st.booleans())
def test_shared_coassociation(rows_per_step, matrix, seed, weighted):
    rng = np.random.default_rng(seed)
    table = flow.microclusters(matrix)[0].table
    strength = rng.random(int((table.max(axis=0) + 1).sum()))
    weights = rng.random(table.shape[1]) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        # `flow.coassociation` is the function of that name.
        patch.setattr(sys.modules["ensemblage.flow.coassociation"], "_ROWS_PER_STEP", rows_per_step)
        assert_same(*by_both(lambda: flow.shared_coassociation(table, strength, weights)))


@given(votes(), SEEDS, st.booleans())
def test_vote(matrix, seed, weighted):
    rng = np.random.default_rng(seed)
    table, sizes, _ = flow.microclusters(matrix)[0]
    members, owner = flow.membership(table), flow.owners(table)
    weights = rng.random(len(owner)) if weighted else None
    start = rng.integers(-1, 3, len(table))
    start[0] = 0
    assert_same(*by_both(lambda: flow.vote(members, sizes, owner, start, 20, weights)))


@given(votes(), SEEDS)
def test_graded_coassociation(matrix, seed):
    table = flow.microclusters(matrix)[0].table
    rng = np.random.default_rng(seed)
    n_clusters = int((table.max(axis=0) + 1).sum())
    likeness, weights = rng.random((n_clusters, n_clusters)), rng.random(table.shape[1])
    assert_same(*by_both(lambda: flow.graded_coassociation(table, likeness, weights)))


@given(votes(), st.integers(1, 9), SEEDS, st.booleans())
def test_elite_graph(matrix, n_neighbors, seed, weighted):
    table = flow.microclusters(matrix)[0].table
    weights = np.random.default_rng(seed).random(table.shape[1]) if weighted else None
    graphs = by_both(lambda: flow.elite_graph(table, n_neighbors, weights=weights))
    for part in ("indptr", "indices", "data"):
        assert_same(*(getattr(graph, part) for graph in graphs))


@given(SEEDS, st.integers(1, 9))
def test_elite_graph_of_a_similarity(seed, n_neighbors):
    similarity = np.random.default_rng(seed).integers(0, 5, (12, 12)) / 4
    similarity = np.maximum(similarity, similarity.T)
    graphs = by_both(lambda: flow.elite_graph_of(similarity, n_neighbors))
    assert_same(*(graph.toarray() for graph in graphs))


@given(SEEDS, st.integers(1, 40))
def test_trees(seed, n):
    rng = np.random.default_rng(seed)
    heights = rng.integers(0, 5, n - 1).astype(float)
    pairs = np.array([(rng.integers(i), i) for i in range(1, n)], dtype=np.int64).reshape(-1, 2)
    assert_same(*by_both(lambda: _tree.tree_of_merges(pairs, heights)))


@given(votes(), votes())
def test_rows_that_are_known(matrix, others):
    width = min(matrix.shape[1], others.shape[1])
    known = np.unique(matrix[:, :width], axis=0)
    compiled, plain = by_both(lambda: flow.find_rows(others[:, :width], known))
    assert_same(compiled, plain)
    for row, place in zip(others[:, :width], plain, strict=True):
        same = (known == row).all(axis=1)
        assert place == (same.argmax() if same.any() else -1)


@given(SEEDS, st.integers(1, 40))
def test_sizes_of_nodes(seed, n):
    rng = np.random.default_rng(seed)
    distance = rng.integers(0, 5, (n, n)) / 4
    sizes = rng.integers(1, 5, n)
    tree = flow.agglomerate(distance + distance.T, "average", sizes)
    slow, fast = by_both(lambda: flow.sized_tree(tree, sizes))
    for one, other in zip(slow, fast, strict=True):
        np.testing.assert_array_equal(np.array(one).ravel(), np.array(other).ravel())


@given(votes(), SEEDS, st.sampled_from([1, 2, 5]))
def test_small_graphs_of_clusters_for_any_number_of_threads(matrix, seed, n_jobs):
    table, sizes, _ = en.microclusters(matrix)
    if (table.max(axis=0) < 0).any():
        return
    links = flow.membership(table, by_rows=True)
    links.data *= np.random.default_rng(seed).random(len(links.data)) + 0.1
    slow, fast = by_both(lambda: flow.TransferCut(links, sizes, n_jobs=n_jobs).eigenvalues())
    np.testing.assert_allclose(slow, fast, atol=1e-12)
