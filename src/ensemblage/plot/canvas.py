"""Axes, titles, and names that any font can show."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from ensemblage._messages import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The resolution of a saved picture is the user's; sizes here are in inches.
WIDTH, HEIGHT = 6.4, 4.8
_NUMBERED = 60  # with more clusters, numbers are not written


def axes(ax: Any, width: float = WIDTH, height: float = HEIGHT) -> Any:
    """Return the axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return _check_axes(ax)
    _, new = _pyplot().subplots(figsize=(width, height), layout="constrained")
    return new


def _check_axes(ax: Any) -> Any:
    """Return axes that have straight x and y axes."""
    from matplotlib.axes import Axes

    flat = isinstance(ax, Axes) and "top" in ax.spines and not hasattr(ax, "zaxis")
    if not flat:
        hint = "" if isinstance(ax, Axes) else "Pass one Axes, such as axes[0] or figure.gca()."
        expected = "a matplotlib Axes with straight x and y axes"
        raise ParameterError("the plot", "ax", expected, ax, hint, optional=True)
    return ax


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "ensemblage.plot needs matplotlib, which is not installed. Run:"
            ' pip install "ensemblage[report]"'
        ) from error
    return pyplot


def plain_frame(ax: Any) -> None:
    """Remove the lines above and to the right."""
    ax.spines[["top", "right"]].set_visible(False)


def no_frame(ax: Any) -> None:
    """Remove axes without meaningful numbers."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def title(ax: Any, *parts: str) -> None:
    """Write the title, and a note in smaller letters below it."""
    lines = [part for part in parts if part]
    size = "large" if len(lines) == 1 else "medium"
    ax.set_title("\n".join(lines), fontsize=size, loc="left")


def of_all(shown: int, total: int, things: str) -> str:
    """Return "400 of 1,000,000 objects", or "" if all are shown."""
    return "" if shown == total else f"{shown:,} of {total:,} {things}"


def short(name: Any, width: int = 24) -> str:
    """Return a name on one line, at most `width` characters, in letters that the font has.

    Marks of text direction are left out, dollar signs are not interpreted as mathematics, and a
    letter that the font does not have becomes a question mark.
    """
    text = str(name).encode("utf-8", "replace").decode("utf-8")
    text = " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in text).split())
    if len(text) > width:
        text = text[: width - 1].rstrip() + "…"
    letters = _letters()
    return "".join(c if ord(c) in letters else "?" for c in text).replace("$", r"\$")


def short_names(names: Iterable[Any], width: int = 24) -> list[str]:
    """Return short names, numbered if shortening made them equal."""
    result: list[str] = []
    seen: dict[str, int] = {}
    for name in names:
        text = short(name, width)
        seen[text] = seen.get(text, 0) + 1
        result.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return result


def _letters() -> Any:
    """Return the code points of the text font."""
    from matplotlib import font_manager

    path = font_manager.findfont(font_manager.FontProperties())
    return font_manager.get_font(path).get_charmap()


def label_ticks(axis: Any, places: Any, names: list[str], gap: float) -> None:
    """Label positions on an axis, without names within `gap` of the last one."""
    kept: list[int] = []
    for i in range(len(places)):
        if not kept or abs(places[i] - places[kept[-1]]) >= gap:
            kept.append(i)
    axis.set_ticks([places[i] for i in kept], [names[i] for i in kept])


def number_clusters(ax: Any, points: Any, labels: Any, weights: Any) -> None:
    """Write the number of each cluster on its heaviest point, the median one on ties."""
    import numpy as np
    from matplotlib.patheffects import withStroke

    clusters = np.unique(labels)
    if len(clusters) > _NUMBERED:
        return
    for label in clusters:
        own = points[labels == label]
        off_centre = np.linalg.norm(own - np.median(own, axis=0), axis=1)
        at = own[np.lexsort([off_centre, -weights[labels == label]])[0]]
        ax.annotate(
            short(label),
            at,
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=5,
        )
