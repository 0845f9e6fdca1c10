"""Checks of a similarity of objects that was computed elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage._validate.memory import check_memory
from ensemblage._validate.tables import is_pandas, is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Input of a method: votes, or the similarity of the objects.
AFFINITIES = ("votes", "precomputed")
#: Rounding errors up to this size are corrected.
_TOLERANCE = 1e-8


class Similarity(NamedTuple):
    """A checked similarity, symmetric to the last bit, with 1 on its diagonal; and its index."""

    matrix: FloatArray
    index: Any
    kind: str | None


def check_similarity(owner: str, X: Any) -> Similarity:
    """Return a similarity of all pairs of objects, or raise an error that explains the fault."""
    if is_sparse(X):
        raise TypeError(
            f"{owner} with affinity='precomputed' needs a dense matrix, got a sparse one."
            f" Pass X.toarray() if that fits in memory."
        )
    index = X.index if is_pandas(X) else None
    array = _as_numbers(owner, X)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not len(array):
        raise ValueError(
            f"{owner} with affinity='precomputed' needs the similarity of every pair of objects, a"
            f" square matrix, got shape {array.shape}. For votes, use affinity='votes'."
        )
    n = len(array)
    check_memory(
        40 * n * n,
        f"The similarity of {n} objects and the tree of it",
        "Votes (affinity='votes') need the pairs of microclusters only.",
    )
    matrix = array.astype(np.float64)  # a copy: the user's stays as it is
    _check_entries(owner, matrix)
    np.clip(matrix, 0.0, 1.0, out=matrix)
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, 1.0)
    return Similarity(matrix, index, None if index is None else "pandas")


def _as_numbers(owner: str, X: Any) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.asarray(X)
        return array if array.dtype.kind in "biuf" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{owner} with affinity='precomputed' needs a matrix of numbers ({error}). For votes,"
            f" use affinity='votes'."
        ) from error


def _check_entries(owner: str, matrix: FloatArray) -> None:
    """Reject values that are not finite, not in [0, 1], not 1 on the diagonal or not symmetric."""
    start = f"The similarity passed to {owner} must"
    good = (matrix >= -_TOLERANCE) & (matrix <= 1 + _TOLERANCE)  # False for NaN
    if not good.all():
        i, j = np.argwhere(~good)[0]
        raise ValueError(
            f"{start} be in [0, 1], but entry ({i}, {j}), counted from 0, is {matrix[i, j]}. Divide"
            f" counts by the number of clusterings; convert distances d in [0, 1] to 1 - d."
        )
    diagonal = matrix.diagonal()
    wrong = np.flatnonzero(np.abs(diagonal - 1.0) > _TOLERANCE)
    if len(wrong):
        hint = " These look like distances d: pass 1 - d." if not diagonal.any() else ""
        raise ValueError(
            f"{start} be 1 on the diagonal, but entry ({wrong[0]}, {wrong[0]}), counted from 0, is"
            f" {diagonal[wrong[0]]}.{hint}"
        )
    apart = np.abs(matrix - matrix.T) > _TOLERANCE
    if apart.any():
        i, j = np.argwhere(apart)[0]
        raise ValueError(
            f"{start} be symmetric, but entry ({i}, {j}) is {matrix[i, j]} and entry ({j}, {i}) is"
            f" {matrix[j, i]}. Pass (X + X.T) / 2 to symmetrise it."
        )
