"""``quorate consensus``: a file of votes in, a file of labels out."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli import _arguments as arguments  # noqa: TC001 - typer reads annotations
from quorate.cli._errors import WrongCall, reported
from quorate.cli._options import find_method, parameters, wanted_k
from quorate.cli._progress import stage
from quorate.cli._truth import score_table, take_truth
from quorate.cli._votes import (
    check_call,
    check_format_to_write,
    check_k,
    check_turnout,
    read_votes,
)
from quorate.cli._warnings import warnings_as_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quorate.files import VoteTable

EXAMPLES = """\b
Examples:
  quorate consensus votes.csv -k 10 -o labels.csv
  quorate consensus pool.mat -k 7 --method pta --truth gt --confidence
  quorate consensus part-*.parquet --k-range 2:20 -o labels.parquet
  zcat votes.csv.gz | quorate consensus - -k 10 > labels.csv

\b
Missing votes are empty cells, NA, NaN or -1. Exit codes: 0 done, 1 the work
failed, 2 a wrong call.
"""

K = Annotated[
    int | None,
    typer.Option("-k", "--clusters", min=1, help="How many clusters.", show_default=False),
]
KRange = Annotated[
    str | None,
    typer.Option(
        metavar="LOW:HIGH",
        help="Instead of -k: a column of labels for each k, from one fit.",
        show_default=False,
    ),
]
Method = Annotated[str, typer.Option("--method", "-m", help="The consensus function.")]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Where the labels go: .csv, .tsv (also .gz), .parquet, .npy, .npz; - is standard"
        " output.",
    ),
]
Confidence = Annotated[
    bool, typer.Option("--confidence", help="Add how sure each label is, from 0 to 1.")
]
Linkage = Annotated[
    str | None,
    typer.Option(
        metavar="average|complete|single",
        help="How agglomerative methods merge.",
        show_default="average",
    ),
]
Neighbors = Annotated[
    str | None,
    typer.Option(
        metavar="auto|all|INT", help="Links kept at each microcluster.", show_default="auto"
    ),
]
Steps = Annotated[
    str | None,
    typer.Option(metavar="auto|INT", help="Length of the random walks.", show_default="auto"),
]


def consensus(
    *,
    votes: arguments.Votes,
    k: K = None,
    k_range: KRange = None,
    method: Method = "ptgp",
    output: Output = "-",
    confidence: Confidence = False,
    truth: arguments.Truth = None,
    linkage: Linkage = None,
    neighbors: Neighbors = None,
    steps: Steps = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    id_column: arguments.IdColumn = "auto",
    header: arguments.Header = None,
    format: arguments.Format = None,  # noqa: A002 - typer makes the option's name of it
    key: arguments.Key = None,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Find the consensus of many clusterings.

    Reads a table of votes (one row an object, one column a clustering) and writes a label for
    each object: the id column as given (the row number where there is none), then label, and
    confidence if asked for; with --k-range the columns k2, k3, ... instead.
    """
    with reported(debug=debug), warnings_as_lines():
        start = time.perf_counter()
        ks = wanted_k(k, k_range)
        check_call(votes, input_format=format, jobs=jobs)
        _check_output(output, ks, confidence=confidence)
        import quorate as qr
        from quorate import files

        estimator = find_method(method, qr.METHODS)
        options = parameters(
            method.lower(),
            estimator._get_param_names(),
            linkage=linkage,
            neighbors=neighbors,
            steps=steps,
            seed=seed,
            jobs=jobs,
        )
        files.check_writable(output)
        with stage("Reading votes", quiet=quiet):
            table = read_votes(
                votes, input_format=format, id_column=id_column, header=header, key=key
            )
        table, true_labels = take_truth(table, truth)
        check_turnout(table)
        _check_id_name(table, ks, output, one=k_range is None, confidence=confidence)
        with stage(f"Consensus by {method.upper()}", quiet=quiet):
            ensemble = qr.Ensemble(files.votes_of(table), n_jobs=jobs)
            check_k(ks[-1], ensemble)
            fitted = estimator(n_clusters=ks[-1], **options).fit(ensemble)
            labels = _labels(fitted, ks, one=k_range is None)
        columns = _with_ids(table, labels, output)
        if confidence:
            columns["confidence"] = fitted.confidence_
        files.write_table(output, columns, decimals={"confidence": 6} if confidence else None)
        if true_labels is not None:
            typer.echo(score_table(true_labels, labels, ensemble), err=True)
        if not quiet:
            seconds = time.perf_counter() - start
            typer.echo(_summary(table, fitted, ks, method, seconds), err=True)


def _check_output(output: str, ks: range, *, confidence: bool) -> None:
    """Refuse an output that cannot hold what was asked for."""
    if confidence and ks[0] != ks[-1]:
        raise WrongCall("--confidence belongs to one k: give -k, or leave --confidence out.")
    if check_format_to_write(output) == "npy" and confidence:
        raise WrongCall(
            "An NPY file holds labels only. For --confidence use .npz, .csv or .parquet."
        )


def _check_id_name(
    table: VoteTable, ks: range, output: str, *, one: bool, confidence: bool
) -> None:
    """Refuse ids whose column is called as one of the output, before the work is done."""
    from quorate import files

    if table.id_name is None or files.format_to_write(output, None) == "npy":
        return
    name = table.id_name
    number = re.fullmatch(r"k([1-9][0-9]{0,17})", name)
    is_labels = name == "label" if one else number is not None and int(number[1]) in ks
    if is_labels or (confidence and name == "confidence"):
        raise files.FileFormatError(
            f"The id column is called {name!r}, which is the name of a column of the output."
            " Rename it."
        )


def _labels(fitted: Any, ks: range, *, one: bool) -> dict[str, NDArray[Any]]:
    return {"label": fitted.labels_} if one else {f"k{k}": fitted.cut(k) for k in ks}


def _with_ids(
    table: VoteTable, labels: dict[str, NDArray[Any]], output: str
) -> dict[str, NDArray[Any]]:
    """Return what is written: ids first, except where the format holds labels only."""
    import numpy as np

    from quorate import files

    if files.format_to_write(output, None) == "npy":
        return dict(labels)
    if table.ids is None or table.id_name is None:
        return {"row": np.arange(files.n_objects(table)), **labels}
    return {table.id_name: table.ids, **labels}


def _summary(table: VoteTable, fitted: Any, ks: range, method: str, seconds: float) -> str:
    from quorate import files

    named = "" if table.id_name is None else f" (ids from {table.id_name!r})"
    k = f"k = {ks[0]}" if ks[0] == ks[-1] else f"k = {ks[0]} to {ks[-1]}"
    return (
        f"{files.n_objects(table):,} objects{named}, {len(table.names):,} clusterings,"
        f" {fitted.n_microclusters_:,} microclusters, {k}, {method.upper()}: {seconds:.2f} s"
    )
