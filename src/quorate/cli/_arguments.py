"""The arguments that several verbs share, as typer reads them."""

from __future__ import annotations

from typing import Annotated

import typer

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
Truth = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN|FILE",
        help="True labels to compare with: a column, which then is no vote, or a file.",
        show_default=False,
    ),
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
