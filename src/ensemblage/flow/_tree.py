"""Merges of rows, found in any order, as a tree in SciPy's format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def tree_of_merges(pairs: NDArray[np.int64], heights: FloatArray) -> FloatArray:
    """Return the tree of merges, sorted by height, earlier ones first among equals.

    A pair holds any row of either cluster. A merge must be no lower than those inside it.
    """
    order = np.argsort(heights, kind="stable")
    tree = np.empty((len(pairs), 4))
    _number_clusters(pairs[order], heights[order], tree)
    return tree


@kernel
def root(parent: Any, node: Any) -> Any:
    """Return the cluster that `node` has come to, shortening the way there."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def _number_clusters(pairs: Any, heights: Any, tree: Any) -> None:
    """Turn merges of rows into merges of clusters n, n + 1, ... in the order given."""
    n = len(pairs) + 1
    parent = np.arange(2 * n - 1)
    rows_in = np.ones(2 * n - 1)
    for step in range(n - 1):
        a, b = root(parent, pairs[step, 0]), root(parent, pairs[step, 1])
        union = n + step
        parent[a] = parent[b] = union
        rows_in[union] = rows_in[a] + rows_in[b]
        tree[step, 0], tree[step, 1] = min(a, b), max(a, b)
        tree[step, 2], tree[step, 3] = heights[step], rows_in[union]
