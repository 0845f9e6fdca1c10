"""Agglomerative clustering of microclusters, and cuts of its tree into exactly k clusters.

Nearest-neighbour chains find the same tree as repeated search for the closest pair, because
average link and Ward's rule are reducible: O(n²) time, on a matrix that is used up. So are complete
and single link, but their trees are decided by ties, and a chain cannot keep a rule about these:
`ensemblage.flow._closest` makes them, in the same memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._closest import merge_closest
from ensemblage.flow._jit import fast_kernel, kernel
from ensemblage.flow._symmetry import mirror
from ensemblage.flow._tree import root, tree_of_merges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, Weights

LINKAGES = ("average", "complete", "single")
TIES = ("mean", "later", "octave")
_RULES = (*LINKAGES, "ward")


def agglomerate(
    distance: FloatArray, linkage: str, weights: Weights | None = None, ties: str = "mean"
) -> FloatArray:
    """Return the tree of merges in SciPy's format, heights never falling.

    Parameters
    ----------
    distance : ndarray of shape (n, n)
        Symmetric, C-contiguous; overwritten. The lower triangle decides for both: chains of
        nearest neighbours end only if a is as far from b as b from a, to the last bit.
    linkage : {"average", "complete", "single", "ward"}
        How far two clusters are: the mean, the largest, the smallest distance of their members;
        or, where `distance` holds the costs of `ensemblage.flow.ward_costs`, what merging them adds
        to the sum of squares.
    weights : ndarray of shape (n,), optional
        How many objects each row stands for. With them an average is one over objects, and the
        tree is that of the objects, whose identical rows merge first. Complete and single link use
        them for ties only.
    ties : {"mean", "later", "octave"}, default="mean"
        Which of the pairs whose heights are equal within 1e-12 is merged first.

        - "mean": for complete and single link, the pair with the least mean distance (by weights,
          equal within 1e-12), then the largest joint weight, then the lowest row, then the lowest
          other row, where the row of a cluster is its lowest. Only where all but the rows tie does
          the tree depend on their order. Average link and Ward's rule have the mean as their
          height; they keep the pair that a chain of nearest neighbours finds first.
        - "later": the lowest row, then the lowest other row; the union takes the higher of the two.
        - "octave": the highest row, then the highest other row; the union takes the lower of the
          two. This is what `linkage` of GNU Octave's package "statistics" does.

        "later" and "octave" are not for Ward's rule.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        The two clusters merged, the height, and the number of *rows* in the union.
    """
    n = len(distance)
    mirror(distance)
    mass = np.ones(n) if weights is None else weights.astype(np.float64)
    if ties != "mean" or linkage in ("complete", "single"):
        return _by_closest_pairs(distance, mass, LINKAGES.index(linkage), ties)
    pairs = np.empty((max(n - 1, 0), 2), dtype=np.int64)
    heights = np.empty(len(pairs))
    _chain(distance, mass, _RULES.index(linkage), pairs, heights)
    return tree_of_merges(pairs, heights)


def _by_closest_pairs(distance: FloatArray, mass: FloatArray, rule: int, ties: str) -> FloatArray:
    """Return the tree by search for the closest pair. "later" is "octave" on reversed rows."""
    if ties != "later":
        return tree_of_merges(*merge_closest(distance, mass, rule, by_mean=ties == "mean"))
    n = len(distance)
    for i in range((n + 1) // 2):
        row = distance[i, ::-1].copy()
        distance[i] = distance[n - 1 - i, ::-1]
        distance[n - 1 - i] = row
    pairs, heights = merge_closest(distance, mass[::-1].copy(), rule, by_mean=False)
    return tree_of_merges(n - 1 - pairs, heights)


def cut_tree(tree: FloatArray, n_clusters: int) -> NDArray[np.int64]:
    """Return labels 0..k-1, in order of first appearance, after undoing the last k - 1 merges.

    Merges are counted, not heights compared, so ties cannot change how many clusters come out.
    """
    n = len(tree) + 1
    labels = np.empty(n, dtype=np.int64)
    _label(tree[: n - n_clusters, :2].astype(np.int64), labels)
    return labels


def tree_of_objects(
    tree: FloatArray, of_object: NDArray[np.int32], inner_heights: FloatArray
) -> FloatArray:
    """Return the tree of the objects, given that of their microclusters.

    The objects of microcluster a merge with each other at ``inner_heights[a]``; then microclusters
    merge as in `tree`. All merges are sorted by height, those inside a microcluster first among
    equals, so that a cut at any k is that of clustering the objects themselves.
    """
    n_micro = len(tree) + 1
    order = np.argsort(of_object, kind="stable")
    new_group = np.diff(of_object[order], prepend=-1) > 0
    first = order[new_group]
    others = order[~new_group]
    inside = np.column_stack([first[of_object[others]], others])
    leaf = np.concatenate([first, np.empty(len(tree), dtype=np.int64)])
    for step, left in enumerate(tree[:, 0].astype(np.int64)):
        leaf[n_micro + step] = leaf[left]
    between = leaf[tree[:, :2].astype(np.int64)]
    pairs = np.concatenate([inside, between])
    heights = np.concatenate([inner_heights[of_object[others]], tree[:, 2]])
    return tree_of_merges(pairs, heights)


@fast_kernel
def _nearest(row: Any, size: Any, previous: Any) -> Any:
    """Return the place of the smallest of the first `size` entries, `previous` if it ties."""
    smallest = np.inf
    for j in range(size):
        smallest = min(smallest, row[j])
    if previous >= 0 and row[previous] == smallest:
        return previous
    for j in range(size):
        if row[j] == smallest:
            return j
    return -1


@kernel
def _chain(distance: Any, mass: Any, linkage: Any, pairs: Any, heights: Any) -> None:
    """Write merges as pairs of rows, a merged cluster living on in the lower of its two.

    Rows that are gone have infinite distance to all. A merge is no lower than those inside it:
    rounding must not turn the order of a merge and its parts around.
    """
    n = distance.shape[0]
    chain = np.empty(n, dtype=np.int64)
    inner_height = np.full(n, -np.inf)
    for i in range(n):
        distance[i, i] = np.inf
    length = 0
    for step in range(n - 1):
        if length == 0:
            chain[0] = 0  # the lowest lives on in every merge, so it is never gone
            length = 1
        while True:
            tip = chain[length - 1]
            previous = chain[length - 2] if length > 1 else -1
            nearest = _nearest(distance[tip], n, previous)
            if nearest == previous:
                break
            chain[length] = nearest
            length += 1
        length -= 2
        a, b = min(tip, previous), max(tip, previous)
        pairs[step, 0], pairs[step, 1] = a, b
        height = max(distance[a, b], inner_height[a], inner_height[b])
        heights[step] = inner_height[a] = height
        share_a = mass[a] / (mass[a] + mass[b])
        share_b = mass[b] / (mass[a] + mass[b])
        cost = distance[a, b]
        for z in range(n):
            if linkage == 0:
                merged = share_a * distance[a, z] + share_b * distance[b, z]
            elif linkage == 1:
                merged = max(distance[a, z], distance[b, z])
            elif linkage == 2:
                merged = min(distance[a, z], distance[b, z])
            else:
                merged = (
                    (mass[a] + mass[z]) * distance[a, z]
                    + (mass[b] + mass[z]) * distance[b, z]
                    - mass[z] * cost
                ) / (mass[a] + mass[b] + mass[z])
            if z in (a, b):
                merged = np.inf
            distance[a, z] = merged
            distance[z, a] = merged
            distance[z, b] = np.inf
        distance[b, :] = np.inf
        mass[a] += mass[b]


@kernel
def _label(merges: Any, labels: Any) -> None:
    """Write the number of each row's cluster after the merges, counted by first appearance."""
    n = len(labels)
    parent = np.arange(n + len(merges))
    for step in range(len(merges)):
        parent[merges[step, 0]] = parent[merges[step, 1]] = n + step
    number = np.full(len(parent), -1, dtype=np.int64)
    n_labels = 0
    for i in range(n):
        cluster = root(parent, i)
        if number[cluster] < 0:
            number[cluster] = n_labels
            n_labels += 1
        labels[i] = number[cluster]
