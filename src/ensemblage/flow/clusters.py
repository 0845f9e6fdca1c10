"""Clusters of an ensemble as sets of objects: similarity, uncertainty, weight.

Everything here is computed from the overlaps of clusters (`ensemblage.flow._contingency`), O(n·M²)
on microclusters and exact for the objects. An object without a vote in a clustering is in none of
its clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from ensemblage.flow._contingency import cluster_ends, lower_blocks, owners, sharing
from ensemblage.flow._membership import Distinct, distinct_clusters, shared_objects
from ensemblage.flow._symmetry import mirror
from ensemblage.flow._threads import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROUNDING = 1e-12
_LN2 = np.log(2)
_CLUSTERS_AT_A_TIME, _CLUSTERINGS_AT_A_TIME = 256, 64


def jaccard(counts: FloatArray) -> FloatArray:
    """Return |C_u ∩ C_v| / |C_u ∪ C_v| for every pair; 1 on the diagonal."""
    sizes = counts.diagonal()
    ratio: FloatArray = counts / (sizes[:, None] + sizes[None, :] - counts)
    return ratio


def cluster_graph(likeness: FloatArray) -> Any:
    """Return the sparse graph of clusters linked by their similarity, without loops."""
    links = likeness.copy()
    np.fill_diagonal(links, 0.0)
    return csr_array(links)


def cluster_entropies(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the entropy of each cluster over the other clusterings, in bits, summed over them.

    In a clustering the shares are those of the cluster's objects with a vote there. With `weights`,
    a clustering is counted by its weight in the sum.
    """
    weights = np.ones(table.shape[1]) if weights is None else weights
    distinct = distinct_clusters(table)
    if distinct is not None:
        return _entropies_of_distinct(distinct, sizes, weights[owners(table)], weights.sum())
    ends = cluster_ends(table)
    total: FloatArray = np.zeros(int(ends[-1]))
    members, block_of = lower_blocks(table, sizes)

    def both_sides(a: int) -> tuple[FloatArray, FloatArray]:
        """Return the entropies of the clusters of one clustering in others, and of these in it."""
        block, others, before = block_of(a), _with_clusters(ends, a + 1), int(ends[a])
        starts = ends[others]
        bits = _plogp(block)
        bits /= _LN2
        here = _entropies(_by_clustering(block, starts), _by_clustering(bits, starts))
        there = _entropies(block[:, :before].sum(axis=0), bits[:, :before].sum(axis=0))
        return here @ weights[others], weights[a] * there

    # Added in order, whatever the number of threads.
    for a, (here, there) in zip(members, in_threads(both_sides, members, n_jobs), strict=True):
        total[ends[a] : ends[a + 1]] += here
        total[: ends[a]] += there
    return total


def _entropies_of_distinct(
    distinct: Distinct, sizes: NDArray[np.int64], weights: FloatArray, total: float
) -> FloatArray:
    """Return entropies for complete votes, from the different clusters alone."""
    shared = shared_objects(distinct, sizes)
    n: FloatArray = distinct.members.T @ sizes.astype(np.float64)
    weight = np.bincount(distinct.of_cluster, weights)
    logs = [_plogp(shared(some)) @ weight for some in _in_parts(len(n))]
    bits = (total * _plogp(n) - np.concatenate(logs)) / (_LN2 * n)
    entropies: FloatArray = np.maximum(bits, 0.0)[distinct.of_cluster]
    return entropies


def normalised_entropies(entropies: FloatArray, owner: NDArray[np.int64]) -> FloatArray:
    """Return the entropies on one scale for coarse and fine clusterings.

    An entropy of some bits is high for a cluster of a coarse clustering and low for one of a fine
    clustering, so each is divided by log2 of the number of clusters of its own clustering, at least
    2.

    Examples
    --------
    >>> import numpy as np
    >>> normalised_entropies(np.array([1.0, 1.0, 3.0]), np.array([0, 0, 1]))
    array([1., 1., 3.])
    """
    n_clusters = np.bincount(owner)[owner]
    scaled: FloatArray = entropies / np.log2(np.maximum(n_clusters, 2))
    return scaled


def cluster_certainties(entropies: FloatArray, n_clusterings: float, theta: float) -> FloatArray:
    """Return the certainty of each cluster, exp(-entropy / (theta·M)), in (0, 1].

    The ensemble-driven cluster index of locally weighted methods; the floor of 1e-300 keeps a
    link a link where theta is tiny.
    """
    certainties: FloatArray = np.exp(-entropies / (theta * n_clusterings))
    return np.maximum(certainties, 1e-300)


def member_nmi(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    others: NDArray[np.int64] | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return NMI (max) of every two clusterings, over the objects that voted in both.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes of microclusters, -1 where there is none.
    sizes : ndarray of shape (n,)
        Objects in each.
    others : ndarray of int, optional
        The clusterings to compare with; all by default.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray of shape (n_clusterings, n_clusterings or len(others))
        A single cluster on both sides is agreement, 1; on one side only, or no common voter, 0.

    Notes
    -----
    O(n) for each pair, and memory for what one clustering shares with the others.
    """
    n_members = table.shape[1]
    distinct = distinct_clusters(table) if others is None else None
    if distinct is not None:
        return _nmi_of_distinct(distinct, sizes, owners(table))
    columns = table if others is None else table[:, others]
    ends = cluster_ends(columns)
    result = np.zeros((n_members, columns.shape[1]))
    share = sharing(columns, sizes)

    def fill(a: int) -> None:
        n_others = a + 1 if others is None else len(others)
        with_clusters = _with_clusters(ends, n_others)
        n_labels = int(table[:, a].max()) + 1
        if not len(with_clusters) or n_labels == 0:
            return
        block = share(table[:, a], n_others, n_labels)
        result[a, with_clusters] = _nmi_of_block(block, ends[with_clusters])

    in_threads(fill, range(n_members - 1, -1, -1), n_jobs)  # the longest first
    if others is not None:
        result[others, np.arange(len(others))] = 1.0
        return result
    mirror(result)
    np.fill_diagonal(result, 1.0)
    return result


def _nmi_of_block(block: FloatArray | csr_array, starts: NDArray[np.int64]) -> FloatArray:
    """Return NMI (max) of a clustering, the rows, with others, whose clusters are the columns."""
    in_a = _by_clustering(block, starts)  # of each cluster, the voters in each other
    in_b = block.sum(axis=0)
    return _nmi(
        in_a.sum(axis=0),
        np.add.reduceat(_plogp(block).sum(axis=0), starts),
        _plogp(in_a).sum(axis=0),
        np.add.reduceat(_plogp(in_b), starts),
        np.count_nonzero(in_a, axis=0),
        np.add.reduceat(in_b > 0, starts, dtype=np.int64),
    )


def _nmi_of_distinct(
    distinct: Distinct, sizes: NDArray[np.int64], owner: NDArray[np.int64]
) -> FloatArray:
    """Return NMI (max) of complete clusterings, from the different clusters alone."""
    shared = shared_objects(distinct, sizes)
    n_clusters = np.bincount(owner)
    ends = np.append(0, np.cumsum(n_clusters))
    n_distinct = distinct.members.shape[1]
    of_member = csr_array(
        (np.ones(len(owner)), distinct.of_cluster, ends), shape=(len(n_clusters), n_distinct)
    )
    rows = of_member @ _plogp(distinct.members.T @ sizes.astype(np.float64))
    n = np.float64(sizes.sum())
    result: FloatArray = np.empty((len(n_clusters), len(n_clusters)))
    for some in _in_parts(len(n_clusters), _CLUSTERINGS_AT_A_TIME):
        present, place = np.unique(
            distinct.of_cluster[ends[some[0]] : ends[some[-1] + 1]], return_inverse=True
        )
        # Σ x ln x over the clusters of each clustering, first of one side, then of the other.
        by_cluster = of_member @ _plogp(shared(present)).T
        joint = np.add.reduceat(by_cluster[:, place], ends[some] - ends[some[0]], axis=1).T
        shape = joint.shape
        result[some] = _nmi(
            np.full(shape, n),
            joint,
            np.broadcast_to(rows[some, None], shape),
            np.broadcast_to(rows, shape),
            np.broadcast_to(n_clusters[some, None], shape),
            np.broadcast_to(n_clusters, shape),
        )
    mirror(result)
    np.fill_diagonal(result, 1.0)
    return result


def clustering_weights(nmi: FloatArray, beta: float) -> FloatArray:
    """Return the weight of each clustering: its mean NMI with the others, scaled and powered.

    The weight is (mean / largest mean) to the power of beta; all are 1 for a single clustering, or
    if no two clusterings have anything in common.
    """
    n_members = len(nmi)
    if n_members == 1:
        return np.ones(1)
    mean = (nmi.sum(axis=1) - nmi.diagonal()) / (n_members - 1)
    if mean.max() <= 0:
        return np.ones(n_members)
    weights: FloatArray = (mean / mean.max()) ** beta
    return weights


def _in_parts(n: int, size: int = _CLUSTERS_AT_A_TIME) -> list[NDArray[np.int64]]:
    return np.split(np.arange(n), range(size, n, size))


def _with_clusters(ends: NDArray[np.int64], n_clusterings: int) -> NDArray[np.intp]:
    """Return which of the first clusterings have clusters."""
    return np.flatnonzero(np.diff(ends[: n_clusterings + 1]))


def _by_clustering(block: FloatArray | csr_array, starts: NDArray[np.int64]) -> FloatArray:
    """Return the sums of columns of a block that begin at `starts`."""
    if isinstance(block, np.ndarray):
        sums: FloatArray = np.add.reduceat(block, starts, axis=1)
        return sums
    ends = np.append(starts, block.shape[1])
    owner = csr_array((np.ones(block.shape[1]), np.arange(block.shape[1]), ends)).T
    return (block @ owner).toarray()  # type: ignore[no-any-return]


def _plogp(counts: Any) -> Any:
    """Return x·ln x of whole numbers, 0 at 0, of a dense or a sparse array."""
    if isinstance(counts, csr_array):
        return csr_array((_plogp(counts.data), counts.indices, counts.indptr), counts.shape)
    logs = np.log(np.maximum(counts, 1.0))
    logs *= counts
    return logs


def _entropies(voters: FloatArray, bits: FloatArray) -> FloatArray:
    """Return entropies in bits, given the counts' sum and the sum of x·log2 x; 0 without voters."""
    entropies: FloatArray = np.maximum(
        (_plogp(voters) / _LN2 - bits) / np.maximum(voters, 1.0), 0.0
    )
    return entropies


def _nmi(
    n: FloatArray,
    joint: FloatArray,
    rows: FloatArray,
    columns: FloatArray,
    n_rows: NDArray[Any],
    n_columns: NDArray[Any],
) -> FloatArray:
    """Return NMI (max) of contingency tables: objects, sums of x·ln x, and clusters that occur."""
    # n·H = n ln n - Σ x ln x; the information is the sum of both less the joint one.
    whole = _plogp(n)
    h_rows, h_columns = whole - rows, whole - columns
    information = h_rows + h_columns - (whole - joint)
    larger = np.maximum(h_rows, h_columns)
    scores = np.divide(information, larger, out=np.zeros_like(n), where=larger > 0)
    scores = np.where(information < _ROUNDING * whole, 0.0, np.clip(scores, 0.0, 1.0))
    scores = np.where(scores > 1.0 - _ROUNDING, 1.0, scores)
    single = np.minimum(n_rows, n_columns) == 1
    return np.where(single, n_rows == n_columns, np.where(n > 0, scores, 0.0))
