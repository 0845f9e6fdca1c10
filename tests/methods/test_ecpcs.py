"""ECPCS: similarities of clusters by random walks, and both ways to use them."""

import pickle
import warnings

import numpy as np
import pytest
import similarity_twins
from hypothesis import given
from hypothesis import strategies as st
from planted import PLACES, at, noisy
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

import ensemblage as en
from ensemblage import flow, metrics
from ensemblage.testing.strategies import votes


def test_worked_similarity_of_clusters(e2, e3):
    for n_steps, expected in (
        (1, [0.135515, 0.384615, 0.923077, 0]),
        (2, [0.222743, 0.442963, 0.917751, 0.050463]),
        (20, [0.753954, 0.828084, 0.970142, 0.667390]),
    ):
        Z = en.ECPCS(2, n_steps=n_steps).fit(e2).cluster_similarity_
        np.testing.assert_allclose(at(Z, "12", "34", "45", "35"), expected, atol=5e-7)
        np.testing.assert_array_equal(Z[:2, 2:], 0)  # two clusterings: a bipartite graph
    Z = en.ECPCS(2).fit(e3).cluster_similarity_
    row = [1, 0.800361, 0.882961, 0.900604, 0.647213, 0.924757, 0.647213]
    np.testing.assert_allclose(Z[0], row, atol=5e-7)
    np.testing.assert_allclose(
        at(Z, "25", "34", "36", "46", "57"),
        [0.904180, 0.921692, 0.927221, 0.903092, 0.797135],
        atol=5e-7,
    )


def test_worked_enhanced_coassociation(e2, e3):
    found = at(en.ECPCS(2).fit(e2).similarity_, *PLACES)
    expected = [0.914042, 0.791019, 0.710672, 0.876977, 0.862048, 0.985071]
    np.testing.assert_allclose(found, expected, atol=5e-7)
    found = at(en.ECPCS(2).fit(e3).similarity_, *PLACES)
    expected = [0.973897, 0.907351, 0.716099, 0.933454, 0.767126, 0.833672]
    np.testing.assert_allclose(found, expected, atol=5e-7)


@pytest.mark.parametrize("seed", range(5))
def test_worked_meta_clusters(e3, seed):
    est = en.ECPCS(2, variant="mc", random_state=seed).fit(e3)
    cut = est._normalised_cut
    np.testing.assert_allclose(cut.eigenvalues(3), [0.926789, 0.176938, 0.108437], atol=5e-7)
    second = cut._leading(2)[1][:, 1]
    assert (np.sign(second) * np.sign(second[0])).tolist() == [1, -1, 1, 1, -1, 1, -1]
    part = flow.discretise(cut.embedding(2), np.random.default_rng(seed))
    part = part if part[0] == 0 else 1 - part
    assert part.tolist() == [0, 1, 0, 0, 1, 0, 1]
    shares = flow.part_shares(est._membership, part)
    np.testing.assert_allclose(shares, [[0.75, 0], [0.75, 0], [0.5, 1 / 3], [0, 1]])
    assert est.labels_.tolist() == [0, 0, 0, 0, 0, 0, 1, 1]


@given(matrix=votes(max_objects=16), n_steps=st.integers(1, 20))
def test_ecpcs_similarities_are_those_of_the_objects(matrix, n_steps):
    est = en.ECPCS(1, n_steps=n_steps).fit(matrix)
    of_object = est.microclusters_.of_object
    found = est.similarity_[np.ix_(of_object, of_object)]
    np.testing.assert_allclose(found, similarity_twins.ecpcs(matrix, n_steps), atol=1e-10)
    np.testing.assert_array_equal(est.similarity_, est.similarity_.T)
    np.testing.assert_array_equal(est.similarity_.diagonal(), 1)
    Z = similarity_twins.ecpcs_clusters(matrix, n_steps)
    np.testing.assert_allclose(est.cluster_similarity_, Z, atol=1e-10)


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
@given(matrix=votes(max_objects=14))
def test_ecpcs_trees_are_those_of_the_objects(linkage, matrix):
    est = en.ECPCS(1, linkage=linkage).fit(matrix)
    of_object = est.microclusters_.of_object
    tree = flow.tree_of_objects(est.linkage_matrix_, of_object, np.zeros(est.n_microclusters_))
    similarity_twins.check_tree(1 - similarity_twins.ecpcs(matrix), linkage, tree)


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_ecpcs_partitions_are_those_of_scipy_on_the_objects(linkage, gaps):
    matrix, _ = noisy([20, 15, 15, 10], 5, 0.3, gaps=gaps)
    est = en.ECPCS(4, linkage=linkage).fit(matrix)
    distance = 1 - similarity_twins.ecpcs(matrix)
    np.fill_diagonal(distance, 0)
    rng = np.random.default_rng(0)
    n_orders = 10 if linkage == "complete" else 0  # whose earlier ties decide about later cuts
    orders = [np.arange(len(matrix)), *(rng.permutation(len(matrix)) for _ in range(n_orders))]
    trees = [
        scipy_linkage(squareform(distance[np.ix_(order, order)], checks=False), linkage)
        for order in orders
    ]
    compared = 0
    for k in range(2, est.n_microclusters_):
        after, before = trees[0][len(matrix) - k - 1, 2], trees[0][len(matrix) - k, 2]
        labels = [flow.cut_tree(t, k)[np.argsort(o)] for t, o in zip(trees, orders, strict=True)]
        if before - after > 1e-9 and all(metrics.ari(labels[0], some) == 1.0 for some in labels):
            assert metrics.ari(est.cut(k), labels[0]) == 1.0
            compared += 1
    assert compared > (2 if linkage == "complete" and gaps else 10)


def test_meta_clusters_see_through_noise_and_build_no_square(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a matrix of all pairs was built")

    monkeypatch.setattr("ensemblage.flow.graded_coassociation", refuse)
    matrix, truth = noisy([50, 30, 40], 12, 0.2, gaps=0.05)
    est = en.ECPCS(3, variant="mc", random_state=0).fit(matrix)
    assert metrics.ari(truth, est.labels_) > 0.9
    assert not hasattr(est, "similarity_")
    assert not hasattr(est, "linkage_matrix_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        for k in (1, 2, 5, 20):
            other = en.ECPCS(k, variant="mc", random_state=0, n_jobs=2).fit(matrix)
            np.testing.assert_array_equal(est.cut(k), other.labels_)
            assert ((other.confidence_ >= 0) & (other.confidence_ <= 1)).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(est)).cut(2), est.cut(2))
    np.testing.assert_array_equal(est.predict(matrix), est.labels_)


@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
@given(matrix=votes(), data=st.data())
def test_meta_clusters_of_anything(matrix, data):
    k = data.draw(st.integers(1, len(en.microclusters(matrix).sizes)))
    est = en.ECPCS(k, variant="mc", random_state=0).fit(matrix)
    assert est.n_clusters_ <= k


def test_ecpcs_forgets_the_other_variant(e3):
    est = en.ECPCS(2).fit(e3)
    assert hasattr(est, "similarity_")
    est.set_params(variant="mc", random_state=0).fit(e3)
    assert not hasattr(est, "similarity_")
