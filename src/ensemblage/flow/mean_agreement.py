"""Agreement of very many rows as a mean over pairs of votes, in linear time also with gaps.

The co-association of two rows is a quotient: the clusterings in which they agree, of those in which
both have a vote. If votes are missing, sums of quotients need all pairs of rows. Here numerators
and denominators are summed separately: the mean weights pairs of rows by the votes that they have
in common. Without gaps it is the mean of the co-association.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.flow._membership import cluster_sums, membership
from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROWS_PER_BLOCK = 1 << 15


def mean_agreement_sums(
    some: NDArray[np.int32],
    table: NDArray[np.int32],
    columns: FloatArray,
    weight: FloatArray | None = None,
    members: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the mean agreement of rows with those of a table, times the sums of `columns`.

    Parameters
    ----------
    some : ndarray of shape (any, n_clusterings)
        Rows of votes, in the codes of `table`; -1 for a missing vote.
    table : ndarray of shape (n, n_clusterings)
        Rows that they are compared with.
    columns : ndarray of shape (n, n_columns)
        How much each row of `table` counts in each sum; not negative.
    weight : ndarray of shape (n_clusters,), optional
        Weight of each cluster, including that of its clustering; 1 by default.
    members : ndarray of shape (n_clusterings,), optional
        Weight of each clustering; 1 by default.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray of shape (any, n_columns)
        0 for rows that have no clustering in common with any row that counts.

    Notes
    -----
    O((n + any)·M·n_columns), and memory for a block of rows.
    """
    n_clusters = table.max(axis=0) + 1
    in_clusters = cluster_sums(table, columns)
    voters = np.zeros((table.shape[1], columns.shape[1]))
    for start, stop in row_ranges(len(table), _ROWS_PER_BLOCK):
        voters += (table[start:stop] >= 0).T @ columns[start:stop]
    if members is not None:
        voters *= members[:, None]
    totals = columns.sum(axis=0)

    def means(part: tuple[int, int]) -> FloatArray:
        block = some[slice(*part)]
        agreed = membership(block, weight, n_clusters, by_rows=True) @ in_clusters
        both = (block >= 0) @ voters
        sums: FloatArray = np.divide(agreed, both, out=np.zeros_like(agreed), where=both > 0)
        sums *= totals
        return sums

    parts = in_threads(means, row_ranges(len(some), _ROWS_PER_BLOCK), n_jobs)
    return np.concatenate([np.empty((0, columns.shape[1])), *parts])
