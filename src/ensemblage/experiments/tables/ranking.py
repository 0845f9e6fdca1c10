"""Ranking of all methods, the paper's and their successors, on the same draws."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.experiments.evidence import Evidence, Experiment, Picture, Results
from ensemblage.experiments.figures import legend_below, new_axes
from ensemblage.experiments.grids import Cell, Grid
from ensemblage.experiments.protocol import (
    N_MEMBERS,
    ROBUST_PCA,
    UNCAPPED,
    VARIANTS,
    score_tasks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Record, Task

#: Draws of each number of members. Larger ensembles have as many as Figure 10.
RUNS = {10: 100, 20: 20, 30: 20}
_REFERENCE = "PTGP"
_METHODS = tuple(
    name
    for name in VARIANTS
    if name[-3:] not in ("-CL", "-SL") and not name.endswith((UNCAPPED, ROBUST_PCA))
)
#: Slow methods are run only at M = 10.
_FAST = tuple(name for name in _METHODS if VARIANTS[name].draws >= RUNS[N_MEMBERS])
_RANDOM = tuple(
    name for name in _METHODS if "random_state" in signature(VARIANTS[name].method).parameters
)
#: Methods on objects are too slow for several seeds.
_SEEDED = tuple(name for name in _RANDOM if not VARIANTS[name].on_objects)
_SEEDS = range(5)
_SEED_RUNS = 5
_SCORES = {"NMI true k": "nmi_true", "ARI true k": "ari_true"}
_LESS = f"NMI true k less {_REFERENCE}"
_COLUMNS = {
    "draws": 0,
    **dict.fromkeys(_SCORES, 4),
    "mean rank": 1,
    _LESS: 4,
    "± over draws": 4,
    "± over datasets": 4,
    "CPU s": 2,
    "seed spread": 4,
}

Scores = dict[tuple[str, int], float]


def _tasks(plan: Plan) -> Iterator[Task]:
    if plan.pools is None and plan.at_hand & set(plan.chosen):
        plan = replace(plan, pools="authors")
    for size, runs in RUNS.items():
        if size == N_MEMBERS:
            yield from score_tasks(plan, _METHODS, runs)
        elif not plan.quick:
            yield from score_tasks(plan, _FAST, runs, (size,), cuts="true")
    seeds = range(2) if plan.quick else _SEEDS
    few = replace(plan, runs=min(_SEED_RUNS, len(plan.draws(_SEED_RUNS))))
    yield from score_tasks(few, _SEEDED, _SEED_RUNS, seeds=seeds, cuts="true")


def _results(evidence: Evidence) -> Results:
    names = evidence.datasets("scores")
    names = [name for name in names if evidence.is_of_authors(name)] or names
    results = Results(remarks=[evidence.origin(names)])
    for size, runs in RUNS.items():
        records = [
            record
            for name in names
            for record in evidence.select("scores", name, members=size)
            if record["what"].get("method") in _METHODS and record["what"].get("draw", 0) < runs
        ]
        compared = _complete(records)
        if compared:
            kept = [record for record in records if record["what"]["dataset"] in compared]
            results.grids.append(_ranking(kept, size, compared))
    if results.grids:
        caption = f"NMI at the true k less {_REFERENCE}'s, on the same ensembles of 10 members."
        results.pictures.append(Picture("ranking", caption, lambda: _draw(results.grids[0])))
    return results


def _complete(records: list[Record]) -> list[str]:
    """Return the datasets on which every fast method was run on the most draws."""
    draws: dict[str, dict[str, set[int]]] = {}
    for record in records:
        what = record["what"]
        if what["method"] in _FAST and what.get("seed") == 0:
            by_method = draws.setdefault(what["dataset"], {})
            by_method.setdefault(what["method"], set()).add(what.get("draw", 0))
    methods = {method for by_method in draws.values() for method in by_method}
    least = {
        name: min(len(by_method.get(method, ())) for method in methods)
        for name, by_method in draws.items()
    }
    most = max(least.values(), default=0)
    return [name for name, number in least.items() if number == most > 0]


def _ranking(records: list[Record], size: int, names: list[str]) -> Grid:
    by_method: dict[str, list[Record]] = {}
    for record in records:
        by_method.setdefault(record["what"].get("method", ""), []).append(record)
    scores = {
        method: {column: _values(own, score) for column, score in _SCORES.items()}
        for method, own in by_method.items()
        if _values(own, "nmi_true")
    }
    true_k = {method: own["NMI true k"] for method, own in scores.items()}
    less = {
        method: _less_reference(own, true_k.get(_REFERENCE, {})) for method, own in true_k.items()
    }
    order = sorted(scores, key=lambda method: -less[method].get(_LESS, 0.0))
    grid = Grid(
        f"ranking-{size}",
        f"M = {size}, on {', '.join(names)}",
        "method",
        order,
        list(_COLUMNS),
        column_decimals=_COLUMNS,
    )
    ranks = _mean_ranks(true_k)
    for method in order:
        own = by_method[method]
        n_draws = len({draw for _, draw in true_k[method]})
        numbers: dict[str, float | None] = {
            "draws": n_draws,
            **(_means(scores[method]) if _datasets(true_k[method]) == set(names) else {}),
            "mean rank": ranks.get(method),
            "CPU s": float(np.mean([record.get("cpu_seconds", np.nan) for record in own])),
            "seed spread": _seed_spread(own) if method in _RANDOM else 0.0,
            **less[method],
        }
        for column, value in numbers.items():
            if value is not None and np.isfinite(value):
                grid.cells[method, column] = Cell(value, runs=len(true_k[method]))
    return grid


def _values(records: list[Record], score: str) -> Scores:
    return {
        (r["what"]["dataset"], r["what"].get("draw", 0)): r["scores"][score]
        for r in records
        if r["what"].get("seed") == 0 and isinstance(r["scores"].get(score), int | float)
    }


def _means(scores: dict[str, Scores]) -> dict[str, float | None]:
    """Return of each column the mean over datasets of the means over draws."""
    return {
        column: float(np.mean([np.mean(own) for own in _by_dataset(values)])) if values else None
        for column, values in scores.items()
    }


def _datasets(values: Scores) -> set[str]:
    return {name for name, _ in values}


def _by_dataset(values: Scores) -> list[list[float]]:
    return [
        [value for (name, _), value in values.items() if name == one]
        for one in sorted(_datasets(values))
    ]


def _mean_ranks(true_k: dict[str, Scores]) -> dict[str, float]:
    """Return mean ranks among the methods that were run on every ensemble."""
    keys = max(true_k.values(), key=len).keys()
    complete = [method for method, found in true_k.items() if keys <= found.keys()]
    table = np.array([[true_k[method][key] for key in keys] for method in complete])
    better = (table[None] > table[:, None]).sum(axis=1)
    ties = (table[None] == table[:, None]).sum(axis=1) - 1
    ranks = (1 + better + ties / 2).mean(axis=1)
    return dict(zip(complete, map(float, ranks), strict=True))


def _less_reference(ours: Scores, reference: Scores) -> dict[str, float]:
    """Return the mean paired difference, and its standard errors over draws and over datasets."""
    common = set(ours) & set(reference)
    if ours is reference or not common:
        return {}
    names = sorted({name for name, _ in common})
    draws = sorted({draw for _, draw in common if all((name, draw) in common for name in names)})
    if not draws:
        return {}
    table = np.array([[ours[n, d] - reference[n, d] for d in draws] for n in names])
    return {
        _LESS: float(table.mean()),
        "± over draws": _error(table.mean(axis=0)),
        "± over datasets": _error(table.mean(axis=1)),
    }


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else np.nan


def _seed_spread(records: list[Record]) -> float | None:
    """Return the standard deviation over seeds, averaged over ensembles."""
    scores: dict[Any, dict[Any, float]] = {}
    for record in records:
        what = record["what"]
        if what.get("draw", _SEED_RUNS) < _SEED_RUNS:
            by_seed = scores.setdefault((what["dataset"], what["draw"]), {})
            by_seed[what.get("seed")] = record["scores"].get("nmi_true", np.nan)
    spreads = [np.std([*values.values()], ddof=1) for values in scores.values() if len(values) > 1]
    return float(np.mean(spreads)) if spreads else None


def _draw(grid: Grid) -> Any:
    figure, (panel,) = new_axes(width=6.8, height=0.26 * len(grid.rows) + 1.2)
    shown = (_LESS, *_SCORES)  # without means a method was not run on all datasets
    methods = [
        name for name in grid.rows if all(grid.cell(name, c).ours is not None for c in shown)
    ]
    places = range(len(methods))
    means = [grid.cell(name, _LESS).ours or 0.0 for name in methods]
    for column, colour, width, label in (
        ("± over datasets", "#c9c9c9", 5, "2 standard errors over datasets"),
        ("± over draws", "#0b5fa5", 2, "2 standard errors over draws"),
    ):
        reach = [2 * (grid.cell(name, column).ours or 0.0) for name in methods]
        if any(reach):  # there is no spread over a single dataset
            panel.errorbar(
                means, places, xerr=reach, fmt="none", ecolor=colour, elinewidth=width, label=label
            )
    panel.plot(means, places, "o", color="#0b5fa5")
    panel.axvline(0, color="black", linewidth=0.8)
    panel.set_yticks(places, methods)
    panel.set_xlabel(_LESS)
    panel.invert_yaxis()
    legend_below(figure, panel, 2)
    return figure


RANKING = Experiment(
    "ranking",
    "ranking of all methods on the same ensembles",
    f"{', '.join(f'{runs} draws of M = {size}' for size, runs in RUNS.items())} members (slow"
    " methods fewer, and only of M = 10: see the column draws) from the authors' pools, if they are"
    " public. Scores are means over datasets of means over draws, if a method was run on all of the"
    " datasets. Rows are in the order of the difference. The rank is by NMI at the true k,"
    f" among the methods that were run on every ensemble. The difference to {_REFERENCE} is paired"
    " (the same ensembles); its standard errors are over draws (each the mean of all datasets) and"
    " over datasets (each the mean of all draws): the second says how far it may depend on the"
    " choice of datasets. The seed spread is the standard deviation of NMI at the true k over"
    f" {len(_SEEDS)} seeds, averaged over the first {_SEED_RUNS} draws of M = {N_MEMBERS}; it is 0"
    " for deterministic methods, and not measured for methods on objects.",
    _tasks,
    _results,
)
