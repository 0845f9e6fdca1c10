"""``ensemblage compare``: many methods on one ensemble, side by side."""

from __future__ import annotations

import json
from typing import Any

from ensemblage.cli import options
from ensemblage.cli.errors import warn, with_options
from ensemblage.cli.output import format_table
from ensemblage.cli.session import VoteSession, check_k, verb

EXAMPLES = """\b
Examples:
  ensemblage compare votes.csv -k 10
  ensemblage compare pool.mat -k 7 --truth gt -o table.csv
  ensemblage compare votes.parquet -k 12 --methods ptgp,pta,eac -o t.json
"""


_SCORES = ("nmi", "ari", "nmi_with_votes")
#: Columns of the table, and their titles.
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

    Prints for each method the number of clusters, NMI and ARI with the truth if given, the mean
    NMI with the votes, seconds and memory, and then the agreement of each pair of methods (ARI).
    """
    session.resolve()
    session.check_table(output, "csv", "tsv", "parquet", "npz", "json")
    from ensemblage.methods import NAMES, comparing

    chosen = NAMES if methods == "all" else methods
    chosen = dict.fromkeys("consensus" if name == "auto" else name for name in chosen)
    ensemble, truth = session.read(), session.true_labels
    check_k(k, ensemble)
    rows, agreement = comparing.compare(
        ensemble,
        session.track(chosen, "Comparing methods", len(chosen)),
        k,
        truth=truth,
        random_state=seed,
        n_jobs=session.jobs,
    )
    for row in rows:
        if row["error"] is not None:
            row["error"] = with_options(row["error"]) or type(row["error"]).__name__
    columns = [name for name in _TITLES if truth is not None or name not in ("nmi", "ari")]
    if output is not None:
        _write(output, [{name: row[name] for name in columns} for row in rows], agreement)
    facts = {
        "ks": [k],
        **session.facts(ensemble),
        "output": output,
        **session.clock.elapsed().facts(),
        "methods": rows,
        "agreement": agreement,
    }
    text = _report(rows, columns, agreement)
    session.finish("compare", facts, text, err=output == "-", asked=output is None)
    for row in rows:
        if row["error"] is not None:
            warn(f"{row['method']} has no result: {row['error']}")
    if not agreement:
        raise ValueError("No method gave a result; see the warnings above.")


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
