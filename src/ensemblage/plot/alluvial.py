"""Flow of objects from one clustering to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._colours import GREY, cluster_colours
from ensemblage._messages import counted
from ensemblage.metrics.agreement import labels_and_shared
from ensemblage.plot import canvas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_BAR = 0.04  # of the width
_GAP = 0.25  # of the height, shared by the gaps between clusters
_TOO_THIN = 0.0005  # of all objects


def alluvial(a: Any, b: Any, *, names: tuple[str, str] = ("a", "b"), ax: Any = None) -> Any:
    """Draw the flow of objects from the clusters of one clustering to those of another.

    Parameters
    ----------
    a, b : array-like of shape (n_objects,), or fitted estimator
        Two clusterings of the same objects, `a` on the left. Objects without a label (-1, NaN,
        None) are a separate stream.
    names : tuple of two str, default=("a", "b")
        Their titles.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    The height of a cluster is its number of objects. Clusters of `b` are ordered so that streams
    cross little: by the mean position of the clusters that their objects come from. Streams of less
    than 0.05 % of the objects are not drawn, with a note in the title.

    Examples
    --------
    >>> import ensemblage as en
    >>> ax = en.plot.alluvial([0, 0, 1, 1, 2], ["x", "x", "y", "y", "y"], names=("old", "new"))
    >>> ax.get_title(loc="left")
    'From old to new'
    """
    left, right, shared = labels_and_shared(_labels(a), _labels(b))
    expected = "two names, for the left and the right clustering"
    pair = _validate.check_n_names("plot.alluvial", names, 2, expected)
    before, after = (canvas.short(name) for name in pair)
    shared, left = _in_order(shared, left)
    centres = (np.cumsum(shared.sum(axis=1)) - shared.sum(axis=1) / 2) @ shared
    order = np.argsort(centres / shared.sum(axis=0), kind="stable")
    shared, right = shared[:, order], [right[place] for place in order]
    n = shared.sum()

    ax = canvas.axes(ax, 6.4, min(14.0, max(4.2, 0.24 * max(shared.shape))))
    shades = zip(left, cluster_colours(len(left)), strict=True)
    colours = [GREY if name is None else shade for name, shade in shades]
    from_tops, to_tops = _tops(shared.sum(axis=1)), _tops(shared.sum(axis=0))
    thin = _streams(ax, shared, from_tops, to_tops, colours)
    _bars(ax, 0.0, from_tops, shared.sum(axis=1), left, colours, side="left")
    _bars(ax, 1.0, to_tops, shared.sum(axis=0), right, ["#444444"] * len(right), side="right")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(n * (1 + _GAP) * 1.01, -0.01 * n)
    canvas.no_frame(ax)
    lost = f"{counted(thin, 'object')} in streams too thin to draw" if thin else ""
    canvas.title(ax, f"From {before} to {after}", lost)
    return ax


def _labels(clustering: Any) -> Any:
    """Return labels unchanged, or those of a fitted estimator."""
    if not hasattr(clustering, "fit"):
        return clustering
    fitted = _validate.check_fitted("plot.alluvial", clustering)
    return np.asarray(fitted.labels_)


def _in_order(shared: NDArray[np.int64], names: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return rows by their names: numbers by value, others by text, those without a label last."""

    def key(place: int) -> tuple[int, float, str]:
        name = names[place]
        if name is None:
            return 2, 0.0, ""
        if isinstance(name, int | float | np.number):
            return 0, float(name), ""
        return 1, 0.0, str(name)

    order = sorted(range(len(names)), key=key)
    return shared[order], [names[place] for place in order]


def _tops(sizes: NDArray[np.int64]) -> FloatArray:
    """Return the start of each bar, from the top down, with gaps between them."""
    gap = _GAP * sizes.sum() / max(1, len(sizes) - 1) if len(sizes) > 1 else 0.0
    starts = np.cumsum(sizes) - sizes + gap * np.arange(len(sizes))
    return starts + (_GAP * sizes.sum() / 2 if len(sizes) == 1 else 0.0)


def _streams(
    ax: Any, shared: NDArray[np.int64], tops: FloatArray, ends: FloatArray, colours: list[Any]
) -> int:
    """Draw the streams and return the number of objects in those that are too thin."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    code = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    at, to = tops.copy(), ends.copy()
    thin, n = 0, shared.sum()
    for row, column in zip(*np.nonzero(shared), strict=True):
        width = shared[row, column]
        y, z = at[row], to[column]
        at[row] += width
        to[column] += width
        if width < _TOO_THIN * n:
            thin += int(width)
            continue
        start, stop = _BAR, 1 - _BAR
        upper = [(start, y), (0.5, y), (0.5, z), (stop, z)]
        lower = [(stop, z + width), (0.5, z + width), (0.5, y + width), (start, y + width)]
        path = Path([*upper, *lower, upper[0]], code)
        ax.add_patch(PathPatch(path, facecolor=colours[row], alpha=0.45, linewidth=0))
    return thin


def _bars(
    ax: Any,
    x: float,
    tops: FloatArray,
    sizes: NDArray[np.int64],
    names: list[Any],
    colours: list[Any],
    *,
    side: str,
) -> None:
    """Draw the clusters of one side, with their names and sizes if there is room."""
    from matplotlib.patches import Rectangle

    start = 0.0 if side == "left" else x - _BAR
    room = -np.inf
    height = sizes.sum() * (1 + _GAP)
    for top, size, name, colour in zip(tops, sizes, names, colours, strict=True):
        ax.add_patch(Rectangle((start, top), _BAR, size, color=colour, linewidth=0))
        middle = top + size / 2
        if middle - room < 0.016 * height:
            continue
        room = middle
        text = "no label" if name is None else canvas.short(name, 16)
        ax.annotate(
            f"{text} ({size:,})",
            (start if side == "left" else start + _BAR, middle),
            xytext=(-4 if side == "left" else 4, 0),
            textcoords="offset points",
            ha="right" if side == "left" else "left",
            va="center",
            fontsize="small" if len(sizes) <= 30 else "x-small",
            annotation_clip=False,
        )
