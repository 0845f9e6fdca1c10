"""Normalised weights of LWEA, LWGP and LWPT: worked numbers and edges."""

import pickle

import graph_twins
import numpy as np
import pytest
from hypothesis import given

import ensemblage as en
from ensemblage.testing.strategies import votes

#: Example W of METHODS2; rows y5 and y6 stand the other way round here.
W = np.array(
    [(1, 1, 1), (1, 1, 1), (1, 1, 2), (1, 2, 2), (2, 2, 3), (2, 2, 3), (2, 3, 3), (2, 3, 1)]
)


def test_worked_weights_and_similarities():
    est = en.LWEA(2, weights="normalized").fit(W)
    expected = [0.002387, 0.002387, 0.144964, 0.021015, 0.122078, 0.021015, 0.122078, 0.144964]
    np.testing.assert_allclose(est.certainties_, expected, atol=1e-6)
    order = [0, 1, 2, 3, 5, 4]
    similarity = est.similarity_[np.ix_(order, order)]
    pairs = {
        (1, 1): 0.056122, (1, 2): 0.049117, (1, 3): 0.000796, (1, 5): 0.007005, (2, 2): 0.089810,
        (2, 3): 0.041488, (3, 3): 0.048493, (3, 4): 0.007005, (4, 4): 0.056122, (4, 5): 0.000796,
        (4, 6): 0.049117, (5, 5): 0.048493, (5, 6): 0.041488, (6, 6): 0.089810,
    }  # fmt: skip
    expected = np.zeros((6, 6))
    for (a, b), value in pairs.items():
        expected[a - 1, b - 1] = expected[b - 1, a - 1] = value
    np.testing.assert_allclose(similarity, expected, atol=1e-6)


def test_worked_labels():
    assert en.LWEA(2, weights="normalized").fit_predict(W).tolist() == [0] * 4 + [1] * 4
    assert en.LWPT(2, weights="normalized").fit_predict(W).tolist() == [0] * 4 + [1] * 4
    assert en.LWPT(3, weights="normalized").fit_predict(W).tolist() == [0, 0, 0, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("name", "kind", "theta"),
    [("LWEA", "entropy", 0.4), ("LWEA", "normalized", 0.1), ("LWGP", "entropy", 0.4),
     ("LWGP", "normalized", 0.1), ("LWPT", "entropy", 0.15), ("LWPT", "normalized", 0.06)],
)  # fmt: skip
def test_theta_has_a_default_for_each_kind_of_weights(name, kind, theta):
    matrix = np.random.default_rng(0).integers(0, 4, (60, 6))
    seed = {"random_state": 0} if name == "LWGP" else {}
    default, given_ = (
        getattr(en, name)(3, weights=kind, **words, **seed).fit(matrix)
        for words in ({}, {"theta": theta})
    )
    np.testing.assert_array_equal(default.labels_, given_.labels_)


def test_members_of_two_clusters_weigh_the_same_either_way():
    """log2(2) = 1, as for a member of one cluster."""
    matrix = np.random.default_rng(1).integers(0, 2, (40, 5))
    matrix[:, 4] = 7
    one, other = (
        en.LWEA(2, weights=kind, theta=0.3).fit(matrix).certainties_
        for kind in ("entropy", "normalized")
    )
    np.testing.assert_allclose(one, other)


@given(votes(max_objects=12))
def test_weights_are_those_of_the_definition(matrix):
    est = en.LWEA(1, weights="normalized", theta=0.2).fit(matrix)
    table, sizes, _ = est.microclusters_
    members = [m for m in range(table.shape[1]) if (table[:, m] >= 0).any()]
    expected = []
    for m in members:
        n_own = table[:, m].max() + 1
        for cluster in range(n_own):
            inside = table[:, m] == cluster
            bits = 0.0
            for other in members:
                heard = inside & (table[:, other] >= 0)
                counts = np.bincount(table[heard, other], weights=sizes[heard])
                share = counts[counts > 0] / counts.sum()
                bits -= float((share * np.log2(share)).sum())
            scaled = bits / np.log2(max(n_own, 2))
            expected.append(np.exp(-scaled / (0.2 * len(members))))
    np.testing.assert_allclose(est.certainties_, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["LWEA", "LWGP", "LWPT"])
@pytest.mark.parametrize(
    ("words", "text"),
    [({"weights": "plain"}, "'weights' parameter"), ({"theta": "big"}, "'theta' parameter"),
     ({"theta": 0}, "'theta' parameter")],
)  # fmt: skip
def test_wrong_parameters_are_refused(name, words, text):
    with pytest.raises(ValueError, match=text):
        getattr(en, name)(2, **words).fit(W)


def test_lwpt_with_fewer_rows_than_clusters(monkeypatch):
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(3), [20, 15, 10])
    matrix = np.where(rng.random((45, 40)) < 0.3, rng.integers(0, 6, (45, 40)), truth[:, None])
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1300000")  # 2.8 MB for all pairs of 215 clusters
    est = en.LWPT(3).fit(matrix)
    assert len(est._transfer_cut.eigenvalues()) == 45
    monkeypatch.delenv("ENSEMBLAGE_MEMORY")
    copy = pickle.loads(pickle.dumps(est))
    for k in (2, 3, 5):
        expected, margin = graph_twins.lwpt(matrix, k)
        assert margin > 1e-8
        assert en.metrics.ari(est.cut(k), expected) == 1
        np.testing.assert_array_equal(copy.cut(k), est.cut(k))
