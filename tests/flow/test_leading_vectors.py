"""Leading eigenvectors by products agree with those of the whole matrix."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from ensemblage import flow
from ensemblage.flow import _eigen, compiling, tcut


def subspace_error(one, other):
    return np.linalg.norm(one - other @ (other.T @ one))


@pytest.mark.parametrize("n_vectors", [1, 3, 8, 20])
def test_largest_pairs_of_a_product(n_vectors):
    rng = np.random.default_rng(n_vectors)
    factor = rng.normal(size=(300, 200)) * np.geomspace(1, 0.05, 200)
    matrix = factor.T @ factor
    values, vectors = np.linalg.eigh(matrix)
    start = vectors[:, -1]
    found, basis = _eigen.leading_of_product(lambda block: matrix @ block, start, n_vectors)
    np.testing.assert_allclose(found, values[::-1][:n_vectors], rtol=1e-10)
    np.testing.assert_allclose(basis.T @ basis, np.eye(n_vectors), atol=1e-10)
    assert subspace_error(basis, vectors[:, ::-1][:, :n_vectors]) < 1e-7


def test_equal_eigenvalues_are_all_found():
    matrix = np.diag(np.repeat([2.0, 1.0, 0.0], [5, 2, 60]))
    found, basis = _eigen.leading_of_product(lambda block: matrix @ block, np.eye(67)[0], 7)
    np.testing.assert_allclose(found, [2, 2, 2, 2, 2, 1, 1], atol=1e-10)
    assert np.abs(basis[7:]).max() < 1e-8


def test_more_vectors_than_the_rank():
    matrix = np.ones((20, 20))
    found, basis = _eigen.leading_of_product(lambda block: matrix @ block, np.ones(20), 6)
    np.testing.assert_allclose(found, [20, 0, 0, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-9)


def graphs():
    rng = np.random.default_rng(1)
    dense = rng.random((400, 60)) * (rng.random((400, 60)) < 0.3)
    dense[:, 0] += 0.1
    apart = block_diag([rng.random((100, 15)) for _ in range(4)])
    return {"dense": dense, "sparse": csr_array(dense), "float32": dense.astype(np.float32),
            "components": csr_array(apart)}  # fmt: skip


@pytest.mark.parametrize("name", list(graphs()))
@pytest.mark.parametrize("k", [2, 5, 11])
def test_a_cut_by_products_is_the_cut(name, k, monkeypatch):
    if name == "components" and k < 4:
        pytest.skip("of four equal eigenvalues any two vectors will do")
    graph = graphs()[name]
    sizes = np.random.default_rng(2).integers(1, 5, graph.shape[0])
    whole = flow.TransferCut(graph, sizes)
    for limit in ("MOST_DECOMPOSED", "MOST_COLUMNS", "_MOST_COLUMNS_OF_DENSE"):
        monkeypatch.setattr(tcut, limit, 1)
        by_products = flow.TransferCut(graph, sizes)
        exact = 1e-5 if name == "float32" else 1e-8
        np.testing.assert_allclose(by_products.eigenvalues(k), whole.eigenvalues(k), atol=exact)
        one, other = by_products.coordinates(k), whole.coordinates(k)
        assert np.linalg.matrix_rank(np.hstack([one, other]), tol=100 * exact) == k


def test_the_graph_of_a_kernel_is_that_of_scipy():
    graph, sizes = graphs()["sparse"], np.random.default_rng(3).integers(1, 5, 400)
    with compiling.kernels_for(everything=True):
        compiled = flow.TransferCut(graph, sizes).eigenvalues(5)
    with compiling.kernels_for(everything=False):
        plain = flow.TransferCut(graph, sizes).eigenvalues(5)
    np.testing.assert_array_equal(compiled, plain)


def test_threads_do_not_matter(monkeypatch):
    monkeypatch.setattr(tcut, "MOST_DECOMPOSED", 1)
    monkeypatch.setattr(tcut, "_MOST_COLUMNS_OF_DENSE", 1)
    monkeypatch.setattr(tcut, "_ROWS_PER_PRODUCT", 50)
    graph = graphs()["dense"]
    one, three = (flow.TransferCut(graph, n_jobs=n).coordinates(4) for n in (1, 3))
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("k", [2, 5, 9])
def test_an_implicit_cut_is_the_cut_of_the_product(k):
    rng = np.random.default_rng(k)
    half = rng.random((300, 40))
    similarity = half @ half.T
    columns = csr_array((rng.random((300, 50)) < 0.1) * rng.random((300, 50)) + np.eye(300, 50))
    whole = flow.TransferCut(similarity @ columns.toarray())
    implicit = flow.ImplicitCut(lambda block: similarity @ block, columns, 1e-9)
    np.testing.assert_allclose(implicit.eigenvalues(k), whole.eigenvalues(k), atol=1e-8)
    one, other = implicit.embedding(k), whole.embedding(k)
    np.testing.assert_allclose(np.abs(np.sum(one * one, axis=1)), 1)
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-6)


@pytest.mark.parametrize("n", [27, 40, 60, 100])
def test_equal_eigenvalues_have_as_many_vectors_as_requested(n):
    centred = np.eye(n) - 1 / n
    values, vectors = _eigen._largest(centred, 2)
    np.testing.assert_allclose(values, 1.0)
    np.testing.assert_allclose(centred @ vectors, vectors, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-12)
