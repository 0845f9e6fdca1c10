"""The consensus compared with its base clusterings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    format_counts,
    format_differences,
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
_IN_PAPER = {"PTA-AL": "PTA", "PTGP": "PTGP"}
_BASE = "base clusterings"


def _tasks(plan: Plan) -> Iterator[Task]:
    for ensemble in plan.ensembles(RUNS):
        yield {"kind": "base", **ensemble}
    yield from score_tasks(plan, _METHODS, RUNS)


def _results(evidence: Evidence) -> Results:
    names = evidence.datasets("base", "scores")
    columns = [_BASE, *(f"{method} {which} k" for method in _METHODS for which in ("best", "true"))]
    title = "NMI of base clusterings and consensus"
    grid = Grid("base-clusterings", title, "dataset", names, columns, runs=RUNS)
    printed = {
        _BASE: evidence.printed("figures", "8", "Base Clusterings"),
        **{f"{m} best k": evidence.printed("figures", "8", _IN_PAPER[m]) for m in _METHODS},
    }
    for name in names:
        paper = {column: line.get(name) for column, line in printed.items()}
        grid.cells[name, _BASE] = evidence.cell("nmi_mean", "base", name, paper=paper[_BASE])
        for method in _METHODS:
            for which in ("best", "true"):
                column = f"{method} {which} k"
                grid.cells[name, column] = evidence.cell(
                    f"nmi_{which}",
                    "scores",
                    name,
                    paper=paper.get(column),
                    method=method,
                    members=N_MEMBERS,
                    cuts="all",
                    seed=0,
                )
    caption = (
        "NMI of the base clusterings (mean of an ensemble), and of PTA and PTGP at the best k, with"
        " standard deviations over draws. Grey lines next to them: the paper's bars and error bars."
        " Diamonds: ours at the true k. n is the number of draws of PTGP if it is not"
        f" {RUNS}."
    )
    spreads = {
        _BASE: evidence.printed("figures", "8_error", "Base Clusterings"),
        **{f"{m} best k": evidence.printed("figures", "8_error", _IN_PAPER[m]) for m in _METHODS},
    }
    picture = Picture(grid.name, caption, lambda: _draw(grid, spreads))
    remarks = [evidence.origin(names), format_counts(grid), format_differences(grid)]
    return Results([grid], [picture], remarks)


def _draw(grid: Grid, paper_spreads: dict[str, dict[str, float]]) -> Any:
    figure, (panel,) = new_axes(width=max(6.4, 0.95 * len(grid.rows) + 1.5))
    width = 0.27
    looks = {
        _BASE: ("base clusterings", "#c9c9c9"),
        "PTA-AL best k": ("PTA-AL", OURS["PTA"]),
        "PTGP best k": ("PTGP", OURS["PTGP"]),
    }
    for place, (column, (label, colour)) in enumerate(looks.items()):
        at = [row + (place - 1) * width for row in range(len(grid.rows))]
        cells = [grid.cell(name, column) for name in grid.rows]
        means = [cell.ours or 0 for cell in cells]
        spreads = [(cell.error or 0) * cell.runs**0.5 for cell in cells]
        panel.bar(at, means, width, yerr=spreads, color=colour, label=label, capsize=2, alpha=0.85)
        paper = [
            (place + 0.3 * width, cell.paper, paper_spreads[column].get(name))
            for place, cell, name in zip(at, cells, grid.rows, strict=True)
            if cell.paper is not None
        ]
        if paper:
            x, y, reach = zip(*paper, strict=True)
            panel.errorbar(
                x, y, yerr=reach, fmt="_", color="#404040", markersize=7, linewidth=0.9,
                label="the paper" if column == _BASE else None,
            )  # fmt: skip
        if column != _BASE:
            true = [grid.cell(name, column.replace("best", "true")).ours for name in grid.rows]
            panel.plot(at, true, "D", color="black", markersize=4, markerfacecolor="white")
    runs = [grid.cell(name, "PTGP best k").runs for name in grid.rows]
    named = [
        name if number == RUNS else f"{name}\nn={number}"
        for name, number in zip(grid.rows, runs, strict=True)
    ]
    panel.set_xticks(range(len(grid.rows)), named)
    panel.set_ylabel("NMI")
    legend_below(figure, panel, 4)
    return figure


BASE_CLUSTERINGS = Experiment(
    "base-clusterings",
    "the consensus and its base clusterings",
    f"Ensembles of 10 members, {RUNS} draws. A draw's base clusterings count with their mean NMI."
    " The paper's bars are those of the best k.",
    _tasks,
    _results,
    ("Figure 8",),
)
