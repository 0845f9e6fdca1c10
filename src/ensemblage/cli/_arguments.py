"""The arguments that several verbs share, as typer reads them."""

from __future__ import annotations

from typing import Annotated

import typer

from ensemblage.cli import _words
from ensemblage.cli._options import whole

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
KOrAuto = Annotated[
    str,
    typer.Option(
        "-k",
        "--clusters",
        metavar="INT|auto",
        help="How many clusters; auto chooses, and says why.",
        show_default=False,
    ),
]
K = Annotated[
    int,
    typer.Option(
        "-k", "--clusters", metavar="INT", parser=whole("-k", 1), help="How many clusters."
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        help="The consensus method; auto suits most data.",
        autocompletion=_words.completes(*_words.METHODS),
    ),
]
BySize = Annotated[
    bool,
    typer.Option(
        "--by-size", help="Number the clusters by size, the largest 0; else by first appearance."
    ),
]
Linkage = Annotated[
    str | None,
    typer.Option(
        metavar="average|complete|single",
        help="How agglomerative methods merge.",
        show_default="average",
        autocompletion=_words.completes(*_words.LINKAGES),
    ),
]
Neighbors = Annotated[
    str | None,
    typer.Option(
        metavar="auto|all|INT",
        help="Links kept at each microcluster.",
        show_default="auto",
        autocompletion=_words.completes("auto", "all"),
    ),
]
Steps = Annotated[
    str | None,
    typer.Option(
        metavar="auto|INT",
        help="Length of the random walks.",
        show_default="auto",
        autocompletion=_words.completes("auto"),
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="cpu|cuda|auto",
        help="Where PTA and PTGP compute the walks; auto takes a GPU where it pays.",
        show_default="cpu",
        autocompletion=_words.completes(*_words.DEVICES),
    ),
]
Seed = Annotated[
    int,
    typer.Option(metavar="INT", parser=whole("--seed", 0), help="Seed of whatever is random."),
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="INT",
        parser=whole("--jobs"),
        help="Threads; -1 is all cores. Labels do not depend on it.",
    ),
]
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
        autocompletion=_words.completes(*_words.FORMATS),
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
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the summary as JSON, on standard output."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
