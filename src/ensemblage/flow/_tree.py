"""Conversion of merges of rows, in any order, to a tree in SciPy's format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Similarities that differ by less than this share of the larger are equal up to rounding.
TIE = 1e-12
#: Steps of NumPy for a merge in Python.
_STEPS_PER_MERGE = 1500


def tree_of_merges(pairs: NDArray[np.int64], heights: FloatArray) -> FloatArray:
    """Return the tree of merges, sorted by height, earlier ones first among equals.

    A pair holds any row of either cluster. A merge must not be lower than those inside it.
    """
    order = np.argsort(heights, kind="stable")
    tree = np.empty((len(pairs), 4))
    number = _number_clusters if worth_a_kernel(_STEPS_PER_MERGE * len(pairs)) else _number_few
    number(pairs[order], tree)
    tree[:, 2] = heights[order]
    return tree


def tree_of_similar(
    pairs: NDArray[np.int64], similarity: FloatArray, sizes: NDArray[np.int64]
) -> FloatArray:
    """Return the tree of merges, the most similar first, at heights of 1 - similarity.

    Merges whose similarities are equal but for rounding get one height, so that neither their
    order nor a cut depends on how a similarity was computed: the earlier of `pairs` is first.
    Clusters that no merge joins have nothing in common. They join at height 1, those with the
    largest joint size first, then those with the lowest row.

    Parameters
    ----------
    pairs : ndarray of shape (n_merges, 2)
        The lowest row of each of both clusters, the lower first.
    similarity : ndarray of shape (n_merges,)
        Above 0; no larger than in the merges inside.
    sizes : ndarray of shape (n,)
        Objects of each row.
    """
    order = np.argsort(-similarity, kind="stable")
    falling = similarity[order]
    starts = np.append(True, falling[1:] < (1.0 - TIE) * falling[:-1])[: len(falling)]
    rank = np.empty(len(pairs), dtype=np.int64)
    rank[order] = np.cumsum(starts) - 1
    heights = np.maximum(1.0 - falling[starts], 0.0)
    in_order = np.argsort(rank, kind="stable")
    last = _joins(pairs, sizes)
    return tree_of_merges(
        np.concatenate([pairs[in_order], last]),
        np.concatenate([heights[rank[in_order]], np.ones(len(last))]),
    )


def _joins(pairs: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the merges that join what `pairs` leave apart, largest first."""
    if len(pairs) == len(sizes) - 1:
        return np.empty((0, 2), dtype=np.int64)
    mass = sizes.tolist()
    for a, b in pairs.tolist():
        mass[a] += mass[b]
    apart = np.setdiff1d(np.arange(len(sizes)), pairs[:, 1])
    apart = apart[np.argsort(-np.array(mass)[apart], kind="stable")]
    return np.column_stack([np.full(len(apart) - 1, apart[0]), apart[1:]])


def _number_few(pairs: NDArray[np.int64], tree: FloatArray) -> None:
    """Do the same as `_number_clusters`, in Python lists."""
    n = len(pairs) + 1
    parent, rows_in = list(range(2 * n - 1)), [1] * (2 * n - 1)
    for step, ends in enumerate(pairs.tolist()):
        a, b = sorted(_find_root(parent, end) for end in ends)
        union = n + step
        parent[a] = parent[b] = union
        rows_in[union] = rows_in[a] + rows_in[b]
        tree[step, 0], tree[step, 1], tree[step, 3] = a, b, rows_in[union]


def _find_root(parent: Any, node: int) -> int:
    """Return the cluster that contains `node`, with path compression."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


root = kernel(_find_root)


@kernel
def _number_clusters(pairs: Any, tree: Any) -> None:
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
        tree[step, 3] = rows_in[union]
