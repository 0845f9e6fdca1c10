"""Similarity of clusters by common overlaps, weighted by the source of each common neighbour.

SACT, the source-aware connected triple of Huang, Lai and Wang (2015): two clusters are alike if
they overlap with the same third ones, more so where a third one comes from a clustering that
agrees with the rest of the ensemble.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import fast_kernel
from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

_ROWS_PER_BLOCK = 32


def source_aware_triples(
    likeness: FloatArray, weights: FloatArray, *, n_jobs: int | None = None
) -> FloatArray:
    """Return SACT of every pair of clusters: at most 1, and 1 on the diagonal.

    Parameters
    ----------
    likeness : ndarray of shape (n_clusters, n_clusters)
        Jaccard coefficients W, 1 on the diagonal.
    weights : ndarray of shape (n_clusters,)
        The weight I of the clustering that each cluster belongs to.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters)
        Σ_z I_z·min(W_iz, W_jz) over all clusters z, i and j among them, divided by the largest
        sum of any pair, the pairs i = j included; these are then set to 1. O(n_clusters³).
    """
    shared = np.ascontiguousarray(likeness * weights)
    triples = np.empty_like(shared)

    def part(rows: tuple[int, int]) -> None:
        _sum_minima(shared, rows[0], rows[1], triples)

    in_threads(part, row_ranges(len(shared), _ROWS_PER_BLOCK), n_jobs)
    triples /= triples.max()
    np.fill_diagonal(triples, 1.0)
    return triples


@fast_kernel
def _sum_minima(shared: Any, first: Any, last: Any, triples: Any) -> None:
    """Write the sums for rows `first` to `last` with all up to themselves, on both sides."""
    for j in range(last):
        for i in range(max(first, j), last):
            total = 0.0
            for z in range(shared.shape[1]):
                total += min(shared[i, z], shared[j, z])
            triples[i, j] = total
            triples[j, i] = total
