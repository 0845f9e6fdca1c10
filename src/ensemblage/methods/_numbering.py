"""Numbering of labels, and the most frequent label of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def most_frequent(labels: NDArray[np.int64], groups: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the label that occurs most often in each group, the lowest on ties."""
    pairs, counts = np.unique(np.column_stack([groups, labels]), axis=0, return_counts=True)
    order = np.lexsort([-counts, pairs[:, 0]])
    _, first = np.unique(pairs[order, 0], return_index=True)
    return pairs[order[first], 1].astype(np.int64)


def by_first_appearance(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels 0, 1, ... in order of appearance, so that equal partitions are equal."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def in_order_of_appearance(classes: NDArray[np.int64], n_classes: int) -> NDArray[np.int64]:
    """Return the classes in order of first appearance, those that never appear last."""
    found, first = np.unique(classes, return_index=True)
    seen = found[np.argsort(first)]
    return np.concatenate([seen, np.setdiff1d(np.arange(n_classes), seen)])
