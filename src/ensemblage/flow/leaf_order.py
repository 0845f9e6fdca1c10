"""An order of the leaves of a tree in which similar ones are adjacent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def leaf_order(distances: FloatArray, *, best: bool = False) -> NDArray[np.int64]:
    """Return the leaves of an average-link tree from left to right.

    Only the upper triangle of the square matrix of distances is used. With `best` merges are
    oriented so that neighbours are as near as the tree allows, which takes cubic time.

    Examples
    --------
    >>> leaf_order(np.array([[0, 1, 0.1], [1, 0, 1], [0.1, 1, 0]])).tolist()
    [1, 0, 2]
    """
    if len(distances) < 3:
        return np.arange(len(distances))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=best)
    order: NDArray[np.int64] = leaves_list(tree).astype(np.int64)
    return order
