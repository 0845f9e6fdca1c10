"""Confidence by co-association, of every method and of new rows."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from planted import noisy, quiet

import ensemblage as en
from ensemblage.testing.strategies import votes


def agreement(row, other):
    """Return the share of clusterings in which two rows agree, of those in which both voted."""
    both = (row >= 0) & (other >= 0)
    return (row == other)[both].mean() if both.any() else 0.0


def slow_confidence(row, label, rows, labels, skip=None):
    """Return (a - b) / max(a, b) over the objects themselves, leaving out one of them."""
    means = {}
    for cluster in set(labels.tolist()):
        others = [i for i in np.flatnonzero(labels == cluster) if i != skip]
        means[cluster] = np.mean([agreement(row, rows[i]) for i in others]) if others else 0.0
    a = means.pop(label)
    if not means:
        return a
    b = max(means.values())
    return max(0.0, (a - b) / max(a, b)) if max(a, b) > 0 else 0.0


@given(votes(max_objects=12), st.sampled_from(["EAC", "PTA", "PTGP", "LWGP", "Vote", "Consensus"]))
@example(np.array([[2, 1], [0, 1], [1, 1], [1, 1]]), "EAC")
def test_it_is_the_margin_of_co_association(matrix, name):
    k = min(2, len(en.microclusters(matrix).sizes))
    est = quiet(getattr(en, name)(k), matrix)
    codes = est.microclusters_.table[est.microclusters_.of_object]
    expected = [
        slow_confidence(codes[i], est.labels_[i], codes, est.labels_, skip=i)
        for i in range(len(codes))
    ]
    if k > 1:
        expected *= lead_of_linked(codes, est.labels_)
    np.testing.assert_allclose(est.confidence_, expected, atol=1e-9)


def lead_of_linked(codes, labels):
    """Return which share of its cluster each object is linked with, less the share it is not.

    Clusterings of one cluster link nothing, unless votes are missing or there are no others.
    """
    several = (codes != codes[0]).any(axis=0)
    if (codes >= 0).all() and several.any():
        codes = codes[:, several]
    shares = ((codes[:, None] == codes) & (codes >= 0)).any(axis=2)
    linked = np.linalg.matrix_power(shares.astype(float), len(codes)) > 0
    own = labels[:, None] == labels
    share = (linked & own).sum(axis=1) / own.sum(axis=1)
    return np.maximum(2 * share - 1, 0)


def test_what_no_clustering_joins_has_no_confidence():
    """Two blocks that never meet, forced into one cluster beside a third."""
    matrix = np.repeat(np.arange(3), 20)[:, None] * np.ones((1, 5), dtype=int)
    est = en.EAC(2).fit(matrix)
    joined = est.labels_ == np.bincount(est.labels_).argmax()
    assert (est.confidence_[joined] == 0).all()
    assert (est.confidence_[~joined] == 1).all()
    one = en.EAC(1).fit(matrix)
    np.testing.assert_allclose(one.confidence_, 19 / 59)


@pytest.mark.parametrize("name", ["Consensus", "EAC", "PTGP", "Vote"])
def test_new_rows_have_a_confidence_too(name):
    matrix, _ = noisy([30, 30, 30], 6, 0.3)
    new = np.random.default_rng(5).integers(0, 3, (25, 6))
    est = getattr(en, name)(3).fit(matrix)
    labels, sure = est.predict(matrix, return_confidence=True)
    np.testing.assert_array_equal(labels, est.labels_)
    np.testing.assert_allclose(sure, est.confidence_)
    labels, sure = est.predict(new, return_confidence=True)
    np.testing.assert_array_equal(labels, est.predict(new))
    seen = {tuple(row): own for row, own in zip(matrix, est.confidence_, strict=True)}
    for row, label, found in zip(new, labels, sure, strict=True):
        expected = seen.get(tuple(row))
        if expected is None:
            expected = slow_confidence(row, label, matrix, est.labels_)
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_clusterer_of_features_gives_it_for_new_objects():
    rng = np.random.default_rng(0)
    features = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(5, 1, (40, 2))])
    model = en.EnsembleClustering(2, n_members=8, random_state=0).fit(features)
    labels, sure = model.predict(features, return_confidence=True)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_allclose(sure, model.confidence_)


@pytest.mark.parametrize("name", ["PTA", "PTGP"])
def test_that_of_trajectories_has_a_name_of_its_own(name):
    matrix, _ = noisy([40, 40, 40], 8, 0.4)
    est = getattr(en, name)(3).fit(matrix)
    similarity, sizes = est.similarity_, est.microclusters_.sizes
    labels = est._micro_labels
    expected = []
    for i in range(len(sizes)):
        means = []
        for cluster in range(3):
            weight = np.where(labels == cluster, sizes, 0) - (np.arange(len(sizes)) == i)
            weight = np.maximum(weight, 0)
            means.append(similarity[i] @ weight / weight.sum() if weight.sum() else 0.0)
        a, b = means[labels[i]], max(m for c, m in enumerate(means) if c != labels[i])
        expected.append(max(0.0, (a - b) / max(a, b)) if max(a, b) > 0 else 0.0)
    expected = np.array(expected)[est.microclusters_.of_object]
    np.testing.assert_allclose(est.trajectory_confidence_, expected, atol=1e-9)
