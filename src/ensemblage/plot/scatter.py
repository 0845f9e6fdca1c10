"""Objects in the plane, by their features or by the method's similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._colours import cluster_colours
from ensemblage.metrics.explain import objects_per_label
from ensemblage.plot import canvas
from ensemblage.plot._selection import (
    confidence_of_microclusters,
    drawn,
    label_of_microclusters,
    like_beside_like,
    similarity_of,
    two_axes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def scatter(estimator: Any, features: Any = None, *, max_points: int = 1000, ax: Any = None) -> Any:
    """Draw objects in the plane, coloured by their label and paler with lower confidence.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.
    features : array-like or DataFrame of shape (n_objects, n_features), optional
        Shown by their first two principal components; two features are shown directly. Without
        features the votes are shown: each point is a microcluster, and its area grows with the
        number of objects.
    max_points : int, default=1000
        With more points a random sample is drawn, with a note in the title.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Votes are shown by the spectral embedding of the method's similarity (of co-association, if it
    has none of its own). Its two leading eigenvectors separate at most three clusters, so the
    embedding, with all its dimensions, is projected such that the clusters' centres lie on a
    circle, similar ones adjacent. Microclusters far out clearly belong to their cluster; those
    further in are also similar to others.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ax = en.plot.scatter(en.EAC(n_clusters=2).fit(votes))
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
    _check_rows_of("plot.scatter", len(matrix), len(labels))
    chosen = drawn(objects_per_label(fitted), max_points)
    part = np.asarray(matrix[chosen], dtype=np.float64)
    as_given = part.shape[1] == 2
    places = part if as_given else two_axes(part)
    ax = canvas.axes(ax)
    area = np.full(len(part), np.clip(6000 / len(part), 12, 120))
    _points(ax, fitted, places, labels[chosen], fitted.confidence_[chosen], area)
    canvas.plain_frame(ax)
    names = ("feature 1", "feature 2") if as_given else ("component 1", "component 2")
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    note = canvas.of_all(len(chosen), len(labels), "objects, drawn at random")
    canvas.title(ax, "Objects by " + ("features" if as_given else "principal components"), note)
    return ax


def _of_votes(fitted: Any, max_points: int, ax: Any) -> Any:
    sizes = fitted.microclusters_.sizes
    chosen = drawn(sizes, max_points)
    similarity, name = similarity_of(fitted, chosen)
    labels = label_of_microclusters(fitted)[chosen]
    places = embedded(similarity, labels)
    area = 12 + 150 * np.sqrt(sizes[chosen] / sizes[chosen].max())
    ax = canvas.axes(ax)
    _points(ax, fitted, places, labels, confidence_of_microclusters(fitted)[chosen], area)
    canvas.no_frame(ax)
    note = canvas.of_all(len(chosen), len(sizes), "microclusters, sampled by size")
    canvas.title(ax, f"Microclusters by {name}", note)
    return ax


def embedded(similarity: FloatArray, labels: NDArray[np.int64]) -> FloatArray:
    """Return positions in the plane: a projection of the space with this inner product.

    For one or two clusters it is along the two leading eigenvectors; for more the shortest
    projection that puts the clusters' centres on a circle, as nearly as possible.
    """
    centred = similarity - similarity.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    found, of_row, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(found) < 3:
        return _leading_two(centred)
    means = np.zeros((len(labels), len(found)))
    means[np.arange(len(labels)), of_row] = 1.0 / counts[of_row]
    to_centres = centred @ means
    between = means.T @ to_centres  # inner products of the centres
    angles = np.empty(len(found))
    angles[like_beside_like(between)] = 2 * np.pi * np.arange(len(found)) / len(found)
    circle = np.column_stack([np.sin(angles), np.cos(angles)])
    # Centring removes one dimension, so the inverse is on the remaining ones.
    places: FloatArray = to_centres @ np.linalg.pinv(between, rcond=1e-9, hermitian=True) @ circle
    return places


def _leading_two(centred: FloatArray) -> FloatArray:
    from scipy.linalg import eigh

    n = len(centred)
    part = [max(0, n - 2), n - 1]
    values, vectors = eigh((centred + centred.T) / 2, subset_by_index=part)
    places = np.zeros((n, 2))
    places[:, : len(values)] = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    return places


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
    # Objects of high confidence are drawn last.
    order = np.argsort(confidence, kind="stable")
    ax.scatter(places[order, 0], places[order, 1], s=area[order], color=shades[order], linewidths=0)
    canvas.number_clusters(ax, places, labels, area)


def _check_rows_of(owner: str, n_rows: int, n_objects: int) -> None:
    """Reject features of other objects than those that were clustered."""
    if n_rows != n_objects:
        raise ValueError(
            f"The features passed to {owner} must have a row for each of the {n_objects} object(s),"
            f" in the same order, got {n_rows} row(s)."
        )
