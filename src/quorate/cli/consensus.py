"""``quorate consensus``: a file of votes in, a file of labels out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorate.cli._errors import WrongCall, reported
from quorate.cli._options import find_method, parameters, wanted_k
from quorate.cli._progress import stage
from quorate.cli._truth import score_table, take_truth
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

Votes = Annotated[
    list[str],
    typer.Argument(
        metavar="VOTES",
        help="Files with a row for each object and a column for each clustering: CSV, TSV,"
        " Parquet, NPY, NPZ or MAT, gzip or not; - is standard input. Several are one table, in"
        " the order given.",
        show_default=False,
    ),
]
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
Truth = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN|FILE",
        help="True labels to compare with: a column, which then is no vote, or a file.",
        show_default=False,
    ),
]
Linkage = Annotated[
    str | None,
    typer.Option(metavar="average|complete|single", help="How PTA merges.", show_default="average"),
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
Seed = Annotated[int, typer.Option(min=0, help="Seed of whatever is random.")]
Jobs = Annotated[int, typer.Option(help="Threads; -1 is all cores. Labels do not depend on it.")]
IdColumn = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The column that names the objects: its name, its place from 0, or none.",
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of CSV and TSV holds names.",
        show_default="recognised",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="csv|tsv|parquet|npy|npz|mat",
        help="The format of the input.",
        show_default="told from the name",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The array of an NPZ or MAT file that holds the votes.",
        show_default="votes, members, labels or the only one",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def consensus(
    *,
    votes: Votes,
    k: K = None,
    k_range: KRange = None,
    method: Method = "ptgp",
    output: Output = "-",
    confidence: Confidence = False,
    truth: Truth = None,
    linkage: Linkage = None,
    neighbors: Neighbors = None,
    steps: Steps = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    id_column: IdColumn = "auto",
    header: Header = None,
    format: Format = None,  # noqa: A002 - typer makes the option's name of it
    key: Key = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find the consensus of many clusterings.

    Reads a table of votes (one row an object, one column a clustering) and writes a label for
    each object: the id column as given (the row number where there is none), then label, and
    confidence if asked for; with --k-range the columns k2, k3, ... instead.
    """
    with reported(debug=debug), warnings_as_lines():
        start = time.perf_counter()
        ks = wanted_k(k, k_range)
        _check_call(votes, ks, output, format, confidence=confidence)
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
            table = files.read_tables(
                votes,
                format=format,
                id_column=id_column,
                header="auto" if header is None else header,
                key=key,
            )
        table, true_labels = take_truth(table, truth)
        with stage(f"Consensus by {method.upper()}", quiet=quiet):
            ensemble = qr.Ensemble(files.votes_of(table), n_jobs=jobs)
            fitted = estimator(n_clusters=ks[-1], **options).fit(ensemble)
            labels = _labels(fitted, ks, one=k_range is None)
            columns = labels | ({"confidence": fitted.confidence_} if confidence else {})
        files.write_table(output, _with_ids(table, columns, output))
        if true_labels is not None:
            typer.echo(score_table(true_labels, labels, ensemble), err=True)
        if not quiet:
            seconds = time.perf_counter() - start
            typer.echo(_summary(table, fitted, ks, method, seconds), err=True)


def _check_call(
    votes: list[str], ks: list[int], output: str, input_format: str | None, *, confidence: bool
) -> None:
    """Refuse what cannot work before anything is imported or read."""
    from quorate import files

    if votes.count("-") > 1:
        raise WrongCall("Standard input (-) can be read once only.")
    if confidence and len(ks) > 1:
        raise WrongCall("--confidence belongs to one k: give -k, or leave --confidence out.")
    if input_format is not None and input_format.lower() not in files.FORMATS:
        raise WrongCall(f"There is no format {input_format!r}. Known: {', '.join(files.FORMATS)}.")
    try:
        written_as = files.format_to_write(output, None)
    except files.FileFormatError as error:
        raise WrongCall(str(error)) from None
    if confidence and written_as == "npy":
        raise WrongCall(
            "An NPY file holds labels only. For --confidence use .npz, .csv or .parquet."
        )


def _labels(fitted: Any, ks: list[int], *, one: bool) -> dict[str, NDArray[Any]]:
    return {"label": fitted.labels_} if one else {f"k{k}": fitted.cut(k) for k in ks}


def _with_ids(
    table: VoteTable, columns: dict[str, NDArray[Any]], output: str
) -> dict[str, NDArray[Any]]:
    """Return what is written: ids first, except where the format holds labels only."""
    import numpy as np

    from quorate import files

    if files.format_to_write(output, None) == "npy":
        return columns
    if table.ids is None or table.id_name is None:
        return {"row": np.arange(files.n_objects(table)), **columns}
    if table.id_name in columns:
        raise files.FileFormatError(
            f"The id column is called {table.id_name!r}, which is the name of a column of the"
            " output. Rename it."
        )
    return {table.id_name: table.ids, **columns}


def _summary(table: VoteTable, fitted: Any, ks: list[int], method: str, seconds: float) -> str:
    from quorate import files

    named = "" if table.id_name is None else f" (ids from {table.id_name!r})"
    k = f"k = {ks[0]}" if len(ks) == 1 else f"k = {ks[0]} to {ks[-1]}"
    return (
        f"{files.n_objects(table):,} objects{named}, {len(table.names):,} clusterings,"
        f" {fitted.n_microclusters_:,} microclusters, {k}, {method.upper()}: {seconds:.2f} s"
    )
