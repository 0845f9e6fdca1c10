"""A heatmap of the similarity of objects, cluster by cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._colours import cluster_colours
from ensemblage.metrics.explain import objects_per_label
from ensemblage.plot import canvas
from ensemblage.plot._selection import coassociation_of, like_beside_like, similarity_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS = {"similarity": similarity_of, "coassociation": coassociation_of}


def heatmap(
    estimator: Any, kind: str = "similarity", *, max_rows: int = 500, ax: Any = None
) -> Any:
    """Draw the similarity of objects, in the order of their clusters.

    Dark blocks along the diagonal are coherent clusters; a dark block off it is two clusters that
    the ensemble hardly separates.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.
    kind : {"similarity", "coassociation"}, default="similarity"
        The similarity that the method works with (trajectory similarity for PTA and PTGP), or the
        share of clusterings that put two objects together.
    max_rows : int, default=500
        With more objects, evenly spaced ones are shown, so that clusters and microclusters keep
        their shares, with a note in the title.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ax = en.plot.heatmap(en.EAC(n_clusters=2).fit(votes))
    >>> ax.get_ylabel()
    'cluster (objects)'
    """
    fitted = _validate.check_fitted("plot.heatmap", estimator)
    _validate.check_choice("plot.heatmap", "kind", kind, tuple(_KINDS))
    if kind == "coassociation":
        _validate.check_has_votes('plot.heatmap with kind="coassociation"', fitted)
    _validate.check_whole("plot.heatmap", "max_rows", max_rows, 2)
    sizes = np.bincount(fitted.labels_, objects_per_label(fitted)).astype(np.int64)
    rows, labels = _rows_in_order(fitted, max_rows)
    units, place = np.unique(rows, return_inverse=True)
    similarity, name = _KINDS[kind](fitted, units)
    order = np.concatenate(
        [own[like_beside_like(similarity, place[own])] for own in _parts(labels)]
    )
    place = place[order]
    ax = canvas.axes(ax, 6.4, 5.4)
    n = len(rows)
    image = ax.imshow(
        similarity[np.ix_(place, place)],
        cmap="YlGnBu",
        vmin=0,
        vmax=1,
        interpolation="nearest",
        extent=(0, n, n, 0),
    )
    ax.figure.colorbar(image, ax=ax, label=name, shrink=0.8)
    _mark_clusters(ax, labels, sizes)
    shown = canvas.of_all(n, int(sizes.sum()), "objects, evenly spaced")
    canvas.title(ax, f"{name[0].upper()}{name[1:]} of objects", shown)
    return ax


def _rows_in_order(fitted: Any, max_rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the microcluster and the label of each row, by cluster."""
    labels = np.asarray(fitted.labels_)
    of_object = fitted.microclusters_.of_object
    order = np.lexsort([of_object, labels])
    ends = np.cumsum(objects_per_label(fitted)[order])
    n = int(ends[-1])
    if n > max_rows:
        middles = (np.arange(max_rows) + 0.5) * n / max_rows
        chosen = order[np.searchsorted(ends, middles, side="right")]
    else:
        chosen = np.repeat(order, np.diff(ends, prepend=0))
    return of_object[chosen], labels[chosen]


def _parts(labels: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the rows of each cluster; rows are in the order of clusters."""
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    return np.split(np.arange(len(labels)), starts[1:])


def _mark_clusters(ax: Any, labels: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
    """Draw lines between clusters, a strip of their colours, and their numbers and sizes."""
    from matplotlib.patches import Rectangle

    n = len(labels)
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    ends = np.append(starts[1:], n)
    colours = cluster_colours(len(sizes))
    for start, end in zip(starts, ends, strict=True):
        box = Rectangle(
            (-0.028 * n, float(start)),
            0.02 * n,
            end - start,
            color=colours[labels[start]],
            clip_on=False,
            linewidth=0,
        )
        ax.add_patch(box)
    between = starts[1:]
    ax.hlines(between, 0, n, color="white", linewidth=0.8)
    ax.vlines(between, 0, n, color="white", linewidth=0.8)
    ax.set_xlim(0, n)
    ax.set_ylim(n, 0)
    ax.set_xticks([])
    names = [f"{label} ({sizes[label]:,})" for label in labels[starts]]
    canvas.label_ticks(ax.yaxis, (starts + ends) / 2, names, gap=0.035 * n)
    ax.tick_params(axis="y", length=0, pad=12, labelsize="small")
    ax.set_ylabel("cluster (objects)")
    ax.spines[:].set_visible(False)
