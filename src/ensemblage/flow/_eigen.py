"""Leading eigenvectors of a symmetric matrix, shared by cuts into different numbers of parts.

A stored matrix is passed to LAPACK. A large one that is only available as a product is multiplied
with blocks of vectors until their span contains the leading ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, eigh

if TYPE_CHECKING:
    from collections.abc import Callable

    from ensemblage._types import FloatArray

FIRST_BATCH = 32
_BATCH = 8  # of products, which cost by the vector
MORE = 4  # vectors of a block beyond the wanted ones; they let these converge faster
_MOST_BLOCKS = 12
CONVERGED = 1e-8
_MOST_STEPS = 300
_NEW = 1e-12
#: An eigenvalue up to this is 0, and its vector is only rounding.
NO_EIGENVALUE = 1e-12


class LeadingVectors:
    """Eigenvectors in batches of a first size and its doubles.

    Cuts into different numbers of parts share them, and the vectors of a cut depend only on its own
    number.
    """

    def __init__(self, matrix: FloatArray, first_batch: int = FIRST_BATCH) -> None:
        self._matrix = matrix
        self._first_batch = first_batch
        self._batches: dict[int, tuple[FloatArray, FloatArray]] = {}

    def __len__(self) -> int:
        return len(self._matrix)

    def __call__(self, n_vectors: int) -> tuple[FloatArray, FloatArray]:
        """Return at least `n_vectors` eigenvalues, if there are, and vectors, largest first."""
        batch = self._first_batch
        while batch < n_vectors:
            batch *= 2
        if batch not in self._batches:
            values, vectors = _largest(self._matrix, batch)
            # Contiguous, so that a copy (a pickle) gives the same products to the last bit.
            self._batches[batch] = values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])
        return self._batches[batch]


class CarriedVectors:
    """Eigenvectors of A'A from those of AA', for a matrix A with fewer rows than columns.

    Called as `LeadingVectors`. There are as many as A has rows; all other eigenvalues are 0. The
    vector of an eigenvalue of 0 is 0 as well.

    Parameters
    ----------
    matrix : ndarray or sparse array of shape (n_rows, n_columns)
        The matrix A.
    products : ndarray of shape (n_rows, n_rows)
        AA'.
    """

    def __init__(self, matrix: Any, products: FloatArray) -> None:
        self._matrix = matrix
        self._of_rows = LeadingVectors(products, len(products))
        self._pairs: tuple[FloatArray, FloatArray] | None = None

    def __len__(self) -> int:
        return len(self._of_rows)

    def __call__(self, n_vectors: int) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Return all eigenvalues and vectors, largest first."""
        if self._pairs is None:
            values, vectors = self._of_rows(len(self))
            values = np.where(values > NO_EIGENVALUE, values, 0.0)
            scale = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
            self._pairs = values, np.ascontiguousarray((self._matrix.T @ vectors) * scale)
        return self._pairs


class ProductVectors:
    """Eigenvectors of a positive semidefinite matrix that is known by its products with blocks.

    Called as `LeadingVectors`.

    Parameters
    ----------
    multiply : callable
        Returns the product of the matrix with an array of shape (n, any).
    leading : ndarray of shape (n,)
        An eigenvector of the largest eigenvalue, to begin with.
    error : float
        The largest accepted residual, as a share of the largest eigenvalue. The error of the
        products must be smaller.
    """

    def __init__(
        self,
        multiply: Callable[[FloatArray], FloatArray],
        leading: FloatArray,
        error: float = CONVERGED,
    ) -> None:
        self._multiply = multiply
        self._leading = leading
        self._error = error
        self._batches: dict[int, tuple[FloatArray, FloatArray]] = {}

    def __len__(self) -> int:
        return len(self._leading)

    def __call__(self, n_vectors: int) -> tuple[FloatArray, FloatArray]:
        """Return at least `n_vectors` eigenvalues, if there are, and vectors, largest first."""
        batch = min(batch_of_products(n_vectors), len(self))
        if batch not in self._batches:
            self._batches[batch] = leading_of_product(
                self._multiply, self._leading, batch, self._error
            )
        return self._batches[batch]


def batch_of_products(n_vectors: int) -> int:
    """Return the number of vectors to compute for `n_vectors`: a multiple of eight."""
    return -(-n_vectors // _BATCH) * _BATCH


def leading_of_product(
    multiply: Callable[[FloatArray], FloatArray],
    leading: FloatArray,
    n_vectors: int,
    error: float = CONVERGED,
) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues and their vectors by a block Krylov method.

    The span of a block and its products is kept orthogonal; its best approximations to the
    eigenvectors are taken when their residuals are below a share of the largest eigenvalue. A block
    has more columns than vectors are wanted, so that equal eigenvalues are all found. When the span
    has 12 blocks it is reduced to the best approximations. The first block is always the same.

    Cost: a product with a block of n_vectors + 4 columns a step, some 10 to 30 steps.
    """
    n = len(leading)
    width = min(n_vectors + MORE, n)
    block = np.random.default_rng(0).standard_normal((n, width))
    block[:, 0] = leading
    basis = np.linalg.qr(block)[0]
    products = multiply(basis)
    for _ in range(_MOST_STEPS):
        inner = basis.T @ products
        values, vectors = all_pairs((inner + inner.T) / 2)
        values, vectors = values[::-1], vectors[:, ::-1]
        best = vectors[:, :width]
        found, images = basis @ best, products @ best
        residuals = images - found * values[:width]
        worst = np.linalg.norm(residuals[:, :n_vectors], axis=0).max()
        if worst <= error * values[0]:
            break
        if basis.shape[1] + width > min(n, _MOST_BLOCKS * width):
            kept = vectors[:, : 3 * width]
            basis, products = basis @ kept, products @ kept
        fresh = _orthogonal(residuals, basis)
        if not fresh.shape[1]:
            break  # the span is closed under the product
        basis = np.hstack([basis, fresh])
        products = np.hstack([products, multiply(fresh)])
    return values[:n_vectors].copy(), np.ascontiguousarray(found[:, :n_vectors])


def _orthogonal(block: FloatArray, basis: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what `block` adds to the span of an orthonormal basis."""
    lengths = np.linalg.norm(block, axis=0)
    block = block[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):
        block = block - basis @ (basis.T @ block)
        block, triangle = np.linalg.qr(block)
        block = block[:, np.abs(triangle.diagonal()) > _NEW]
    room = len(basis) - basis.shape[1]
    return block[:, :room]


def all_pairs(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return all eigenvalues and vectors, by the most robust algorithm.

    SciPy's default fails on some matrices with entries of very different size.
    """
    if len(matrix) == 1:  # too small for LAPACK in older versions of SciPy
        return matrix[0].copy(), np.ones((1, 1))
    values, vectors = eigh(matrix, driver="evd")
    return values, vectors


def _largest(matrix: FloatArray, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    first = max(len(matrix) - n_vectors, 0)
    try:
        values, vectors = eigh(matrix, subset_by_index=(first, len(matrix) - 1))
    except LinAlgError:
        values, vectors = all_pairs(matrix)
    if len(values) < len(matrix) - first:  # of equal eigenvalues SciPy may return some only
        values, vectors = all_pairs(matrix)
    kept = min(n_vectors, len(matrix))
    return values[len(values) - kept :], vectors[:, len(values) - kept :]
