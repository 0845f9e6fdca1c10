"""Groups of objects that no clustering joins, but for stray votes.

`ensemblage.flow.links` finds groups that nothing links. One stray vote links two such groups, and
then decides which groups a cut joins. Here a link needs more: two clusters of different clusterings
are linked if they share more than a fifth of the smaller one. A few stray votes of a large group
are more than a fifth of a small cluster, so votes that nearly all others of their rows contradict
are left out first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ensemblage.flow._contingency import cluster_ends, owners, sharing
from ensemblage.flow.links import Links

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Clusters are linked if they share more than this part of the smaller one.
_SHARE = 0.2
#: Clusters that share more than this part of the larger one are of one group in any case.
_CORE = 0.5
#: Votes outside are stray if at most this part of the objects of a group have them.
_FEW = 0.05
#: Smaller clusters link nothing, and smaller groups are not counted: a few objects may be outliers.
FEWEST = 5
#: Votes outside the group of their row are stray up to this part of all.
_MOST_STRAY = 1 / 3
#: Beyond this number of comparisons of votes, or of clusters, every vote is a link.
_MOST_COMPARED, _MOST_CLUSTERS = 1e8, 4000
#: Overlaps with this number of clusterings usually link all; then the others are not computed.
_FEW_CLUSTERINGS = 8
#: Edges are collected up to this number for each cluster, which limits their memory.
_MOST_EDGES = 64


def firm_links_of(table: NDArray[np.int32], sizes: NDArray[np.int64], links: Links) -> Links:
    """Return the groups of rows that votes link firmly; with too many votes, that any vote links.

    Before that, clusters that share more than half of the larger one form cores. If at least four
    fifths of the votes of a row are in one core, its other votes are left out where at most a
    twentieth of such objects of this core have them. (A clustering that joins groups has more.)

    Clusters with fewer than five objects are ignored, and so are clusterings with one cluster that
    miss no vote, also if others miss some. A row belongs to the group that most of its
    votes are in, of equally many to the largest; a row without a vote in a larger cluster to those
    that any vote links with it. If all larger clusters are linked, or if more than a third of the
    votes are outside the groups of their rows and therefore not stray, groups are those that any
    vote links.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Codes of clusters, -1 for a missing vote; every row has a vote.
    sizes : ndarray of shape (n,)
        Objects of each row.
    links : Links
        The groups that any vote links.

    Notes
    -----
    O(n·M²) time, and the memory of the overlaps of one clustering with all others.

    Examples
    --------
    Two clusterings agree on two groups of five and seven objects, but for one object:

    >>> import numpy as np
    >>> table, sizes = np.array([[0, 0], [1, 1], [0, 1]], dtype=np.int32), np.array([5, 6, 1])
    >>> from ensemblage.flow import links_of
    >>> links_of(table).n_groups, firm_links_of(table, sizes, links_of(table))
    (1, Links(n_groups=2, of_row=array([0, 1, 1])))
    """
    constant = table.min(axis=0) == table.max(axis=0)
    votes = table if constant.all() else table[:, ~constant]
    n_clusters = int(cluster_ends(votes)[-1])
    if votes.size * votes.shape[1] > _MOST_COMPARED or n_clusters > _MOST_CLUSTERS:
        return links
    kept = _without_contradicted(votes, sizes)
    of_cluster = _groups_of_clusters(kept, sizes)
    if of_cluster.max(initial=-1) == 0:
        return links
    groups = _group_of_vote(kept, of_cluster)
    of_row = _most_frequent(groups, sizes)
    left_out = kept != votes
    in_groups = (groups >= 0) | left_out
    stray = left_out | ((groups >= 0) & (groups != of_row[:, None]))
    if stray.sum(axis=1) @ sizes > _MOST_STRAY * (in_groups.sum(axis=1) @ sizes):
        return links
    alone = of_row < 0
    if alone.any():
        of_row[alone] = n_clusters + links.of_row[alone]
    found, first, of_row = np.unique(of_row, return_index=True, return_inverse=True)
    rank = np.empty(len(found), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(found))
    return Links(len(found), rank[of_row])


def links_at(links: Links, firm: Links, sizes: NDArray[np.int64], n_clusters: int) -> Links:
    """Return the firm links if there are more large groups than clusters, otherwise all links."""
    return firm if n_large_groups(firm, sizes) > n_clusters else links


def n_large_groups(links: Links, sizes: NDArray[np.int64]) -> int:
    """Return the number of groups of at least five objects."""
    return int((np.bincount(links.of_row, sizes) >= FEWEST).sum())


def _without_contradicted(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the votes without those that nearly all others of their rows contradict."""
    cores = _linked_clusters(table, sizes, _are_large(table, sizes), table.shape[1], by_larger=True)
    groups, voted = _group_of_vote(table, cores), table >= 0
    of_row = _most_frequent(groups, sizes)
    outside = voted & (groups != of_row[:, None])
    settled = (of_row >= 0) & (outside.sum(axis=1) <= _SHARE * voted.sum(axis=1))
    objects = np.bincount(of_row[settled], sizes[settled])
    rows, places = np.nonzero(outside & settled[:, None])
    clusters = table[rows, places] + cluster_ends(table)[places]
    _, key = np.unique(clusters * len(objects) + of_row[rows], return_inverse=True)
    few = np.bincount(key, sizes[rows])[key] <= _FEW * objects[of_row[rows]]
    kept = table.copy()
    kept[rows[few], places[few]] = -1
    return kept


def _group_of_vote(table: NDArray[np.int32], of_cluster: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the group of the cluster of each vote, -1 without one."""
    groups, voted = np.full(table.shape, -1, dtype=np.int64), table >= 0
    groups[voted] = of_cluster[(table + cluster_ends(table)[:-1])[voted]]
    return groups


def _are_large(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell whether each cluster has enough objects to link others."""
    ends, voted = cluster_ends(table), table >= 0
    of_rows = np.broadcast_to(sizes[:, None], table.shape)
    objects = np.bincount((table + ends[:-1])[voted], of_rows[voted], minlength=ends[-1])
    large: NDArray[np.bool_] = objects >= FEWEST
    return large


def _groups_of_clusters(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the group of each cluster, -1 for those that are too small."""
    large = _are_large(table, sizes)
    groups = np.empty(len(large), dtype=np.int64)
    for n_compared in sorted({min(_FEW_CLUSTERINGS, table.shape[1]), table.shape[1]}):
        groups = _linked_clusters(table, sizes, large, n_compared)
        if groups.max(initial=-1) <= 0:
            break
    return groups


def _linked_clusters(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    large: NDArray[np.bool_],
    n_compared: int,
    *,
    by_larger: bool = False,
) -> NDArray[np.int64]:
    """Return the groups of large clusters that overlaps with the first clusterings link.

    They must be more than a fifth of the smaller cluster, or more than half of the larger one.
    """
    least, extreme = (_CORE, np.maximum) if by_larger else (_SHARE, np.minimum)
    ends, owner = cluster_ends(table), owners(table)
    share, n = sharing(table, sizes), len(large)
    groups = np.arange(n)
    members = np.flatnonzero(np.diff(ends))
    edges: list[NDArray[np.int64]] = []
    n_edges = 0
    for m in members:
        before = min(int(m) + 1, n_compared)
        counts = coo_array(share(table[:, m], before, int(ends[m + 1] - ends[m])))
        own, other = counts.coords
        key = own.astype(np.int64) * before + owner[other]
        voters = np.bincount(key, counts.data)[key]  # of the own cluster in the other clustering
        voters = extreme(voters, np.bincount(other, counts.data)[other])
        own = ends[m] + own
        firm = large[own] & large[other] & (counts.data > least * voters)
        edges.append(np.stack([own[firm], other[firm]]))
        n_edges += int(firm.sum())
        if n_edges > _MOST_EDGES * n or m == members[-1]:
            pairs = groups[np.concatenate(edges, axis=1)]
            graph = coo_array((np.ones(pairs.shape[1], dtype=np.int8), pairs), shape=(n, n))
            groups = connected_components(graph, directed=False)[1].astype(np.int64)[groups]
            edges, n_edges = [], 0
    found = np.full(n, -1, dtype=np.int64)
    found[large] = np.unique(groups[large], return_inverse=True)[1]
    return found


def _most_frequent(groups: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the group that most votes of each row are in, -1 if none is in a group."""
    rows, places = np.nonzero(groups >= 0)
    most = np.full(len(groups), -1, dtype=np.int64)
    if not len(rows):
        return most
    n_groups = int(groups.max()) + 1
    keys, votes = np.unique(rows * n_groups + groups[rows, places], return_counts=True)
    row, group = np.divmod(keys, n_groups)
    objects = np.bincount(group, votes * sizes[row])
    order = np.lexsort((objects[group], votes, row))  # the last of each row is the most frequent
    most[row[order]] = group[order]
    return most
