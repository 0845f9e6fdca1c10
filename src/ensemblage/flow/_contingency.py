"""Sizes of the overlaps of clusters of an ensemble: contingency tables of its clusterings.

Clusters of all clusterings are numbered in one row, clustering by clustering, as the columns of
`ensemblage.flow.membership`. Counts are whole numbers below 2**53, so float64 holds them exactly,
and it does not matter how they were added. A row without a vote in a clustering is in none of its
clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from ensemblage.flow._jit import kernel
from ensemblage.flow._symmetry import mirror
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


#: A block is sparse if it has at least this number of cells for each vote.
_MOSTLY_EMPTY, _FEW_CELLS = 8, 1 << 20
#: Steps of `worth_a_kernel` that NumPy takes for a vote.
_STEPS = 10
#: Clusters as sets of bits are compared faster than votes are counted up to this number of clusters
#: a clustering (both take as long at 16, with AVX-512), and as long as a set stays in the cache.
_FEW_CLUSTERS, _FEW_ROWS = 14, 1 << 16


def owners(table: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the clustering that each cluster belongs to."""
    return np.repeat(np.arange(table.shape[1]), table.max(axis=0) + 1)


def cluster_ends(table: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the start of the clusters of each clustering, and the number of all clusters."""
    return np.append(0, np.cumsum(table.max(axis=0, initial=-1) + 1, dtype=np.int64))


def lower_blocks(
    table: NDArray[np.int32], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.intp], Callable[[int], FloatArray | csr_array]]:
    """Return the clusterings that have clusters, and what their clusters share with others.

    The block of clustering a has a row for each of its clusters and a column for each cluster of
    the clusterings 0..a. O(n·M²) in all, and the memory of one block.
    """
    share, n_clusters = sharing(table, sizes), np.diff(cluster_ends(table))
    return np.flatnonzero(n_clusters), lambda a: share(table[:, a], a + 1, int(n_clusters[a]))


def overlaps(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> FloatArray:
    """Return |C_u ∩ C_v| in objects for every pair of clusters; sizes are on the diagonal."""
    ends = cluster_ends(table)
    counts: FloatArray = np.empty((int(ends[-1]), int(ends[-1])))
    members, block_of = lower_blocks(table, sizes)
    for a in members:
        block = block_of(a)
        whole = block if isinstance(block, np.ndarray) else block.toarray()
        counts[ends[a] : ends[a + 1], : ends[a + 1]] = whole
    mirror(counts)
    return counts


def overlaps_with(
    labels: NDArray[np.integer[Any]],
    n_labels: int,
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
) -> FloatArray:
    """Return the objects that each label 0..n_labels-1 shares with each cluster; -1 is missing."""
    ends = cluster_ends(table)
    counts: FloatArray = np.empty((n_labels, int(ends[-1])))
    if worth_a_kernel(_STEPS * table.size):
        counts[:] = 0.0
        _add_rows(labels, table, ends, sizes.astype(np.float64), counts)
    else:
        _count(labels, numbered(table, ends), sizes.astype(np.float64), counts)
    return counts


def sharing(
    table: NDArray[np.int32], sizes: NDArray[np.int64]
) -> Callable[[NDArray[np.int32], int, int], FloatArray | csr_array]:
    """Return a function that counts the objects shared by clusters of a clustering and others.

    Called with the votes of the clustering, a number of clusterings and the number of its own
    clusters, it returns a row for each of these and a column for each cluster of the first
    clusterings of `table`, as a sparse matrix if nearly all entries would be 0, as for clusters of
    single rows.
    """
    ends, weights = cluster_ends(table), sizes.astype(np.float64)
    # Faster in 32 bits: more of the counts stay in the cache.
    narrow = np.int32 if max(weights.sum(), ends[-1]) < 2**31 else np.int64
    starts, whole_weights = ends.astype(narrow), sizes.astype(narrow)
    compiled = worth_a_kernel(table.size * table.shape[1])  # called for each clustering
    few = ends[-1] <= _FEW_CLUSTERS * table.shape[1] and len(table) <= _FEW_ROWS
    sets = _bits(table, ends) if compiled and few and (sizes == 1).all() else None

    def share(
        labels: NDArray[np.int32], n_clusterings: int, n_labels: int
    ) -> FloatArray | csr_array:
        shape = n_labels, int(ends[n_clusterings])
        some = table[:, :n_clusterings]
        if shape[0] * shape[1] > _MOSTLY_EMPTY * some.size + _FEW_CELLS:
            return _sparse_counts(labels, numbered(some, ends), weights, shape)
        if sets is not None:
            common: FloatArray = np.empty(shape)
            _count_common(_bits(labels[:, None], np.array([0, n_labels])), sets, common)
            return common
        if compiled:
            whole = np.zeros(shape, dtype=narrow)
            _add_rows(labels, some, starts, whole_weights, whole)
            return whole.astype(np.float64)
        counts: FloatArray = np.empty(shape)
        _count(labels, numbered(some, ends), weights, counts)
        return counts

    return share


def _sparse_counts(
    labels: NDArray[np.int32], numbers: NDArray[np.int32], weights: FloatArray, shape: Any
) -> csr_array:
    voted = (numbers >= 0) & (labels >= 0)[:, None]
    rows = np.broadcast_to(labels[:, None], numbers.shape)[voted]
    entries = np.broadcast_to(weights[:, None], numbers.shape)[voted]
    return csr_array(coo_array((entries, (rows, numbers[voted])), shape=shape))  # sums up


def numbered(table: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the number of the cluster of each vote among all clusters; -1 for a missing vote."""
    numbers = table + ends[: table.shape[1]].astype(np.int32)
    numbers[table < 0] = -1
    return numbers


def _count(
    labels: NDArray[Any], numbers: NDArray[np.int32], weights: FloatArray, counts: FloatArray
) -> None:
    """Write to ``counts[c, u]`` the weight of the rows of label c in cluster u."""
    voted = (numbers >= 0) & (labels >= 0)[:, None]
    cells = (labels[:, None].astype(np.int64) * counts.shape[1] + numbers)[voted]
    of_rows = np.broadcast_to(weights[:, None], numbers.shape)[voted]
    counts[:] = np.bincount(cells, of_rows, minlength=counts.size).reshape(counts.shape)


def _bits(table: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the rows of each cluster as bits of words."""
    words = np.zeros((int(ends[-1]), -(-len(table) // 64)), dtype=np.uint64)
    _set_bits(table, ends, words)
    return words


@kernel
def _set_bits(table: Any, ends: Any, words: Any) -> None:
    for i in range(table.shape[0]):
        word, bit = np.uint64(i >> 6), np.uint64(1) << np.uint64(i & 63)
        for m in range(table.shape[1]):
            if table[i, m] >= 0:
                words[np.uint64(ends[m] + table[i, m]), word] |= bit


@kernel
def _count_common(sets: Any, others: Any, counts: Any) -> None:
    """Write to ``counts[c, u]`` the number of bits that ``sets[c]`` and ``others[u]`` share."""
    for c in range(counts.shape[0]):
        for u in range(counts.shape[1]):
            total = np.uint64(0)
            for w in range(sets.shape[1]):
                total += _n_bits(sets[c, w] & others[u, w])
            counts[c, u] = total


@kernel
def _n_bits(word: Any) -> Any:
    """Return the number of bits that are set; compilers know this as one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def _add_rows(labels: Any, table: Any, starts: Any, weights: Any, counts: Any) -> None:
    n_columns = table.shape[1]
    for i in range(len(labels)):
        if labels[i] < 0:
            continue
        row = counts[labels[i]]
        weight = weights[i]
        for m in range(n_columns):
            vote = table[i, m]
            if vote >= 0:
                row[np.uint64(starts[m] + vote)] += weight  # unsigned: no wrap round
