"""Distribution of the links between objects over weights, and the share of correct ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.experiments.evidence import Evidence, Experiment, Picture, Results
from ensemblage.experiments.figures import new_axes, paper_line
from ensemblage.experiments.grids import Grid, mean_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

RUNS = 20
_FAVOURITE = "MNIST"


def _tasks(plan: Plan) -> Iterator[Task]:
    for ensemble in plan.ensembles(RUNS, datasets=plan.one(_FAVOURITE)):
        yield {"kind": "links", **ensemble}


def _results(evidence: Evidence) -> Results:
    results = Results()
    for dataset in evidence.datasets("links"):
        records = evidence.select("links", dataset)
        links, correct = (
            np.array([record["scores"][word] for record in records], dtype=float)
            for word in ("links", "correct")
        )
        weights = [f"{j / links.shape[1]:g}" for j in range(links.shape[1], 0, -1)]
        grid = Grid(
            f"link-weights-{dataset}",
            f"Links of {dataset} by weight",
            "weight",
            weights,
            ["share of links", "share that is correct"],
            percent=True,
            runs=RUNS,
        )
        shares = links / links.sum(axis=1, keepdims=True)
        printed_shares = (
            evidence.printed("figures", "1") if dataset == _FAVOURITE else dict[str, float]()
        )
        with np.errstate(invalid="ignore"):
            rights = correct / links
        for place, weight in enumerate(weights):
            j = links.shape[1] - 1 - place
            printed = evidence.of_paper("mnist_link_weights", weight) or {}
            printed = printed if dataset == _FAVOURITE else {}
            right = rights[:, j][np.isfinite(rights[:, j])]
            grid.cells[weight, grid.columns[0]] = mean_cell(
                shares[:, j], printed.get("share_of_links")
            )
            grid.cells[weight, grid.columns[1]] = mean_cell(right, printed.get("correct"))
        results.grids.append(grid)
        results.pictures.append(
            Picture(
                grid.name,
                f"Distribution of the link weights of {dataset}, and the share of links whose two"
                " objects are of one class; grey: the paper's Figure 1 and Table 1.",
                partial(_draw, grid, printed_shares),
            )
        )
        results.remarks.append(f"{evidence.origin([dataset])} Runs: {len(records)}.")
    return results


def _draw(grid: Grid, printed: dict[str, float]) -> Any:
    figure, (panel,) = new_axes()
    weights = [float(row) for row in reversed(grid.rows)]
    shares, rights = (
        [100 * (grid.cell(row, column).ours or 0) for row in reversed(grid.rows)]
        for column in grid.columns
    )
    panel.bar(weights, shares, width=0.8 * weights[0], color="#0b5fa5", label="share of all links")
    if printed:
        heights = [100 * printed[f"{weight:g}"] for weight in weights]
        panel.plot(weights, heights, "_", color="#606060", markersize=26, label="the paper")
        correct = [
            100 * (grid.cell(row, grid.columns[1]).paper or 0) for row in reversed(grid.rows)
        ]
        paper_line(panel, weights, correct, "#606060")
    panel.plot(weights, rights, "o-", color="#c1272d", label="share of these that is correct")
    panel.set_xticks(weights)
    panel.set_ylim(0, 100)
    panel.set_xlabel("link weight")
    panel.set_ylabel("%")
    panel.legend(frameon=False, loc="upper center")
    return figure


LINK_WEIGHTS = Experiment(
    "link-weights",
    "distribution of link weights",
    f"Ensembles of 10 members on {_FAVOURITE}, {RUNS} draws (the paper: one ensemble). A link joins"
    " two objects that share a cluster in at least one clustering; its weight is the share of"
    " clusterings; it is correct if the two objects are of one class.",
    _tasks,
    _results,
    ("Table 1", "Figure 1"),
)
