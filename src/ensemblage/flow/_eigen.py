"""Leading eigenvectors of a symmetric matrix, shared by cuts into different numbers of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, eigh

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

FIRST_BATCH = 32


class LeadingVectors:
    """Eigenvectors in batches of a first size and its doubles.

    Cuts into different numbers of parts share them, and which vectors a cut sees depends on
    nothing but its own number.
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
            # In one piece, so that a copy (a pickle) gives the same products to the last bit.
            self._batches[batch] = values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])
        return self._batches[batch]


def all_pairs(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return all eigenvalues and vectors, by the algorithm that does not give up.

    SciPy's default does, on some matrices whose entries are of very unequal size.
    """
    if len(matrix) == 1:  # too little room for LAPACK, older versions of SciPy say
        return matrix[0].copy(), np.ones((1, 1))
    values, vectors = eigh(matrix, driver="evd")
    return values, vectors


def _largest(matrix: FloatArray, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    first = max(len(matrix) - n_vectors, 0)
    try:
        values, vectors = eigh(matrix, subset_by_index=(first, len(matrix) - 1))
    except LinAlgError:
        values, vectors = all_pairs(matrix)
        return values[first:], vectors[:, first:]
    return values, vectors
