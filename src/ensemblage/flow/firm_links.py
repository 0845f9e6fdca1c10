"""Groups of objects that no clustering joins, but for stray votes.

`ensemblage.flow.links` finds groups that nothing links. One stray vote links two such groups, and
then decides which groups a cut joins. Here a link needs more: two clusters of different clusterings
are linked if they share at least a fifth of the smaller one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ensemblage.flow._contingency import cluster_ends, overlaps, owners
from ensemblage.flow.links import Links, links_of, without_constant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Clusters are linked if they share at least this part of the smaller one.
_SHARE = 0.2
#: Smaller clusters link nothing, and smaller groups are not counted: a few objects may be outliers.
FEWEST = 5
#: Beyond this number of comparisons of votes, or of clusters, every vote is a link.
_MOST_COMPARED, _MOST_CLUSTERS = 1e8, 4000


def firm_links_of(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> Links:
    """Return the groups of rows that votes link firmly; with too many votes, that any vote links.

    Clusters with fewer than five objects are ignored. If all others are linked, groups are those
    that any vote links. Otherwise a row belongs to the group that most of its votes are in, of
    equally many to the largest; a row without a vote in a larger cluster to those that any vote
    links with it.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Codes of clusters, -1 for a missing vote; every row has a vote.
    sizes : ndarray of shape (n,)
        Objects of each row.

    Notes
    -----
    O(n·M²) time and the memory of a few tables of all pairs of clusters.

    Examples
    --------
    Two clusterings agree on two groups of five and seven objects, but for one object:

    >>> import numpy as np
    >>> table, sizes = np.array([[0, 0], [1, 1], [0, 1]], dtype=np.int32), np.array([5, 6, 1])
    >>> links_of(table).n_groups, firm_links_of(table, sizes)
    (1, Links(n_groups=2, of_row=array([0, 1, 1])))
    """
    table = without_constant(table)
    n_clusters = int(cluster_ends(table)[-1])
    if table.size * table.shape[1] > _MOST_COMPARED or n_clusters > _MOST_CLUSTERS:
        return links_of(table)
    counts = overlaps(table, sizes)
    of_cluster = _groups_of_clusters(counts, owners(table))
    if of_cluster.max(initial=-1) == 0:
        return links_of(table)
    of_row = _most_frequent(of_cluster, table, sizes)
    alone = of_row < 0
    if alone.any():
        of_row[alone] = len(counts) + links_of(table).of_row[alone]
    found, first, of_row = np.unique(of_row, return_index=True, return_inverse=True)
    rank = np.empty(len(found), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(found))
    return Links(len(found), rank[of_row])


def n_large_groups(links: Links, sizes: NDArray[np.int64]) -> int:
    """Return the number of groups of at least five objects."""
    return int((np.bincount(links.of_row, sizes) >= FEWEST).sum())


def _groups_of_clusters(counts: FloatArray, owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the group of each cluster, -1 for those that are too small."""
    kept = np.flatnonzero(counts.diagonal() >= FEWEST)
    of_owner = csr_array((np.ones(len(owner)), (np.arange(len(owner)), owner)))
    voting = (counts[kept] @ of_owner)[:, owner[kept]]  # a cluster's voters in another's clustering
    shared = counts[np.ix_(kept, kept)]
    linked = (shared > 0) & (shared >= _SHARE * np.minimum(voting, voting.T))
    groups = np.full(len(counts), -1, dtype=np.int64)
    groups[kept] = connected_components(csr_array(linked), directed=False)[1]
    return groups


def _most_frequent(
    of_cluster: NDArray[np.int64], table: NDArray[np.int32], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the group that most votes of each row are in, -1 if none is in a group."""
    groups = np.full(table.shape, -1, dtype=np.int64)
    voted = table >= 0
    groups[voted] = of_cluster[(table + cluster_ends(table)[:-1])[voted]]
    rows, places = np.nonzero(groups >= 0)
    most = np.full(len(table), -1, dtype=np.int64)
    if not len(rows):
        return most
    n_groups = int(of_cluster.max()) + 1
    keys, votes = np.unique(rows * n_groups + groups[rows, places], return_counts=True)
    row, group = np.divmod(keys, n_groups)
    objects = np.bincount(group, votes * sizes[row])
    order = np.lexsort((objects[group], votes, row))  # the last of each row is the most frequent
    most[row[order]] = group[order]
    return most
