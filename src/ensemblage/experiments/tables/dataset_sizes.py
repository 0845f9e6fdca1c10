"""The benchmark datasets: objects, attributes, classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import Evidence, Experiment, Picture, Results
from ensemblage.experiments.figures import log_bars, new_axes
from ensemblage.experiments.grids import Cell, Grid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

_COLUMNS = {"objects": "n_objects", "attributes": "n_features", "classes": "n_classes"}


def _tasks(plan: Plan) -> Iterator[Task]:
    for name in plan.chosen:
        yield {"kind": "description", "dataset": name}


def _results(evidence: Evidence) -> Results:
    names = evidence.datasets("description")
    grid = Grid("datasets", "The datasets", "dataset", names, list(_COLUMNS), decimals=0)
    for name in names:
        scores = evidence.select("description", name)[-1]["scores"]
        for column, word in _COLUMNS.items():
            paper = evidence.of_paper("datasets", name, word)
            grid.cells[name, column] = Cell(scores[column], runs=1, paper=paper)
    return Results([grid], [Picture("datasets", "Objects of each dataset.", lambda: _draw(grid))])


def _draw(grid: Grid) -> Any:
    figure, (panel,) = new_axes(height=3.4)
    sizes = [grid.cell(name, "objects").ours or 0 for name in grid.rows]
    bars = panel.barh(grid.rows, sizes, color="#0b5fa5")
    panel.bar_label(bars, [f"{size:,.0f}" for size in sizes], padding=3)
    log_bars(panel, sizes)
    panel.set_xlabel("objects")
    return figure


DATASET_SIZES = Experiment(
    "datasets",
    "the benchmark datasets",
    "Objects, attributes and classes of the available features.",
    _tasks,
    _results,
    ("Table 4",),
)
