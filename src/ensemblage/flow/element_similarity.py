"""Element-centric similarity of clusterings around each object, in closed form.

For two partitions the similarity around an object is o / max(a, b): a and b are the sizes of its
two clusters and o is the size of their overlap. The walks of the definition are not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow._threads import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Work is divided into a fixed number of parts, for any number of threads, so that sums are equal.
_PARTS = 16


def element_similarity(
    table: NDArray[np.int32], sizes: NDArray[np.int64], *, n_jobs: int | None = None
) -> FloatArray:
    """Return the mean similarity of every two clusterings around each row, NaN without a pair.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes of microclusters, -1 where there is none.
    sizes : ndarray of shape (n,)
        Objects in each.
    n_jobs : int or None
        Threads.

    Notes
    -----
    A pair of clusterings counts for the rows with a vote in both, and sizes of clusters count
    these. O(n·M²) time.
    """
    n_members = table.shape[1]
    pairs = np.column_stack(np.triu_indices(n_members, 1))
    return _mean_over_pairs(table, sizes, pairs, n_jobs)


def similarity_to_one(
    labels: NDArray[np.int32],
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the mean similarity of one clustering with each of the others around each row."""
    both = np.column_stack([labels.astype(table.dtype), table])
    pairs = np.column_stack([np.zeros(table.shape[1], np.int64), 1 + np.arange(table.shape[1])])
    return _mean_over_pairs(both, sizes, pairs, n_jobs)


def _mean_over_pairs(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    pairs: NDArray[np.int64],
    n_jobs: int | None,
) -> FloatArray:
    votes = np.ascontiguousarray(table.T)
    n_clusters = table.max(axis=0).astype(np.int64) + 1
    weights = sizes.astype(np.float64)

    def part(some: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        sums, counts = np.zeros(len(table)), np.zeros(len(table))
        _add_pairs(votes, n_clusters, weights, some, sums, counts)
        return sums, counts

    partial = in_threads(part, np.array_split(pairs, min(_PARTS, len(pairs))), n_jobs)
    sums, counts = (np.sum([one[place] for one in partial], axis=0) for place in (0, 1))
    mean: FloatArray = np.divide(sums, counts, out=np.full(len(table), np.nan), where=counts > 0)
    return mean


@kernel
def _add_pairs(
    votes: Any, n_clusters: Any, weights: Any, pairs: Any, sums: Any, counts: Any
) -> None:
    """Add the similarity of each pair of clusterings to the rows that vote in both."""
    for p in range(len(pairs)):
        a, b = votes[pairs[p, 0]], votes[pairs[p, 1]]
        width = n_clusters[pairs[p, 1]]
        in_a, in_b = np.zeros(n_clusters[pairs[p, 0]]), np.zeros(width)
        shared = np.zeros(n_clusters[pairs[p, 0]] * width)
        for i in range(len(weights)):
            if a[i] >= 0 and b[i] >= 0:
                in_a[a[i]] += weights[i]
                in_b[b[i]] += weights[i]
                shared[a[i] * width + b[i]] += weights[i]
        for i in range(len(weights)):
            if a[i] >= 0 and b[i] >= 0:
                sums[i] += shared[a[i] * width + b[i]] / max(in_a[a[i]], in_b[b[i]])
                counts[i] += 1.0
