"""Sizes of clusters, and the confidence of their objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._colours import cluster_colours
from ensemblage.metrics import explain
from ensemblage.plot import canvas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def clusters(estimator: Any, *, ax: Any = None) -> Any:
    """Draw the confidence of each cluster's objects, thicker for larger clusters.

    The box is the middle half of the objects, the line across it the median, the whiskers all but
    the lowest and highest 5 %. The diamond is the cluster's consensus: the mean share of
    clusterings that put two of its objects together.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ax = en.plot.clusters(en.EAC(n_clusters=2).fit(votes))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['0 (3)', '1 (3)']
    """
    from matplotlib.patches import Rectangle

    fitted = _validate.check_fitted("plot.clusters", estimator)
    _validate.check_has_votes("plot.clusters", fitted)
    sizes = np.bincount(fitted.labels_, explain.objects_per_label(fitted)).astype(np.int64)
    consensus = explain.cluster_consensus(fitted)
    k = len(sizes)
    ax = canvas.axes(ax, 6.4, min(14.0, max(2.6, 1.6 + 0.3 * k)))
    canvas.plain_frame(ax)
    colours = cluster_colours(k)
    thickness = 0.15 + 0.7 * np.sqrt(sizes / sizes.max())
    for label, row in enumerate(_quantiles(fitted, k)):
        low, quarter, median, three, high = row
        colour, half = colours[label], thickness[label] / 2
        ax.plot([low, high], [label, label], color=colour, linewidth=1.2, zorder=1)
        corner = (quarter, label - half)
        ax.add_patch(Rectangle(corner, three - quarter, 2 * half, color=colour, alpha=0.75))
        ax.plot([median] * 2, [label - half, label + half], color="black", linewidth=1.6)
    ax.plot(consensus, np.arange(k), "D", color="black", markerfacecolor="white", markersize=4)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(k - 0.4, -0.6)
    names = [f"{label} ({size:,})" for label, size in enumerate(sizes)]
    canvas.label_ticks(ax.yaxis, np.arange(k), names, gap=k / 60)
    ax.tick_params(axis="y", length=0, labelsize="medium" if k <= 30 else "x-small")
    ax.set_ylabel("cluster (objects)")
    ax.set_xlabel("confidence of objects; diamond: consensus of the cluster")
    canvas.title(ax, "Clusters")
    return ax


def _quantiles(fitted: Any, k: int) -> list[FloatArray]:
    """Return five quantiles of the confidence in each cluster, over objects."""
    labels, confidence = np.asarray(fitted.labels_), fitted.confidence_
    weights = explain.objects_per_label(fitted)
    order = np.lexsort([confidence, labels])
    ends = np.searchsorted(labels[order], np.arange(k + 1))
    parts = [order[ends[label] : ends[label + 1]] for label in range(k)]
    return [_weighted(confidence[part], weights[part]) for part in parts]


def _weighted(values: FloatArray, weights: NDArray[np.int64]) -> FloatArray:
    """Return quantiles of ascending values that represent `weights` objects each."""
    ends = np.cumsum(weights)
    places = np.minimum(np.searchsorted(ends, np.array(_SHARES) * ends[-1]), len(values) - 1)
    quantiles: FloatArray = values[places]
    return quantiles
