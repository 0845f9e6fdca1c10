"""Objects in the plane, by their features or by what the method thinks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quorate import _validate
from quorate.metrics.explain import objects_per_label
from quorate.plot import _canvas
from quorate.plot._colours import cluster_colours
from quorate.plot._look import (
    confidence_of_microclusters,
    drawn,
    label_of_microclusters,
    like_beside_like,
    similarity_of,
    two_axes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quorate._types import FloatArray


def scatter(estimator: Any, features: Any = None, *, max_points: int = 1000, ax: Any = None) -> Any:
    """Draw objects in the plane, coloured by their label and paler where it is less sure.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.
    features : array-like or DataFrame of shape (n_objects, n_features), optional
        Shown by their first two principal components; two features are shown as they are. Without
        features the votes are shown: each point is a microcluster, and its area grows with the
        number of objects.
    max_points : int, default=1000
        With more points than that some are drawn at random. The title says so.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Votes are shown by the spectral embedding of the method's similarity (of co-association, where
    it has none of its own): its leading eigenvectors, one more than clusters. Two of them would
    show two or three clusters and heap up the others, so the embedding is looked at from the side
    that has the clusters' centres on a circle, like beside like. Microclusters at the rim are sure
    of their cluster; those inside lean to others as well.

    Examples
    --------
    >>> import quorate as qr
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ax = qr.plot.scatter(qr.EAC(n_clusters=2).fit(votes))
    >>> ax.get_title(loc="left")
    'Microclusters by co-association'
    """
    fitted = _validate.check_fitted("plot.scatter", estimator)
    _validate.check_whole("plot.scatter", "max_points", max_points, 2)
    if features is None:
        return _of_votes(fitted, max_points, ax)
    return _of_features(fitted, features, max_points, ax)


def _of_features(fitted: Any, features: Any, max_points: int, ax: Any) -> Any:
    labels = np.asarray(fitted.labels_)
    matrix = _validate.check_features(features).matrix
    _validate.check_rows_of("plot.scatter", len(matrix), len(labels))
    chosen = drawn(objects_per_label(fitted), max_points)
    part = np.asarray(matrix[chosen], dtype=np.float64)
    as_given = part.shape[1] == 2
    places = part if as_given else two_axes(part)
    ax = _canvas.axes(ax)
    area = np.full(len(part), np.clip(6000 / len(part), 12, 120))
    _points(ax, fitted, places, labels[chosen], fitted.confidence_[chosen], area)
    _canvas.plain_frame(ax)
    names = ("feature 1", "feature 2") if as_given else ("component 1", "component 2")
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    note = _canvas.of_all(len(chosen), len(labels), "objects, drawn at random")
    _canvas.title(ax, "Objects by " + ("features" if as_given else "principal components"), note)
    return ax


def _of_votes(fitted: Any, max_points: int, ax: Any) -> Any:
    sizes = fitted.microclusters_.sizes
    chosen = drawn(sizes, max_points)
    similarity, name = similarity_of(fitted, chosen)
    labels = label_of_microclusters(fitted)[chosen]
    places = spread_clusters(leading(similarity, fitted.n_clusters_ + 1), labels, sizes[chosen])
    area = 12 + 150 * np.sqrt(sizes[chosen] / sizes[chosen].max())
    ax = _canvas.axes(ax)
    _points(ax, fitted, places, labels, confidence_of_microclusters(fitted)[chosen], area)
    _canvas.no_frame(ax)
    note = _canvas.of_all(len(chosen), len(sizes), "microclusters, the larger the likelier")
    _canvas.title(ax, f"Microclusters by {name}", note)
    return ax


def leading(similarity: FloatArray, n_axes: int) -> FloatArray:
    """Return places whose distances are closest to the similarity's (classical scaling)."""
    from scipy.linalg import eigh

    n = len(similarity)
    centred = similarity - similarity.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    part = [max(0, n - n_axes), n - 1]
    values, vectors = eigh((centred + centred.T) / 2, subset_by_index=part)
    places: FloatArray = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    return places


def spread_clusters(
    places: FloatArray, labels: NDArray[np.int64], sizes: NDArray[np.int64]
) -> FloatArray:
    """Return the view of places in many dimensions that has clusters' centres on a circle.

    A linear projection, the shortest that does it as nearly as possible. Of one or two clusters the
    first two dimensions show everything.
    """
    found = np.unique(labels)
    if len(found) < 3:
        plane = np.zeros((len(places), 2))
        plane[:, : min(2, places.shape[1])] = places[:, :2]
        return plane
    centres = np.array(
        [np.average(places[own], axis=0, weights=sizes[own]) for own in (labels == found[:, None])]
    )
    order = like_beside_like(centres @ centres.T)
    angles = np.empty(len(found))
    angles[order] = 2 * np.pi * np.arange(len(found)) / len(found)
    circle = np.column_stack([np.sin(angles), np.cos(angles)])
    projection, *_ = np.linalg.lstsq(centres, circle, rcond=1e-6)
    return places @ projection


def _points(
    ax: Any,
    fitted: Any,
    places: FloatArray,
    labels: NDArray[np.int64],
    confidence: FloatArray,
    area: NDArray[Any],
) -> None:
    colours = cluster_colours(fitted.n_clusters_)
    shades = np.column_stack([colours[labels], 0.25 + 0.7 * confidence])
    # The sure ones last: they are what a cluster is.
    order = np.argsort(confidence, kind="stable")
    ax.scatter(places[order, 0], places[order, 1], s=area[order], color=shades[order], linewidths=0)
    _canvas.number_clusters(ax, places, labels, area)
