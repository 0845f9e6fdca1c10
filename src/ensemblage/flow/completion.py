"""Matrix completion: pairs that are surely alike or surely apart determine the others.

min ‖X‖_* + C‖E‖_1 subject to X + E = B on the observed pairs, by an inexact augmented Lagrangian.
Objects of a microcluster have equal rows in every iterate, so it runs on microclusters, with sizes
as weights, and is exact for the objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, eigh, eigh_tridiagonal, lapack

from ensemblage.flow._eigen import all_pairs
from ensemblage.flow._jit import kernel
from ensemblage.flow._symmetry import mirror

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_TOLERANCE = 1e-9  # thresholds are compared with multiples of 1/M
_LARGEST_STEP = 1e7  # limit of the growth of the step
_SMALL = 256  # up to this number of rows all eigenvectors are as cheap as a few


class Completion(NamedTuple):
    """The completed matrix, the number of iterations, and the distance of X + E from B."""

    matrix: FloatArray
    n_iterations: int
    residual: float


def reliable_pairs(
    coassociation: FloatArray, table: NDArray[np.int32], low: float, high: float
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return B, 1 for pairs that are surely alike, and which pairs are observed at all.

    Alike are pairs with a co-association of at least `high`, apart those of at most `low`; between
    the two, and without common votes, nothing is observed and B is 0.
    """
    alike = coassociation >= high - _TOLERANCE
    observed = alike | (coassociation <= low + _TOLERANCE)
    if (table < 0).any():
        voted = (table >= 0).astype(np.float32)
        observed &= voted @ voted.T > 0
    return alike.astype(np.float64), observed


def complete(
    target: FloatArray,
    observed: NDArray[np.bool_],
    sizes: NDArray[np.int64],
    penalty: float,
    *,
    growth: float = 1.5,
    max_iter: int = 200,
    tol: float = 1e-6,
) -> Completion:
    """Return the completion X of the symmetric matrix B.

    Parameters
    ----------
    target : ndarray of shape (n, n)
        B, 0 where not observed.
    observed : ndarray of shape (n, n)
        Which entries of B count.
    sizes : ndarray of shape (n,)
        How many equal rows of the matrix of objects each row stands for.
    penalty : float
        C, the cost of differing from an observed entry.
    growth : float
        Growth factor of the step μ in an iteration. 1.5 is usual and stops near the optimum; values
        nearer to 1 are more exact, and slower.
    max_iter, tol
        Stop after this number of iterations, or when ‖B - X - E‖ ≤ tol·‖B‖ (Frobenius, over
        objects).

    Returns
    -------
    Completion

    Notes
    -----
    Y is the multiplier, μ the step. Each iteration shrinks the eigenvalues of B - E + Y/μ, over
    objects, by 1/μ, which is X; then the entries of B - X + Y/μ by C/μ where observed, which is E.
    Over objects the eigenvalues of a matrix T are those of √n_a T_ab √n_b.
    """
    root = np.sqrt(sizes.astype(np.float64))
    norm = float(np.sqrt(root**2 @ target**2 @ root**2))
    largest = _largest_eigenvalue(root[:, None] * target * root)
    step = 1.25 / largest
    end_of_growth = _LARGEST_STEP * step
    E = np.zeros_like(target)
    Y = target / max(largest, 1.0 / penalty)
    X = np.empty_like(target)
    residual = np.inf
    iteration = 0
    while iteration < max_iter and residual > tol:
        iteration += 1
        T = Y / step
        T += target
        T -= E
        T *= root[:, None]
        T *= root
        values, vectors = _eigenpairs_beyond(T, 1.0 / step)
        vectors /= root[:, None]
        np.matmul(vectors * (values - np.copysign(1.0 / step, values)), vectors.T, out=X)
        left = _split(X, target, observed, root**2, penalty, step, E, Y)
        residual = float(np.sqrt(left)) / norm
        step = min(growth * step, end_of_growth)
    mirror(X)
    return Completion(X, iteration, residual)


def _largest_eigenvalue(matrix: FloatArray) -> float:
    """Return the largest eigenvalue of a symmetric matrix without negative entries."""
    n = len(matrix)
    return float(eigh(matrix, eigvals_only=True, subset_by_index=(n - 1, n - 1), driver="evx")[0])


def _outside(
    values: FloatArray, vectors: FloatArray, bound: float
) -> tuple[FloatArray, FloatArray]:
    outside = np.abs(values) > bound
    return values[outside], vectors[:, outside]


def _eigenpairs_beyond(matrix: FloatArray, bound: float) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues of a symmetric matrix outside [-bound, bound], and their vectors.

    There are few: the matrix is made tridiagonal, and only these are computed from it.
    """
    if len(matrix) <= _SMALL:
        return _outside(*all_pairs(matrix), bound)
    room = int(lapack.dsytrd_lwork(len(matrix), lower=1)[0])  # less would be slower, row by row
    reflectors, diagonal, beside, factors, _ = lapack.dsytrd(matrix, lower=1, lwork=room)
    reach = float(np.abs(diagonal).max() + 2 * np.abs(beside).max() + bound)
    try:
        parts = [
            eigh_tridiagonal(
                diagonal, beside, select="v", select_range=ends, lapack_driver="stemr"
            )
            for ends in ((-reach, -bound), (bound, reach))
        ]  # fmt: skip
    except LinAlgError:  # entries of very unequal size
        return _outside(*all_pairs(matrix), bound)
    values = np.concatenate([part[0] for part in parts])
    vectors = np.concatenate([part[1] for part in parts], axis=1)
    if len(values):
        turned = np.asfortranarray(vectors[1:])
        columns = reflectors[1:, :-1]
        work = lapack.dormqr("L", "N", columns, factors, turned, -1)[1]
        vectors[1:] = lapack.dormqr("L", "N", columns, factors, turned, int(work[0]))[0]
    return values, np.ascontiguousarray(vectors)


@kernel
def _split(
    X: Any, B: Any, observed: Any, sizes: Any, penalty: Any, step: Any, E: Any, Y: Any
) -> Any:
    """Write the thresholded rest of B - X to E, and update Y; return ‖B - X - E‖² over objects."""
    n = X.shape[0]
    bound = penalty / step
    total = 0.0
    for i in range(n):
        row = 0.0
        for j in range(n):
            gap = B[i, j] - X[i, j]
            wish = gap + Y[i, j] / step
            if not observed[i, j]:
                E[i, j] = wish
            elif wish > bound:
                E[i, j] = wish - bound
            elif wish < -bound:
                E[i, j] = wish + bound
            else:
                E[i, j] = 0.0
            rest = gap - E[i, j]
            Y[i, j] += step * rest
            row += sizes[j] * rest * rest
        total += sizes[i] * row
    return total
