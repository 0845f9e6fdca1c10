"""All methods of the paper on all datasets, at the best k and at the true k."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    counts_in_words,
    differences_in_words,
)
from ensemblage.experiments.figures import new_axes
from ensemblage.experiments.grids import Grid, top_rows
from ensemblage.experiments.protocol import (
    FEW_CLUSTER_NUMBERS,
    MOST_OBJECTS,
    N_MEMBERS,
    PAPER_METHODS,
    score_tasks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

RUNS = 100
_TOP = 3


def _tasks(plan: Plan) -> Iterator[Task]:
    yield from score_tasks(plan, PAPER_METHODS, RUNS)


def _results(evidence: Evidence) -> Results:
    names = evidence.datasets("scores")
    methods = [
        method
        for method in PAPER_METHODS
        if any(evidence.select("scores", name, method=method) for name in names)
    ]
    results = Results(remarks=[evidence.origin(names)])
    for which in ("best", "true"):
        title = f"NMI at the {which} k"
        grid = Grid(f"comparison-{which}-k", title, "method", methods, names, best=_TOP)
        for method in methods:
            for name in names:
                grid.cells[method, name] = evidence.cell(
                    f"nmi_{which}",
                    "scores",
                    name,
                    paper=evidence.of_paper("comparison_nmi", method, name, f"{which}_k"),
                    method=method,
                    members=N_MEMBERS,
                    seed=0,
                )
        results.grids.append(grid)
        results.remarks.append(
            f"{title}. {counts_in_words(grid)} {differences_in_words(grid)}".strip()
        )
        results.remarks += _own_rows(grid, [n for n in names if evidence.is_of_authors(n)])
    caption = (
        f"How often each method is among the {_TOP} highest of a column (best k and true k of each"
        " dataset)."
    )
    results.pictures.append(Picture("top-three", caption, lambda: _draw(results.grids)))
    return results


def _own_rows(grid: Grid, columns: list[str]) -> list[str]:
    """Return how far methods are from the paper's table where the ensembles are from its pools."""
    found = []
    for method in grid.rows:
        sizes = [abs(value) for value in grid.differences([method], columns)]
        if sizes:
            found.append(f"{method} {sum(sizes) / len(sizes):.4f} ({max(sizes):.4f})")
    if not found:
        return []
    return [f"On the authors' pools, mean (and largest) absolute difference: {', '.join(found)}."]


def top_counts(grids: list[Grid], *, paper: bool = False) -> Counter[str]:
    """Return how many columns of the grids each method is among the best of."""
    return Counter(
        row
        for grid in grids
        for column in grid.columns
        for row in top_rows(grid, column, _TOP, paper=paper)
    )


def _draw(grids: list[Grid]) -> Any:
    ours, paper = top_counts(grids), top_counts(grids, paper=True)
    methods = grids[0].rows
    figure, (panel,) = new_axes(width=8.4, height=4.2)
    places = range(len(methods))
    for shift, counts, colour, label in (
        (-0.2, ours, "#0b5fa5", "ours"),
        (0.2, paper, "#b0b0b0", "the paper's numbers, same columns"),
    ):
        at = [place + shift for place in places]
        panel.bar(at, [counts[name] for name in methods], 0.38, color=colour, label=label)
    panel.set_xticks(places, methods, rotation=60, ha="right")
    n_columns = sum(len(grid.columns) for grid in grids)
    panel.set_ylabel(f"times in the top {_TOP} of {n_columns} columns")
    panel.yaxis.get_major_locator().set_params(integer=True)
    panel.legend(frameon=False)
    return figure


COMPARISON = Experiment(
    "comparison",
    "24 methods on the benchmark datasets",
    f"Ensembles of 10 members, {RUNS} draws (fewer for slow methods). ECMC, CSPA and HGPA cluster"
    f" objects up to N = {MOST_OBJECTS:,}, microclusters beyond; CSPA uses METIS, HGPA"
    " Mt-KaHyPar. The best k of CSPA, HGPA and MCLA is looked for among"
    f" {', '.join(map(str, FEW_CLUSTER_NUMBERS))} and the true k.",
    _tasks,
    _results,
)
