"""Agglomeration past the dense limit: sixteen bits a pair, or features for the first merges."""

import sys
import tracemalloc

import numpy as np
import pytest
import twins
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.sparse import csr_array

import ensemblage as en
from ensemblage import flow
from ensemblage.flow import _triangle, one_blas_thread, packed_linkage
from ensemblage.testing import strategies

_module = sys.modules["ensemblage.flow.packed_linkage"]  # its name is also that of a function
LINKAGES = ["average", "complete", "single"]
#: One level is at most so much of a height: |d(h)| = 2·sqrt(h) / 65535 / 2.
LEVEL = 1 / 65535


def pack(similarity, linkage):
    """Levels of a similarity in the layout of the triangle, entry by entry."""
    n = len(similarity)
    root = 1 - np.sqrt(similarity) if linkage == "complete" else np.sqrt(1 - similarity)
    packed = np.zeros(_triangle.n_entries(n), dtype=np.uint16)
    row = np.zeros(_triangle.padded(n), dtype=np.uint16)
    for i in range(n):
        row[:n] = np.round(65535 * root[i])
        row[i] = 0
        _triangle.write_row(packed, i, row)
    return packed


def walk_of(votes, n_neighbors):
    table, sizes, _ = en.microclusters(votes)
    return flow.transition_matrix(flow.elite_graph(table, n_neighbors), sizes)


def random_similarity(n, seed):
    points = np.random.default_rng(seed).normal(size=(n, 3))
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return np.exp(-squares)


def partition(labels):
    return {tuple(np.flatnonzero(labels == c)) for c in set(labels.tolist())}


def votes_of(n_objects, n_members, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 4))[rng.integers(0, 12, n_objects)]
    points = points + 0.4 * rng.normal(size=points.shape)
    members = []
    for _ in range(n_members):
        seeds = points[rng.choice(n_objects, 15, replace=False)]
        members.append(((points[:, None] - seeds[None]) ** 2).sum(axis=2).argmin(axis=1))
    return np.column_stack(members).astype(np.int32)


# -- the layout ------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(0, 5))
def test_the_triangle_is_a_symmetric_matrix(n, seed):
    rng = np.random.default_rng(seed)
    expected = np.triu(rng.integers(0, 65536, (n, n)), 1)
    expected = expected + expected.T
    values = np.zeros(_triangle.n_entries(n), dtype=np.uint16)
    row = np.zeros(_triangle.padded(n), dtype=np.uint16)
    for i in range(n):
        row[:n] = expected[i]
        _triangle.write_row(values, i, row)

    def matrix(values, n, dtype):
        row = np.zeros(_triangle.padded(n), dtype=dtype)
        rows = []
        for i in range(n):
            _triangle.read_row(values, i, row)
            rows.append(row[:n].copy())
        return np.array(rows)

    np.testing.assert_array_equal(matrix(values, n, np.uint16), expected)
    kept = np.flatnonzero(rng.random(n) < 0.6)
    _triangle.compact(values, kept)
    few = expected[np.ix_(kept, kept)]
    if len(kept):
        np.testing.assert_array_equal(matrix(values, len(kept), np.uint16), few)
    if len(kept) and 2 * _triangle.n_entries(len(kept)) <= len(values):
        wide = _triangle.widen(values, len(kept))
        np.testing.assert_array_equal(matrix(wide, len(kept), np.float32), few)


def test_widening_goes_block_by_block():
    n = 2100  # more than one block of numbers
    values = np.zeros(2 * _triangle.n_entries(n), dtype=np.uint16)
    numbers = np.random.default_rng(0).integers(0, 65536, _triangle.n_entries(n)).astype(np.uint16)
    values[: len(numbers)] = numbers
    np.testing.assert_array_equal(_triangle.widen(values, n), numbers)


# -- the fill --------------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", LINKAGES)
@given(ensemble=strategies.ensembles())
def test_levels_are_those_of_the_definition(linkage, ensemble):
    votes, n_neighbors, n_steps = ensemble
    table, sizes, _ = twins.microclusters(votes)
    expected = twins.similarity_of(table, sizes, n_neighbors, n_steps)
    walk = walk_of(votes, n_neighbors)
    packed, norms = flow.packed_similarity(walk, n_steps, linkage)
    n, row = len(table), np.empty(_triangle.padded(len(table)), dtype=np.uint16)
    for i in range(n):
        _triangle.read_row(packed, i, row)
        assert row[i] == 0
        assert (row[n:] == 0).all()
        level = row[:n] / 65535
        found = (1 - level) ** 2 if linkage == "complete" else 1 - level**2
        np.testing.assert_allclose(found, expected[i], atol=LEVEL + 2e-6)
    np.testing.assert_allclose(norms, flow.trajectory_norms(walk, n_steps), rtol=1e-6)


def test_threads_change_nothing():
    walk = walk_of(votes_of(1600, 12), 15)
    assert walk.shape[0] > 1024  # so that nodes are reordered inside
    (one, norms), (three, same) = (
        flow.packed_similarity(walk, 8, "average", n_jobs=n_jobs) for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(one, three)
    np.testing.assert_array_equal(norms, same)


# -- the tree --------------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("few", [1, 8, 256])
@given(n=st.integers(1, 26), seed=st.integers(0, 10_000))
@example(n=11, seed=2431)
def test_equal_to_the_exact_tree_where_gaps_exceed_a_level(linkage, few, n, seed):
    """`few` lowers the size below which rows are no longer taken out."""
    similarity = random_similarity(n, seed)
    exact = flow.agglomerate(1.0 - similarity, linkage)
    usual, _module._FEW_ROWS = _module._FEW_ROWS, few
    try:
        tree = packed_linkage(pack(similarity, linkage), n, linkage)
    finally:
        _module._FEW_ROWS = usual
    assert tree.shape == exact.shape
    # A mean may be rounded at each of its merges, and so few rows are never widened.
    error = LEVEL * (2 + (n if linkage == "average" else 0))
    distances = np.unique(1.0 - similarity)
    if linkage != "average" and len(distances) > 1 and np.diff(distances).min() > 4 * LEVEL:
        assert [partition(flow.cut_tree(tree, k)) for k in range(1, n + 1)] == [
            partition(flow.cut_tree(exact, k)) for k in range(1, n + 1)
        ]
        np.testing.assert_allclose(tree[:, 2], exact[:, 2], atol=error)
    if linkage == "single":  # one set of heights, whatever the ties
        np.testing.assert_allclose(tree[:, 2], exact[:, 2], atol=error)
    if linkage == "average" and _steady(similarity, 2 * error):
        np.testing.assert_allclose(tree[:, 2], exact[:, 2], atol=error)


def _steady(similarity, error):
    """Tell whether no choice between two merges is closer than `error`, all the way up."""
    distance = 1.0 - similarity
    clusters = [[i] for i in range(len(distance))]
    while len(clusters) > 2:
        gaps = sorted(
            (distance[np.ix_(a, b)].mean(), i, j)
            for i, a in enumerate(clusters)
            for j, b in enumerate(clusters[:i])
        )
        if gaps[1][0] - gaps[0][0] <= error:
            return False
        _, i, j = gaps[0]
        clusters[j] = clusters[j] + clusters.pop(i)
    return True


@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_exact_partitions_of_many_rows(linkage):
    walk = walk_of(votes_of(1200, 10), 15)
    n = walk.shape[0]
    assert n > 700
    packed, _ = flow.packed_similarity(walk, 8, linkage)
    tree = packed_linkage(packed, n, linkage)
    exact = flow.agglomerate(1.0 - flow.trajectory_similarity(walk, 8), linkage)
    assert is_valid_linkage(tree)
    assert (np.diff(tree[:, 2]) >= 0).all()
    for k in (2, 5, 10, 20, 50, 100):
        assert partition(flow.cut_tree(tree, k)) == partition(flow.cut_tree(exact, k))
    np.testing.assert_allclose(tree[:, 2], exact[:, 2], atol=20 * LEVEL)


@pytest.mark.parametrize("linkage", LINKAGES)
@given(n=st.integers(1, 30), seed=st.integers(0, 1000))
def test_ties_leave_exactly_k_clusters_in_a_valid_tree(linkage, n, seed):
    levels = np.array([0.0, 0.25, 0.81, 1.0])
    half = np.triu(np.random.default_rng(seed).integers(0, 4, (n, n)), 1)
    similarity = levels[half + half.T]
    np.fill_diagonal(similarity, 1.0)
    trees = [packed_linkage(pack(similarity, linkage), n, linkage) for _ in range(2)]
    np.testing.assert_array_equal(*trees)
    if n > 1:
        assert is_valid_linkage(trees[0])
    for k in range(1, n + 1):
        assert sorted(set(flow.cut_tree(trees[0], k).tolist())) == list(range(k))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_rows_with_nothing_in_common_join_last(linkage):
    similarity = np.eye(300)
    similarity[:200, :200] = random_similarity(200, 0)
    tree = packed_linkage(pack(similarity, linkage), 300, linkage)
    assert (tree[-100:, 2] == 1.0).all()
    labels = flow.cut_tree(tree, 101)
    assert len(set(labels[200:].tolist())) == 100


def test_a_cluster_that_takes_in_one_row_after_the_other_still_moves():
    """What sixteen bits alone get wrong: the mean would stay where the first two rows put it.

    Row 0 is a bystander. Rows 1, 2, ... join one cluster in this order; the first are far from
    the bystander, and each of the others is a little nearer.
    """
    n = 3000
    similarity = np.full((n, n), 0.5)
    order = np.arange(1, n)
    similarity[1:, 1:] = 0.9 - 0.3 * np.maximum(order[:, None], order[None]) / n
    similarity[0, 1:] = similarity[1:, 0] = 0.3 * order / n
    np.fill_diagonal(similarity, 1.0)
    tree = packed_linkage(pack(similarity, "average"), n, "average")
    exact = flow.agglomerate(1.0 - similarity, "average")
    assert tree[-1, 2] == pytest.approx(exact[-1, 2], abs=30 * LEVEL)


# -- features and local merges ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def local():
    walk = walk_of(votes_of(900, 8), 12)
    return walk, flow.trajectory_similarity(walk, 8), flow.trajectory_norms(walk, 8)


def features_of(walk, norms, rank):
    with one_blas_thread:
        omega = flow.sketch(norms > 0, rank, np.random.default_rng(0))
    image = flow.similarity_product(walk, norms, omega, 8, single=True)
    with one_blas_thread:
        return flow.nystroem(omega, image, int((norms > 0).sum()))


def test_a_sketch_is_orthonormal_and_takes_the_memory_it_is_counted_with():
    linked = np.ones(3000, dtype=bool)
    linked[7] = False
    tracemalloc.start()
    with one_blas_thread:
        omega = flow.sketch(linked, 300, np.random.default_rng(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert omega.dtype == np.float32
    assert not omega[7].any()
    np.testing.assert_allclose(omega.T @ omega, np.eye(300), atol=1e-5)
    assert peak < 13 * omega.size  # 12 bytes for each entry, and little else


def test_full_rank_features_are_the_similarity(local):
    walk, similarity, norms = local
    features, captured = features_of(walk, norms, len(norms))
    assert 0.9999 < captured <= 1.0
    np.testing.assert_allclose(features @ features.T, similarity, atol=2e-3)
    shares = [features_of(walk, norms, rank)[1] for rank in (4, 32, 128)]
    assert 0 < shares[0] < shares[1] < shares[2] < 1


@pytest.mark.parametrize("rank", [3, 20])
def test_features_of_low_rank_are_those_of_the_definition(local, rank):
    """F Fᵀ = S Ω (Ωᵀ S Ω)⁻¹ Ωᵀ S, of which `captured` is the trace over that of S."""
    walk, similarity, norms = local
    with one_blas_thread:
        omega = flow.sketch(norms > 0, rank, np.random.default_rng(0))
    features, captured = features_of(walk, norms, rank)
    image = similarity @ omega
    product = image @ np.linalg.solve(omega.T @ image, image.T)
    assert captured == pytest.approx(np.trace(product) / len(norms), rel=1e-4)
    lengths = np.sqrt(np.diag(product))
    expected = product / np.outer(lengths, lengths)
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-3)


def test_local_merges_of_full_rank_make_the_exact_tree(local):
    walk, similarity, norms = local
    exact = flow.agglomerate(1.0 - similarity, "average")
    features, _ = features_of(walk, norms, len(norms))
    merges = [flow.local_merges(features.copy(), walk, 150, n_jobs=n_jobs) for n_jobs in (1, 3)]
    for one, three in zip(*merges, strict=True):
        np.testing.assert_array_equal(one, three)
    groups = merges[0].groups
    assert len(merges[0].inner) == groups.max() + 1 == 150
    means = flow.group_similarity(walk, norms, groups, 8)
    members = (groups[:, None] == np.arange(150)).astype(float)
    members /= members.sum(axis=0)
    np.testing.assert_allclose(means, members.T @ similarity @ members, atol=1e-12)
    top = flow.agglomerate(1.0 - means, "average", np.bincount(groups))
    tree = flow.complete_tree(merges[0], top)
    assert is_valid_linkage(tree)
    for k in (2, 5, 10, 20, 50, 100):
        assert partition(flow.cut_tree(tree, k)) == partition(flow.cut_tree(exact, k))


@pytest.mark.parametrize("n_left", [1, 2, 150, 399, 10_000])
def test_the_first_merges_of_a_tree_and_the_rest_make_the_tree(local, n_left):
    walk, similarity, norms = local
    exact = flow.agglomerate(1.0 - similarity, "average")
    merges = flow.first_merges(exact, n_left)
    n_left = min(n_left, len(norms))
    assert len(merges.inner) == n_left
    assert partition(merges.groups) == partition(flow.cut_tree(exact, n_left))
    first_nodes = np.unique(merges.groups, return_index=True)[1]
    assert (np.diff(first_nodes) > 0).all()
    means = flow.group_similarity(walk, norms, merges.groups, 8)
    top = flow.agglomerate(1.0 - means, "average", np.bincount(merges.groups))
    tree = flow.complete_tree(merges, top)
    assert is_valid_linkage(tree)
    np.testing.assert_allclose(tree[:, 2], exact[:, 2], atol=1e-12)
    for k in (2, 5, 20, 100, 200):
        assert partition(flow.cut_tree(tree, k)) == partition(flow.cut_tree(exact, k))


def test_parts_of_a_graph_that_are_more_than_wanted_join_at_height_one():
    graph = csr_array(np.kron(np.eye(10), np.ones((3, 3)) - np.eye(3)))
    features = np.kron(np.eye(10), np.ones((3, 1))).astype(np.float32)
    merges = flow.local_merges(features, graph, 4)
    assert len(merges.inner) == 10
    tree = flow.complete_tree(merges, None)
    assert is_valid_linkage(tree)
    np.testing.assert_allclose(tree[:, 2], [0] * 20 + [1] * 9)
    np.testing.assert_array_equal(flow.cut_tree(tree, 10), np.repeat(np.arange(10), 3))


def test_nodes_without_links_have_no_features_and_are_alike_to_themselves_only():
    graph = csr_array(np.pad(np.ones((4, 4)) - np.eye(4), (0, 2)))
    walk = flow.transition_matrix(graph, np.ones(6, dtype=np.int64))
    norms = flow.trajectory_norms(walk, 8)
    features, captured = features_of(walk, norms, 6)
    assert (features[4:] == 0).all()
    assert captured == pytest.approx(1, abs=1e-5)
    means = flow.group_similarity(walk, norms, np.array([0, 0, 1, 1, 2, 2]), 8)
    assert means[2].tolist() == [0, 0, 0.5]


@pytest.mark.parametrize(
    ("angles", "first"), [([0.0, 0.5, 2.0, 2.1], [2, 3]), ([0.0, 0.0, 0.0, 0.0], [0, 1])]
)
def test_the_most_similar_pair_merges_first_and_the_lowest_of_ties(angles, first):
    features = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)
    merges = flow.local_merges(features, csr_array(1 - np.eye(4)), 3)
    assert merges.pairs.tolist() == [first]
    assert merges.groups.tolist() == ([0, 1, 2, 2] if first == [2, 3] else [0, 0, 1, 2])
