"""The first merges of average link, searched among neighbours in a graph only.

Two clusters that are each other's most similar may be merged at any time without changing the tree
of average link. Similar clusters have common neighbours in the elite-neighbour graph, so each
searches its nearest within two steps of a graph of clusters, and all reciprocal pairs merge at
once. The similarity of two clusters is the inner product of their mean features.

Cost: O(pairs within two steps · features) for the first round, less for later ones, and no matrix
of all pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ensemblage.flow._jit import fast_kernel, kernel
from ensemblage.flow._threads import in_threads, row_ranges
from ensemblage.flow._tree import tree_of_merges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROWS_PER_BLOCK = 256


class LocalMerges(NamedTuple):
    """Merges, and the groups of nodes that they leave.

    Attributes
    ----------
    pairs : ndarray of shape (n_merges, 2)
        The lowest node of either cluster, merge by merge.
    heights : ndarray of shape (n_merges,)
        1 - similarity, never below that of the merges inside.
    groups : ndarray of shape (n,)
        The group of each node, numbered by lowest node.
    inner : ndarray of shape (n_groups,)
        The height of the last merge inside each group.
    """

    pairs: NDArray[np.int64]
    heights: FloatArray
    groups: NDArray[np.int64]
    inner: FloatArray


def local_merges(
    features: NDArray[np.float32], graph: Any, n_left: int, *, n_jobs: int | None = None
) -> LocalMerges:
    """Merge reciprocal nearest neighbours until `n_left` clusters are left.

    Parameters
    ----------
    features : ndarray of shape (n, n_features)
        Unit rows; overwritten.
    graph : sparse array of shape (n, n)
        Symmetric; only the positions of its entries matter.
    n_left : int
        Maximal number of remaining clusters, unless the graph has more connected parts: then each
        of these is one.
    n_jobs : int or None
        Threads; the merges do not depend on it.
    """
    n = len(features)
    lowest, groups = np.arange(n), np.arange(n)
    mass, inner = np.ones(n), np.zeros(n)
    nearest, likeness = np.full(n, -1), np.full(n, -1.0, dtype=np.float32)
    stale, everything = np.arange(n), True
    pairs, heights = [], []
    while len(features) > n_left:
        _search(graph, features, stale, nearest, likeness, n_jobs)
        first, second = _reciprocal(nearest, likeness, len(features) - n_left)
        if not len(first):
            if everything:
                break  # no linked clusters are left
            stale, everything = np.arange(len(features)), True
            continue
        height = np.maximum(np.maximum(inner[first], inner[second]), 1.0 - likeness[first])
        pairs.append(np.column_stack([lowest[first], lowest[second]]))
        heights.append(height)

        share = (mass[first] / (mass[first] + mass[second])).astype(np.float32)[:, None]
        features[first] = share * features[first] + (1 - share) * features[second]
        mass[first] += mass[second]
        inner[first] = height
        stays = np.ones(len(features), dtype=bool)
        stays[second] = False
        merged = ~stays
        merged[first] = True
        place = np.cumsum(stays) - 1
        place[second] = place[first]
        # Only clusters that merged, or whose nearest did, search again: for the others no union is
        # nearer than its parts were.
        again = (merged | merged[nearest])[stays]
        graph = _contract(graph, place)
        groups = place[groups]
        nearest, likeness = place[nearest[stays]], likeness[stays]
        lowest, mass, inner = lowest[stays], mass[stays], inner[stays]
        features = features[stays]
        stale, everything = np.flatnonzero(again), False
        nearest[stale] = -1
    return LocalMerges(
        np.concatenate([*pairs, np.empty((0, 2), dtype=np.int64)]),
        np.concatenate([*heights, np.empty(0)]),
        groups,
        inner,
    )


def no_merges(n: int) -> LocalMerges:
    """Return n groups of single nodes."""
    return LocalMerges(np.empty((0, 2), np.int64), np.empty(0), np.arange(n), np.zeros(n))


def first_merges(tree: FloatArray, n_left: int) -> LocalMerges:
    """Return the merges of a tree until `n_left` groups are left, as if found locally."""
    n = len(tree) + 1
    children = tree[: max(0, n - n_left), :2].astype(np.int64)
    heights = tree[: len(children), 2]
    lowest, whole = np.arange(n + len(children)), np.arange(n + len(children))
    for step, pair in enumerate(children):
        lowest[n + step] = lowest[pair].min()
    for step in reversed(range(len(children))):
        whole[children[step]] = whole[n + step]
    first_nodes, groups = np.unique(lowest[whole[:n]], return_inverse=True)
    inner = np.concatenate([np.zeros(n), heights])[whole[first_nodes]]
    return LocalMerges(lowest[children], heights, groups, inner)


def complete_tree(local: LocalMerges, tree: FloatArray | None) -> FloatArray:
    """Return the tree of all nodes from their local merges and a tree of the remaining groups.

    None is a tree in which all groups merge at height 1. A merge of `tree` below one inside its
    groups is raised to that.
    """
    n_groups = len(local.inner)
    lowest = np.full(n_groups, len(local.groups), dtype=np.int64)
    np.minimum.at(lowest, local.groups, np.arange(len(local.groups)))
    if tree is None:
        others = lowest[1:]
        pairs = np.column_stack([np.full_like(others, lowest[0]), others])
        heights = np.ones(n_groups - 1)
    else:
        leaf = np.concatenate([lowest, np.empty(len(tree), dtype=np.int64)])
        inner = np.concatenate([local.inner, np.empty(len(tree))])
        for step, (left, right) in enumerate(tree[:, :2].astype(np.int64)):
            leaf[n_groups + step] = leaf[left]
            inner[n_groups + step] = max(inner[left], inner[right], tree[step, 2])
        pairs, heights = leaf[tree[:, :2].astype(np.int64)], inner[n_groups:]
    return tree_of_merges(
        np.concatenate([local.pairs, pairs]), np.concatenate([local.heights, heights])
    )


def _search(
    graph: Any,
    features: NDArray[np.float32],
    rows: NDArray[np.int64],
    nearest: NDArray[np.int64],
    likeness: NDArray[np.float32],
    n_jobs: int | None,
) -> None:
    """Write the most similar cluster of each of `rows` within two steps, -1 if there is none."""
    indptr = graph.indptr.astype(np.int64, copy=False)
    indices = graph.indices.astype(np.int32, copy=False)

    def search(span: tuple[int, int]) -> None:
        seen = np.full(len(features), -1, dtype=np.int32)
        some = rows[slice(*span)]
        _nearest_within_two(indptr, indices, features, some, seen, nearest, likeness)

    in_threads(search, row_ranges(len(rows), _ROWS_PER_BLOCK), n_jobs)


def _reciprocal(
    nearest: NDArray[np.int64], likeness: NDArray[np.float32], n_wanted: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of clusters that are each other's nearest, the most similar ones first."""
    own = np.arange(len(nearest))
    first = np.flatnonzero((nearest > own) & (nearest[nearest] == own))
    first = first[np.argsort(-likeness[first], kind="stable")[:n_wanted]]
    return first, nearest[first]


def _contract(graph: Any, place: NDArray[np.int64]) -> Any:
    """Return the graph of clusters after merging, without links to itself."""
    row = place[np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))]
    column = place[graph.indices]
    kept = row != column
    n = int(place.max()) + 1
    ones = np.ones(int(kept.sum()), dtype=np.int32)
    contracted = csr_array((ones, (row[kept], column[kept])), shape=(n, n))
    contracted.sum_duplicates()
    return contracted


@fast_kernel
def _dot(a: Any, b: Any) -> Any:
    total = np.float32(0)
    for f in range(len(a)):
        total += a[f] * b[f]
    return total


@kernel
def _nearest_within_two(
    indptr: Any, indices: Any, features: Any, rows: Any, seen: Any, nearest: Any, likeness: Any
) -> None:
    """Search for the given rows. On ties the lowest wins, so that some pair is always reciprocal.

    `seen` stores the row with which a cluster was last compared.
    """
    for i in rows:
        seen[i] = i
        best, place = np.float32(-np.inf), -1
        for e in range(indptr[i], indptr[i + 1]):
            middle = indices[e]
            for other in range(indptr[middle] - 1, indptr[middle + 1]):
                j = middle if other < indptr[middle] else indices[other]
                if seen[j] == i:
                    continue
                seen[j] = i
                value = _dot(features[i], features[j])
                if value > best or (value == best and j < place):
                    best, place = value, j
        nearest[i], likeness[i] = place, best
