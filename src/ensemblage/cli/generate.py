"""``ensemblage generate``: features in, a pool of base clusterings out."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ensemblage.cli import _arguments as arguments
from ensemblage.cli import _words
from ensemblage.cli._clock import Clock, Took
from ensemblage.cli._errors import WrongCall, reported
from ensemblage.cli._features import read_features
from ensemblage.cli._json import check_json, print_json
from ensemblage.cli._options import ends_of_range, one_of, whole
from ensemblage.cli._progress import stage, track
from ensemblage.cli._tables import counted
from ensemblage.cli._votes import check_apart, check_call
from ensemblage.cli._warnings import warn, warnings_as_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ensemblage.cli._features import Features

EXAMPLES = """\b
Examples:
  ensemblage generate cells.csv -m 100 -k 10 -o pool.parquet
  ensemblage generate cells.csv -m 200 --method kmeans,rpcl --scale standard -o pool.mat
  ensemblage generate PD -m 100 --method kmeans,rpcl --truth truth -o pool.csv
  ensemblage consensus pool.csv -k 10 --truth truth -o labels.csv

\b
After an interruption, the same command goes on where it stopped.
"""

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Files with a row for each object and a column for each feature: CSV, TSV, Parquet,"
        " NPY, NPZ or MAT, gzip or not; - is standard input. Several are one table, in the order"
        " given. Or, where there is no such file, the name of one of the paper's datasets.",
        show_default=False,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="POOL",
        help="Where the clusterings go: .parquet, .csv, .tsv (also .gz), .npy, .npz, .mat; - is"
        " standard output.",
        show_default=False,
    ),
]
Members = Annotated[
    int,
    typer.Option(
        "-m",
        "--members",
        metavar="INT",
        parser=whole("--members", 1),
        help="How many clusterings.",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        metavar="kmeans|rpcl|NAME,NAME",
        help="What makes them; several take turns.",
        autocompletion=_words.completes_list(*_words.GENERATORS),
    ),
]
K = Annotated[
    int | None,
    typer.Option(
        "-k",
        "--clusters",
        metavar="INT",
        parser=whole("-k", 1),
        help="How many clusters the consensus will have. Each clustering then has twice to four"
        " times as many, or more where there are many objects.",
        show_default=False,
    ),
]
KRange = Annotated[
    str | None,
    typer.Option(
        metavar="LOW:HIGH",
        help="Each clustering has a random number of clusters in this range.",
        show_default="2 to half the root of the number of objects, at most 50",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="minmax|standard",
        help="Scale each feature first.",
        show_default="as they are",
        autocompletion=_words.completes(*_words.SCALES),
    ),
]
Subspace = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE|INT",
        help="Each clustering sees this share of the features (0.5), or this many of them (10).",
        show_default="all",
    ),
]
Projection = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE|INT",
        help="Each clustering sees the features projected on so many random directions.",
        show_default="not projected",
    ),
]
Subsample = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Each clustering sees this share of the objects, and has no vote on the others.",
        show_default="all",
    ),
]
Truth = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN|FILE",
        help="True classes, which are no feature and are written along: a column, or a file.",
        show_default=False,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop", metavar="NAME", help="A column that is no feature. Can be given several times."
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Where finished clusterings are kept meanwhile.",
        show_default="POOL.parts, removed in the end",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The array of an NPZ or MAT file that holds the features.",
        show_default="X, features, data, fea or the only one",
    ),
]


def generate(
    *,
    data: Data,
    output: Output,
    members: Members = 100,
    method: Method = "kmeans",
    k: K = None,
    k_range: KRange = None,
    scale: Scale = None,
    subspace: Subspace = None,
    projection: Projection = None,
    subsample: Subsample = None,
    truth: Truth = None,
    drop: Drop = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    checkpoint: Checkpoint = None,
    id_column: arguments.IdColumn = "auto",
    header: arguments.Header = None,
    format: arguments.Format = None,  # noqa: A002 - typer makes the option's name of it
    key: Key = None,
    as_json: arguments.Json = False,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Make many clusterings of objects from their features.

    Reads features (one row an object, one column a feature, all of them numbers) and writes a
    column for each clustering: kmeans_001, kmeans_002, ..., beside the ids.
    """
    with reported(debug=debug), warnings_as_lines():
        clock = Clock()
        check_call(data, input_format=format, jobs=jobs)
        methods = _chosen(method)
        if k is not None and k_range is not None:
            raise WrongCall(
                "-k says how many clusters the consensus will have, --k-range how many each"
                " clustering has. Give one of them."
            )
        options: dict[str, Any] = {
            "n_clusters": k,
            "n_clusters_range": None if k_range is None else ends_of_range(k_range),
            "scale": one_of("--scale", scale, _words.SCALES),
            "subspace": _amount("--subspace", subspace),
            "projection": _amount("--projection", projection),
            "subsample": _amount("--subsample", subsample, share_only=True),
        }
        _check_output(output, truth)
        check_json(output, as_json=as_json)
        check_apart(output, [*data, truth])
        from ensemblage import ensembles, files
        from ensemblage._validate import Features as NamedFeatures
        from ensemblage.ensembles._checkpoint import COMMAND_LOCK, alone, remove_folder

        files.check_pool_writable(output)
        with stage("Reading features", quiet=quiet):
            features = read_features(
                data,
                truth=truth,
                drop=drop or (),
                input_format=format,
                id_column=id_column,
                header=header,
                key=key,
                classes_apart=files.pool_format(output) in ("npz", "mat"),
            )
        if features.scale is not None and scale is None:
            warn(f"the paper's authors clustered these data with --scale {features.scale}.")
        _check_sizes(features.matrix, options)
        width = max(3, len(str(members)))
        names = [f"{methods[i % len(methods)]}_{i + 1:0{width}d}" for i in range(members)]
        _check_names(features, names, output)
        parts = _parts(output, checkpoint)
        options |= {"method": methods, "random_state": seed, "n_jobs": jobs}
        named = NamedFeatures(features.matrix, None, names=features.names)
        found = ensembles.members(named, members, checkpoint=parts, **options)
        with nullcontext() if parts is None else alone(parts, COMMAND_LOCK):
            votes = _votes(found, (len(features.matrix), members), parts, quiet=quiet)
            _warn_of_silent(votes)
            files.write_pool(output, votes, names, ids=features.ids, truth=features.truth)
            if parts is not None and checkpoint is None:
                remove_folder(parts)
        took = clock.took()
        if as_json:
            print_json("generate", _facts(features, votes, methods, output, took))
        elif not quiet:
            typer.echo(_summary(features, votes, output, took), err=True)


def _chosen(method: str) -> list[str]:
    names = [name.strip().lower() for name in method.split(",") if name.strip()]
    for name in names:
        if name not in _words.GENERATORS:
            hint = _words.did_you_mean(name, _words.GENERATORS)
            known = ", ".join(_words.GENERATORS)
            raise WrongCall(f"There is no method {name!r}.{hint} Known: {known}.")
    if not names:
        raise WrongCall("--method needs names with commas between them, as in kmeans,rpcl.")
    return names


def _amount(option: str, text: str | None, *, share_only: bool = False) -> float | None:
    """Return a share (a number with a point, up to 1.0) or a count."""
    if text is None:
        return None
    if text.strip().isdecimal() and not share_only and int(text) >= 1:
        return int(text)
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if 0 < share <= 1:
        return share
    what = "a share" if share_only else "a whole number from 1 on, or a share"
    raise WrongCall(f"{option} is {what} above 0 and up to 1.0, as in 0.5. Found {text!r}.")


def _check_output(output: str, truth: str | None) -> None:
    """Refuse an output that cannot hold what was asked for."""
    from ensemblage import files

    try:
        chosen = files.pool_format(output)
    except files.FileFormatError as error:
        raise WrongCall(str(error)) from None
    if chosen == "npy" and truth is not None:
        raise WrongCall(
            "An NPY file holds votes only. For --truth use .parquet, .csv, .npz or .mat."
        )


def _check_sizes(matrix: NDArray[Any], options: dict[str, Any]) -> None:
    """Refuse more clusters than objects, or more features than there are."""
    n_objects, n_features = matrix.shape
    bounds, subspace = options["n_clusters_range"], options["subspace"]
    if bounds is not None and bounds[0] > n_objects:
        raise ValueError(
            f"--k-range {bounds[0]}:{bounds[1]} asks for at least {bounds[0]} clusters, but there"
            f" are only {n_objects} object(s). Lower the range."
        )
    seen = subspace if isinstance(subspace, int) else n_features
    for option, limit in (("subspace", n_features), ("projection", min(seen, n_features))):
        if isinstance(options[option], int) and options[option] > limit:
            raise ValueError(
                f"--{option} {options[option]}: there are only {limit} feature(s) to choose from."
                f" Ask for at most {limit}, or for a share, as in 0.5."
            )


def _check_names(features: Features, names: list[str], output: str) -> None:
    """Refuse ids or classes whose column is called as another of the output."""
    from ensemblage import files

    if files.pool_format(output) in ("npy", "npz", "mat"):
        return
    taken = [features.ids.name, *([] if features.truth is None else [features.truth.name])]
    for name in taken:
        if name in names or taken.count(name) > 1:
            raise files.FileFormatError(
                f"Two columns of the output would be called {name!r}. Rename that column of the"
                " input."
            )


def _parts(output: str, checkpoint: str | None) -> Path | None:
    """Return the folder for finished clusterings; a pipe has no place beside it."""
    if checkpoint is not None:
        return Path(checkpoint)
    target = Path(output)
    is_file = output not in ("-", "/dev/stdout") and (target.is_file() or not target.exists())
    return target.with_name(f"{target.name}.parts") if is_file else None


def _votes(
    found: Iterable[tuple[int, NDArray[Any]]],
    shape: tuple[int, int],
    parts: Path | None,
    *,
    quiet: bool,
) -> NDArray[Any]:
    """Return the clusterings, one a column; what is finished is kept in `parts` meanwhile."""
    import numpy as np

    members = shape[1]
    before = _n_kept(parts, members)
    if before and not quiet:
        typer.echo(f"Going on: {before} of {members} clusterings are in {parts}.", err=True)
    votes = np.empty(shape, dtype=np.int8)
    try:
        for index, labels in track(found, "Clustering", total=members, quiet=quiet):
            if labels.dtype.itemsize > votes.dtype.itemsize:
                votes = votes.astype(labels.dtype)
            votes[:, index] = labels
    except KeyboardInterrupt:
        if parts is not None:
            warn(
                f"{_n_kept(parts, members)} of {members} clusterings are kept in {parts}. The same"
                " command goes on from there."
            )
        raise
    return votes


def _n_kept(parts: Path | None, members: int) -> int:
    return 0 if parts is None else min(members, len(list(parts.glob("member-*.npy"))))


def _warn_of_silent(votes: NDArray[Any]) -> None:
    silent = int((votes < 0).all(axis=1).sum())
    if silent:
        warn(
            f"{silent} object(s) have no vote in any clustering, and a consensus would refuse"
            " them. Make more clusterings, or let each see a larger share (--subsample)."
        )


def _facts(
    features: Features, votes: NDArray[Any], methods: list[str], output: str, took: Took
) -> dict[str, Any]:
    """Return what the summary tells, for machines; `n_clusters` has a number for each column."""
    n_objects, n_features = features.matrix.shape
    return {
        "methods": methods,
        "n_objects": n_objects,
        "n_features": n_features,
        "n_clusterings": votes.shape[1],
        "n_clusters": votes.max(axis=0).astype(int) + 1,
        "id_column": features.id_name,
        "truth": None if features.truth is None else features.truth.name,
        "output": output,
        **took.facts(),
    }


def _summary(features: Features, votes: NDArray[Any], output: str, took: Took) -> str:
    found = votes.max(axis=0).astype(int) + 1
    where = "standard output" if output == "-" else output
    n, width = features.matrix.shape
    named = "" if features.id_name is None else f" (ids from {features.id_name!r})"
    return (
        f"{counted(n, 'object')}{named}, {counted(width, 'feature')},"
        f" {counted(votes.shape[1], 'clustering')} with"
        f" {found.min()} to {found.max()} clusters in {where}: {took}"
    )
