"""Single precision and probes, beside the exact products of `test_walk`."""

import numpy as np
import pytest
from hypothesis import given

from ensemblage.flow import (
    TransferCut,
    WalkProduct,
    cluster_means,
    elite_graph,
    estimated_norms,
    microclusters,
    similarity_product,
    trajectory_norms,
    transition_matrix,
)
from ensemblage.flow import large_walk as large_walk_module
from ensemblage.flow import tcut as tcut_module
from ensemblage.testing.strategies import ensembles


def walk_of(matrix, n_neighbors):
    groups, _ = microclusters(matrix)
    return transition_matrix(elite_graph(groups.table, n_neighbors), groups.sizes), groups.table


@pytest.fixture(scope="module")
def large_walk():
    rng = np.random.default_rng(3)
    table = np.unique(rng.integers(0, 8, (1400, 5)), axis=0).astype(np.int32)
    return transition_matrix(elite_graph(table, 6), rng.integers(1, 30, len(table))), table


@given(ensembles(max_objects=40))
def test_single_precision_agrees_to_its_rounding(ensemble):
    matrix, n_neighbors, n_steps = ensemble
    P, table = walk_of(matrix, n_neighbors)
    norms, means = trajectory_norms(P, n_steps), cluster_means(table)
    found = similarity_product(P, norms, means, n_steps, single=True)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, similarity_product(P, norms, means, n_steps), atol=1e-5)


def test_a_walk_that_is_prepared_once_gives_the_same_products_and_lengths(large_walk):
    P, table = large_walk
    norms, means = trajectory_norms(P, 5), cluster_means(table)
    product = WalkProduct(P, 5, single=True)
    for _ in range(2):
        np.testing.assert_array_equal(
            similarity_product(P, norms, means, 5, single=True, product=product),
            similarity_product(P, norms, means, 5, single=True),
        )
        np.testing.assert_array_equal(
            estimated_norms(P, 5, 64, np.random.default_rng(0), product=product),
            estimated_norms(P, 5, 64, np.random.default_rng(0)),
        )


def test_single_precision_in_local_order_and_in_any_number_of_threads(large_walk):
    P, table = large_walk
    norms, means = trajectory_norms(P, 5), cluster_means(table)
    found = similarity_product(P, norms, means, 5, single=True, n_jobs=1)
    np.testing.assert_allclose(found, similarity_product(P, norms, means, 5), atol=1e-5)
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(
            found, similarity_product(P, norms, means, 5, single=True, n_jobs=n_jobs)
        )


def test_lengths_after_one_step_are_exact(large_walk):
    """The first term of a length needs no probes."""
    P, _ = large_walk
    found = estimated_norms(P, 1, 32, np.random.default_rng(0))
    np.testing.assert_allclose(found, trajectory_norms(P, 1), rtol=1e-6)


@given(ensembles(max_objects=40))
def test_lengths_of_few_nodes_are_exact(ensemble):
    """The directions span everything, so nothing is left to probes."""
    matrix, n_neighbors, n_steps = ensemble
    P, _ = walk_of(matrix, n_neighbors)
    exact = trajectory_norms(P, n_steps)
    found = estimated_norms(P, n_steps, 32, np.random.default_rng(0))
    np.testing.assert_allclose(found, exact, rtol=1e-3)
    np.testing.assert_array_equal(found == 0, exact == 0)


@pytest.mark.parametrize("directions", [32, 128])
@pytest.mark.parametrize("error", [0.03, 0.01])
def test_lengths_keep_to_the_error_asked_for(large_walk, error, directions, monkeypatch):
    monkeypatch.setattr(large_walk_module, "_DIRECTIONS", directions)
    P, _ = large_walk
    exact = trajectory_norms(P, 5)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        relative = estimated_norms(P, 5, 1024, rng, error=error) / exact - 1
        assert np.sqrt(np.mean(relative**2)) < error
        assert np.abs(relative).max() < 6 * error


def test_harder_walks_get_more_probes():
    known, rest = np.ones(10), np.full(10, 0.5)
    probes = [large_walk_module.probes_for(error, known, rest) for error in (0.1, 0.02)]
    assert probes == [6, 139]  # 0.5 (1/3)² / error²


def test_threads_change_no_length(large_walk):
    P, _ = large_walk
    one, many = (
        estimated_norms(P, 5, 500, np.random.default_rng(0), error=0.001, n_jobs=n) for n in (1, 3)
    )
    np.testing.assert_array_equal(one, many)


def test_the_cut_of_a_single_precision_graph(large_walk, monkeypatch):
    monkeypatch.setattr(tcut_module, "_ROWS_PER_BLOCK", 100)
    monkeypatch.setattr(tcut_module, "_ROWS_PER_ITEM", 300)
    P, table = large_walk
    B = similarity_product(P, trajectory_norms(P, 5), cluster_means(table), 5)
    exact, single = TransferCut(B), TransferCut(B.astype(np.float32), n_jobs=2)
    np.testing.assert_allclose(single.eigenvalues(6), exact.eigenvalues(6), atol=1e-6)
    rows = single.coordinates(1)
    assert rows.dtype == np.float64
    np.testing.assert_allclose(np.abs(rows), np.abs(exact.coordinates(1)), rtol=1e-4)
    one = TransferCut(B.astype(np.float32), n_jobs=1)
    np.testing.assert_array_equal(one.eigenvalues(6), single.eigenvalues(6))
