"""Membership of rows of votes in clusters; clusters with equal rows, counted once.

Draws of a sampler, and clusterings of easy data, repeat most of their clusters. Results that depend
only on clusters as sets are computed for the different ones, with their multiplicities: exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from ensemblage.flow._jit import kernel
from ensemblage.flow._threads import row_ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: With fewer clusters, searching equal ones is slower.
FEWEST = 1000
#: Also if more than this share of clusters are different.
_MOST_DIFFERENT = 0.5
#: So many rows usually show that.
_FEW_ROWS = 512
_ROWS_PER_BLOCK = 1 << 15


def narrow(indptr: NDArray[np.int64]) -> NDArray[Any]:
    """Return row ends in 32 bits if they fit: else SciPy would copy all indices to 64 bits."""
    return indptr if indptr[-1] >= 2**31 else indptr.astype(np.int32)


def membership(
    table: NDArray[np.int32],
    weights: FloatArray | None = None,
    n_clusters: NDArray[np.int32] | None = None,
    *,
    by_rows: bool = False,
) -> Any:
    """Return the 0/1 matrix of rows × clusters of all clusterings, in compressed columns or rows.

    Clusters are ordered by clustering, then by code. A missing vote leaves its row without an entry
    in that clustering. With `weights`, one for each cluster, these replace 1. With `n_clusters`,
    the number of clusters of each clustering, votes past these are missing.
    """
    if n_clusters is None:
        n_clusters = table.max(axis=0) + 1
    before = np.concatenate([[0], np.cumsum(n_clusters)]).astype(np.int32)
    columns = (table + before[:-1]).ravel()
    row_ends = np.arange(0, table.size + 1, max(table.shape[1], 1))
    if (table.min(axis=0, initial=0) < 0).any() or (
        table.max(axis=0, initial=-1) >= n_clusters
    ).any():
        voted = (table >= 0) & (table < n_clusters)
        columns = columns[voted.ravel()]
        row_ends = np.concatenate([[0], np.cumsum(voted.sum(axis=1))])
    entries = np.ones(len(columns)) if weights is None else weights[columns]
    rows = csr_array((entries, columns, narrow(row_ends)), shape=(len(table), int(before[-1])))
    return rows if by_rows else rows.tocsc()


def cluster_sums(table: NDArray[np.int32], columns: Any) -> FloatArray:
    """Return the sums of (sparse) `columns` over the rows of each cluster, in blocks of rows.

    The same as ``membership(table).T @ columns``, without that matrix.
    """
    n_clusters = table.max(axis=0) + 1
    sums: FloatArray = np.zeros((int(n_clusters.sum()), columns.shape[1]))
    for start, stop in row_ranges(len(table), _ROWS_PER_BLOCK):
        members = membership(table[start:stop], None, n_clusters, by_rows=True)
        part = members.T @ columns[start:stop]
        sums += part.toarray() if issparse(part) else part
    return sums


class Distinct(NamedTuple):
    """The different clusters of an ensemble without missing votes.

    Attributes
    ----------
    members : csr_array of shape (n, n_different)
        Which row is in which of them, 0 or 1.
    of_cluster : ndarray of shape (n_clusters,)
        The number among them of each cluster of the ensemble.
    """

    members: Any
    of_cluster: NDArray[np.int64]


def distinct_clusters(table: NDArray[np.int32]) -> Distinct | None:
    """Return the different clusters if they are few, otherwise None.

    Sets of rows are compared by sums of random numbers, two for each row, and then as sets.
    """
    numbers_of = table.max(axis=0) + 1
    n_clusters = int(numbers_of.sum())
    if n_clusters < FEWEST or (table < 0).any():
        return None
    for some in (table[:_FEW_ROWS], table):  # what differs in few rows differs
        first, of_cluster = _same_sets(some, numbers_of)
        if len(first) > _MOST_DIFFERENT * n_clusters:
            return None
    members = membership(table)
    starts = members.indptr[:-1].astype(np.int64)
    if not _are_equal(members.indices, starts, np.diff(members.indptr), first[of_cluster]):
        return None
    return Distinct(members[:, first].tocsr(), of_cluster)


def _same_sets(
    table: NDArray[np.int32], n_clusters: NDArray[np.int32]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return one of each set of clusters with equal sums of rows' keys, and the set of each."""
    numbers = (table + np.append(0, np.cumsum(n_clusters)[:-1])).ravel()
    # Whole numbers so small that no sum of them is rounded.
    keys = np.random.default_rng(0).integers(2**53 // len(table), size=(2, len(table)))
    sums = [
        np.bincount(numbers, np.repeat(key, table.shape[1]), minlength=int(n_clusters.sum()))
        for key in keys
    ]
    signature = np.column_stack(sums)
    _, first, of_cluster = np.unique(signature, axis=0, return_index=True, return_inverse=True)
    return first, of_cluster.ravel()


def shared_objects(
    distinct: Distinct, sizes: NDArray[np.int64]
) -> Callable[[NDArray[np.int64]], FloatArray]:
    """Return a function that counts the objects that some of the different clusters share with all.

    A table of all pairs is never built.
    """
    members = distinct.members
    weighted = members.T.tocsr()
    weighted.data = sizes[weighted.indices].astype(np.float64)

    def shared(clusters: NDArray[np.int64]) -> FloatArray:
        counts: FloatArray = (weighted[clusters] @ members).toarray()
        return counts

    return shared


def merged_membership(table: NDArray[np.int32], weights: FloatArray) -> Any:
    """Return `membership` with equal clusters as one, of their total weight."""
    distinct = distinct_clusters(table)
    if distinct is None:
        return membership(table, weights, by_rows=True)
    total = np.bincount(distinct.of_cluster, weights, minlength=distinct.members.shape[1])
    members = distinct.members
    return csr_array((total[members.indices], members.indices, members.indptr), members.shape)


@kernel
def _are_equal(indices: Any, starts: Any, lengths: Any, representative: Any) -> Any:
    for cluster in range(len(starts)):
        other = representative[cluster]
        if lengths[cluster] != lengths[other]:
            return False
        for i in range(lengths[cluster]):
            if indices[starts[cluster] + i] != indices[starts[other] + i]:
                return False
    return True
