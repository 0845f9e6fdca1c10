"""``ensemblage compare``: many methods on one ensemble, side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ensemblage._memory import peak_memory
from ensemblage.cli import _arguments as arguments
from ensemblage.cli import _words
from ensemblage.cli._clock import Clock
from ensemblage.cli._errors import WrongCall, reported
from ensemblage.cli._json import check_json, print_json
from ensemblage.cli._options import find_method
from ensemblage.cli._progress import track
from ensemblage.cli._tables import aligned
from ensemblage.cli._votes import (
    check_apart,
    check_call,
    check_format_to_write,
    check_k,
    expanded,
    read_votes,
)
from ensemblage.cli._warnings import warn, warnings_as_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

EXAMPLES = """\b
Examples:
  ensemblage compare votes.csv -k 10
  ensemblage compare pool.mat -k 7 --truth gt -o table.csv
  ensemblage compare votes.parquet -k 12 --methods ptgp,pta,eac,vote -o table.json
"""

Methods = Annotated[
    str,
    typer.Option(
        metavar="all|NAME,NAME,...",
        help="Which methods to run.",
        autocompletion=_words.completes_list("all", *_words.METHODS),
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the table to a .csv, .tsv, .parquet or .json file; JSON holds the pairwise"
        " agreement too.",
        show_default=False,
    ),
]


class Outcome(NamedTuple):
    """What one method did; `error` says why there are no labels."""

    method: str
    labels: NDArray[Any] | None
    seconds: float
    n_bytes: int | None
    error: str | None


def compare(
    *,
    votes: arguments.Votes,
    k: arguments.K,
    methods: Methods = "all",
    truth: arguments.Truth = None,
    output: Output = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    id_column: arguments.IdColumn = "auto",
    header: arguments.Header = None,
    format: arguments.Format = None,  # noqa: A002 - typer makes the option's name of it
    key: arguments.Key = None,
    as_json: arguments.Json = False,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Run many methods on one ensemble and show how they agree.

    For each method: the clusters it found, NMI and ARI with the truth if that is given, the mean
    NMI with the votes, seconds and memory; then how well each pair of methods agrees (ARI).
    """
    with reported(debug=debug), warnings_as_lines():
        clock = Clock()
        check_call(votes, input_format=format, jobs=jobs)
        check_json(output, as_json=as_json)
        paths = expanded(votes)
        import ensemblage as en
        from ensemblage import files

        chosen = _chosen(methods, en.METHODS)
        _check_output(output, [*paths, truth])
        table, true_labels = read_votes(
            paths,
            truth,
            input_format=format,
            id_column=id_column,
            header=header,
            key=key,
            quiet=quiet,
        )
        ensemble = en.Ensemble(files.votes_of(table), n_jobs=jobs)
        ensemble.names = table.names
        check_k(k, ensemble)
        outcomes = [
            _run(name, en.METHODS[name], k, ensemble, seed, jobs)
            for name in track(chosen, "Comparing methods", quiet=quiet)
        ]
        rows = [_row(outcome, ensemble, true_labels) for outcome in outcomes]
        agreement = _agreement([outcome for outcome in outcomes if outcome.labels is not None])
        _mark_outliers(rows, agreement)
        if output is not None:
            _write(output, rows, agreement)
        if as_json:
            facts = {
                "ks": [k],
                "n_objects": files.n_objects(table),
                "n_clusterings": len(table.names),
                "n_microclusters": len(ensemble.microclusters.sizes),
                "id_column": table.id_name,
                "output": output,
                **clock.took().facts(),
                "methods": [
                    _for_json(row, outcome) for row, outcome in zip(rows, outcomes, strict=True)
                ],
                "agreement": agreement,
            }
            print_json("compare", facts)
        elif not quiet or output is None:
            typer.echo(_report(rows, agreement), err=output == "-")
        for outcome in outcomes:
            if outcome.error is not None:
                warn(f"{outcome.method} has no result: {outcome.error}")
        if all(outcome.labels is None for outcome in outcomes):
            raise ValueError("No method gave a result; the warnings above tell why.")


def _chosen(methods: str, known: Mapping[str, Any]) -> list[str]:
    from ensemblage.methods import NAMES

    if methods.strip().lower() == "all":
        return list(NAMES)
    names = [name.strip().lower() for name in methods.split(",") if name.strip()]
    names = ["consensus" if name == "auto" else name for name in names]
    if not names:
        raise WrongCall("--methods needs names with commas between them, as in ptgp,eac, or all.")
    for name in names:
        find_method(name, known)
    return list(dict.fromkeys(names))


def _check_output(output: str | None, inputs: list[str | None]) -> None:
    from ensemblage import files

    if output is None:
        files.check_writable("-")
        return
    check_apart(output, inputs)
    if output.lower().endswith(".json"):
        files.check_writable(output, format="csv")
        return
    if check_format_to_write(output) == "npy":
        raise WrongCall(
            "An NPY file has no place for a table of methods. Use .csv, .tsv, .parquet or .json."
        )
    files.check_writable(output)


def _run(name: str, method: Any, k: int, ensemble: Any, seed: int, jobs: int) -> Outcome:
    """Fit one method; where it fails the others still run."""
    from ensemblage.methods._trust import without_comparison

    parameters = {"random_state": seed, "n_jobs": jobs}
    accepted = method._get_param_names()
    estimator = method(k, **{word: v for word, v in parameters.items() if word in accepted})
    clock = Clock()
    try:
        with peak_memory() as peak, without_comparison():
            labels = estimator.fit(ensemble).labels_
    except (ValueError, MemoryError, ImportError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        return Outcome(name, None, clock.took().seconds, None, text)
    return Outcome(name, labels, clock.took().seconds, peak.n_bytes, None)


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


def _for_json(row: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """Return a row with every key: scores are null without true labels."""
    first = {"method": outcome.method, "clusters": None, "nmi": None, "ari": None}
    return first | row | {"error": outcome.error}


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
    table = aligned(header, [[_cell(word, row[word]) for word in row] for row in by_score])
    if len(agreement) < 2:
        return table
    names = [row["method"] for row in by_score if row["method"] in agreement]
    pairs = aligned(["", *names], [[a, *(f"{agreement[a][b]:.2f}" for b in names)] for a in names])
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
