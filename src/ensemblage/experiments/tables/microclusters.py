"""Nodes and links of the microcluster similarity graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    format_counts,
)
from ensemblage.experiments.figures import legend_below, log_bars, new_axes
from ensemblage.experiments.grids import Grid, mean_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

RUNS = 20


def graph_tasks(plan: Plan) -> Iterator[Task]:
    """Yield the tasks that count links; also used for the table of preserved links."""
    for ensemble in plan.ensembles(RUNS):
        yield {"kind": "graph", **ensemble}


def _results(evidence: Evidence) -> Results:
    names = evidence.datasets("graph")
    grid = Grid(
        "microclusters",
        "Microclusters and links",
        "dataset",
        names,
        ["microclusters", "links"],
        decimals=0,
        runs=RUNS,
    )
    for name in names:
        scores = [record["scores"] for record in evidence.select("graph", name)]
        printed = evidence.of_paper("microclusters_and_links", name) or {}
        grid.cells[name, "microclusters"] = mean_cell(
            [score["microclusters"] for score in scores], printed.get("n_microclusters")
        )
        grid.cells[name, "links"] = mean_cell(
            [score["links"]["all"] for score in scores], printed.get("n_links")
        )
    picture = Picture(
        "microclusters", "Microclusters of each dataset, ours and the paper's.", lambda: _draw(grid)
    )
    return Results([grid], [picture], [evidence.origin(names), format_counts(grid)])


def _draw(grid: Grid) -> Any:
    figure, panels = new_axes(2, columns=2, width=4.6, height=3.6)
    for panel, column in zip(panels, grid.columns, strict=True):
        places = range(len(grid.rows))
        ours = [grid.cell(name, column).ours or 0 for name in grid.rows]
        paper = [grid.cell(name, column).paper or 0 for name in grid.rows]
        panel.barh([place - 0.2 for place in places], ours, 0.38, color="#0b5fa5", label="ours")
        panel.barh([p + 0.2 for p in places], paper, 0.38, color="#b0b0b0", label="paper")
        panel.set_yticks(places, grid.rows)
        log_bars(panel, [value for value in (*ours, *paper) if value])
        panel.set_xlabel(column)
    legend_below(figure, panels[0], 2)
    return figure


MICROCLUSTERS = Experiment(
    "microclusters",
    "microclusters and links of the similarity graph",
    f"Ensembles of 10 members, {RUNS} draws. A link joins two microclusters that share a cluster.",
    graph_tasks,
    _results,
    ("Table 5",),
)
