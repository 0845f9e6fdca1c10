"""The walk as a GPU computes it, run on the processor: the same code, given NumPy and SciPy."""

import sys

import numpy as np
import pytest
from hypothesis import given

import ensemblage as en
from ensemblage import _device, flow
from ensemblage.testing.strategies import ensembles


def _walk(matrix, n_neighbors):
    groups = en.microclusters(matrix)
    return flow.transition_matrix(flow.elite_graph(groups.table, n_neighbors), groups.sizes), groups


@given(ensembles())
def test_results_are_those_of_the_panels(drawn):
    matrix, n_neighbors, n_steps = drawn
    P, groups = _walk(matrix, n_neighbors)
    norms = flow.trajectory_norms(P, n_steps)
    np.testing.assert_allclose(
        _device.trajectory_norms(P, n_steps, _device.HOST), norms, atol=1e-13
    )
    similarity = _device.trajectory_similarity(P, n_steps, _device.HOST)
    np.testing.assert_allclose(similarity, flow.trajectory_similarity(P, n_steps), atol=1e-13)
    np.testing.assert_array_equal(similarity, similarity.T)
    columns = flow.cluster_means(groups.table)
    product = flow.similarity_product(P, norms, columns, n_steps)
    for form in (columns, columns.toarray()):
        found = _device.similarity_product(P, norms, form, n_steps, _device.HOST)
        np.testing.assert_allclose(found, product, atol=1e-13)


def test_blocks_do_not_matter(monkeypatch):
    matrix = np.random.default_rng(0).integers(0, 3, (60, 4))
    P, groups = _walk(matrix, 3)
    whole = _device.trajectory_norms(P, 4, _device.HOST)
    columns = flow.cluster_means(groups.table)
    product = _device.similarity_product(P, whole, columns, 4, _device.HOST)
    similarity = _device.trajectory_similarity(P, 4, _device.HOST)
    monkeypatch.setattr(_device, "_BLOCK", 4)
    np.testing.assert_array_equal(_device.trajectory_norms(P, 4, _device.HOST), whole)
    np.testing.assert_array_equal(
        _device.similarity_product(P, whole, columns, 4, _device.HOST), product
    )
    again = _device.trajectory_similarity(P, 4, _device.HOST)
    np.testing.assert_array_equal(again, again.T)
    np.testing.assert_allclose(again, similarity, atol=1e-15)


def test_the_processor_needs_no_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # importing it fails
    assert _device.chosen("cpu", 10**6) is None
    assert _device.chosen("auto", 10**6) is None
    assert _device.chosen("auto", 10) is None
    with pytest.raises(ImportError, match=r"ensemblage\[gpu\]"):
        _device.chosen("cuda", 10)


@pytest.mark.parametrize("method", [en.PTA, en.PTGP])
def test_estimators_compute_where_they_are_told(monkeypatch, method):
    asked = []

    def chosen(device, n_microclusters):
        asked.append((device, n_microclusters))
        return _device.HOST if device == "cuda" else None

    monkeypatch.setattr(_device, "chosen", chosen)
    votes = np.random.default_rng(1).integers(0, 3, (80, 5))
    seeds = {"random_state": 0} if method is en.PTGP else {}
    here = method(3, **seeds).fit(votes)
    there = method(3, device="cuda", **seeds).fit(votes)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.confidence_, here.confidence_, atol=1e-10)
    np.testing.assert_allclose(there.similarity_, here.similarity_, atol=1e-12)
    assert ("cuda", here.n_microclusters_) in asked


@pytest.mark.parametrize("method", [en.PTA, en.PTGP])
def test_other_devices_are_refused(method):
    with pytest.raises(ValueError, match=r"'device' parameter of PT.* 'cpu', 'cuda', 'auto'"):
        method(2, device="tpu").fit([[0, 1], [1, 0]])
