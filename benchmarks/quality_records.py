"""Scores of methods on ensembles as lines of JSON: run in processes, interrupted and resumed."""

from __future__ import annotations

import csv
import json
import multiprocessing
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.progress import track
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

import ensemblage as en
from ensemblage.methods._reliability import without_comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

#: The methods compared, as tables name them. Each one is fitted with seed 0 and its own defaults.
METHODS = {
    "Consensus": "Consensus",
    "LWEA": "LWEA",
    "LWGP": "LWGP",
    "PTGP": "PTGP",
    "PTA": "PTA",
    "EAC": "EAC",
    "U-SENC": "USENC",
    "Vote": "Vote",
}
REFERENCE = "PTGP"
MEMBER = "mean member"

Task = dict[str, Any]
Record = dict[str, Any]


def estimator(name: str, k: int) -> Any:
    """Return a method with its defaults, in one thread."""
    found = getattr(en, METHODS.get(name, name))(k, n_jobs=1)
    return found.set_params(random_state=0) if "random_state" in found.get_params() else found


def fitted(name: str, votes: Any, k: int) -> Any:
    """Fit a method, without the comparison with the default that PTA and PTGP make."""
    with warnings.catch_warnings(), without_comparison():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        return estimator(name, k).fit(votes)


def scores(votes: np.ndarray, truth: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return NMI (max) and ARI of every method at the true k, and the means over the members."""
    ensemble, k = en.Ensemble(votes), len(np.unique(truth))
    found = {name: score(truth, fitted(name, ensemble, k).labels_) for name in METHODS}
    return found | {MEMBER: mean_member(votes, truth)}


def score(truth: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    return en.metrics.nmi(truth, labels), en.metrics.ari(truth, labels)


def mean_member(votes: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Return the mean scores of the members, each over the objects that it votes on."""
    nmi, ari = np.mean([score(truth, column) for column in votes.T], axis=0)
    return float(nmi), float(ari)


# -- running ---------------------------------------------------------------------------------------


def run(
    tasks: Sequence[Task], measure: Callable[[Task], list[Record]], path: Path, jobs: int
) -> list[Record]:
    """Return the records of all tasks; those that are in the file already are not run again.

    A task may give several records, which repeat its words. Each task's are written when it ends.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    done: dict[str, list[Record]] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            done[_key(entry["task"])] = entry["records"]
    missing = [task for task in tasks if _key(task) not in done]
    if missing:
        context = multiprocessing.get_context("spawn")
        with (
            path.open("a", encoding="utf-8") as file,
            ProcessPoolExecutor(jobs, mp_context=context) as pool,
        ):
            results = pool.map(_measured, [measure] * len(missing), missing)
            for task, records in track(
                zip(missing, results, strict=True), "Measuring", total=len(missing)
            ):
                file.write(json.dumps({"task": task, "records": records}) + "\n")
                file.flush()
                done[_key(task)] = records
    return [record for task in tasks for record in done[_key(task)]]


def _measured(measure: Callable[[Task], list[Record]], task: Task) -> list[Record]:
    begun = time.process_time()
    with threadpool_limits(limits=1):
        records = [task | record for record in measure(task)]
    seconds = (time.process_time() - begun) / len(records)
    return [record | {"cpu": round(seconds, 3)} for record in records]


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)


# -- tables ----------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *([str(cell) for cell in r] for r in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def values_of(records: Iterable[Record], method: str, measure: int) -> dict[tuple[str, int], float]:
    """Return a score (0: NMI, 1: ARI) by dataset and draw, the mean over kinds and sizes there."""
    found = defaultdict(list)
    for record in records:
        found[record["data"], record["draw"]].append(record["scores"][method][measure])
    return {place: float(np.mean(values)) for place, values in found.items()}


def difference(
    records: Sequence[Record], method: str, measure: int
) -> tuple[float, float, float, int]:
    """Return the paired difference to PTGP, its standard errors, and the number of datasets.

    The first error is over draws within the datasets, the second over datasets.
    """
    ours, theirs = (values_of(records, name, measure) for name in (method, REFERENCE))
    by_data = defaultdict(list)
    for data, draw in ours:
        by_data[data].append(ours[data, draw] - theirs[data, draw])
    means = np.array([np.mean(values) for values in by_data.values()])
    within = [_error(np.array(values)) for values in by_data.values()]
    over_draws = float(np.sqrt(np.sum(np.square(within)))) / len(means)
    return float(means.mean()), over_draws, _error(means), len(means)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else np.nan


def mean_ranks(records: Sequence[Record], measure: int) -> dict[str, float]:
    """Return the mean over datasets of the mean rank of each method on an ensemble."""
    by_data = defaultdict(list)
    for record in records:
        row = [-round(record["scores"][name][measure], 12) for name in METHODS]
        by_data[record["data"]].append(rankdata(row))
    ranks = np.mean([np.mean(rows, axis=0) for rows in by_data.values()], axis=0)
    return dict(zip(METHODS, map(float, ranks), strict=True))


def comparison(records: Sequence[Record]) -> str:
    """Return the table of all methods: scores, ranks, and paired differences to PTGP."""
    head = ["method", "NMI", "ARI", "rank by NMI", "rank by ARI"]
    for name in ("NMI", "ARI"):
        head += [f"{name} less {REFERENCE}", "± draws", "± datasets"]
    ranks = [mean_ranks(records, measure) for measure in (0, 1)]
    rows = []
    for name in (*METHODS, MEMBER):
        row = [name, *(f"{_mean(records, name, measure):.3f}" for measure in (0, 1))]
        row += [f"{rank[name]:.2f}" if name in rank else "–" for rank in ranks]
        for measure in (0, 1):
            less = difference(records, name, measure)[:3]
            row += [_signed(value) if name != REFERENCE else "–" for value in less[:1]]
            row += ["–" if name == REFERENCE or np.isnan(e) else f"{e:.3f}" for e in less[1:]]
        rows.append(row)
    return table(head, rows)


def _signed(value: float) -> str:
    return f"{value:+.3f}"


def _mean(records: Sequence[Record], name: str, measure: int) -> float:
    """Return the mean over datasets of the means over their draws."""
    by_data = defaultdict(list)
    for (data, _), value in values_of(records, name, measure).items():
        by_data[data].append(value)
    return float(np.mean([np.mean(values) for values in by_data.values()]))


def by_kind(records: Sequence[Record], measure: int = 1) -> str:
    """Return the mean score of each method by kind of ensemble and number of members."""
    groups = defaultdict(list)
    for record in records:
        groups[record["kind"], record["members"]].append(record)
    rows = [
        [kind, members, *(f"{_mean(some, name, measure):.3f}" for name in (*METHODS, MEMBER))]
        for (kind, members), some in groups.items()
    ]
    return table(["members", "M", *METHODS, MEMBER], rows)


def write_summary(records: Sequence[Record], path: Path) -> None:
    """Write the mean scores of each dataset, kind and size of ensemble as CSV."""
    groups = defaultdict(list)
    for record in records:
        groups[tuple(record[word] for word in ("part", "data", "kind", "members"))].append(record)
    names = sorted({name for record in records for name in record["scores"]})
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = [f"{name} {score}" for name in names for score in ("NMI", "ARI")]
        writer.writerow(["part", "data", "members", "M", "ensembles", *columns])
        for group, some in groups.items():
            cells = []
            for name in names:
                rows = [record["scores"][name] for record in some if name in record["scores"]]
                cells += [f"{x:.4f}" for x in np.mean(rows, axis=0)] if rows else ["", ""]
            writer.writerow([*group, len(some), *cells])
