"""Execution time by the number of objects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import Evidence, Experiment, Picture, Results
from ensemblage.experiments.figures import legend_below, look, new_axes, paper_line
from ensemblage.experiments.grids import Grid, mean_cell
from ensemblage.experiments.protocol import DATA_SIZES, LINES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Record, Task

RUNS = 3
LIMIT = 60.0  #: seconds; slower methods are not run on more objects
_FAVOURITE = "KDD99"
_SMALL = 10_000
#: Both levels are compared on this dataset, whose authors' pool is public.
BESIDE = "KDD99-10P"
BESIDE_SIZES = (500, 1_000, 2_000, 5_000)
BESIDE_LIMIT = 10.0  #: seconds, for the same; on objects some methods grow with the cube
_QUICK_SIZES = 2
LEVELS = ("microclusters", "objects")


def _tasks(plan: Plan) -> Iterator[Task]:
    # A quick run takes a public pool rather than make one of half a million objects.
    quick = plan.quick and BESIDE in plan.at_hand and plan.datasets is None
    for ensemble in plan.ensembles(RUNS, datasets=plan.one(BESIDE if quick else _FAVOURITE)):
        for method in LINES:
            for size in DATA_SIZES:
                yield {"kind": "seconds", **ensemble, "method": method, "objects": size}
    for ensemble in plan.ensembles(RUNS, datasets=plan.one(BESIDE)):
        for level in LEVELS:
            for method in LINES:
                for size in BESIDE_SIZES[: _QUICK_SIZES if plan.quick else None]:
                    words = {"method": method, "objects": size, "level": level}
                    yield {"kind": "seconds", **ensemble, **words}


def _skip(task: Task, done: dict[str, Record]) -> str | None:
    """Return the reason not to run a method that exceeded the limit on fewer objects."""
    same = {word: value for word, value in task.items() if word != "objects"}
    most = BESIDE_LIMIT if "level" in task else LIMIT
    for record in done.values():
        what = record["what"]
        if what["kind"] != task["kind"] or what["objects"] >= task["objects"]:
            continue
        if all(what.get(word) == value for word, value in same.items()):
            taken = record.get("seconds", 0.0)
            if "skipped" in record or taken > most:
                limit = f"past the limit of {most:.0f} s"
                reason = f"{taken:.0f} s for {what['objects']:,} objects, {limit}"
                return str(record.get("skipped", reason))
    return None


def _results(evidence: Evidence) -> Results:
    results = Results()
    for dataset in evidence.datasets("seconds"):
        for level, sizes in ((None, DATA_SIZES), *((level, BESIDE_SIZES) for level in LEVELS)):
            if evidence.select("seconds", dataset, level=level):
                results.grids.append(_grid(evidence, dataset, level, sizes))
        results.remarks.append(evidence.origin([dataset]))
    whole = [grid for grid in results.grids if len(grid.columns) == len(DATA_SIZES)]
    lines = {panel: evidence.printed("figures", "11", panel) for panel in "ab"}
    for grid in whole:
        caption = (
            "CPU seconds from votes to labels on subsets of the data: (a) up to"
            f" {_SMALL:,} objects, (b) all of them. Thin lines: the paper's wall-clock seconds of"
            " its Figure 11, whose legend exchanges PTA and PTGP against its text."
        )
        results.pictures.append(Picture(grid.name, caption, partial(_draw, grid, lines)))
    beside = [grid for grid in results.grids if grid not in whole]
    if len(beside) == len(LEVELS):
        caption = (
            "CPU seconds on microclusters and, with the same programs, on objects. Thin lines: the"
            " paper's Figure 11 (a)."
        )
        name = "execution-time-levels"
        results.pictures.append(Picture(name, caption, partial(_draw_beside, beside, lines["a"])))
    return results


def _grid(evidence: Evidence, dataset: str, level: str | None, sizes: tuple[int, ...]) -> Grid:
    ending = f"-{level}" if level else ""
    grid = Grid(
        f"execution-time-{dataset}{ending}",
        f"CPU seconds on {dataset} by the number of objects" + (f", on {level}" if level else ""),
        "method",
        list(LINES),
        [f"{size:,}" for size in sizes],
        decimals=4,
        runs=RUNS,
    )
    for method in LINES:
        printed = evidence.printed("figures", "11", "a", method.removesuffix("-AL"))
        in_b = evidence.printed("figures", "11", "b", method.removesuffix("-AL"))
        for size, column in zip(sizes, grid.columns, strict=True):
            words: dict[str, Any] = {"method": method, "objects": size, "level": level}
            records = evidence.select("seconds", dataset, **words)
            skipped = evidence.select("seconds", dataset, skipped=True, **words)
            grid.cells[method, column] = mean_cell(
                [record["cpu_seconds"] for record in records],
                printed.get(str(size), in_b.get(str(size))),
                skipped[0]["skipped"] if skipped else "",
            )
    return grid


def _points(grid: Grid, method: str, most: int) -> list[tuple[int, float]]:
    """Return the sizes up to `most` and the seconds of a method."""
    cells = [(int(c.replace(",", "")), grid.cell(method, c).ours) for c in grid.columns]
    return [(size, ours) for size, ours in cells if size <= most and ours is not None]


def _plot(panel: Any, grid: Grid, most: int, lines: dict[str, Any]) -> None:
    for method in grid.rows:
        style = look(method, grid.rows)
        paper = [
            (float(size), seconds)
            for size, seconds in lines.get(method.removesuffix("-AL"), {}).items()
            if 0 < float(size) <= most
        ]
        if paper:
            sizes, seconds = zip(*paper, strict=True)
            paper_line(panel, sizes, seconds, style["color"])
        points = _points(grid, method, most)
        x, y = zip(*points, strict=True) if points else ((), ())
        panel.plot(x, y, label=method, **style)
    panel.set_yscale("log")
    panel.set_xlabel("objects")
    panel.set_ylabel("seconds")
    panel.xaxis.set_major_formatter("{x:,.0f}")
    panel.locator_params(axis="x", nbins=5)


def _draw(grid: Grid, lines: dict[str, dict[str, Any]]) -> Any:
    figure, panels = new_axes(2, columns=2, width=4.8, height=4.0)
    for panel, title, most in zip(panels, "ab", (_SMALL, max(DATA_SIZES)), strict=True):
        _plot(panel, grid, most, lines[title])
        panel.set_title(f"({title})", fontsize=10)
    legend_below(figure, panels[0], 6)
    return figure


def _draw_beside(grids: list[Grid], lines: dict[str, Any]) -> Any:
    figure, panels = new_axes(2, columns=2, width=4.8, height=4.0)
    for panel, grid, level in zip(panels, grids, LEVELS, strict=True):
        _plot(panel, grid, max(BESIDE_SIZES), lines)
        panel.set_title(f"on {level}", fontsize=10)
    low, high = zip(*(panel.get_ylim() for panel in panels), strict=True)
    for panel in panels:
        panel.set_ylim(min(low), max(high))
    legend_below(figure, panels[0], 6)
    return figure


EXECUTION_TIME = Experiment(
    "execution-time",
    "execution time by the number of objects",
    f"Random subsets of {_FAVOURITE}, ensembles of 10 members, {RUNS} draws, one run at a time: CPU"
    " seconds, of all threads together, from the votes to the labels at the true k, kernels"
    f" compiled before. All methods work on microclusters; on {BESIDE} they are run on objects too,"
    " each object a microcluster of its own, because the paper's rivals had no microclusters. The"
    " paper timed MATLAB R2014a on eight cores of 2.4 GHz: only the order and the growth compare."
    f" A method that took more than {LIMIT:.0f} s ({BESIDE_LIMIT:.0f} s if both levels are"
    " compared) is not run on more objects.",
    _tasks,
    _results,
    ("Figure 11",),
    alone=True,
    skip=_skip,
)
