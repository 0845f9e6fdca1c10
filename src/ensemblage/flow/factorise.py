"""Nonnegative factors of a similarity: A ≈ Q S Qᵀ with nearly orthogonal columns of Q.

Multiplicative updates of Li, Ding and Jordan (2007). Rows represent s objects each. Updates keep
equal rows equal, so on microclusters, with sums over objects weighted by s, they are those of the
objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

    Product = Callable[[FloatArray], FloatArray]

_NEVER_ZERO = 1e-8
_ROWS_PER_BLOCK = 512


class Factors(NamedTuple):
    """Non-negative factors: A ≈ Q diag(S) Qᵀ.

    Attributes
    ----------
    Q : ndarray of shape (n, k)
        How strongly each row belongs to each cluster.
    S : ndarray of shape (k,)
        Weights of the clusters.
    """

    Q: FloatArray
    S: FloatArray


def factorise(
    product: Product,
    sizes: NDArray[np.int64],
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_starts: int,
    n_draws: int,
    max_iter: int,
) -> NDArray[np.int64]:
    """Return the labels of the start with the smallest residual.

    Each of `n_starts` draws random factors and improves them; a start with a dead cluster, and thus
    fewer than `n_clusters` labels, is drawn again, at most `n_draws` times in all. Factors with
    more live clusters are preferred, then those of smaller residual.
    """
    results: list[tuple[int, float, NDArray[np.int64]]] = []
    n, children = len(sizes), rng.spawn(n_starts)
    for _ in range(n_draws):
        starts = [Factors(child.random((n, n_clusters)), child.random(n_clusters))
                  for child in children]  # fmt: skip
        again = []
        for child, factors in zip(children, improve(product, sizes, starts, max_iter), strict=True):
            labels = factor_labels(factors)
            n_dead = n_clusters - len(np.unique(labels))
            results.append((n_dead, squared_residual(product, sizes, factors), labels))
            if n_dead:
                again.append(child)
        children = again
        if not children:
            break
    return min(results, key=lambda result: result[:2])[2]


def improve(
    product: Product, sizes: NDArray[np.int64], starts: list[Factors], n_iter: int
) -> list[Factors]:
    """Return each of the factors after `n_iter` rounds of updates.

        Q ← Q ∘ sqrt( A Q S / (Q Qᵀ A Q S) ),   S ← S ∘ sqrt( Qᵀ A Q / (Qᵀ Q S Qᵀ Q) )

    Parameters
    ----------
    product : callable
        Multiplies A, the similarity of microclusters, with a matrix of some columns.
    sizes : ndarray of shape (n,)
        Objects in each microcluster: every product over objects is weighted with them.
    starts : list of Factors
        Positive; S is diagonal and stays so. All are multiplied with A at once.
    n_iter : int
        Number of rounds.
    """
    s = sizes[:, None].astype(np.float64)
    factors = list(starts)
    products = _products(product, s, factors)
    for _ in range(n_iter):
        for place, ((Q, S), AQ) in enumerate(zip(factors, products, strict=True)):
            QAQ = (s * Q).T @ AQ
            Q = Q * np.sqrt(AQ * S / (Q @ (QAQ * S) + _NEVER_ZERO))
            factors[place] = Factors(Q, S)
        products = _products(product, s, factors)
        for place, ((Q, S), AQ) in enumerate(zip(factors, products, strict=True)):
            sQ = s * Q
            QQ = Q.T @ sQ
            QAQ_diagonal = np.einsum("ij,ij->j", sQ, AQ)
            S = S * np.sqrt(QAQ_diagonal / ((QQ * QQ) @ S + _NEVER_ZERO))
            factors[place] = Factors(Q, S)
    return factors


def _products(product: Product, s: FloatArray, factors: list[Factors]) -> list[FloatArray]:
    """Return A·diag(s)·Q for each Q."""
    joint = product(s * np.concatenate([Q for Q, _ in factors], axis=1))
    return np.split(joint, len(factors), axis=1)


def product_by_rows(
    matrix: FloatArray, columns: FloatArray, *, n_jobs: int | None = None
) -> FloatArray:
    """Return ``matrix @ columns``, blocks of rows going to threads; it does not depend on them."""
    blocks = row_ranges(len(matrix), _ROWS_PER_BLOCK)
    parts = in_threads(lambda rows: matrix[slice(*rows)] @ columns, blocks, n_jobs)
    return np.concatenate(parts)


def squared_residual(
    product: Product, sizes: NDArray[np.int64], factors: Factors, squared_norm: float = 0.0
) -> float:
    """Return |A - Q S Qᵀ|² over pairs of objects, given |A|²; without it, less that constant."""
    Q, S = factors
    sQ = sizes[:, None] * Q
    QQ = Q.T @ sQ
    fitted = S @ np.einsum("ij,ij->j", sQ, product(sQ))
    return float(squared_norm - 2.0 * fitted + S @ (QQ * QQ) @ S)


def factor_labels(factors: Factors) -> NDArray[np.int64]:
    """Return the column of the largest entry of Q S^(1/2) in each row."""
    labels: NDArray[np.int64] = (factors.Q * np.sqrt(factors.S)).argmax(axis=1)
    return labels
