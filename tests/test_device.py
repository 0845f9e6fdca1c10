"""The walk as a GPU computes it, run on the processor: the same code, given NumPy and SciPy."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given

import ensemblage as en
from ensemblage import _device, _device_rows, flow
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


@given(ensembles())
def test_the_elite_graph_is_that_of_the_processor(drawn):
    matrix, n_neighbors, _ = drawn
    table = en.microclusters(matrix).table
    if not _device_rows.can_compare(table):
        return
    found = _device_rows.nearest_rows(table, n_neighbors, _device.HOST)
    graph = flow.graph_of_neighbours(found, table.shape[1])
    expected = flow.elite_graph(table, n_neighbors)
    np.testing.assert_array_equal(graph.toarray(), expected.toarray())


@given(ensembles())
def test_planes_of_bits_tell_votes_apart(drawn):
    table = en.microclusters(drawn[0]).table
    if not _device_rows.can_compare(table):
        return
    planes = _device_rows.bit_planes(table)
    differs = np.bitwise_or.reduce(planes[:, None] ^ planes[None], axis=2)
    bits = np.unpackbits(np.ascontiguousarray(differs).view(np.uint8), axis=2)
    counts = table.shape[1] - bits.sum(axis=2, dtype=np.int64)
    np.testing.assert_array_equal(counts, (table[:, None] == table[None]).sum(axis=2))


def test_gaps_and_weights_are_compared_on_the_processor():
    table = np.array([[0, 1], [1, 0]], dtype=np.int32)
    assert _device_rows.can_compare(table)
    assert not _device_rows.can_compare(table, np.array([1.0, 2.0]))
    table[0, 0] = -1
    assert not _device_rows.can_compare(table)
    assert not _device_rows.can_join(table)
    assert not _device_rows.can_join(np.zeros((2, 1000), dtype=np.int32))


def test_leaders_are_those_of_the_processor():
    rng = np.random.default_rng(0)
    table = en.microclusters(rng.integers(0, 4, (300, 6))).table
    weight, members = rng.random(int((table.max(axis=0) + 1).sum())) + 0.1, np.ones(6)
    rows = np.arange(0, len(table), 7)
    here = flow.join_leaders(table, rows, weight, members)
    there = _device_rows.join_leaders(table, rows, weight, members, _device.HOST)
    np.testing.assert_array_equal(there.group, here.group)
    np.testing.assert_allclose(there.similarity, here.similarity, rtol=1e-5)


def test_estimated_lengths_are_near_the_exact_ones():
    matrix = np.random.default_rng(3).integers(0, 5, (900, 5))
    P, _ = _walk(matrix, 5)
    exact = flow.trajectory_norms(P, 6)
    rng = np.random.default_rng(0)
    found = _device.estimated_norms(P, 6, 512, rng, _device.HOST, error=0.02)
    assert np.sqrt(np.mean((found / exact - 1) ** 2)) < 0.04


def test_an_implicit_cut_on_a_device_survives_a_pickle(monkeypatch):
    monkeypatch.setattr("ensemblage.methods.ptgp._EXACT_NORMS", 50)
    monkeypatch.setattr(flow, "columns_of_implicit_cut", lambda _: 1)
    monkeypatch.setattr(_device, "chosen", lambda d, _: _device.HOST if d == "cuda" else None)
    votes = np.random.default_rng(1).integers(0, 3, (200, 5))
    here = en.PTGP(3, random_state=0).fit(votes)
    there = en.PTGP(3, random_state=0, device="cuda").fit(votes)
    assert en.metrics.ari(here.labels_, there.labels_) > 0.8
    again = pickle.loads(pickle.dumps(there))
    np.testing.assert_array_equal(again.cut(3), there.labels_)
    assert len(np.unique(again.cut(10))) == 10


def test_the_default_method_groups_rows_where_it_is_told(monkeypatch):
    monkeypatch.setattr("ensemblage.methods._shared_clusters.MOST_PAIRED", 10)
    monkeypatch.setattr("ensemblage.methods._shared_clusters.MOST_STEPS", 0)
    monkeypatch.setattr("ensemblage.methods._shared_clusters.N_GROUPS", 30)
    monkeypatch.setattr(_device, "chosen", lambda d, _: _device.HOST if d == "cuda" else None)
    joined = []
    monkeypatch.setattr(
        _device_rows,
        "join_leaders",
        lambda *words, join=_device_rows.join_leaders: joined.append(1) or join(*words),
    )
    votes = np.random.default_rng(1).integers(0, 3, (200, 6))
    here = en.Consensus(3, random_state=0).fit(votes)
    assert not joined
    there = en.Consensus(3, random_state=0, device="cuda").fit(votes)
    assert joined
    np.testing.assert_array_equal(there.labels_, here.labels_)
    with pytest.raises(ValueError, match="device"):
        en.Consensus(3, device="tpu").fit(votes)


def test_votes_on_a_device_are_copied_to_the_processor():
    class OnDevice:
        def __init__(self, array):
            self._array = array
            self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim
            self.__cuda_array_interface__ = {}

        def get(self):
            return self._array

        def __array__(self, *_):
            raise TypeError("Implicit conversion is not allowed.")

    votes = np.random.default_rng(1).integers(0, 3, (60, 4))
    found = en.Consensus(3, random_state=0).fit(OnDevice(votes)).labels_
    np.testing.assert_array_equal(found, en.Consensus(3, random_state=0).fit(votes).labels_)
