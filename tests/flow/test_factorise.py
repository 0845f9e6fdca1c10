import numpy as np
import pytest
import similarity_twins
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow
from ensemblage.testing.strategies import votes


def prepared(matrix):
    groups, _ = flow.microclusters(matrix)
    A = flow.coassociation(groups.table)
    return groups, lambda columns: A @ columns


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([0, 0, 1, 1], 4.5), ([0, 1, 1, 1], 8.5), ([0, 0, 0, 1], 16.5)],
)
def test_worked_residuals(e2, labels, expected):
    groups, product = prepared(e2)
    hard = flow.Factors(np.eye(2)[labels], np.ones(2))
    square = similarity_twins.eac(e2)
    found = flow.squared_residual(product, groups.sizes, hard, (square**2).sum())
    assert found == pytest.approx(expected)
    G = hard.Q[groups.of_object]
    assert ((square - G @ G.T) ** 2).sum() == pytest.approx(expected)


@given(matrix=votes(max_objects=16), k=st.integers(1, 4), seed=st.integers(0, 9))
def test_updates_are_those_of_the_objects(matrix, k, seed):
    groups, product = prepared(matrix)
    rng = np.random.default_rng(seed)
    starts = [flow.Factors(rng.random((len(groups.sizes), k)), rng.random(k)) for _ in range(2)]
    A = similarity_twins.eac(matrix)
    for n_iter in (1, 12):
        for start, found in zip(
            starts, flow.improve(product, groups.sizes, starts, n_iter), strict=True
        ):
            Q, S = similarity_twins.nmf_updates(
                A, start.Q[groups.of_object], np.diag(start.S), n_iter
            )
            np.testing.assert_allclose(found.Q[groups.of_object], Q, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(np.diag(found.S), S, rtol=1e-9, atol=1e-9)
            residual = ((A - Q @ S @ Q.T) ** 2).sum()
            norm = (A**2).sum()
            found_residual = flow.squared_residual(product, groups.sizes, found, norm)
            assert found_residual == pytest.approx(residual, abs=1e-8 * norm)


def test_rounds_make_residuals_fall_and_columns_orthogonal():
    rng = np.random.default_rng(0)
    matrix = np.repeat(np.arange(3), 40)[:, None] * np.ones(6, dtype=int)
    matrix = np.where(rng.random(matrix.shape) < 0.1, rng.integers(0, 3, matrix.shape), matrix)
    groups, product = prepared(matrix)
    start = flow.Factors(rng.random((len(groups.sizes), 3)), rng.random(3))
    residuals = [
        flow.squared_residual(
            product, groups.sizes, flow.improve(product, groups.sizes, [start], n)[0]
        )
        for n in (0, 5, 50, 200)
    ]
    assert residuals == sorted(residuals, reverse=True)
    Q = flow.improve(product, groups.sizes, [start], 200)[0].Q
    np.testing.assert_allclose(Q.T @ (groups.sizes[:, None] * Q), np.eye(3), atol=0.12)


def test_a_start_with_a_dead_cluster_is_drawn_again():
    widths = []

    def product(columns):
        widths.append(columns.shape[1])
        return columns

    options = {"n_starts": 2, "n_draws": 3, "max_iter": 1}
    one = np.ones(1, dtype=np.int64)
    labels = flow.factorise(product, one, 2, np.random.default_rng(0), **options)
    assert labels.tolist() == [0] or labels.tolist() == [1]  # one row cannot have two labels
    assert widths.count(4) == 3 * 2  # both starts, drawn three times, before and after a round
    widths.clear()
    flow.factorise(product, one, 1, np.random.default_rng(0), **options)
    assert widths.count(2) == 2


def test_products_by_rows_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    A, B = rng.random((1100, 1100)), rng.random((1100, 7))
    one = flow.product_by_rows(A, B, n_jobs=1)
    np.testing.assert_allclose(one, A @ B, rtol=1e-12)
    np.testing.assert_array_equal(one, flow.product_by_rows(A, B, n_jobs=3))
