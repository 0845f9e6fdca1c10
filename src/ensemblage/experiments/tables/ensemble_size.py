"""NMI by the number of members of an ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
)
from ensemblage.experiments.figures import hollow, legend_below, look, new_axes, paper_line
from ensemblage.experiments.grids import Cell, Grid
from ensemblage.experiments.protocol import (
    ENSEMBLE_SIZES,
    LINES,
    QUICK_POOL,
    UNCAPPED,
    score_tasks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

RUNS = 20
#: Methods without a line in the paper's figure.
_NOT_DRAWN = ("CSPA", "HGPA", "SRW", "ECMC-AL")
METHODS = tuple(name for name in LINES if name not in _NOT_DRAWN)
_AVERAGE = "average"
_ABOUT_CELLS = (
    f"Cells are means of {RUNS} draws; n=… is the number of draws of a cell that has another"
    " number. † marks cells in some of whose draws the best k was searched up to 50 only. The last"
    " table compares each dataset with the paper."
)
NOT_AVERAGED = "KDD99"
#: Where ensembles are largest, the limit of the authors' program for K and T matters most.
_LARGEST = ENSEMBLE_SIZES[-1]
_UNCAPPED = (f"PTA-AL{UNCAPPED}", f"PTGP{UNCAPPED}")


def _tasks(plan: Plan) -> Iterator[Task]:
    sizes = [size for size in ENSEMBLE_SIZES if size <= QUICK_POOL or not plan.quick]
    yield from score_tasks(plan, METHODS, RUNS, sizes)
    if plan.uncapped and _LARGEST in sizes:
        yield from score_tasks(plan, _UNCAPPED, RUNS, [_LARGEST])


def size_grid(evidence: Evidence, dataset: str) -> Grid:
    """Return the table of a dataset: methods by the number of members, over the same draws."""
    grid = Grid(
        f"ensemble-size-{dataset}",
        f"{dataset}: NMI at the best k by M",
        "method",
        list(METHODS),
        list(map(str, ENSEMBLE_SIZES)),
        runs=RUNS,
    )
    for method in METHODS:
        for size in ENSEMBLE_SIZES:
            grid.cells[method, str(size)] = _cell(evidence, dataset, method, size)
    return grid


def _cell(evidence: Evidence, dataset: str, method: str, size: int) -> Cell:
    line = method.removesuffix(UNCAPPED).removesuffix("-AL")
    return evidence.cell(
        "nmi_best",
        "scores",
        dataset,
        paper=evidence.printed("figures", "10", dataset, line).get(str(size)),
        first=RUNS,
        method=method,
        members=size,
        cuts="all",
        seed=0,
    )


def _uncapped_grid(evidence: Evidence, datasets: list[str]) -> Grid:
    """Return the table of PTA and PTGP with K and T by the text and by the authors' program."""
    pairs = [(name.removesuffix(UNCAPPED), name) for name in _UNCAPPED]
    grid = Grid(
        "ensemble-size-uncapped",
        "K and T by the text, half the root of the number of microclusters, above 20 too:"
        f" NMI at the best k, M = {_LARGEST}",
        "method",
        [method for pair in pairs for method in pair],
        datasets,
        runs=RUNS,
    )
    for method in grid.rows:
        for dataset in datasets:
            grid.cells[method, dataset] = _cell(evidence, dataset, method, _LARGEST)
    grid.keep_columns_with(_UNCAPPED)
    return grid


def _results(evidence: Evidence) -> Results:
    names = [name for name in evidence.datasets("scores") if _n_sizes(evidence, name) > 1]
    grids = [size_grid(evidence, name) for name in names]
    if averaged := averaged_grids(grids):
        grids.insert(0, average_grid(averaged))
    remarks = [evidence.origin(names), _ABOUT_CELLS]
    caption = (
        "NMI at the best k by the number of members M: the average of the datasets that have all"
        f" draws, without {NOT_AVERAGED} (Figure 4), and each dataset (Figure 10). Thin lines: the"
        f" paper. Points that are white inside: fewer than {RUNS} draws, as the tables say."
    )
    picture = Picture("ensemble-size", caption, lambda: _draw(grids))
    tables = [*grids, _distances(grids)] if grids else []
    if (uncapped := _uncapped_grid(evidence, names)).columns:
        tables.append(uncapped)
    return Results(tables, [picture] if grids else [], remarks)


def _n_sizes(evidence: Evidence, dataset: str) -> int:
    records = evidence.select("scores", dataset, method="PTGP")
    scored = [record for record in records if record["scores"].get("nmi_best") is not None]
    return len({record["what"].get("members") for record in scored})


def averaged_grids(grids: list[Grid]) -> list[Grid]:
    """Return the grids for the average: those with all draws of every size, or with most."""

    def least(grid: Grid) -> int:
        return min(grid.cell("PTGP", size).runs for size in grid.columns)

    candidates = [grid for grid in grids if not grid.name.endswith(f"-{NOT_AVERAGED}")]
    wanted = min(RUNS, max(map(least, candidates), default=0))
    return [grid for grid in candidates if least(grid) >= wanted]


def average_grid(grids: list[Grid]) -> Grid:
    """Return the mean of several grids, for cells with a number in each of them.

    The paper's number is the mean of its Figure 10 over the same datasets, which is its Figure 4 if
    these are all nine.
    """
    mean = Grid(
        "ensemble-size",
        f"Average of {len(grids)} dataset{'s' * (len(grids) > 1)}: NMI at the best k by M",
        "method",
        grids[0].rows,
        grids[0].columns,
        runs=RUNS,
    )
    for row in mean.rows:
        for column in mean.columns:
            cells = [grid.cell(row, column) for grid in grids]
            ours = [cell.ours for cell in cells if cell.ours is not None]
            paper = [cell.paper for cell in cells if cell.paper is not None]
            if len(ours) == len(grids):
                whole = len(paper) == len(grids)
                mean.cells[row, column] = Cell(
                    float(np.mean(ours)),
                    runs=min(cell.runs for cell in cells),
                    paper=float(np.mean(paper)) if whole else None,
                )
    return mean


def _short_name(grid: Grid) -> str:
    return grid.name.removeprefix("ensemble-size").removeprefix("-") or _AVERAGE


def _distances(grids: list[Grid]) -> Grid:
    """Return the number of cells of each table, and their differences from the paper's."""
    counts = ("cells", f"of {RUNS} draws", "compared")
    table = Grid(
        "ensemble-size-distances",
        "Absolute differences from the paper",
        "dataset",
        [_short_name(grid) for grid in grids],
        [*counts, "mean", "largest"],
        column_decimals=dict.fromkeys(counts, 0),
        decimals=4,
    )
    for grid in grids:
        runs = [cell.runs for cell in grid.cells.values() if cell.ours is not None]
        sizes = np.abs(grid.differences())
        numbers = [len(runs), runs.count(RUNS), len(sizes)]
        numbers += [sizes.mean(), sizes.max()] if len(sizes) else []
        for column, number in zip(table.columns, numbers, strict=False):
            table.cells[_short_name(grid), column] = Cell(float(number))
    return table


def _zoom(panel: Any) -> None:
    """Scale the axis to the lines; a single point far below would flatten all of them."""
    heights = [
        y for line in panel.get_lines() if len(line.get_ydata()) > 1 for y in line.get_ydata()
    ]
    heights = [y for y in heights if np.isfinite(y)]
    if heights:
        margin = 0.1 * (max(heights) - min(heights)) + 1e-3
        panel.set_ylim(min(heights) - margin, max(heights) + margin)


def _draw(grids: list[Grid]) -> Any:
    columns = 2 if len(grids) <= 4 else 4
    figure, panels = new_axes(len(grids), columns=columns, width=3.4, height=3.0)
    for panel, grid in zip(panels, grids, strict=True):
        for method in grid.rows:
            style = look(method, grid.rows)
            cells = [grid.cell(method, column) for column in grid.columns]
            paper = [np.nan if cell.paper is None else cell.paper for cell in cells]
            ours = [np.nan if cell.ours is None else cell.ours for cell in cells]
            paper_line(panel, ENSEMBLE_SIZES, paper, style["color"])
            panel.plot(ENSEMBLE_SIZES, ours, label=method, **style)
            hollow(panel, cells, ENSEMBLE_SIZES, RUNS, style["color"])
        _zoom(panel)
        panel.set_title(_short_name(grid), fontsize=10)
        panel.set_xticks(ENSEMBLE_SIZES)
        panel.set_xlim(min(ENSEMBLE_SIZES) - 2, max(ENSEMBLE_SIZES) + 2)
        panel.set_xlabel("M")
        panel.set_ylabel("NMI")
    legend_below(figure, panels[0], 2 * columns)
    return figure


ENSEMBLE_SIZE = Experiment(
    "ensemble-size",
    "NMI by the ensemble size M",
    f"The first {RUNS} draws of each size, NMI at the best k, average link for pairwise methods."
    f" {', '.join(_NOT_DRAWN)} are not in the paper's figures. The average leaves out"
    f" {NOT_AVERAGED}, as the paper's does.",
    _tasks,
    _results,
    ("Figure 4", "Figure 10"),
)
