"""Element-centric similarity: worked numbers, the published definition, gaps."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage.metrics import consistency, ecs
from ensemblage.testing.strategies import votes

W = np.array(
    [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
)


def by_definition(a, b, alpha=0.9):
    """Return 1 - |difference of personalised PageRank| / (2·alpha) around each object.

    In a graph whose components are complete, with loops, the walker from i is at j of the same
    cluster with alpha / size, and at i itself with 1 - alpha more.
    """
    n = len(a)
    ranks = []
    for labels in (a, b):
        same = labels[:, None] == labels[None, :]
        ranks.append(alpha * same / same.sum(axis=1, keepdims=True) + (1 - alpha) * np.eye(n))
    return 1 - np.abs(ranks[0] - ranks[1]).sum(axis=1) / (2 * alpha)


def by_gaps(matrix):
    """Return the mean over pairs of members in which an object voted, from the definition."""
    n, m = matrix.shape
    values = [[] for _ in range(n)]
    for a in range(m):
        for b in range(a + 1, m):
            both = np.flatnonzero((matrix[:, [a, b]] >= 0).all(axis=1))
            around = by_definition(matrix[both, a], matrix[both, b]) if len(both) else []
            for place, value in zip(both, around, strict=True):
                values[place].append(value)
    return np.array([np.mean(some) if some else np.nan for some in values])


def test_worked_example():
    expected = [0.75, 0.75, 0.75, 0.25, 0.5, 0.5, 0.5, 0.5]
    np.testing.assert_allclose(ecs(W[:, 0], W[:, 1], per_object=True), expected)
    assert ecs(W[:, 0], W[:, 1]) == pytest.approx(0.5625)
    half = [0.638889, 0.638889, 0.527778, 0.361111]
    np.testing.assert_allclose(consistency(W), half * 2, atol=5e-7)


@given(matrix=votes(gaps=False, max_clusterings=2), alpha=st.floats(0.1, 0.99))
def test_any_restart_gives_the_closed_form(matrix, alpha):
    a, b = matrix[:, 0], matrix[:, -1]
    expected = by_definition(a, b, alpha)
    np.testing.assert_allclose(ecs(a, b, per_object=True), expected, atol=1e-12)
    assert ecs(a, b) == pytest.approx(expected.mean())


@given(matrix=votes(max_clusterings=6))
def test_consistency_is_the_mean_over_pairs(matrix):
    assume(matrix.shape[1] > 1)
    found = consistency(matrix, n_jobs=2)
    np.testing.assert_allclose(found, by_gaps(matrix), atol=1e-12)
    np.testing.assert_array_equal(found, consistency(en.Ensemble(matrix), n_jobs=1))


@given(matrix=votes(), data=st.data())
def test_consistency_with_one_clustering(matrix, data):
    n = len(matrix)
    labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    expected = []
    for vote in matrix.T:
        both = (labels >= 0) & (vote >= 0)
        around = np.full(n, np.nan)
        around[both] = by_definition(labels[both], vote[both])
        expected.append(around)
    counted = np.isfinite(expected).sum(axis=0)
    mean = np.divide(
        np.nansum(expected, axis=0), counted, out=np.full(n, np.nan), where=counted > 0
    )
    np.testing.assert_allclose(consistency(matrix, labels=labels), mean, atol=1e-12)


@given(matrix=votes(max_clusterings=5), seed=st.integers(0, 9))
def test_names_and_order_do_not_matter(matrix, seed):
    assume(matrix.shape[1] > 1)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
    renamed = np.where(matrix < 0, -1, 90 - 7 * matrix)
    other = consistency(renamed[rows][:, columns])
    np.testing.assert_allclose(other, consistency(matrix)[rows], atol=1e-12)


def test_gaps_and_groups():
    found = ecs([0, 0, 1, None], ["a", "a", "b", "b"], per_object=True)
    np.testing.assert_array_equal(found, [1, 1, 1, np.nan])
    assert ecs([0, 0, 1, None], ["a", "a", "b", "b"]) == 1.0
    groups = en.microclusters(W)
    ensemble = en.Ensemble.of_groups(groups.table, groups.sizes, en.Ensemble(W).labels)
    np.testing.assert_allclose(consistency(ensemble)[groups.of_object], consistency(W))
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    of_groups = labels[np.unique(groups.of_object, return_index=True)[1]]
    np.testing.assert_allclose(
        consistency(ensemble, labels=of_groups)[groups.of_object], consistency(W, labels=labels)
    )


def test_what_cannot_be_compared():
    with pytest.raises(ValueError, match="No object has a label in both"):
        ecs([0, None], [None, 1])
    with pytest.raises(ValueError, match=r"got one\. Pass more clusterings, or labels"):
        consistency([[0], [1]])
    with pytest.raises(ValueError, match="labels of the same objects"):
        ecs([0, 1], [0, 1, 2])
    assert np.isnan(consistency([[0, -1], [-1, 0], [0, 0]])[:2]).all()


@given(matrix=votes(gaps=False, max_clusterings=2))
def test_clusim_says_the_same(matrix):
    clustering = pytest.importorskip("clusim.clustering").Clustering
    sim = pytest.importorskip("clusim.sim")
    a, b = (clustering().from_membership_list(matrix[:, place].tolist()) for place in (0, -1))
    assert ecs(matrix[:, 0], matrix[:, -1]) == pytest.approx(sim.element_sim(a, b, alpha=0.9))
