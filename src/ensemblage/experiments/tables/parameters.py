"""NMI of PTA and of PTGP by the number of neighbours K and of steps T."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    format_counts,
    format_differences,
)
from ensemblage.experiments.figures import hollow, legend_below, look, new_axes, paper_line
from ensemblage.experiments.grids import Grid
from ensemblage.experiments.protocol import MIDDLE, NEIGHBORS, STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

RUNS = 20


def _settings() -> list[tuple[int | str, int]]:
    return [(k, MIDDLE) for k in NEIGHBORS] + [(MIDDLE, t) for t in STEPS]


def _tasks(method: str, plan: Plan) -> Iterator[Task]:
    for ensemble in plan.ensembles(RUNS):
        for k, t in _settings():
            setting = {"method": method, "n_neighbors": k, "n_steps": t, "cuts": "all"}
            yield {"kind": "settings", **ensemble, **setting}


def parameter_grid(evidence: Evidence, method: str, letter: str) -> Grid:
    """Return the table of PTA or PTGP by K or by T, over the datasets that have records."""
    names = [
        name
        for name in evidence.datasets("settings")
        if evidence.select("settings", name, method=method)
    ]
    values: tuple[int | str, ...] = NEIGHBORS if letter == "K" else STEPS
    other = "T" if letter == "K" else "K"
    columns = [str(value).upper() for value in values]
    stem = method.lower()
    title = f"{method}: NMI by {letter}, {other} = {MIDDLE}"
    grid = Grid(f"{stem}-by-{letter}", title, "dataset", names, columns, runs=RUNS)
    for name in names:
        printed = evidence.printed(f"{stem}_nmi_by_K_and_T", name, letter)
        for value, column in zip(values, columns, strict=True):
            k, t = (value, MIDDLE) if letter == "K" else (MIDDLE, value)
            grid.cells[name, column] = evidence.cell(
                "nmi_best",
                "settings",
                name,
                paper=printed.get(column),
                first=RUNS,
                method=method,
                n_neighbors=k,
                n_steps=t,
                cuts="all",
            )
    return grid


def _results(method: str, evidence: Evidence) -> Results:
    grids = [parameter_grid(evidence, method, letter) for letter in "KT"]
    remarks = [evidence.origin(grids[0].rows)]
    remarks += [f"{g.title}. {format_counts(g)} {format_differences(g)}".strip() for g in grids]
    caption = (
        f"{method} by K and by T; thin lines: the paper. Points that are white inside: fewer than"
        f" {RUNS} draws, as the tables say."
    )
    picture = Picture(f"{method.lower()}-parameters", caption, lambda: _draw(grids))
    return Results(grids, [picture], remarks)


def _draw(grids: list[Grid]) -> Any:
    figure, panels = new_axes(2, columns=2, width=5.2, height=4.4)
    for panel, grid, letter in zip(panels, grids, "KT", strict=True):
        for name in grid.rows:
            style = look(name, grid.rows)
            cells = [grid.cell(name, column) for column in grid.columns]
            ours = [float("nan") if cell.ours is None else cell.ours for cell in cells]
            paper = [float("nan") if cell.paper is None else cell.paper for cell in cells]
            paper_line(panel, grid.columns, paper, style["color"])
            panel.plot(grid.columns, ours, label=name, **style)
            hollow(panel, cells, grid.columns, RUNS, style["color"])
        panel.set_xlabel(letter)
        panel.set_ylabel("NMI")
    legend_below(figure, panels[0], 5)
    return figure


def _experiment(method: str, place: str) -> Experiment:
    linked = ", average link" if method == "PTA" else ""
    return Experiment(
        f"{method.lower()}-parameters",
        f"NMI of {method} by K and T",
        f"Ensembles of 10 members, {RUNS} draws, NMI at the best k{linked}."
        f" K varies with T = {MIDDLE}, T with K = {MIDDLE}; K = ALL keeps every link.",
        partial(_tasks, method),
        partial(_results, method),
        (place,),
    )


PTA_PARAMETERS = _experiment("PTA", "Table 7")
PTGP_PARAMETERS = _experiment("PTGP", "Table 8")
