"""Which row of votes is in which cluster of the ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def membership(
    table: NDArray[np.int32],
    weights: FloatArray | None = None,
    n_clusters: NDArray[np.int32] | None = None,
    *,
    by_rows: bool = False,
) -> Any:
    """Return the 0/1 matrix of rows × clusters of all clusterings, in compressed columns or rows.

    Clusters come clustering by clustering, by code. A missing vote leaves its row without an
    entry in that clustering. With `weights`, one for each cluster, they stand in place of 1. With
    `n_clusters`, the number of clusters of each clustering, votes past these are missing.
    """
    if n_clusters is None:
        n_clusters = table.max(axis=0) + 1
    before = np.concatenate([[0], np.cumsum(n_clusters)])
    voted = (table >= 0) & (table < n_clusters)
    columns = (table + before[:-1])[voted]
    row_ends = np.concatenate([[0], np.cumsum(voted.sum(axis=1))])
    entries = np.ones(len(columns)) if weights is None else weights[columns]
    rows = csr_array((entries, columns, row_ends), shape=(len(table), int(before[-1])))
    return rows if by_rows else rows.tocsc()
