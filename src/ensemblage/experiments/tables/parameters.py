"""NMI of PTA and of PTGP by the number of neighbours K and of steps T."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    counts_in_words,
    differences_in_words,
)
from ensemblage.experiments.figures import legend_below, look, new_axes
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
            setting = {"method": method, "n_neighbors": k, "n_steps": t}
            yield {"kind": "settings", **ensemble, **setting}


def _results(method: str, evidence: Evidence) -> Results:
    names = [
        name
        for name in evidence.datasets("settings")
        if evidence.select("settings", name, method=method)
    ]
    results = Results(remarks=[evidence.origin(names)])
    stem = method.lower()
    for letter, values in (("K", NEIGHBORS), ("T", STEPS)):
        other = "T" if letter == "K" else "K"
        columns = [str(value).upper() for value in values]
        title = f"{method}: NMI by {letter}, {other} = {MIDDLE}"
        grid = Grid(f"{stem}-by-{letter}", title, "dataset", names, columns)
        for name in names:
            for value, column in zip(values, columns, strict=True):
                k, t = (value, MIDDLE) if letter == "K" else (MIDDLE, value)
                grid.cells[name, column] = evidence.cell(
                    "nmi_best",
                    "settings",
                    name,
                    paper=evidence.of_paper(f"{stem}_nmi_by_K_and_T", name, letter, column),
                    method=method,
                    n_neighbors=k,
                    n_steps=t,
                )
        results.grids.append(grid)
        results.remarks.append(
            f"{title}. {counts_in_words(grid)} {differences_in_words(grid)}".strip()
        )
    caption = f"{method} by K and by T; crosses are the paper's numbers."
    results.pictures.append(Picture(f"{stem}-parameters", caption, lambda: _draw(results.grids)))
    return results


def _draw(grids: list[Grid]) -> Any:
    figure, panels = new_axes(2, columns=2, width=5.2, height=4.4)
    for panel, grid, letter in zip(panels, grids, "KT", strict=True):
        for name in grid.rows:
            style = look(name, grid.rows)
            cells = [grid.cell(name, column) for column in grid.columns]
            ours = [float("nan") if cell.ours is None else cell.ours for cell in cells]
            paper = [float("nan") if cell.paper is None else cell.paper for cell in cells]
            panel.plot(grid.columns, ours, label=name, **style)
            panel.plot(grid.columns, paper, "x", color=style["color"], alpha=0.6)
        panel.set_xlabel(letter)
        panel.set_ylabel("NMI")
    legend_below(figure, panels[0], 5)
    return figure


def _experiment(method: str) -> Experiment:
    return Experiment(
        f"{method.lower()}-parameters",
        f"{method} by K and T",
        f"Ensembles of 10 members, {RUNS} draws, NMI at the best k; {method} with average link"
        f" where it links. K varies with T = {MIDDLE}, T with K = {MIDDLE}; K = ALL keeps every"
        " link.",
        partial(_tasks, method),
        partial(_results, method),
    )


PTA_PARAMETERS = _experiment("PTA")
PTGP_PARAMETERS = _experiment("PTGP")
