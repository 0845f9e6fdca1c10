"""The transfer cut (Li, Wu, Chang 2012): spectral clustering of a bipartite graph's small side.

B links n rows (microclusters) with n_c columns (clusters), n_c usually far below n. Eigenvectors
of the n_c × n_c graph B' diag(1/d) B carry over to the rows, so no n × n matrix is needed:
O(n·n_c²) for that product and O(n_c³) at most for the eigenvectors.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

from quorate.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from quorate._types import FloatArray

#: Eigenvectors are computed in batches of this size and its doubles: cuts into different numbers
#: of clusters share them, and which vectors a cut sees depends on nothing but its own number.
_FIRST_BATCH = 32
_ROWS_PER_BLOCK = 8192


class TransferCut:
    """A bipartite graph prepared for cuts into any number of parts.

    Parameters
    ----------
    B : ndarray of shape (n_rows, n_columns)
        Nonnegative link weights; every row and every column has a link. Not copied.
    multiplicity : ndarray of shape (n_rows,), optional
        How many identical objects each row stands for.
    n_jobs : int or None
        Threads; the graph does not depend on it.
    """

    def __init__(
        self,
        B: FloatArray,
        multiplicity: FloatArray | None = None,
        *,
        n_jobs: int | None = None,
    ) -> None:
        degree = B.sum(axis=1)
        scale = 1.0 / degree if multiplicity is None else multiplicity / degree

        def part(rows: tuple[int, int]) -> FloatArray:
            some = B[slice(*rows)]
            product: FloatArray = some.T @ (some * scale[slice(*rows), None])
            return product

        # Summed block by block in order, whatever the number of threads.
        parts = in_threads(part, row_ranges(len(B), _ROWS_PER_BLOCK), n_jobs)
        small = functools.reduce(np.add, parts)
        self._root_degree = np.sqrt(small.sum(axis=1))
        self._small = small / np.outer(self._root_degree, self._root_degree)
        self._B, self._degree = B, degree
        self._batches: dict[int, tuple[FloatArray, FloatArray]] = {}

    def eigenvalues(self, n_clusters: int) -> FloatArray:
        """Return the leading eigenvalues of the small graph, the largest first."""
        return self._decompose(n_clusters)[0][:n_clusters]

    def embedding(self, n_clusters: int) -> FloatArray:
        """Return unit rows, one for each row of B, in min(n_clusters, n_columns) dimensions."""
        vectors = self._decompose(n_clusters)[1][:, :n_clusters] / self._root_degree[:, None]
        rows: FloatArray = (self._B @ vectors) / self._degree[:, None]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True) + 1e-10
        return rows

    def _decompose(self, n_clusters: int) -> tuple[FloatArray, FloatArray]:
        batch = _FIRST_BATCH
        while batch < n_clusters:
            batch *= 2
        if batch not in self._batches:
            last = len(self._small) - 1
            symmetric = (self._small + self._small.T) / 2
            values, vectors = eigh(symmetric, subset_by_index=(max(last + 1 - batch, 0), last))
            self._batches[batch] = values[::-1], vectors[:, ::-1]
        return self._batches[batch]
