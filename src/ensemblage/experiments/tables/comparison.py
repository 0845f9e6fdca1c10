"""All methods of the paper on all datasets, at the best k and at the true k."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.experiments.evidence import (
    Evidence,
    Experiment,
    Picture,
    Results,
    format_counts,
    format_differences,
)
from ensemblage.experiments.figures import new_axes
from ensemblage.experiments.grids import Cell, Grid, top_rows
from ensemblage.experiments.protocol import (
    FEW_CLUSTER_NUMBERS,
    MOST_OBJECTS,
    N_MEMBERS,
    PAPER_METHODS,
    ROBUST_PCA,
    UNCAPPED,
    VARIANTS,
    score_tasks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Task

RUNS = 100
TOP = 3
WHICH = ("best", "true")
#: Families of methods in the summary of differences from the paper.
FAMILIES = {
    "PTA-AL": ("PTA-AL",),
    "PTA-CL, PTA-SL": ("PTA-CL", "PTA-SL"),
    "PTGP": ("PTGP",),
    "GP-MGLA": ("GP-MGLA",),
    "EAC, WCT, WEAC average link": ("EAC-AL", "WCT-AL", "WEAC-AL"),
    "SRS average link": ("SRS-AL",),
    "EAC, WCT, WEAC complete link": ("EAC-CL", "WCT-CL", "WEAC-CL"),
    "EAC, WCT, WEAC single link": ("EAC-SL", "WCT-SL", "WEAC-SL"),
    "SRS complete and single link": ("SRS-CL", "SRS-SL"),
    "ECMC": ("ECMC-AL", "ECMC-CL", "ECMC-SL"),
    "CSPA": ("CSPA",),
    "MCLA": ("MCLA",),
    "HGPA": ("HGPA",),
    "SRW": ("SRW",),
}
_UNCAPPED = tuple(name for name in VARIANTS if name.endswith(UNCAPPED))
_CONSTANTS = tuple(
    name for name in VARIANTS if name.removesuffix(ROBUST_PCA) in PAPER_METHODS and "ECMC" in name
)


def _tasks(plan: Plan) -> Iterator[Task]:
    yield from score_tasks(plan, PAPER_METHODS, RUNS)
    yield from score_tasks(plan, _CONSTANTS[3:], RUNS)
    if plan.uncapped:
        yield from score_tasks(plan, _UNCAPPED, RUNS)


def comparison_grid(evidence: Evidence, which: str, methods: Sequence[str], name: str) -> Grid:
    """Return the table of these methods at the best or the true k: those with records."""
    datasets = evidence.datasets("scores")
    chosen = [
        method
        for method in methods
        if any(
            evidence.select("scores", dataset, method=method, members=N_MEMBERS)
            for dataset in datasets
        )
    ]
    title = f"NMI at the {which} k"
    grid = Grid(f"{name}-{which}-k", title, "method", chosen, datasets, best=TOP, runs=RUNS)
    for method in chosen:
        printed = method.removesuffix(UNCAPPED).removesuffix(ROBUST_PCA)
        for dataset in datasets:
            grid.cells[method, dataset] = evidence.cell(
                f"nmi_{which}",
                "scores",
                dataset,
                paper=evidence.of_paper("comparison_nmi", printed, dataset, f"{which}_k"),
                method=method,
                members=N_MEMBERS,
                cuts=VARIANTS[method].cuts,
                seed=0,
            )
    return grid


def _results(evidence: Evidence) -> Results:
    grids = [comparison_grid(evidence, which, PAPER_METHODS, "comparison") for which in WHICH]
    results = Results(list(grids), remarks=[evidence.origin(grids[0].columns)])
    results.remarks += [
        f"{grid.title}. {format_counts(grid)} {format_differences(grid)}".strip() for grid in grids
    ]
    own = [name for name in grids[0].columns if evidence.is_of_authors(name)]
    results.grids.append(_distances(grids, own))
    for title, methods, name in (
        ("K and T by the text: half the root of the number of microclusters, above 20 too",
         ("PTA-AL", "PTA-CL", "PTA-SL", "PTGP", *_UNCAPPED), "comparison-uncapped"),
        ("ECMC with both penalties", _CONSTANTS, "comparison-ecmc"),
    ):  # fmt: skip
        for which in WHICH:
            grid = comparison_grid(evidence, which, methods, name)
            grid.title, grid.best = f"{title}: NMI at the {which} k", 0
            if any(row not in PAPER_METHODS for row in grid.rows):
                grid.keep_columns_with([row for row in grid.rows if row not in PAPER_METHODS])
                results.grids.append(grid)
    caption = (
        f"How often each method is among the {TOP} highest of a column (best k and true k of each"
        " dataset): ours, the paper's Table 9 on the same columns, and its Figure 9 on all twenty."
    )
    figure_9 = evidence.printed("figures", "9")
    results.pictures.append(Picture("top-three", caption, lambda: _draw(grids, figure_9)))
    return results


def _distances(grids: list[Grid], datasets: list[str]) -> Grid:
    """Return the differences of methods from the paper's table, for ensembles from its pools."""
    columns = [f"{what}, {which} k" for which in WHICH for what in ("cells", "mean", "largest")]
    table = Grid(
        "comparison-distances",
        "Absolute differences from the paper's Table 9, on the authors' pools",
        "methods",
        [],
        columns,
        column_decimals={f"cells, {which} k": 0 for which in WHICH},
        decimals=4,
    )
    for family, members in FAMILIES.items():
        for grid, which in zip(grids, WHICH, strict=True):
            rows = [name for name in members if name in grid.rows]
            sizes = np.abs(grid.differences(rows, datasets))
            if not len(sizes):
                continue
            table.cells[family, f"cells, {which} k"] = Cell(float(len(sizes)))
            table.cells[family, f"mean, {which} k"] = Cell(float(sizes.mean()))
            table.cells[family, f"largest, {which} k"] = Cell(float(sizes.max()))
            if family not in table.rows:
                table.rows.append(family)
    return table


def top_counts(grids: list[Grid], *, paper: bool = False) -> Counter[str]:
    """Return the number of columns in which each method is among the best."""
    return Counter(
        row
        for grid in grids
        for column in grid.columns
        for row in top_rows(grid, column, TOP, paper=paper)
    )


def _draw(grids: list[Grid], figure_9: dict[str, float]) -> Any:
    ours, paper = top_counts(grids), top_counts(grids, paper=True)
    methods = grids[0].rows
    figure, (panel,) = new_axes(width=8.4, height=4.2)
    places = range(len(methods))
    for shift, counts, colour, label in (
        (-0.2, ours, "#0b5fa5", "ours"),
        (0.2, paper, "#b0b0b0", "the paper's Table 9, same columns"),
    ):
        at = [place + shift for place in places]
        panel.bar(at, [counts[name] for name in methods], 0.38, color=colour, label=label)
    if figure_9:
        all_columns = [figure_9.get(name, 0) for name in methods]
        panel.plot(places, all_columns, "_", color="black", markersize=12, label="its Figure 9")
    panel.set_xticks(places, methods, rotation=60, ha="right")
    n_columns = sum(len(grid.columns) for grid in grids)
    panel.set_ylabel(f"times in the top {TOP} of {n_columns} columns")
    panel.yaxis.get_major_locator().set_params(integer=True)
    panel.legend(frameon=False)
    return figure


COMPARISON = Experiment(
    "comparison",
    "comparison of 24 methods",
    f"Ensembles of 10 members, {RUNS} draws. The best k is searched up to the larger of 50 and"
    " the square root of N, which the paper does not state: no smaller range reaches its numbers"
    " of single link. Equally similar pairs of clusters merge by the rule that comes closest"
    ' to the paper\'s numbers: in complete link ties="later", in single link along a minimum'
    " spanning tree grown from the first row. MCLA and CSPA use METIS, HGPA Mt-KaHyPar. CSPA"
    f" and HGPA cluster objects up to N = {MOST_OBJECTS:,}, as in the paper, and microclusters"
    f" beyond; their best k is searched among {', '.join(map(str, FEW_CLUSTER_NUMBERS))} and the"
    " true k. ECMC completes the matrix of all objects, exactly, and merges microclusters.",
    _tasks,
    _results,
    ("Table 9", "Figure 9"),
)
