"""SimRank on the bipartite graph of objects and clusters: similar nodes have similar neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import diags_array

from ensemblage.flow._symmetry import mirror
from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROWS_PER_BLOCK = 256


def simrank(
    membership: Any,
    sizes: NDArray[np.int64],
    decay: float,
    n_updates: int,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the similarity of two different objects of each pair of microclusters.

    Parameters
    ----------
    membership : sparse array of shape (n, n_clusters)
        0/1, a row for each microcluster.
    sizes : ndarray of shape (n,)
        Objects in each microcluster.
    decay : float
        Share of a similarity that a step along the graph retains.
    n_updates : int
        At least 1. Before the first one, everything is similar only to itself.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray of shape (n, n)
        Entry (a, a) is for two objects of the same microcluster, and below 1.

    Notes
    -----
    Write h_a for the row of `membership` divided by its number of votes. An update makes

    - s_ab = decay · h_a C h_bᵀ from the similarity C of clusters,
    - C_uv = decay · mean of s_ij over the objects i of u and j of v, where s_ii = 1; C_uu = 1,

    both from the previous values. Objects of an even update follow from clusters of an odd one and
    vice versa, so half of the updates are not needed. Sums over objects are products of tables of
    clusters: an update costs O(C³ + n·M²), and only the result is n × n.
    """
    voices = membership.sum(axis=1)
    shares = (diags_array(1.0 / voices) @ membership).tocsr()
    if n_updates % 2:
        likeness = np.eye(membership.shape[1])
    else:
        likeness = _clusters_from_objects(membership, shares, sizes, decay, None)
    for _ in range((n_updates - 1) // 2):
        likeness = _clusters_from_objects(membership, shares, sizes, decay, likeness)

    n = len(sizes)
    to_clusters = np.ascontiguousarray((shares @ likeness).T)
    to_clusters *= decay
    similarity: FloatArray = np.empty((n, n))

    def fill(rows: tuple[int, int]) -> None:
        start, stop = rows
        similarity[start:stop] = shares[start:stop] @ to_clusters

    in_threads(fill, row_ranges(n, _ROWS_PER_BLOCK), n_jobs)
    mirror(similarity)
    return similarity


def _clusters_from_objects(
    membership: Any,
    shares: Any,
    sizes: NDArray[np.int64],
    decay: float,
    likeness: FloatArray | None,
) -> FloatArray:
    """Return the similarity of clusters after comparing objects through `likeness`.

    Without it, objects are similar only to themselves.
    """
    weighted = membership.multiply(sizes[:, None].astype(np.float64)).tocsc()
    in_cluster = weighted.sum(axis=0)
    if likeness is None:
        lacking = np.ones(len(sizes))  # what each object lacks of being 1 to itself
        sums = np.zeros((len(in_cluster), len(in_cluster)))
    else:
        votes = (weighted.T @ shares).toarray()
        sums = decay * (votes @ likeness @ votes.T)
        to_itself = shares.multiply(shares @ likeness).sum(axis=1)
        lacking = 1.0 - decay * to_itself
    sums += (weighted.T @ membership.multiply(lacking[:, None])).toarray()
    result: FloatArray = decay * sums / in_cluster[:, None] / in_cluster[None, :]
    np.fill_diagonal(result, 1.0)
    return result
