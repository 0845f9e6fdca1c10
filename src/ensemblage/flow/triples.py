"""Weighted connected triples: clusters of one clustering that overlap the same other clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def connected_triples(likeness: FloatArray, owner: NDArray[np.int64]) -> FloatArray:
    """Return how much two clusters of the same clustering have in common, at most 1.

    ``sum over z of min(likeness[u, z], likeness[v, z])``, where z runs over the clusters of the
    other clusterings, divided by the largest such sum in the ensemble, if there is any above 0.
    The diagonal is 1; pairs of different clusterings are 0.
    """
    triples = np.zeros_like(likeness)
    starts = np.searchsorted(owner, np.arange(int(owner[-1]) + 2))
    _sum_minima(likeness, starts, triples)
    largest = triples.max()
    if largest > 0:
        triples /= largest
    np.fill_diagonal(triples, 1.0)
    return triples


@kernel
def _sum_minima(likeness: Any, starts: Any, triples: Any) -> None:
    """Write to ``triples[u, v]`` the sum of the minima of rows u and v, within clusterings.

    Clusters of clustering m are ``starts[m]`` to ``starts[m + 1]``; the two rows themselves and
    their sisters do not count as common neighbours.
    """
    n_clusters = likeness.shape[0]
    for m in range(len(starts) - 1):
        first, last = starts[m], starts[m + 1]
        for u in range(first, last):
            for v in range(first, u):
                total = 0.0
                for z in range(first):
                    total += min(likeness[u, z], likeness[v, z])
                for z in range(last, n_clusters):
                    total += min(likeness[u, z], likeness[v, z])
                triples[u, v] = triples[v, u] = total
