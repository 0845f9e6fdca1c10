"""Groups of objects that votes link.

Two objects are linked if a chain of objects leads from one to the other in which neighbours share a
cluster. A clustering with all objects in one cluster prefers no groups, and links none. Groups
without such a chain have nothing in common: for every method based on votes any two of them are
equally good to join, so a cut into fewer clusters than groups is arbitrary. This module detects
that, and makes the choice a rule: larger groups first, then by structure, which depends neither on
the order of rows and clusterings nor on the names of clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_Integer = TypeVar("_Integer", bound="np.integer[Any]")

#: Rounds of refinement: rows are distinguished up to this distance in shared clusters.
_ROUNDS = 4
#: Pairs of clusters are marked in a table of up to this number of entries, and sorted beyond.
_MOST_MARKED = 1 << 22
#: This number of clusterings usually links all rows; then the others change nothing.
_FEW_CLUSTERINGS = 8


class Links(NamedTuple):
    """The groups of rows that votes link.

    Attributes
    ----------
    n_groups : int
        Number of groups.
    of_row : ndarray of shape (n,)
        The group of each row, numbered by first appearance.
    """

    n_groups: int
    of_row: NDArray[np.int64]


def links_of(table: NDArray[np.int32]) -> Links:
    """Return the groups of rows that votes link.

    If no vote is missing, clusterings with only one cluster are ignored.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Codes of clusters, -1 for a missing vote; every row has a vote.

    Examples
    --------
    >>> import numpy as np
    >>> links_of(np.array([[0, 0], [0, 1], [1, 2], [2, 2]], dtype=np.int32))
    Links(n_groups=2, of_row=array([0, 0, 1, 1]))
    """
    table = _without_constant(table)
    first = table[:, :_FEW_CLUSTERINGS]
    if table.shape[1] > _FEW_CLUSTERINGS and (first.max(axis=1, initial=-1) >= 0).all():
        links = _links_of(first)
        if links.n_groups == 1:
            return links
    return _links_of(table)


def _without_constant(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the votes without clusterings of one cluster, which are as good for every pair.

    If votes are missing, they are not: some pairs may have no other vote in common.
    """
    lowest, highest = table.min(axis=0), table.max(axis=0)
    constant = lowest == highest
    if lowest.min() < 0 or not constant.any() or constant.all():
        return table
    return table[:, ~constant]


def _links_of(table: NDArray[np.int32]) -> Links:
    n_clusters = table.max(axis=0).astype(np.int64) + 1
    before = np.concatenate([[0], np.cumsum(n_clusters)])
    last = np.full(len(table), -1, dtype=np.int64)  # the cluster of the last vote of each row
    pairs = []
    for m in range(table.shape[1]):
        votes = table[:, m].astype(np.int64)
        both = (votes >= 0) & (last >= 0)
        if both.any():
            pairs.append(_different(last[both], votes[both], int(n_clusters[m]), int(before[m])))
        last = np.where(votes >= 0, before[m] + votes, last)
    ends = np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])
    size = int(before[-1])
    graph = coo_array((np.ones(len(ends), dtype=np.int8), ends.T), shape=(size, size))
    _, of_cluster = connected_components(graph, directed=False)
    found, first, of_row = np.unique(of_cluster[last], return_index=True, return_inverse=True)
    rank = np.empty(len(found), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(found))
    return Links(len(found), rank[of_row])


def _different(
    last: NDArray[np.int64], votes: NDArray[np.int64], n_clusters: int, before: int
) -> NDArray[np.int64]:
    """Return the pairs of clusters that occur, each once."""
    lowest = int(last.min())
    keys = (last - lowest) * n_clusters + votes
    n_keys = int(keys.max()) + 1
    if n_keys <= _MOST_MARKED:
        marked = np.zeros(n_keys, dtype=bool)
        marked[keys] = True
        keys = np.flatnonzero(marked)
    else:
        keys = np.unique(keys)
    return np.column_stack([lowest + keys // n_clusters, before + keys % n_clusters])


def structure(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a number for each row of votes that differs for different surroundings.

    It depends on sizes and shared clusters, and not on the order of rows, the order of clusterings,
    the names of clusters or duplicate clusterings. Rows that an exchange of names maps on each
    other have equal numbers.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = structure(np.array([[0], [0], [1], [1]]), np.array([3, 1, 1, 3]))
    >>> bool(numbers[0] == numbers[3]), bool(numbers[1] == numbers[2])
    (True, True)
    """
    columns = {column.tobytes(): column for column in np.ascontiguousarray(table.T)}
    rows = mixed(sizes.astype(np.uint64))
    for _ in range(_ROUNDS):
        surroundings = np.zeros(len(rows), dtype=np.uint64)
        for column in columns.values():
            voted = column >= 0
            clusters = np.zeros(int(column.max()) + 1, dtype=np.uint64)
            np.add.at(clusters, column[voted], rows[voted])
            surroundings[voted] += mixed(clusters)[column[voted]]
        rows = mixed(rows * np.uint64(3) + surroundings)
    return rows


def structure_of_clusters(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a number for each cluster that differs for clusters of rows of other `structure`.

    Clusters are those of the first clustering, then those of the second, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> table, sizes = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int32), np.array([5, 1, 2])
    >>> numbers = structure_of_clusters(table, sizes)
    >>> moved = structure_of_clusters(np.array([[0, 0], [0, 1], [1, 1]]), sizes[::-1])
    >>> bool((moved == numbers[[1, 0, 3, 2]]).all())
    True
    """
    rows, numbers = structure(table, sizes), []
    for column in table.T:
        voted = column >= 0
        clusters = np.zeros(int(column.max()) + 1, dtype=np.uint64)
        np.add.at(clusters, column[voted], rows[voted])
        numbers.append(mixed(clusters))
    return np.concatenate(numbers)


def in_own_order(
    table: NDArray[np.int32], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return an order of rows by structure, and the table with rows, codes and columns in order.

    The table depends on the input order of rows only if several have the same structure.

    Examples
    --------
    >>> import numpy as np
    >>> table, sizes = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int32), np.array([5, 1, 2])
    >>> ordered = in_own_order(table, sizes)[1]
    >>> moved = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)  # last row first, votes renamed
    >>> bool((in_own_order(moved, sizes[::-1])[1] == ordered).all())
    True
    """
    order = np.argsort(structure(table, sizes), kind="stable")
    columns = [renumbered(column) for column in table[order].T]
    columns.sort(key=bytes)
    return order, np.ascontiguousarray(np.array(columns, dtype=table.dtype).T)


def renumbered(codes: NDArray[_Integer]) -> NDArray[_Integer]:
    """Return codes renumbered from 0 in the order in which they appear; -1 stays.

    Examples
    --------
    >>> import numpy as np
    >>> renumbered(np.array([4, -1, 2, 4], dtype=np.int32))
    array([ 0, -1,  1,  0], dtype=int32)
    """
    voted = codes >= 0
    _, first, inverse = np.unique(codes[voted], return_index=True, return_inverse=True)
    renumbered = np.full(len(codes), -1, dtype=codes.dtype)
    renumbered[voted] = np.argsort(np.argsort(first))[inverse]
    return renumbered


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return pseudo-random numbers that depend only on the input (the finaliser of splitmix64)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


def groups_in_order(
    links: Links, sizes: NDArray[np.int64], numbers: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the groups, those with more objects first, then by structure, then by appearance."""
    objects = np.zeros(links.n_groups, dtype=np.int64)
    np.add.at(objects, links.of_row, sizes)
    sums = np.zeros(links.n_groups, dtype=np.uint64)
    np.add.at(sums, links.of_row, mixed(numbers))
    return np.lexsort((sums, -objects))


def join_smallest(links: Links, order: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Return labels of rows: the first groups of `order` are clusters, all others the last one.

    Examples
    --------
    >>> import numpy as np
    >>> join_smallest(Links(3, np.array([0, 0, 1, 2])), np.array([0, 1, 2]), 2)
    array([0, 0, 1, 1])
    """
    place = np.empty(links.n_groups, dtype=np.int64)
    place[order] = np.minimum(np.arange(links.n_groups), n_clusters - 1)
    return place[links.of_row]


def groups_last(
    tree: FloatArray, of_leaf: NDArray[np.int64], order: NDArray[np.int64]
) -> FloatArray:
    """Return the tree with the merges within groups first, and then those that join groups.

    Parameters
    ----------
    tree : ndarray of shape (n - 1, 4)
        Merges in SciPy's format, heights never falling.
    of_leaf : ndarray of shape (n,)
        The group of each leaf.
    order : ndarray of shape (n_groups,)
        All others join the first group, in this order, at the height of the last merge.
    """
    n = len(tree) + 1
    rank = np.argsort(order)
    pieces: dict[int, dict[int, int]] = {i: {g: i} for i, g in enumerate(rank[of_leaf].tolist())}
    n_leaves = [1] * n
    merges: list[tuple[int, int, float, int]] = []

    def merge(a: int, b: int, height: float) -> int:
        n_leaves.append(n_leaves[a] + n_leaves[b])
        merges.append((min(a, b), max(a, b), height, n_leaves[-1]))
        return len(n_leaves) - 1

    for step, (a, b, height, _) in enumerate(tree.tolist()):
        small, large = sorted((pieces.pop(int(a)), pieces.pop(int(b))), key=len)
        for group in sorted(small):
            node = small[group]
            large[group] = merge(large[group], node, height) if group in large else node
        pieces[n + step] = large
    (roots,) = pieces.values()
    joined = roots[0]
    for group in range(1, len(order)):
        joined = merge(joined, roots[group], tree[-1, 2])
    return np.array(merges, dtype=np.float64).reshape(-1, 4)


def with_leaves(tree: FloatArray, leaves: NDArray[np.int64]) -> FloatArray:
    """Return the tree with leaf i renamed to ``leaves[i]``."""
    ends = tree[:, :2].astype(np.int64)
    is_leaf = ends < len(leaves)
    ends[is_leaf] = leaves[ends[is_leaf]]
    return np.column_stack([np.sort(ends, axis=1), tree[:, 2:]])


def lead_of_own_group(
    links: Links, labels: NDArray[np.int64], sizes: NDArray[np.int64]
) -> FloatArray:
    """Return the share of a row's cluster linked with it minus the share that is not, at least 0.

    Groups in one cluster are joined arbitrarily, unless one of them is most of it.

    Examples
    --------
    >>> import numpy as np
    >>> links = Links(3, np.array([0, 1, 2, 2]))
    >>> lead_of_own_group(links, np.array([0, 0, 1, 1]), np.array([3, 1, 2, 2]))
    array([0.5, 0. , 1. , 1. ])
    """
    n_clusters = int(labels.max()) + 1
    keys = links.of_row * n_clusters + labels
    _, place = np.unique(keys, return_inverse=True)
    own = np.bincount(place, weights=sizes)[place]
    share: FloatArray = own / np.bincount(labels, weights=sizes)[labels]
    return np.maximum(2.0 * share - 1.0, 0.0)
