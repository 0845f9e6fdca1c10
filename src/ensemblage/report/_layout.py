"""Layout of pictures: the order of a heatmap's rows, the positions of a map's points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.report._tsne import tsne

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_TURN = np.pi * (3.0 - np.sqrt(5.0))  # the golden angle: points of a sunflower


def order_of_rows(similarity: FloatArray) -> NDArray[np.int64]:
    """Return an order in which similar rows are adjacent."""
    return flow.leaf_order(np.maximum(1.0 - similarity, 0.0))


def order_by_cluster(similarity: FloatArray, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order of a heatmap: similar clusters adjacent, and similar rows in each.

    Examples
    --------
    >>> import numpy as np
    >>> order_by_cluster(np.eye(4), np.array([1, 0, 1, 0])).tolist()
    [1, 3, 0, 2]
    """
    present = np.unique(labels)
    inside = [np.flatnonzero(labels == label) for label in present]
    between = np.array(
        [[similarity[np.ix_(one, other)].mean() for other in inside] for one in inside]
    )
    parts = []
    for place in order_of_rows(between).tolist():
        rows = inside[place]
        parts.append(rows[order_of_rows(similarity[np.ix_(rows, rows)])])
    return np.concatenate(parts)


def map_of_similarity(similarity: FloatArray) -> FloatArray:
    """Return positions in the plane at which similar rows are near each other (t-SNE).

    It starts from the first two principal axes of the similarity and is deterministic.
    """
    n = len(similarity)
    start = _principal_axes(similarity)
    if n < 8 or np.ptp(start) == 0.0:
        return start
    distance = np.sqrt(np.maximum(1.0 - similarity, 0.0))
    np.fill_diagonal(distance, 0.0)
    return tsne(distance, start)


def map_of_features(features: NDArray[Any]) -> tuple[FloatArray, float]:
    """Return the first two principal components of rows, and their share of the variance."""
    rows = features.astype(np.float64)
    rows -= rows.mean(axis=0)
    largest = np.abs(rows).max(initial=0.0)
    if largest == 0.0:
        return np.zeros((len(rows), 2)), 1.0
    rows /= largest
    _, values, axes = np.linalg.svd(rows, full_matrices=False)
    places = np.zeros((len(rows), 2))
    kept = min(2, len(values))
    places[:, :kept] = rows @ _signed(axes[:kept]).T
    share = float((values[:kept] ** 2).sum() / (values**2).sum())
    return places * largest, share


def spread_apart(places: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """Return the positions of objects in a sunflower pattern around the position of their group.

    The area that a group covers grows with the number of its objects.
    """
    order = np.argsort(groups, kind="stable")
    rank = np.empty(len(groups), dtype=np.int64)
    starts = np.r_[0, np.cumsum(np.bincount(groups, minlength=len(places)))[:-1]]
    rank[order] = np.arange(len(groups)) - starts[groups[order]]
    extent = max(float(np.ptp(places, axis=0).max(initial=0.0)), 1e-9)
    step = min(0.025, 0.25 / np.sqrt(len(groups))) * extent
    radius, angle = step * np.sqrt(rank), _TURN * rank
    return places[groups] + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def _principal_axes(similarity: FloatArray) -> FloatArray:
    """Return the two leading axes of a centred similarity, by the root of their eigenvalues."""
    from scipy.linalg import eigh

    n = len(similarity)
    centred = similarity - similarity.mean(axis=0) - similarity.mean(axis=1)[:, None]
    centred += similarity.mean()
    kept = min(2, n)
    values, vectors = eigh(centred, subset_by_index=[n - kept, n - 1])
    if len(values) < kept:  # of equal eigenvalues SciPy may return some only
        values, vectors = eigh(centred)
        values, vectors = values[n - kept :], vectors[:, n - kept :]
    axes = _signed(vectors.T[::-1]).T * np.sqrt(np.maximum(values[::-1], 0.0))
    return np.column_stack([axes, np.zeros((n, 2 - kept))])


def _signed(rows: FloatArray) -> FloatArray:
    """Return rows with their largest entry positive, so that pictures are not mirrored."""
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    return rows * np.where(largest < 0, -1.0, 1.0)[:, None]
