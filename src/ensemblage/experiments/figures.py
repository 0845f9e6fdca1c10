"""Style of the figures: sizes, colours and markers, the same for a method everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

OURS = {"PTA-AL": "#c1272d", "PTA": "#c1272d", "PTGP": "#0b5fa5", "LWPT": "#5b2a86"}
_OTHERS = (
    *("#e08214", "#1b7837", "#762a83", "#8c510a", "#35978f", "#c51b7d"),
    *("#7f7f7f", "#4d9221", "#bf812d", "#6a51a3", "#3690c0", "#525252"),
)
_MARKERS = "s^Dv<>PXhd*p"


def new_axes(
    n_panels: int = 1, *, columns: int = 1, width: float = 6.4, height: float = 4.0
) -> tuple[Any, list[Any]]:
    """Return a figure and its panels; unused places of the last row stay blank."""
    from matplotlib.figure import Figure

    rows = -(-n_panels // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[n_panels:]:
        panel.set_axis_off()
    for panel in panels[:n_panels]:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(visible=True, alpha=0.25, linewidth=0.6)
        panel.set_axisbelow(True)
    return figure, list(panels[:n_panels])


def look(name: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the line of a method: PTA and PTGP stand out, the others differ from each other."""
    if name in OURS:
        return {"color": OURS[name], "marker": "o", "linewidth": 2.4, "markersize": 6, "zorder": 3}
    place = [other for other in names if other not in OURS].index(name)
    return {
        "color": _OTHERS[place % len(_OTHERS)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "linewidth": 1.2,
        "markersize": 5,
    }


def paper_line(panel: Any, x: Sequence[Any], y: Sequence[float], colour: str) -> None:
    """Draw a line of the paper, thin and behind ours."""
    panel.plot(x, y, color=colour, linewidth=0.8, alpha=0.65, zorder=1)


def hollow(panel: Any, cells: Sequence[Any], x: Sequence[Any], runs: int, colour: str) -> None:
    """Make the markers hollow that represent fewer runs than the figure."""
    few = [(at, cell.ours) for at, cell in zip(x, cells, strict=True) if 0 < cell.runs < runs]
    if few:
        at, heights = zip(*few, strict=True)
        panel.plot(at, heights, "o", color=colour, markerfacecolor="white", markersize=5, zorder=4)


def log_bars(panel: Any, values: Sequence[float]) -> None:
    """Make the axis of horizontal bars logarithmic, with the shortest bar still visible."""
    panel.set_xscale("log")
    panel.set_xlim(10 ** np.floor(np.log10(min(values)) - 0.3), 4 * max(values))
    panel.invert_yaxis()


def legend_below(figure: Any, panel: Any, columns: int) -> None:
    """Put one legend for all panels below them."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
