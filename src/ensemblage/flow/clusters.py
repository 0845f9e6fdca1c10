"""The clusters of an ensemble seen as sets of objects: overlaps, likeness, uncertainty, weight.

Clusters of all clusterings are numbered in one row, clustering by clustering, as the columns of
`ensemblage.flow.membership`. Everything here follows from the table of overlaps, which costs
O(n·M²) on microclusters and is exact for the objects. An object without a vote in a clustering is
in none of its clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROUNDING = 1e-12


def owners(table: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the clustering that each cluster belongs to."""
    return np.repeat(np.arange(table.shape[1]), table.max(axis=0) + 1)


def overlaps(membership: Any, sizes: NDArray[np.int64]) -> FloatArray:
    """Return |C_u ∩ C_v| in objects for every pair of clusters; sizes are on the diagonal.

    Counts are whole numbers below 2**53, so float64 holds them exactly.
    """
    weighted = membership.multiply(sizes[:, None].astype(np.float64)).tocsr()
    counts: FloatArray = (membership.T.tocsr() @ weighted).toarray()
    return counts


def jaccard(counts: FloatArray) -> FloatArray:
    """Return |C_u ∩ C_v| / |C_u ∪ C_v| for every pair; 1 on the diagonal."""
    sizes = counts.diagonal()
    ratio: FloatArray = counts / (sizes[:, None] + sizes[None, :] - counts)
    return ratio


def cluster_graph(likeness: FloatArray) -> Any:
    """Return the sparse graph of clusters that are linked by their likeness, without loops."""
    links = likeness.copy()
    np.fill_diagonal(links, 0.0)
    return csr_array(links)


def cluster_entropies(
    counts: FloatArray, owner: NDArray[np.int64], weights: FloatArray | None = None
) -> FloatArray:
    """Return how scattered each cluster is over the other clusterings, in bits, summed over them.

    In a clustering the shares are those of the cluster's objects that have a vote there. With
    `weights`, a clustering is counted so often in the sum.
    """
    starts = _starts(owner)
    in_clustering = np.add.reduceat(counts, starts, axis=1)
    bits = _plogp(counts) / np.log(2)
    entropies = np.divide(
        _plogp(in_clustering) / np.log(2) - np.add.reduceat(bits, starts, axis=1),
        in_clustering,
        out=np.zeros_like(in_clustering),
        where=in_clustering > 0,
    )
    entropies = np.maximum(entropies, 0.0)
    total: FloatArray = (
        entropies.sum(axis=1) if weights is None else entropies @ weights[owner[starts]]
    )
    return total


def normalised_entropies(entropies: FloatArray, owner: NDArray[np.int64]) -> FloatArray:
    """Return the entropies on one scale for coarse and fine clusterings.

    An entropy of some bits is much for a cluster of a coarse clustering and little for one of a
    fine clustering, so each is divided by log2 of the number of clusters of its own clustering,
    at least 2.

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
    """Return how reliable each cluster is, exp(-entropy / (theta·M)), in (0, 1].

    The ensemble-driven cluster index of locally weighted methods; the floor of 1e-300 keeps a
    link a link where theta is tiny.
    """
    certainties: FloatArray = np.exp(-entropies / (theta * n_clusterings))
    return np.maximum(certainties, 1e-300)


def member_nmi(counts: FloatArray, owner: NDArray[np.int64], n_clusterings: int) -> FloatArray:
    """Return NMI (max) of every pair of clusterings, over the objects that voted in both.

    A single cluster on both sides is agreement, 1; on one side only, or no common voter, 0.
    """
    ends = np.searchsorted(owner, np.arange(n_clusterings + 1))  # one without votes has none
    result = np.ones((n_clusterings, n_clusterings))
    for a in range(n_clusterings):
        for b in range(a):
            block = counts[ends[a] : ends[a + 1], ends[b] : ends[b + 1]]
            result[a, b] = result[b, a] = _nmi_of(block)
    return result


def clustering_weights(nmi: FloatArray, beta: float) -> FloatArray:
    """Return the weight of each clustering: its mean NMI with the others, scaled and powered.

    weight_m = (mean_m / max mean) ** beta; all are 1 where there is one clustering, or where none
    has anything in common with another.
    """
    n_members = len(nmi)
    if n_members == 1:
        return np.ones(1)
    mean = (nmi.sum(axis=1) - nmi.diagonal()) / (n_members - 1)
    if mean.max() <= 0:
        return np.ones(n_members)
    weights: FloatArray = (mean / mean.max()) ** beta
    return weights


def _starts(owner: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the first cluster of each clustering that has any."""
    return np.flatnonzero(np.diff(owner, prepend=-1))


def _plogp(counts: FloatArray) -> FloatArray:
    """Return x·ln x, 0 at 0."""
    logs = np.log(counts, out=np.zeros_like(counts), where=counts > 0)
    return counts * logs


def _nmi_of(block: FloatArray) -> float:
    n = block.sum()
    if n == 0:
        return 0.0
    rows, columns = block.sum(axis=1), block.sum(axis=0)
    n_rows, n_columns = np.count_nonzero(rows), np.count_nonzero(columns)
    if min(n_rows, n_columns) == 1:
        return float(n_rows == n_columns)
    # n·H = n ln n - Σ x ln x; the information is the sum of both less the joint one.
    whole = n * np.log(n)
    h_rows, h_columns = (whole - _plogp(part).sum() for part in (rows, columns))
    information = h_rows + h_columns - (whole - _plogp(block).sum())
    if information < _ROUNDING * whole:
        return 0.0
    return float(np.clip(information / max(h_rows, h_columns), 0.0, 1.0))
