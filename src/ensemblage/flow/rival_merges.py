"""Merges that another cluster could have made as well, because it is as similar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.flow.least_size import SizedTree

_ROUNDING = 1e-12
#: Parts below this share of all objects, or this number, do not count: a few objects that are
#: between two clusters are common.
_SHARE, _FEWEST = 0.05, 5


def has_rival(
    tree: SizedTree,
    labels: NDArray[np.int64],
    mass: NDArray[np.int64],
    similarity_of: Callable[[NDArray[np.int64], FloatArray], FloatArray],
) -> bool:
    """Tell whether a large part of a cluster was as similar to a part of another cluster.

    Two parts of one cluster merged although a third part, which is now in another cluster, was as
    similar to one of them. Which pair merges first then depends on the order of rows.

    Parameters
    ----------
    tree : SizedTree
        An average-link tree.
    labels : ndarray of shape (n,)
        The cluster of each leaf, -1 for leaves that do not count.
    mass : ndarray of shape (n,)
        The weight of each leaf in means.
    similarity_of : callable
        Returns the similarity of some leaves to all others, times weights of shape (n, c).

    Notes
    -----
    At most twenty merges join two parts with a twentieth of the objects each. O(n) and, if these
    have parts of other clusters to compare with, one product of the similarity and n × c weights.

    Examples
    --------
    The second of three parts is as similar to the first as to the third:

    >>> from ensemblage.flow import sized_tree
    >>> similarity = np.array([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])
    >>> sizes = np.array([10, 10, 10])
    >>> tree = sized_tree(np.array([[0, 1, 0.5, 2], [2, 3, 0.75, 3]]), sizes)
    >>> has_rival(tree, np.array([0, 0, 1]), sizes, lambda rows, w: similarity[rows] @ w)
    True
    """
    n, heights = len(labels), np.asarray(tree.heights, dtype=np.float64)
    children = np.asarray(tree.children, dtype=np.int64).reshape(-1, 2)
    objects, first = np.asarray(tree.objects), np.asarray(tree.first)
    large = objects >= max(_FEWEST, _SHARE * objects[-1])
    label_of = labels[first]
    born = np.concatenate([np.full(n, -np.inf), heights])
    merged = np.full(2 * n - 1, np.inf)
    merged[children] = heights[:, None]
    disputes = []
    for t in np.flatnonzero(large[children].all(axis=1)):
        pair, height = children[t], heights[t]
        own = label_of[pair[0]]
        if height >= 1.0 - _ROUNDING or own < 0 or (labels[tree.leaves(n + int(t))] != own).any():
            continue
        there = (born < height - _ROUNDING) & (merged >= height - _ROUNDING)
        others = np.flatnonzero(large & there & (label_of != own) & (label_of >= 0))
        if len(others):
            disputes.append((pair, others))
    if not disputes:
        return False
    nodes = np.unique(np.concatenate([np.append(*dispute) for dispute in disputes]))
    between = _mean_similarities([tree.leaves(int(node)) for node in nodes], mass, similarity_of)
    for pair, others in disputes:
        a, b = np.searchsorted(nodes, pair)
        rivals = np.searchsorted(nodes, others)
        if between[np.ix_([a, b], rivals)].max() >= between[a, b] - _ROUNDING:
            return True
    return False


def _mean_similarities(
    parts: list[NDArray[np.int64]],
    mass: NDArray[np.int64],
    similarity_of: Callable[[NDArray[np.int64], FloatArray], FloatArray],
) -> FloatArray:
    """Return the mean similarity of each pair of parts, which are arrays of leaves."""
    weights = np.zeros((len(mass), len(parts)))
    for column, leaves in enumerate(parts):
        weights[leaves, column] = mass[leaves] / mass[leaves].sum()
    rows = np.flatnonzero(weights.any(axis=1))
    means: FloatArray = weights[rows].T @ similarity_of(rows, weights)
    return means
