"""How much every two clusterings of an ensemble have in common, a pair at a time."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow._threads import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROUNDING = 1e-12


def member_pairs(
    table: NDArray[np.int32], sizes: NDArray[np.int64], *, n_jobs: int | None = None
) -> FloatArray:
    """Return the NMI (max) of every two clusterings, over the objects that voted in both.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes of microclusters, -1 where there is none.
    sizes : ndarray of shape (n,)
        Objects in each.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray of shape (n_clusterings, n_clusterings)
        A single cluster on both sides is agreement, 1; on one side only, or no common voter, 0.

    Notes
    -----
    One pair at a time, one row of its contingency table at a time: O(n·M²) time, and memory for
    one clustering's clusters. A table of the overlaps of all clusters would take 7 GB for a
    thousand clusterings of thirty clusters.
    """
    votes = np.ascontiguousarray(table.T)
    n_clusters = table.max(axis=0).astype(np.int64) + 1
    weights = sizes.astype(np.float64)
    result: FloatArray = np.eye(table.shape[1])

    def fill(m: int) -> None:
        order = np.argsort(votes[m], kind="stable")
        voters = order[votes[m, order] >= 0]
        _compare_with_earlier(votes, n_clusters, weights, voters, m, result[m])

    # The later ones have more to be compared with, so they go first.
    in_threads(fill, range(table.shape[1] - 1, 0, -1), n_jobs)
    lower = np.tril(result, -1)
    whole: FloatArray = lower + lower.T + np.eye(len(result))
    return whole


@kernel
def _compare_with_earlier(
    votes: Any, n_clusters: Any, weights: Any, voters: Any, m: Any, row: Any
) -> None:
    """Set ``row[o]`` to the NMI of clusterings m and o for every o before m.

    `voters` are the rows with a vote in m, cluster by cluster.
    """
    for o in range(m):
        cells, columns = np.zeros(n_clusters[o]), np.zeros(n_clusters[o])
        sum_cells, sum_rows, sum_columns, total = 0.0, 0.0, 0.0, 0.0
        n_cells, n_rows, n_columns = 0, 0, 0
        start = 0
        while start < len(voters):
            stop, in_row = start, 0.0
            cluster = votes[m, voters[start]]
            while stop < len(voters) and votes[m, voters[stop]] == cluster:
                other = votes[o, voters[stop]]
                if other >= 0:
                    cells[other] += weights[voters[stop]]
                    in_row += weights[voters[stop]]
                stop += 1
            for place in range(start, stop):  # once more, to read the row and to empty it
                other = votes[o, voters[place]]
                if other >= 0 and cells[other] > 0:
                    sum_cells += cells[other] * log(cells[other])
                    columns[other] += cells[other]
                    cells[other] = 0.0
                    n_cells += 1
            if in_row > 0:
                sum_rows += in_row * log(in_row)
                total += in_row
                n_rows += 1
            start = stop
        for x in columns:
            if x > 0:
                sum_columns += x * log(x)
                n_columns += 1
        if min(n_rows, n_columns) <= 1:
            row[o] = 1.0 if n_rows == 1 and n_columns == 1 else 0.0
        elif n_cells == n_rows and n_cells == n_columns:
            row[o] = 1.0  # the same partition, without rounding
        else:
            # n·H = n ln n - Σ x ln x; the information is the sum of both less the joint one.
            whole = total * log(total)
            information = whole - sum_rows - sum_columns + sum_cells
            smaller = min(sum_rows, sum_columns)
            far = information > _ROUNDING * whole
            row[o] = min(1.0, information / (whole - smaller)) if far else 0.0
