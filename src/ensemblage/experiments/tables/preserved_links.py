"""The share of links that the elite-neighbour graph keeps, by K."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    format_counts,
    format_differences,
)
from ensemblage.experiments.figures import legend_below, look, new_axes, paper_line
from ensemblage.experiments.grids import Grid, mean_cell
from ensemblage.experiments.protocol import NEIGHBORS
from ensemblage.experiments.tables.microclusters import RUNS, graph_tasks


def _results(evidence: Evidence) -> Results:
    names = evidence.datasets("graph")
    columns = [str(k).upper() for k in NEIGHBORS]
    grid = Grid(
        "preserved-links", "RatioPL by K", "dataset", names, columns, percent=True, runs=RUNS
    )
    for name in names:
        counts = [record["scores"]["links"] for record in evidence.select("graph", name)]
        for k, column in zip(NEIGHBORS, columns, strict=True):
            shares = [links[str(k)] / links["all"] for links in counts if links["all"]]
            paper = evidence.of_paper("ratio_preserved_links", name, column)
            grid.cells[name, column] = mean_cell(shares, paper)
    picture = Picture(
        grid.name, "Share of links kept, by K; thin lines: the paper.", lambda: _draw(grid)
    )
    remarks = [evidence.origin(names), format_counts(grid), format_differences(grid)]
    return Results([grid], [picture], remarks)


def _draw(grid: Grid) -> Any:
    figure, (panel,) = new_axes()
    for name in grid.rows:
        shares = [100 * (grid.cell(name, column).ours or 0) for column in grid.columns]
        style = look(name, grid.rows)
        printed = [grid.cell(name, column).paper for column in grid.columns]
        paper_line(panel, grid.columns, [100 * (p or np.nan) for p in printed], style["color"])
        panel.plot(grid.columns, shares, label=name, **style)
    panel.set_yscale("log")
    panel.set_xlabel("K")
    panel.set_ylabel("links kept, %")
    legend_below(figure, panel, 5)
    return figure


PRESERVED_LINKS = Experiment(
    "preserved-links",
    "links preserved by elite neighbour selection",
    f"Ensembles of 10 members, {RUNS} draws: links of the K-elite neighbour graph over all links.",
    graph_tasks,
    _results,
    ("Table 6",),
)
