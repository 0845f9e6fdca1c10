"""Execution time by the number of objects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import Evidence, Experiment, Picture, Results
from ensemblage.experiments.figures import legend_below, look, new_axes
from ensemblage.experiments.grids import Grid, mean_cell
from ensemblage.experiments.protocol import DATA_SIZES, LINES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Record, Task

RUNS = 3
LIMIT = 60.0  #: seconds; a method that took longer is not run on more objects
_FAVOURITE = "KDD99"
_SMALL = 10_000


def _tasks(plan: Plan) -> Iterator[Task]:
    for ensemble in plan.ensembles(RUNS, datasets=plan.one(_FAVOURITE)):
        for method in LINES:
            for size in DATA_SIZES:
                yield {"kind": "seconds", **ensemble, "method": method, "objects": size}


def _skip(task: Task, done: dict[str, Record]) -> str | None:
    """Return the reason not to run a method that was past the limit on fewer objects."""
    same = {word: value for word, value in task.items() if word != "objects"}
    for record in done.values():
        what = record["what"]
        if what["kind"] != task["kind"] or what["objects"] >= task["objects"]:
            continue
        if all(what.get(word) == value for word, value in same.items()):
            taken = record.get("seconds", 0.0)
            if "skipped" in record or taken > LIMIT:
                limit = f"past the limit of {LIMIT:.0f} s"
                reason = f"{taken:.0f} s for {what['objects']:,} objects, {limit}"
                return str(record.get("skipped", reason))
    return None


def _results(evidence: Evidence) -> Results:
    results = Results()
    for dataset in evidence.datasets("seconds"):
        grid = Grid(
            f"execution-time-{dataset}",
            f"Seconds on {dataset} by the number of objects",
            "method",
            list(LINES),
            [f"{size:,}" for size in DATA_SIZES],
            decimals=4,
        )
        for method in LINES:
            for size, column in zip(DATA_SIZES, grid.columns, strict=True):
                words: dict[str, Any] = {"method": method, "objects": size}
                records = evidence.select("seconds", dataset, **words)
                skipped = evidence.select("seconds", dataset, skipped=True, **words)
                printed = evidence.of_paper("seconds_on_KDD99", method.removesuffix("-AL"))
                paper = printed if (dataset, size) == (_FAVOURITE, DATA_SIZES[-1]) else None
                grid.cells[method, column] = mean_cell(
                    [record["seconds"] for record in records],
                    paper,
                    skipped[0]["skipped"] if skipped else "",
                )
        results.grids.append(grid)
        caption = (
            f"Seconds from votes to labels on subsets of {dataset}: (a) up to {_SMALL:,} objects,"
            " (b) all of them."
        )
        results.pictures.append(Picture(grid.name, caption, partial(_draw, grid)))
        results.remarks.append(evidence.origin([dataset]))
    return results


def _draw(grid: Grid) -> Any:
    figure, panels = new_axes(2, columns=2, width=4.8, height=4.0)
    for panel, title, most in zip(panels, "ab", (_SMALL, max(DATA_SIZES)), strict=True):
        for method in grid.rows:
            points = [
                (size, grid.cell(method, column).ours)
                for size, column in zip(DATA_SIZES, grid.columns, strict=True)
                if size <= most and grid.cell(method, column).ours is not None
            ]
            x, y = zip(*points, strict=True) if points else ((), ())
            panel.plot(x, y, label=method, **look(method, grid.rows))
        panel.set_title(f"({title})", fontsize=10)
        panel.set_yscale("log")
        panel.set_xlabel("objects")
        panel.set_ylabel("seconds")
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.locator_params(axis="x", nbins=5)
    legend_below(figure, panels[0], 6)
    return figure


EXECUTION_TIME = Experiment(
    "execution-time",
    "Execution time by the number of objects",
    f"Random subsets of {_FAVOURITE}, ensembles of 10 members, {RUNS} draws, one run at a time"
    " with all threads: wall-clock seconds from the votes to the labels at the true k, kernels"
    " compiled before. All methods work on microclusters. The paper timed MATLAB R2014a on eight"
    f" cores of 2.4 GHz. A method that took more than {LIMIT:.0f} s goes no further.",
    _tasks,
    _results,
    alone=True,
    skip=_skip,
)
