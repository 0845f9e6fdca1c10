"""``ensemblage compare``: many methods on one ensemble, side by side."""

from __future__ import annotations

import json
from typing import Any

import typer

from ensemblage._memory import peak_memory
from ensemblage.cli import options
from ensemblage.cli.errors import warn, with_options
from ensemblage.cli.output import Clock, format_table, print_json
from ensemblage.cli.session import VoteSession, check_k, seed_and_jobs, verb

EXAMPLES = """\b
Examples:
  ensemblage compare votes.csv -k 10
  ensemblage compare pool.mat -k 7 --truth gt -o table.csv
  ensemblage compare votes.parquet -k 12 --methods ptgp,pta,eac,vote -o table.json
"""


_SCORES = ("nmi", "ari", "nmi_with_votes")
#: Columns of the table, and their titles. Rows have "error" too.
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
Row = dict[str, Any]
Agreement = dict[str, dict[str, float]]


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
    from ensemblage import metrics
    from ensemblage.methods import METHODS, NAMES

    chosen = NAMES if methods == "all" else methods
    chosen = dict.fromkeys("consensus" if name == "auto" else name for name in chosen)
    ensemble = session.read()
    check_k(k, ensemble)
    rows, labels = [], {}
    for name in session.track(chosen, "Comparing methods", len(chosen)):
        kind = METHODS[name]
        estimator = kind(k, **seed_and_jobs(kind, seed, session.jobs))
        row, labels[name] = _run(name, estimator, ensemble, session.true_labels)
        rows.append(row)
    given = {name: found for name, found in labels.items() if found is not None}
    agreement = {
        one: {other: metrics.ari(given[one], given[other]) for other in given} for one in given
    }
    _mark_outliers(rows, agreement)
    columns = [
        name for name in _TITLES if session.true_labels is not None or name not in ("nmi", "ari")
    ]
    if output is not None:
        _write(output, [{name: row[name] for name in columns} for row in rows], agreement)
    if session.as_json:
        facts = {
            "ks": [k],
            **session.facts(ensemble),
            "output": output,
            **session.clock.elapsed().facts(),
            "methods": rows,
            "agreement": agreement,
        }
        print_json("compare", facts)
    elif not session.quiet or output is None:
        typer.echo(_report(rows, columns, agreement), err=output == "-")
    for row in rows:
        if row["error"] is not None:
            warn(f"{row['method']} has no result: {row['error']}")
    if not given:
        raise ValueError("No method gave a result; see the warnings above.")


def _run(name: str, estimator: Any, ensemble: Any, truth: Any) -> tuple[Row, Any]:
    """Fit one method; return its row, and its labels unless it fails."""
    from ensemblage import metrics
    from ensemblage.methods import without_comparison

    row: Row = dict.fromkeys([*_TITLES, "error"]) | {"method": name, "outlier": False}
    labels, clock = None, Clock()
    try:
        with peak_memory() as peak, without_comparison():
            labels = estimator.fit(ensemble).labels_
    except (ValueError, MemoryError, ImportError) as error:
        row["error"] = with_options(error) or type(error).__name__
    row["seconds"] = round(clock.elapsed().seconds, 4)
    if labels is None:
        return row, None
    row["clusters"] = int(labels.max()) + 1
    row["nmi_with_votes"] = metrics.ensemble_nmi(labels, ensemble)
    row["memory_mb"] = None if peak.n_bytes is None else round(peak.n_bytes / 1e6, 1)
    if truth is not None:
        row |= {"nmi": metrics.nmi(truth, labels), "ari": metrics.ari(truth, labels)}
    return row, labels


def _mark_outliers(rows: list[Row], agreement: Agreement) -> None:
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


def _report(rows: list[Row], columns: list[str], agreement: Agreement) -> str:
    by_score = sorted(rows, key=_score, reverse=True)
    cells = [[_cell(name, row[name]) for name in columns] for row in by_score]
    table = format_table([_TITLES[name] for name in columns], cells)
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


def _score(row: Row) -> float:
    """Return what rows are sorted by: agreement with the truth, else with the votes."""
    score = row["nmi_with_votes"] if row["nmi"] is None else row["nmi"]
    return -1.0 if score is None else float(score)


def _cell(word: str, value: Any) -> str:
    if word == "outlier":
        return "outlier" if value else ""
    if value is None:
        return "-"
    if word in _SCORES:
        return f"{value:.4f}"
    return f"{value:.3f}" if word == "seconds" else str(value)


def _write(output: str, rows: list[Row], agreement: Agreement) -> None:
    import numpy as np

    from ensemblage import tables

    if output.lower().endswith(".json"):
        tables.write_text(output, json.dumps({"methods": rows, "agreement": agreement}, indent=1))
        return
    columns = {}
    for word in rows[0]:
        values = [row[word] for row in rows]
        numbers = all(value is None or isinstance(value, (int, float)) for value in values)
        gaps = [np.nan if value is None else value for value in values]
        columns[word] = np.array(gaps) if numbers else np.array(values, dtype=object)
    tables.write(output, columns, decimals={word: 6 for word in _SCORES if word in columns})
