"""Summaries of clusters and members, beside their definitions object by object."""

import warnings

import numpy as np
import pandas as pd
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import ensemblage as en
from ensemblage import metrics
from ensemblage.metrics import explain_members
from ensemblage.testing.strategies import votes


def fitted(matrix, k=None, method=en.EAC, **options):
    n = en.Ensemble(matrix).microclusters.sizes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        return method(n_clusters=min(k or 3, len(n)), **options).fit(matrix)


def clusters_by_definition(matrix, labels, confidence):
    a = twins.coassociation(matrix)
    k = labels.max() + 1
    consensus, nearest, similarity = np.ones(k), np.full(k, -1), np.zeros(k)
    for c in range(k):
        own = np.flatnonzero(labels == c)
        pairs = [a[i, j] for i in own for j in own if i != j]
        if pairs:
            consensus[c] = np.mean(pairs)
        between = {d: a[np.ix_(own, labels == d)].mean() for d in range(k) if d != c}
        if between:
            nearest[c] = max(between, key=between.get)
            similarity[c] = max(between.values())
    mean = np.array([confidence[labels == c].mean() for c in range(k)])
    return np.bincount(labels), consensus, mean, nearest, similarity


@settings(max_examples=40)
@given(votes(), st.integers(1, 5))
def test_clusters_agree_with_their_definition(matrix, k):
    for method, options in [(en.EAC, {}), (en.CSPA, {"level": "objects", "random_state": 0})]:
        est = fitted(matrix, k, method, **options)
        found = metrics.clusters(est)
        sizes, consensus, confidence, _, similarity = clusters_by_definition(
            matrix, est.labels_, est.confidence_
        )
        np.testing.assert_array_equal(found.sizes, sizes)
        np.testing.assert_allclose(found.consensus, consensus, atol=1e-12)
        np.testing.assert_allclose(found.confidence, confidence, atol=1e-12)
        np.testing.assert_allclose(found.nearest_similarity, similarity, atol=1e-12)
        np.testing.assert_array_equal(est.cluster_consensus_, found.consensus)


def test_the_nearest_cluster():
    matrix = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0], [2, 2, 1], [2, 2, 1]])
    est = en.EAC(n_clusters=3).fit(matrix)
    found = metrics.clusters(est)
    assert found.nearest.tolist() == [1, 0, 0]
    np.testing.assert_allclose(found.nearest_similarity, [1 / 3, 1 / 3, 0])
    assert found.consensus.tolist() == [1, 1, 1]


def test_one_cluster_has_no_neighbour():
    found = metrics.clusters(en.EAC(n_clusters=1).fit([[0, 1], [0, 2], [1, 2]]))
    assert found.nearest.tolist() == [-1]
    assert found.nearest_similarity.tolist() == [0.0]
    assert found.consensus[0] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


def test_a_cluster_of_one_object_has_consensus_1():
    est = en.EAC(n_clusters=2).fit([[0, 0], [0, 0], [1, 1]])
    assert metrics.clusters(est).consensus.tolist() == [1.0, 1.0]


def test_groups_count_by_their_sizes():
    rng = np.random.default_rng(3)
    matrix = rng.integers(-1, 3, (60, 3))
    matrix[:, 0] = np.abs(matrix[:, 0])
    whole = en.Ensemble(matrix)
    groups = whole.microclusters
    parts = en.Ensemble.of_groups(groups.table, groups.sizes, whole.labels)
    a, b = (en.EAC(n_clusters=4).fit(ensemble) for ensemble in (whole, parts))
    for one, other in zip(metrics.clusters(a), metrics.clusters(b), strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(a.member_agreement_, b.member_agreement_)


@settings(max_examples=40)
@given(votes(max_clusterings=6))
def test_members_agree_with_their_definition(matrix):
    est = fitted(matrix)
    found = metrics.members(est)
    n_members = matrix.shape[1]
    similarity = np.eye(n_members)
    for m in range(n_members):
        heard = matrix[:, m] >= 0
        agreement = metrics.nmi(est.labels_[heard], matrix[heard, m]) if heard.any() else 0.0
        assert found.agreement[m] == pytest.approx(agreement, abs=1e-12)
        assert found.turnout[m] == pytest.approx(heard.mean())
        assert found.n_clusters[m] == len(set(matrix[heard, m].tolist()))
        for o in range(n_members):
            both = heard & (matrix[:, o] >= 0)
            if m != o:
                similarity[m, o] = both.any() and twins.nmi(matrix[both, m], matrix[both, o], "max")
    np.testing.assert_allclose(metrics.member_similarity(matrix), similarity, atol=1e-9)
    others = [np.delete(similarity[m], m) for m in range(n_members)]
    expected = [row.mean() if len(row) else 1.0 for row in others]
    np.testing.assert_allclose(found.agreement_with_others, expected, atol=1e-9)
    np.testing.assert_allclose(found.diversity, 1 - np.array(expected), atol=1e-9)
    np.testing.assert_array_equal(est.member_agreement_, found.agreement)
    assert [bool(reason) for reason in found.reasons] == found.look_at.tolist()


def test_similarity_does_not_depend_on_threads():
    matrix = np.random.default_rng(0).integers(-1, 9, (500, 40))
    matrix[:, 0] = 0
    one, two = (metrics.member_similarity(matrix, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, one.T)


def test_many_clusters_take_little_memory():
    # A contingency table of these two would have 4e8 cells.
    a = np.arange(20_000)
    matrix = np.column_stack([a, a[::-1], a // 2])
    found = metrics.member_similarity(matrix)
    assert found[0, 1] == 1.0
    assert found[0, 2] == pytest.approx(np.log(10_000) / np.log(20_000))


def noisy(truth, share, rng):
    return np.where(rng.random(len(truth)) < share, rng.integers(0, 4, len(truth)), truth)


def test_whom_to_look_at():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 50)
    matrix = np.column_stack([noisy(truth, 0.1, rng) for _ in range(8)])
    few = np.where(rng.random(200) < 0.7, -1, truth)
    table = pd.DataFrame(matrix, columns=[f"run {m}" for m in range(8)])
    table = table.assign(copy=matrix[:, 2], flat=1, random=rng.integers(0, 4, 200), few=few)
    found = metrics.members(en.EAC(n_clusters=4).fit(table))
    why = dict(zip(found.names, found.reasons, strict=True))
    assert why["copy"] == "same partition as run 2"
    assert why["flat"] == "one cluster only"
    assert why["random"].startswith("low agreement with the others (mean NMI 0.0")
    assert "labels only" in why["few"]
    assert [name for name in found.names if why[name]] == ["copy", "flat", "random", "few"]
    assert found.names[0] == "run 0"


def test_who_agrees_with_nobody():
    rule = explain_members._reasons

    def found(others):
        n = len(others)
        table = np.arange(2 * n).reshape(2, n).astype(np.int32)  # all of them different
        return rule(list("abcdefgh")[:n], table, np.full(n, 2), np.ones(n), np.array(others))

    assert found([0.8, 0.8, 0.8, 0.39])[3] == "low agreement with the others (mean NMI 0.39)"
    assert found([0.8, 0.8, 0.8, 0.41]) == [""] * 4  # not less than half of the median
    assert found([0.8, 0.6, 0.4, 0.2, 0.9]) == [""] * 5  # 0.2, but everybody differs as much
    assert found([0.8, 0.8, 0.1]) == [""] * 3  # too few to judge


def test_other_names():
    est = en.EAC(n_clusters=2).fit([[0, 0], [0, 0], [1, 1]])
    assert metrics.members(est, names=["a", "b"]).reasons == ["", "same partition as a"]
    for names in ("a", 5, np.array(2)):
        with pytest.raises(ValueError, match=r"2 names, one for each clustering"):
            metrics.members(est, names=names)


def test_a_member_that_never_votes():
    found = metrics.members(en.EAC(n_clusters=2).fit([[0, -1], [0, -1], [1, -1]]))
    assert found.reasons == ["", "no votes"]
    assert found.agreement.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("n_members", [1, 2, 3])
def test_few_members_are_no_outliers(n_members):
    matrix = np.array([[0, 5, 1], [0, 6, 2], [1, 5, 3], [1, 6, 2]])[:, :n_members]
    found = metrics.members(en.EAC(n_clusters=2).fit(matrix))
    assert not found.look_at.any()
    assert found.reasons == [""] * n_members
    if n_members == 1:
        assert found.agreement_with_others.tolist() == [1.0]
        assert found.diversity.tolist() == [0.0]


def test_members_of_a_clusterer_of_features():
    features = np.random.default_rng(0).normal(size=(40, 2))
    model = en.EnsembleClustering(n_clusters=3, n_members=5, random_state=0).fit(features)
    assert metrics.members(model).names == ["0", "1", "2", "3", "4"]
    assert metrics.clusters(model).sizes.sum() == 40


@pytest.mark.parametrize("function", [metrics.clusters, metrics.members, metrics.seed_spread])
def test_only_what_is_fitted(function):
    with pytest.raises(NotFittedError, match=r"this PTGP has no labels_ and .* Call its fit"):
        function(en.PTGP(n_clusters=2))
    with pytest.raises(TypeError, match=r"got the class PTGP\. Make one"):
        function(en.PTGP)
    with pytest.raises(TypeError, match=f"metrics.{function.__name__} needs .* got an int"):
        function(3)


@pytest.mark.parametrize("name", ["cluster_consensus_", "member_agreement_"])
def test_attributes_belong_to_a_fit(name):
    with pytest.raises(AttributeError):
        getattr(en.PTGP(n_clusters=2), name)


# -- very many members -----------------------------------------------------------------------------


def many_members(n_members=40, n_objects=60):
    rng = np.random.default_rng(3)
    truth = np.arange(n_objects) % 4
    flipped = rng.random((n_objects, n_members)) < rng.uniform(0.05, 0.5, n_members)
    return np.where(flipped, rng.integers(0, 4, flipped.shape), truth[:, None])


def test_each_of_many_members_is_compared_with_some(monkeypatch):
    votes = many_members()
    model = en.EAC(4).fit(votes)
    everybody = en.metrics.members(model)
    monkeypatch.setattr(explain_members, "_MOST_COMPARED", 15)
    some = en.metrics.members(model)
    assert (everybody.n_compared, some.n_compared) == (40, 15)
    assert "each compared with 15 of them" in repr(some)
    assert "compared" not in repr(everybody)
    shown = explain_members.some_members(model.microclusters_.table, model.microclusters_.sizes, 15)
    pairs = en.metrics.member_similarity(votes)
    expected = [pairs[m, shown[shown != m]].mean() for m in range(40)]
    np.testing.assert_allclose(some.agreement_with_others, expected, atol=1e-12)
    np.testing.assert_array_equal(some.agreement, everybody.agreement)


def test_whom_members_are_compared_with_does_not_depend_on_their_order(monkeypatch):
    monkeypatch.setattr(explain_members, "_MOST_COMPARED", 15)
    votes = many_members()
    order = np.random.default_rng(0).permutation(40)
    one = en.metrics.members(en.EAC(4).fit(votes)).agreement_with_others
    other = en.metrics.members(en.EAC(4).fit(votes[::-1, order])).agreement_with_others
    np.testing.assert_allclose(other, one[order], atol=1e-12)
