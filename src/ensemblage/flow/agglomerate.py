"""Agglomerative clustering of microclusters, and cuts of its tree into exactly k clusters.

Nearest-neighbour chains find the same tree as repeated search for the closest pair, because
average link and Ward's rule are reducible: O(n²) time, on a matrix that is overwritten. So are
complete and single link, but their trees depend on ties, and a chain cannot apply a rule to these:
`ensemblage.flow._closest` builds them, in the same memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ensemblage.flow._closest import merge_closest
from ensemblage.flow._symmetry import mirror
from ensemblage.flow._tree import tree_of_merges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, Weights

LINKAGES = ("average", "complete", "single")
TIES = ("mean", "later", "octave")
_ROUNDING = 1e-12


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
        Distance of two clusters: the mean, largest or smallest distance of their members; or, if
        `distance` holds the costs of `ensemblage.flow.ward_costs`, the increase of the sum of
        squares by their merge.
    weights : ndarray of shape (n,), optional
        Number of objects of each row. With them averages are over objects, and the tree is that of
        the objects, whose identical rows merge first. Complete and single link use them for ties
        only.
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
    _chain(distance, mass, linkage, pairs, heights)
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

    Merges are counted instead of comparing heights, so ties cannot change the number of clusters.
    """
    n = len(tree) + 1
    merges = tree[: n - n_clusters, :2].astype(np.int64).ravel()
    unions = n + np.arange(len(merges)) // 2
    n_nodes = n + len(merges) // 2
    links = coo_array((np.ones(len(merges)), (merges, unions)), shape=(n_nodes, n_nodes))
    of_row = connected_components(links, directed=False)[1][:n]
    _, first, labels = np.unique(of_row, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[labels]


def is_tied(tree: FloatArray, n_clusters: int) -> bool:
    """Tell whether the last merge before a cut is as high as the first one after it.

    Then the merges can be exchanged: other clusters are as good.

    Examples
    --------
    >>> import numpy as np
    >>> tree = np.array([[0, 1, 0.5, 2], [2, 3, 0.5, 2], [4, 5, 1, 4]])
    >>> is_tied(tree, 3), is_tied(tree, 2)
    (True, False)
    """
    last = len(tree) - n_clusters
    return 0 <= last < len(tree) - 1 and bool(tree[last + 1, 2] - tree[last, 2] <= _ROUNDING)


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


def _chain(
    distance: FloatArray,
    mass: FloatArray,
    linkage: str,
    pairs: NDArray[np.int64],
    heights: FloatArray,
) -> None:
    """Write merges as pairs of rows; a union keeps the lower of the two.

    Removed rows have infinite distance to all. A merge is not lower than those inside it: rounding
    must not reverse the order of a merge and its parts.
    """
    np.fill_diagonal(distance, np.inf)
    inner_height = np.full(len(distance), -np.inf)
    chain: list[int] = []
    for step in range(len(pairs)):
        a, b = _closest_pair(distance, chain)
        cost = distance[a, b]
        pairs[step] = a, b
        heights[step] = inner_height[a] = max(cost, inner_height[a], inner_height[b])
        merged = _merged(distance[a], distance[b], mass, mass[a], mass[b], cost, linkage)
        merged[a] = merged[b] = np.inf
        distance[a] = merged
        distance[:, a] = merged
        distance[:, b] = np.inf  # row b is not read again
        mass[a] += mass[b]


def _closest_pair(distance: FloatArray, chain: list[int]) -> tuple[int, int]:
    """Follow nearest neighbours to a reciprocal pair; remove it from the chain."""
    if not chain:
        chain.append(0)  # row 0 survives every merge
    while True:
        row = distance[chain[-1]]
        nearest = int(row.argmin())
        if len(chain) > 1 and row[chain[-2]] == row[nearest]:  # which wins ties
            a, b = sorted(chain[-2:])
            del chain[-2:]
            return a, b
        chain.append(nearest)


def _merged(
    row_a: FloatArray,
    row_b: FloatArray,
    mass: FloatArray,
    mass_a: float,
    mass_b: float,
    cost: float,
    linkage: str,
) -> FloatArray:
    """Return the distance of the union of two clusters to all others."""
    both = mass_a + mass_b
    if linkage == "average":
        merged: FloatArray = mass_a / both * row_a
        merged += mass_b / both * row_b
        return merged
    ward: FloatArray = (mass_a + mass) * row_a + (mass_b + mass) * row_b - mass * cost
    ward /= both + mass
    return ward
