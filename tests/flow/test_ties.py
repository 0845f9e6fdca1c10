"""Rules for pairs of clusters that are equally far apart, on distances that tie at every merge."""

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage

from ensemblage.flow import _closest, agglomerate, cut_tree
from ensemblage.testing.strategies import votes

RULES = [
    (linkage, ties)
    for linkage in ("average", "complete", "single")
    for ties in ("mean", "later", "octave")
    if (linkage, ties) != ("average", "mean")  # a chain, which test_cuts covers
]
BY_MEAN = ["complete", "single"]


@st.composite
def tied(draw, max_rows=10, distinct=False):
    """Co-association of few clusterings as a distance, and weights.

    Distinct weights are powers of two: no two pairs of clusters then have the same joint weight.
    """
    n = draw(st.integers(2, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    table = rng.integers(0, draw(st.integers(1, 5)), (n, draw(st.integers(1, 5))))
    weights = 2.0 ** rng.permutation(n) if distinct else rng.integers(1, 4, n).astype(float)
    return 1.0 - twins.coassociation(table), weights


def partition(labels):
    return {tuple(np.flatnonzero(labels == c).tolist()) for c in set(labels.tolist())}


def partitions(tree):
    """Return the clusters after each merge."""
    n = len(tree) + 1
    return [partition(cut_tree(tree, k)) for k in range(n, 0, -1)]


@pytest.mark.parametrize("few", [1, 64])
@pytest.mark.parametrize(("linkage", "ties"), RULES)
@given(case=tied())
def test_equal_to_the_definition(linkage, ties, few, case):
    """`few` is the size below which rows that are gone are no longer taken out."""
    distance, weights = case
    heights, clusters = twins.merge_closest(distance, linkage, weights, ties)
    usual, _closest._FEW_ROWS = _closest._FEW_ROWS, few
    try:
        tree = agglomerate(distance.copy(), linkage, weights, ties)
    finally:
        _closest._FEW_ROWS = usual
    assert is_valid_linkage(tree)
    np.testing.assert_allclose(tree[:, 2], np.maximum.accumulate(heights), atol=1e-12)
    assert partitions(tree) == [{tuple(sorted(c)) for c in some} for some in clusters]


@pytest.mark.parametrize("linkage", BY_MEAN)
@given(case=tied(distinct=True), seed=st.integers(0, 1000))
def test_by_mean_the_order_of_rows_does_not_matter(linkage, case, seed):
    distance, weights = case
    order = np.random.default_rng(seed).permutation(len(distance))
    moved = np.ascontiguousarray(distance[np.ix_(order, order)])
    tree = agglomerate(distance.copy(), linkage, weights)
    other = agglomerate(moved, linkage, weights[order])
    np.testing.assert_allclose(other[:, 2], tree[:, 2], atol=1e-12)
    back = [{tuple(sorted(order[list(c)].tolist())) for c in some} for some in partitions(other)]
    assert back == partitions(tree)


@pytest.mark.parametrize("linkage", BY_MEAN)
@given(matrix=votes(max_objects=16, gaps=False))
def test_by_mean_the_tree_of_microclusters_is_that_of_the_objects(linkage, matrix):
    table, sizes, of_object = twins.microclusters(matrix)
    distance = 1.0 - twins.coassociation(table)
    objects = np.ascontiguousarray(distance[np.ix_(of_object, of_object)])
    of_objects = agglomerate(objects, linkage)
    of_groups = agglomerate(distance, linkage, sizes)
    np.testing.assert_allclose(of_objects[len(matrix) - len(sizes) :, 2], of_groups[:, 2])
    for k in range(1, len(sizes) + 1):
        np.testing.assert_array_equal(cut_tree(of_groups, k)[of_object], cut_tree(of_objects, k))


@pytest.mark.parametrize("linkage", BY_MEAN)
@given(case=tied(), seed=st.integers(0, 1000))
def test_rounding_does_not_break_ties(linkage, case, seed):
    distance, weights = case
    noise = np.tril(np.random.default_rng(seed).uniform(-1e-14, 1e-14, distance.shape), -1)
    exact = agglomerate(distance.copy(), linkage, weights)
    noisy = agglomerate(distance + noise + noise.T, linkage, weights)
    assert partitions(noisy) == partitions(exact)
    assert (np.diff(noisy[:, 2]) >= 0).all()


def nothing_in_common(n):
    return np.ones((n, n)) - np.eye(n)


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_where_all_pairs_tie(linkage):
    weights = np.array([1, 3, 2, 5, 1])
    if linkage != "average":
        tree = agglomerate(nothing_in_common(5), linkage, weights)
        assert tree[:, :2].tolist() == [[1, 3], [2, 5], [0, 6], [4, 7]]  # the heaviest first
    tree = agglomerate(nothing_in_common(5), linkage, weights, "later")
    assert tree[:, :2].tolist() == [[0, 1], [2, 5], [3, 6], [4, 7]]
    tree = agglomerate(nothing_in_common(5), linkage, weights, "octave")
    assert tree[:, :2].tolist() == [[3, 4], [2, 5], [1, 6], [0, 7]]


def test_the_mean_decides_between_clusters_that_share_their_farthest_pair():
    """0 and 1 are one cluster; 2 is near 1 only, 3 is near nobody."""
    distance = np.array([[0, 0.2, 1, 1], [0.2, 0, 0.5, 1], [1, 0.5, 0, 1], [1, 1, 1, 0]])
    order = [3, 0, 1, 2]  # so that the row with nothing in common is the first one
    tree = agglomerate(np.ascontiguousarray(distance[np.ix_(order, order)]), "complete")
    np.testing.assert_array_equal(tree, [[1, 2, 0.2, 2], [3, 4, 1, 3], [0, 5, 1, 4]])


@pytest.mark.parametrize("ties", ["mean", "later", "octave"])
@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_a_single_row_and_no_tree(linkage, ties):
    assert agglomerate(np.zeros((1, 1)), linkage, ties=ties).shape == (0, 4)
