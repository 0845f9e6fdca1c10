"""NMI by the number of members of an ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    counts_in_words,
)
from ensemblage.experiments.figures import legend_below, look, new_axes
from ensemblage.experiments.grids import Cell, Grid
from ensemblage.experiments.protocol import ENSEMBLE_SIZES, LINES, QUICK_POOL, score_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

RUNS = 20
_SLOW = ("CSPA", "HGPA", "MCLA", "ECMC-AL")
_SLOW_RUNS = 1
_MOST_OF_SLOW = 20
_AVERAGE = "average"
_NOT_AVERAGED = "KDD99"


def _tasks(plan: Plan) -> Iterator[Task]:
    sizes = [size for size in ENSEMBLE_SIZES if size <= QUICK_POOL or not plan.quick]
    fast = [name for name in LINES if name not in _SLOW]
    yield from score_tasks(plan, fast, RUNS, sizes)
    small = [size for size in sizes if size <= _MOST_OF_SLOW]
    yield from score_tasks(plan, _SLOW, min(_SLOW_RUNS, len(plan.draws(RUNS))), small)


def _results(evidence: Evidence) -> Results:
    results = Results()
    names = [name for name in evidence.datasets("scores") if _n_sizes(evidence, name) > 1]
    for name in names:
        grid = Grid(
            f"ensemble-size-{name}",
            f"{name}: NMI at the best k by M",
            "method",
            list(LINES),
            list(map(str, ENSEMBLE_SIZES)),
        )
        for method in LINES:
            for size in ENSEMBLE_SIZES:
                grid.cells[method, str(size)] = evidence.cell(
                    "nmi_best", "scores", name, method=method, members=size, seed=0
                )
        results.grids.append(grid)
    averaged = [g for g in results.grids if not g.name.endswith(f"-{_NOT_AVERAGED}")]
    if averaged:
        results.grids.insert(0, _average(averaged))
    results.remarks = [evidence.origin(names), *(map(counts_in_words, results.grids[1:2]))]
    results.pictures = [
        Picture(
            "ensemble-size",
            "NMI at the best k by the number of members M: the average of all datasets but"
            f" {_NOT_AVERAGED}, and each dataset. Methods that were run with M = 10 only may lie"
            " below.",
            lambda: _draw(results.grids),
        )
    ]
    return results


def _n_sizes(evidence: Evidence, dataset: str) -> int:
    return len({record["what"].get("members") for record in evidence.select("scores", dataset)})


def _average(grids: list[Grid]) -> Grid:
    """Return the mean of several grids, where each of them has a number."""
    mean = Grid(
        "ensemble-size",
        f"Average of {len(grids)} dataset(s): NMI at the best k by M",
        "method",
        grids[0].rows,
        grids[0].columns,
    )
    for row in mean.rows:
        for column in mean.columns:
            values = [grid.cell(row, column).ours for grid in grids]
            if None not in values:
                runs = min(grid.cell(row, column).runs for grid in grids)
                mean.cells[row, column] = Cell(float(np.mean(np.array(values, float))), runs=runs)
    return mean


def _zoom(panel: Any) -> None:
    """Show the heights of the lines; a single point far below would flatten all of them."""
    heights = [
        y for line in panel.get_lines() if len(line.get_ydata()) > 1 for y in line.get_ydata()
    ]
    if heights:
        margin = 0.1 * (max(heights) - min(heights)) + 1e-3
        panel.set_ylim(min(heights) - margin, max(heights) + margin)


def _draw(grids: list[Grid]) -> Any:
    columns = 2 if len(grids) <= 4 else 4
    figure, panels = new_axes(len(grids), columns=columns, width=3.4, height=3.0)
    for panel, grid in zip(panels, grids, strict=True):
        for method in grid.rows:
            points = [
                (int(column), grid.cell(method, column).ours)
                for column in grid.columns
                if grid.cell(method, column).ours is not None
            ]
            x, y = zip(*points, strict=True) if points else ((), ())
            panel.plot(x, y, label=method, **look(method, grid.rows))
        _zoom(panel)
        name = grid.name.removeprefix("ensemble-size").removeprefix("-") or _AVERAGE
        panel.set_title(name, fontsize=10)
        panel.set_xticks(ENSEMBLE_SIZES)
        panel.set_xlim(min(ENSEMBLE_SIZES) - 2, max(ENSEMBLE_SIZES) + 2)
        panel.set_xlabel("M")
        panel.set_ylabel("NMI")
    legend_below(figure, panels[0], 2 * columns)
    return figure


ENSEMBLE_SIZE = Experiment(
    "ensemble-size",
    "Robustness to the ensemble size M",
    f"{RUNS} draws of each size, NMI at the best k, average link for the pairwise methods."
    f" {', '.join(_SLOW)}: {_SLOW_RUNS} draw, up to M = {_MOST_OF_SLOW}. The average leaves out"
    f" {_NOT_AVERAGED}, as the paper's does.",
    _tasks,
    _results,
)
