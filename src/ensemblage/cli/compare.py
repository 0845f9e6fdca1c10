"""``ensemblage compare``: many methods on one ensemble, side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ensemblage._memory import peak_memory
from ensemblage.cli import options
from ensemblage.cli.errors import warn, with_options
from ensemblage.cli.output import Clock, format_table, print_json
from ensemblage.cli.session import VoteSession, check_k, seed_and_jobs, verb

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXAMPLES = """\b
Examples:
  ensemblage compare votes.csv -k 10
  ensemblage compare pool.mat -k 7 --truth gt -o table.csv
  ensemblage compare votes.parquet -k 12 --methods ptgp,pta,eac,vote -o table.json
"""


class Outcome(NamedTuple):
    """The result of one method; `error` says why there are no labels."""

    method: str
    labels: NDArray[Any] | None
    seconds: float
    n_bytes: int | None
    error: str | None


@verb
def compare(
    session: VoteSession,
    *,
    k: options.K,
    methods: options.Methods = "all",
    output: options.MethodFile = None,
    seed: options.Seed = 0,
) -> None:
    """Run many methods on one ensemble and show how they agree.

    For each method: the number of clusters, NMI and ARI with the truth if that is given, the mean
    NMI with the votes, seconds and memory; then how well each pair of methods agrees (ARI).
    """
    session.resolve()
    session.check_table(output, "csv", "tsv", "parquet", "npz", "json")
    from ensemblage.methods import METHODS, NAMES

    chosen = NAMES if methods == "all" else methods
    chosen = dict.fromkeys("consensus" if name == "auto" else name for name in chosen)
    ensemble = session.read()
    check_k(k, ensemble)
    outcomes = []
    for name in session.track(chosen, "Comparing methods", len(chosen)):
        kind = METHODS[name]
        outcomes.append(_run(name, kind(k, **seed_and_jobs(kind, seed, session.jobs)), ensemble))
    rows = [_row(outcome, ensemble, session.true_labels) for outcome in outcomes]
    agreement = _agreement([outcome for outcome in outcomes if outcome.labels is not None])
    _mark_outliers(rows, agreement)
    if output is not None:
        _write(output, rows, agreement)
    if session.as_json:
        facts = {
            "ks": [k],
            **session.facts(ensemble),
            "output": output,
            **session.clock.elapsed().facts(),
            "methods": [
                {"method": None, "clusters": None, "nmi": None, "ari": None}
                | row
                | {"error": outcome.error}
                for row, outcome in zip(rows, outcomes, strict=True)
            ],
            "agreement": agreement,
        }
        print_json("compare", facts)
    elif not session.quiet or output is None:
        typer.echo(_report(rows, agreement), err=output == "-")
    for outcome in outcomes:
        if outcome.error is not None:
            warn(f"{outcome.method} has no result: {outcome.error}")
    if all(outcome.labels is None for outcome in outcomes):
        raise ValueError("No method gave a result; see the warnings above.")


def _run(name: str, estimator: Any, ensemble: Any) -> Outcome:
    """Fit one method; if it fails the others still run."""
    from ensemblage.methods import without_comparison

    clock = Clock()
    try:
        with peak_memory() as peak, without_comparison():
            labels = estimator.fit(ensemble).labels_
    except (ValueError, MemoryError, ImportError) as error:
        text = with_options(error) or type(error).__name__
        return Outcome(name, None, clock.elapsed().seconds, None, text)
    return Outcome(name, labels, clock.elapsed().seconds, peak.n_bytes, None)


def _row(outcome: Outcome, ensemble: Any, truth: NDArray[Any] | None) -> dict[str, Any]:
    from ensemblage import metrics

    row: dict[str, Any] = {"method": outcome.method, "clusters": None}
    labels = outcome.labels
    if truth is not None:
        row |= {"nmi": None, "ari": None}
    row |= {"nmi_with_votes": None, "seconds": round(outcome.seconds, 4), "memory_mb": None}
    if labels is None:
        return row
    row["clusters"] = int(labels.max()) + 1
    if truth is not None:
        row |= {"nmi": metrics.nmi(truth, labels), "ari": metrics.ari(truth, labels)}
    row["nmi_with_votes"] = metrics.ensemble_nmi(labels, ensemble)
    row["memory_mb"] = None if outcome.n_bytes is None else round(outcome.n_bytes / 1e6, 1)
    return row


def _agreement(outcomes: list[Outcome]) -> dict[str, dict[str, float]]:
    """Return the ARI of each pair of methods."""
    from ensemblage import metrics

    return {
        one.method: {other.method: metrics.ari(one.labels, other.labels) for other in outcomes}
        for one in outcomes
    }


def _mark_outliers(rows: list[dict[str, Any]], agreement: dict[str, dict[str, float]]) -> None:
    """Set `outlier` of each row: whether a method agrees with the others far less than they do."""
    import numpy as np

    from ensemblage.metrics.explain import lowest_usual

    means = {
        one: float(np.mean([score for other, score in scores.items() if other != one]))
        for one, scores in agreement.items()
        if len(scores) > 1
    }
    lowest = lowest_usual(np.array(list(means.values())))
    for row in rows:
        row["outlier"] = row["method"] in means and means[row["method"]] < lowest


_SCORES = ("nmi", "ari", "nmi_with_votes")
_TITLES = {
    "method": "",
    "clusters": "clusters",
    "nmi": "NMI (max)",
    "ari": "ARI",
    "nmi_with_votes": "NMI with the votes",
    "seconds": "seconds",
    "memory_mb": "MB",
    "outlier": "",
}


def _report(rows: list[dict[str, Any]], agreement: dict[str, dict[str, float]]) -> str:
    header = [_TITLES[word] for word in rows[0]]
    by_score = sorted(rows, key=_score, reverse=True)
    table = format_table(header, [[_cell(word, row[word]) for word in row] for row in by_score])
    if len(agreement) < 2:
        return table
    names = [row["method"] for row in by_score if row["method"] in agreement]
    pairs = format_table(
        ["", *names], [[a, *(f"{agreement[a][b]:.2f}" for b in names)] for a in names]
    )
    text = f"{table}\n\nHow the methods agree with each other (ARI)\n{pairs}"
    strange = [row["method"] for row in by_score if row["outlier"]]
    if strange:
        text += (
            f"\n\nOutliers, which agree with the other methods far less than these do:"
            f" {', '.join(strange)}. Do not rely on them here."
        )
    return text


def _score(row: dict[str, Any]) -> float:
    """Return what rows are sorted by: agreement with the truth, else with the votes."""
    score = row.get("nmi", row["nmi_with_votes"])
    return -1.0 if score is None else float(score)


def _cell(word: str, value: Any) -> str:
    if word == "outlier":
        return "outlier" if value else ""
    if value is None:
        return "-"
    if word in _SCORES:
        return f"{value:.4f}"
    return f"{value:.3f}" if word == "seconds" else str(value)


def _write(output: str, rows: list[dict[str, Any]], agreement: dict[str, dict[str, float]]) -> None:
    import numpy as np

    from ensemblage import files

    if output.lower().endswith(".json"):
        files.write_text(output, json.dumps({"methods": rows, "agreement": agreement}, indent=1))
        return
    columns = {}
    for word in rows[0]:
        values = [row[word] for row in rows]
        numbers = all(value is None or isinstance(value, (int, float)) for value in values)
        gaps = [np.nan if value is None else value for value in values]
        columns[word] = np.array(gaps) if numbers else np.array(values, dtype=object)
    files.write_table(output, columns, decimals={word: 6 for word in _SCORES if word in columns})
