"""Cuts of a tree into k clusters without outliers.

Average link spends clusters on outliers: the last merges often join a few objects. The least-size
cut goes down from the root and counts a split only if both sides are large enough; smaller parts
are set aside, and join the most similar cluster at the end.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


#: A leaf takes Python about this number of steps of `worth_a_kernel`.
_STEPS = 100
#: A small group is clear if it has this number of objects, and at most this share of the similarity
#: to the rest that the last two clusters have to each other.
_CLEAR_SIZE, _CLEAR_SHARE = 5, 0.5
_ROUNDING = 1e-12


class SizedTree(NamedTuple):
    """A tree of merges with the size and the position of every node.

    The leaves are numbered 0..n-1 and the merge in row r of the tree is node n + r. The leaves of a
    node are ``order[start[node] : start[node] + n_leaves[node]]``.

    Attributes
    ----------
    children : sequence of shape (n - 1, 2)
        The two nodes that each merge joins.
    heights : sequence of shape (n - 1,)
        The height of each merge.
    objects : sequence of shape (2n - 1,)
        Number of objects below each node.
    first : sequence of shape (2n - 1,)
        The lowest leaf below each node.
    order : ndarray of shape (n,)
        The leaves, so that those below a node are next to each other.
    start, n_leaves : sequences of shape (2n - 1,)
        The position of the first leaf of each node in `order`, and the number of its leaves.
    """

    children: Sequence[Sequence[int]] | NDArray[np.int64]
    heights: Sequence[float] | FloatArray
    objects: Sequence[int] | NDArray[np.int64]
    first: Sequence[int] | NDArray[np.int64]
    order: NDArray[np.int64]
    start: Sequence[int] | NDArray[np.int64]
    n_leaves: Sequence[int] | NDArray[np.int64]

    def leaves(self, node: int) -> NDArray[np.int64]:
        """Return the leaves below a node."""
        return self.order[self.start[node] : self.start[node] + self.n_leaves[node]]


class Parts(NamedTuple):
    """A cut before the small parts are attached: nodes of a `SizedTree`.

    Attributes
    ----------
    clusters : list of int
        The nodes that are large enough, one for each cluster.
    set_aside : list of int
        The smaller nodes, which `attach` adds to the clusters.
    heights : list of float
        The heights of the splits that counted, falling.
    refused : list of (int, float)
        Of each split that did not count, the objects of the smaller side and the height.
    clear_group : int or None
        The objects of the smallest cluster, if it is a clear group below the least size.
    least : int
        The least size of the cut.
    """

    clusters: list[int]
    set_aside: list[int]
    heights: list[float]
    refused: list[tuple[int, float]]
    clear_group: int | None = None
    least: int = 1


def sized_tree(tree: FloatArray, sizes: NDArray[np.int64]) -> SizedTree:
    """Return the tree with the number of objects of each node; O(n).

    Parameters
    ----------
    tree : ndarray of shape (n - 1, 4)
        Merges in SciPy's format, heights never falling.
    sizes : ndarray of shape (n,)
        Objects of each leaf.
    """
    n = len(sizes)
    if worth_a_kernel(_STEPS * n):
        return _compiled_tree(tree, sizes)
    children: list[list[int]] = tree[:, :2].astype(np.int64).tolist()
    objects: list[int] = sizes.tolist()
    first, n_leaves = list(range(n)), [1] * n
    for a, b in children:
        objects.append(objects[a] + objects[b])
        first.append(min(first[a], first[b]))
        n_leaves.append(n_leaves[a] + n_leaves[b])
    start = [0] * len(objects)
    for step in range(len(children) - 1, -1, -1):
        a, b = children[step]
        start[a] = start[n + step]
        start[b] = start[a] + n_leaves[a]
    order = np.empty(n, dtype=np.int64)
    order[start[:n]] = np.arange(n)
    return SizedTree(children, tree[:, 2].tolist(), objects, first, order, start, n_leaves)


def _compiled_tree(tree: FloatArray, sizes: NDArray[np.int64]) -> SizedTree:
    n, merges = len(sizes), tree[:, :2].astype(np.int64)
    objects, first, start, n_leaves = np.empty((4, 2 * n - 1), dtype=np.int64)
    objects[:n] = sizes
    _fill_tree(merges, objects, first, start, n_leaves)
    order = np.empty(n, dtype=np.int64)
    order[start[:n]] = np.arange(n)
    return SizedTree(merges, tree[:, 2], objects, first, order, start, n_leaves)


def least_size_parts(
    tree: SizedTree, n_clusters: int, least: int, *, keep_clear: bool = False
) -> Parts | None:
    """Return the clusters of at least `least` objects, and the parts that were set aside.

    The highest node is split first, of equal ones that with more objects, then that with the lower
    first leaf. If the tree has fewer than `n_clusters` parts of that size, `least` is halved; None
    means that it fell to 1, where every split counts and the result is the plain cut.

    `keep_clear` lowers `least` to the size of the smallest group that would be set aside although
    it has five objects or more and is clearly apart: its similarity to the rest (1 - height) is at
    most half of that between the two parts that the last counted split makes clusters.
    """
    while least > 1:
        parts = _descend(tree, n_clusters, least)
        if len(parts.clusters) == n_clusters:
            lower = _size_of_clear_group(parts) if keep_clear else None
            if lower is not None:  # all splits that counted still do
                parts = _descend(tree, n_clusters, lower)
                small = [n for n in map(tree.objects.__getitem__, parts.clusters) if n < least]
                parts = parts._replace(clear_group=min(small, default=None))
            return parts
        least //= 2
    return None


def next_split_is_tied(tree: SizedTree, parts: Parts) -> bool:
    """Tell whether the next split would be as high as the last one: other clusters are as good."""
    heights = _descend(tree, len(parts.clusters) + 1, parts.least).heights
    number = len(parts.heights)
    return len(heights) > number > 0 and heights[number - 1] - heights[number] <= _ROUNDING


def _size_of_clear_group(parts: Parts) -> int | None:
    """Return the objects of the smallest clear group among those that no split made a cluster."""
    between_clusters = 1.0 - min(parts.heights, default=1.0)
    if between_clusters <= _ROUNDING:
        return None
    clear = [
        objects
        for objects, height in parts.refused
        if objects >= _CLEAR_SIZE and 1.0 - height <= _CLEAR_SHARE * between_clusters
    ]
    return min(clear, default=None)


def _descend(tree: SizedTree, n_clusters: int, least: int) -> Parts:
    n = len(tree.order)
    root = len(tree.objects) - 1
    closed: list[int] = []
    set_aside: list[int] = []
    heights: list[float] = []
    refused: list[tuple[int, float]] = []
    heap: list[tuple[float, int, int, int]] = []

    def keep(node: int) -> None:
        if node < n:
            closed.append(node)
        else:
            heappush(heap, (-tree.heights[node - n], -tree.objects[node], tree.first[node], node))

    keep(root)
    while heap and len(heap) + len(closed) < n_clusters:
        node = heappop(heap)[3]
        a, b = tree.children[node - n]
        small, large = sorted((a, b), key=lambda child: tree.objects[child])
        height = float(tree.heights[node - n])
        if tree.objects[small] >= least:
            keep(large)
            keep(small)
            heights.append(height)
            continue
        refused.append((int(tree.objects[small]), height))
        if tree.objects[large] < least:
            closed.append(node)
        else:
            keep(large)
            set_aside.append(small)
    clusters = [*closed, *(entry[3] for entry in heap)]
    return Parts(clusters, set_aside, heights, refused, least=least)


def attach(
    tree: SizedTree,
    parts: Parts,
    similarity: FloatArray,
    mass: NDArray[np.int64],
    row_mass: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the label of each leaf: each part joins the cluster with the largest mean similarity.

    Parameters
    ----------
    tree : SizedTree
        The tree that was cut.
    parts : Parts
        Its clusters, numbered from 0 in this order, and the parts that were set aside.
    similarity : ndarray of shape (leaves set aside, n_clusters)
        For each leaf that was set aside, part by part, its similarity summed over each cluster.
    mass : ndarray of shape (n_clusters,)
        Weights of the clusters in such sums: their objects, or their leaves.
    row_mass : ndarray of shape (leaves set aside,)
        The same for the leaves set aside.

    Notes
    -----
    Clusters are compared in their state before any part is attached. Of equal means (within 1e-12
    of their size) the larger cluster wins, then that with the lower first leaf.
    """
    labels = np.empty(len(tree.order), dtype=np.int64)
    for label, node in enumerate(parts.clusters):
        labels[tree.leaves(node)] = label
    rank = np.array([[-tree.objects[node], tree.first[node]] for node in parts.clusters])
    by_size = np.lexsort((rank[:, 1], rank[:, 0]))
    means = (similarity / mass)[:, by_size]
    end = 0
    for node in parts.set_aside:
        begin, end = end, end + tree.n_leaves[node]
        weight = row_mass[begin:end]
        mean = weight @ means[begin:end] / weight.sum()
        best = int(np.argmax(mean >= (1.0 - _ROUNDING) * mean.max()))
        labels[tree.leaves(node)] = by_size[best]
    return labels


@kernel
def _fill_tree(merges: Any, objects: Any, first: Any, start: Any, n_leaves: Any) -> None:
    """Write the numbers of all nodes, given the objects of the leaves."""
    n = len(merges) + 1
    for leaf in range(n):
        first[leaf], n_leaves[leaf] = leaf, 1
    for step in range(n - 1):
        a, b = merges[step, 0], merges[step, 1]
        objects[n + step] = objects[a] + objects[b]
        first[n + step] = min(first[a], first[b])
        n_leaves[n + step] = n_leaves[a] + n_leaves[b]
    start[2 * n - 2] = 0
    for step in range(n - 2, -1, -1):
        a, b = merges[step, 0], merges[step, 1]
        start[a] = start[n + step]
        start[b] = start[a] + n_leaves[a]
