"""Clusters that are two groups, beside the definition object by object."""

import warnings

import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import ensemblage as en
from ensemblage import metrics
from ensemblage.metrics import explain_splits
from ensemblage.testing.strategies import votes


def fitted(matrix, k, method=en.EAC, **options):
    k = min(k, len(en.Ensemble(matrix).microclusters.sizes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        return method(n_clusters=k, **options).fit(matrix)


def by_definition(matrix, labels, halves, cluster):
    """Return the sizes, the clarity and the co-association of two halves, over objects."""
    own = np.flatnonzero(labels == cluster)
    similarity, half = twins.coassociation(matrix[own]), halves[own]
    sure = twins.confidence(similarity, half, np.ones(len(own), dtype=int))
    between = similarity[np.ix_(half == 0, half == 1)]
    return np.bincount(half, minlength=2), sure.mean(), between.mean()


@settings(max_examples=60)
@given(votes(max_objects=40), st.integers(1, 4))
def test_splits_agree_with_their_definition(matrix, k):
    for method, options in [(en.EAC, {}), (en.CSPA, {"level": "objects", "random_state": 0})]:
        est = fitted(matrix, k, method, **options)
        found = metrics.splits(est)
        k_found, n = est.n_clusters_, len(matrix)
        least = max(2, int(0.1 * n / k_found))
        sure = np.array([est.confidence_[est.labels_ == c].mean() for c in range(k_found)])
        for c in range(k_found):
            others = np.delete(sure, c)
            usual = np.median(others) if len(others) else 0.0
            assert found.usual[c] == pytest.approx(usual, abs=1e-12)
            assert found.two_groups[c] == (
                found.clarity[c] >= 0.5 and found.clarity[c] >= 0.8 * found.usual[c]
            )
            if found.sizes[c, 1] == 0:
                assert (found.clarity[c], found.together[c]) == (0.0, 1.0)
                assert not found.halves[est.labels_ == c].any()
                continue
            sizes, clarity, together = by_definition(matrix, est.labels_, found.halves, c)
            assert found.sizes[c].tolist() == sizes.tolist()
            assert sizes[0] >= sizes[1] >= least
            assert found.clarity[c] == pytest.approx(clarity, abs=1e-12)
            assert found.together[c] == pytest.approx(together, abs=1e-12)
        assert found.sizes.sum() == n


@settings(max_examples=40)
@given(votes(max_objects=40, gaps=False), st.integers(1, 3))
def test_the_split_is_that_of_average_link_on_the_cluster_alone(matrix, k):
    est = fitted(matrix, k)
    found = metrics.splits(est)
    least = max(2, int(0.1 * len(matrix) / est.n_clusters_))
    for c in range(est.n_clusters_):
        inside = matrix[est.labels_ == c]
        alone = fitted(inside, 2, min_cluster_size=least).labels_
        sizes = np.bincount(alone, minlength=2)
        if found.sizes[c, 1] == 0:
            assert min(sizes) < least
        else:
            assert metrics.ari(alone, found.halves[est.labels_ == c]) == 1.0


def blobs(seed, n_clusters, n_members, ks=None):
    """Return votes of k-means on clear blobs, and which blob each object is of."""
    features, truth = make_blobs(
        60 * n_clusters,
        centers=n_clusters,
        cluster_std=0.4,
        center_box=(-20, 20),
        n_features=4,
        random_state=seed,
    )
    rng = np.random.default_rng(seed)
    ks = [n_clusters] * n_members if ks is None else rng.integers(*ks, n_members)
    runs = [
        KMeans(int(k), n_init=1, random_state=m).fit_predict(features) for m, k in enumerate(ks)
    ]
    return np.column_stack(runs), truth


def with_labels(matrix, labels):
    """Return a fitted method with labels of our own, as a method that errs would have."""
    est = en.EAC(1).fit(matrix)
    _, first = np.unique(est.microclusters_.of_object, return_index=True)
    est.labels_, est._micro_labels, est._confidence = labels, labels[first], None
    est.n_clusters_ = int(labels.max()) + 1
    return est


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ks", [None, (2, 16)])
def test_clear_clusters_are_not_two_groups_and_merged_ones_are(seed, ks):
    matrix, truth = blobs(seed, 6, 15, ks)
    good = metrics.splits(with_labels(matrix, truth))
    assert not good.two_groups.any()
    means = np.array(
        [
            [(matrix[truth == a][:, None] == matrix[truth == b]).mean() for b in range(6)]
            for a in range(6)
        ]
    )
    apart = np.argwhere(means == means.min())[0]  # two blobs that members hardly ever join
    merged = np.unique(np.where(truth == apart[1], apart[0], truth), return_inverse=True)[1]
    found = metrics.splits(with_labels(matrix, merged))
    place = merged[truth == apart[0]][0]
    assert np.flatnonzero(found.two_groups).tolist() == [place]
    own = merged == place
    assert metrics.ari(truth[own], found.halves[own]) == 1.0


def test_two_blocks_that_no_member_put_together_are_named():
    matrix = np.repeat(np.arange(5), 40)[:, None] * np.ones(6, dtype=int)
    est = with_labels(matrix, np.repeat([0, 0, 1, 2, 3], 40))
    found = metrics.splits(est)
    assert (est.confidence_ == np.repeat([0.0, 1.0], [80, 120])).all()  # chance joined the first
    assert found.two_groups.tolist() == [True, False, False, False]
    assert found.sizes[0].tolist() == [40, 40]
    assert (found.clarity[0], found.together[0]) == (1.0, 0.0)
    assert len(set(found.halves[:40])) == len(set(found.halves[40:80])) == 1


def test_noise_has_no_groups():
    matrix = np.random.default_rng(0).integers(0, 4, (200, 10))
    for k in (1, 3, 5):
        assert not metrics.splits(en.EAC(k).fit(matrix)).two_groups.any()


def test_order_and_names_do_not_matter():
    matrix, _ = blobs(1, 5, 9, (2, 12))
    weight = np.sqrt([2, 3, 5, 7, 11, 13, 17, 19, 23])  # by which no two similarities tie
    est = en.EAC(3).fit(matrix, member_weight=weight)
    order = np.random.default_rng(0).permutation(len(matrix))
    other = en.EAC(3).fit(97 - matrix[order][:, ::-1], member_weight=weight[::-1])
    one, two = metrics.splits(est), metrics.splits(other)
    same = [other.labels_[np.argsort(order)][est.labels_ == c][0] for c in range(3)]
    np.testing.assert_array_equal(one.sizes, two.sizes[same])
    np.testing.assert_allclose(one.clarity, two.clarity[same])
    np.testing.assert_array_equal(one.two_groups, two.two_groups[same])


def test_members_count_by_their_weight_and_groups_by_their_size():
    matrix, _ = blobs(2, 4, 6, (2, 9))
    weight = np.array([1, 2, 0, 1, 3, 1])
    weighed = en.EAC(2).fit(matrix, member_weight=weight)
    repeated = en.EAC(2).fit(np.repeat(matrix, weight, axis=1))
    whole = en.Ensemble(matrix)
    groups = whole.microclusters
    parts = en.EAC(2).fit(en.Ensemble.of_groups(groups.table, groups.sizes, whole.labels))
    for one, other in [(weighed, repeated), (en.EAC(2).fit(matrix), parts)]:
        for a, b in zip(metrics.splits(one)[:5], metrics.splits(other)[:5], strict=True):
            np.testing.assert_allclose(a, b)


def test_of_many_microclusters_some_are_looked_at(monkeypatch):
    matrix, truth = blobs(3, 4, 30, (4, 30))
    est = with_labels(matrix, truth // 2)
    exact = metrics.splits(est)
    monkeypatch.setattr(explain_splits, "_MOST_MICROCLUSTERS", 40)
    assert est.n_microclusters_ > 160
    found = metrics.splits(est)
    assert exact.two_groups.all()
    assert found.two_groups.all()
    np.testing.assert_array_equal(found.halves, exact.halves)
    np.testing.assert_allclose(found.clarity, exact.clarity, atol=0.1)
    assert metrics.ari(truth, 2 * est.labels_ + found.halves) == 1.0


def test_it_prints_small_and_becomes_a_frame():
    est = en.EAC(2).fit([[0, 0, 0]] * 4 + [[1, 1, 1]] * 3 + [[2, 2, 2]] * 5)
    frame = metrics.splits(est).to_frame()
    assert frame.index.name == "cluster"
    assert frame.loc[0, ["larger", "smaller", "two_groups"]].tolist() == [5, 4, True]
    assert "halves" not in frame


def test_only_votes_that_were_fitted():
    with pytest.raises(ValueError, match="Call its fit"):
        metrics.splits(en.EAC(2))
    est = en.EAC(2, affinity="precomputed").fit(np.eye(4))
    with pytest.raises(ValueError, match="was fitted on a similarity"):
        metrics.splits(est)
