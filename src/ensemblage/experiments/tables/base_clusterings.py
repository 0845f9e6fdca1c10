"""The consensus beside the base clusterings that it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    counts_in_words,
)
from ensemblage.experiments.figures import OURS, legend_below, new_axes
from ensemblage.experiments.grids import Grid
from ensemblage.experiments.protocol import N_MEMBERS, score_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

RUNS = 100
_METHODS = ("PTA-AL", "PTGP")
_BASE = "base clusterings"


def _tasks(plan: Plan) -> Iterator[Task]:
    for ensemble in plan.ensembles(RUNS):
        yield {"kind": "base", **ensemble}
    yield from score_tasks(plan, _METHODS, RUNS)


def _results(evidence: Evidence) -> Results:
    names = evidence.datasets("base", "scores")
    columns = [_BASE, *(f"{method} {which} k" for method in _METHODS for which in ("true", "best"))]
    title = "NMI of base clusterings and consensus"
    grid = Grid("base-clusterings", title, "dataset", names, columns)
    for name in names:
        grid.cells[name, _BASE] = evidence.cell("nmi_mean", "base", name)
        for method in _METHODS:
            for which in ("true", "best"):
                grid.cells[name, f"{method} {which} k"] = evidence.cell(
                    f"nmi_{which}", "scores", name, method=method, members=N_MEMBERS, seed=0
                )
    caption = (
        "NMI of the base clusterings (mean of an ensemble), and of PTA and PTGP at the true k;"
        " error bars are standard deviations over draws, diamonds the best k."
    )
    picture = Picture(grid.name, caption, lambda: _draw(grid))
    return Results([grid], [picture], [evidence.origin(names), counts_in_words(grid)])


def _draw(grid: Grid) -> Any:
    figure, (panel,) = new_axes(width=max(6.4, 0.95 * len(grid.rows) + 1.5))
    width = 0.27
    looks = {
        _BASE: ("base clusterings", "#b0b0b0"),
        "PTA-AL true k": ("PTA-AL", OURS["PTA"]),
        "PTGP true k": ("PTGP", OURS["PTGP"]),
    }
    for place, (column, (label, colour)) in enumerate(looks.items()):
        at = [row + (place - 1) * width for row in range(len(grid.rows))]
        cells = [grid.cell(name, column) for name in grid.rows]
        means = [cell.ours or 0 for cell in cells]
        spreads = [(cell.error or 0) * cell.runs**0.5 for cell in cells]
        panel.bar(at, means, width, yerr=spreads, color=colour, label=label, capsize=2)
        if column != _BASE:
            best = [grid.cell(name, column.replace("true", "best")).ours for name in grid.rows]
            panel.plot(at, best, "D", color="black", markersize=4, markerfacecolor="white")
    panel.set_xticks(range(len(grid.rows)), grid.rows)
    panel.set_ylabel("NMI")
    legend_below(figure, panel, 3)
    return figure


BASE_CLUSTERINGS = Experiment(
    "base-clusterings",
    "Comparison against the base clusterings",
    f"Ensembles of 10 members, {RUNS} draws. A draw's base clusterings count with their mean NMI.",
    _tasks,
    _results,
)
