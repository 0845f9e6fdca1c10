"""``ensemblage demo``: the method on real data that every installation has."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ensemblage.cli import _arguments as arguments  # noqa: TC001 - typer reads annotations
from ensemblage.cli._errors import WrongCall, reported
from ensemblage.cli._options import whole
from ensemblage.cli._progress import stage
from ensemblage.cli._tables import aligned
from ensemblage.cli._warnings import warnings_as_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXAMPLES = """\b
Examples:
  ensemblage demo
  ensemblage demo --members 50 -o demo
  ensemblage consensus demo/votes.csv -k 10 --truth demo/labels.csv
"""

_HEADER = ("", "NMI (max)", "ARI", "seconds")
_SINGLE_RUNS = 5

Members = Annotated[
    int,
    typer.Option(
        "-m",
        "--members",
        metavar="INT",
        parser=whole("--members", 1),
        help="How many base clusterings to make.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="DIR",
        help="Write votes.csv, labels.csv (truth, PTA, PTGP) and report.html to this folder.",
    ),
]


class _Row(NamedTuple):
    """A line of the table; seconds are given for a consensus only."""

    name: str
    nmi: float
    ari: float
    seconds: float | None = None


def demo(
    *,
    members: Members = 20,
    k: arguments.K = 10,
    seed: arguments.Seed = 0,
    output: Output = None,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Show what a consensus is worth, on images of digits.

    Works offline, on the 1,797 handwritten digits that come with scikit-learn. Makes base
    clusterings by k-means with random numbers of clusters, finds their consensus by PTA and by
    PTGP, and compares all of them with the true digits.
    """
    with reported(debug=debug), warnings_as_lines():
        import ensemblage as en
        from ensemblage import files

        files.check_writable("-")
        folder = None if output is None else _new_folder(output)
        features, digits = _digits()
        votes = en.ensembles.generate(features, members, random_state=seed, progress=not quiet)
        rows = [*_base_rows(votes, digits), _single_row(features, digits, k, seed)]
        with stage("Preparing kernels", quiet=quiet):
            _warm_up(en)
        labels = {}
        for name, estimator in {"pta": en.PTA(k), "ptgp": en.PTGP(k, random_state=seed)}.items():
            with stage(f"Consensus by {name.upper()}", quiet=quiet):
                start = time.perf_counter()
                labels[name] = estimator.fit(votes).labels_
                seconds = time.perf_counter() - start
            rows.append(_row(f"{name.upper()} consensus", digits, labels[name], seconds))
        if folder is not None:
            _write(folder, votes, digits, labels)
        if not quiet or folder is None:
            typer.echo(
                f"{len(votes):,} images of digits, {members} base clusterings by k-means,"
                f" {estimator.n_microclusters_:,} microclusters, k = {k}\n"
            )
            _show(rows)
            typer.echo(_what_next(folder, k))
        if folder is not None:
            _write_report(folder, estimator, features, digits, k, seed, quiet=quiet)


def _new_folder(output: str) -> Path:
    if not output:
        raise WrongCall("The name of the folder (-o) is empty.")
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digits() -> tuple[NDArray[Any], NDArray[Any]]:
    from sklearn.datasets import load_digits

    features, digits = load_digits(return_X_y=True)
    return features, digits


def _kmeans(features: NDArray[Any], k: int, seed: int) -> NDArray[Any]:
    from sklearn.cluster import KMeans

    model = KMeans(k, n_init=1, init="random", random_state=seed).fit(features)
    labels: NDArray[Any] = model.labels_
    return labels


def _warm_up(en: Any) -> None:
    """Compile or load the kernels, so that the seconds shown are those of the method."""
    tiny = [[0, 0], [0, 1], [1, 1], [1, 2]]
    en.PTA(2).fit(tiny)
    en.PTGP(2, random_state=0).fit(tiny)


def _row(name: str, truth: NDArray[Any], labels: Any, seconds: float | None = None) -> _Row:
    from ensemblage import metrics

    nmi = metrics.nmi(truth, labels, average="max")
    return _Row(name, nmi, metrics.ari(truth, labels), seconds)


def _base_rows(votes: NDArray[Any], digits: NDArray[Any]) -> list[_Row]:
    scores = [_row("", digits, member) for member in votes.T]
    best = max(scores, key=lambda row: row.nmi)
    return [_mean("base clusterings, mean", scores), best._replace(name="base clusterings, best")]


def _single_row(features: NDArray[Any], digits: NDArray[Any], k: int, seed: int) -> _Row:
    runs = [_kmeans(features, k, seed + run) for run in range(_SINGLE_RUNS)]
    return _mean(f"k-means at k = {k}, mean of {_SINGLE_RUNS}", [_row("", digits, r) for r in runs])


def _mean(name: str, rows: list[_Row]) -> _Row:
    return _Row(
        name, sum(row.nmi for row in rows) / len(rows), sum(row.ari for row in rows) / len(rows)
    )


def _cells(row: _Row) -> list[str]:
    seconds = "" if row.seconds is None else f"{row.seconds:.3f}"
    return [row.name, f"{row.nmi:.3f}", f"{row.ari:.3f}", seconds]


def _show(rows: list[_Row]) -> None:
    """Print the table: drawn by rich on a terminal, plain text elsewhere."""
    if not sys.stdout.isatty():
        typer.echo(aligned(_HEADER, [_cells(row) for row in rows]))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*_HEADER)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*_cells(row), style="bold" if row.seconds is not None else None)
    Console().print(table)


def _write(
    folder: Path, votes: NDArray[Any], digits: NDArray[Any], labels: dict[str, NDArray[Any]]
) -> None:
    import numpy as np

    from ensemblage import files

    ids = {"id": np.arange(len(votes))}
    members = {f"kmeans_{place}": member for place, member in enumerate(votes.T, 1)}
    files.write_table(folder / "votes.csv", ids | members)
    files.write_table(folder / "labels.csv", ids | {"truth": digits} | labels)


def _write_report(
    folder: Path,
    model: Any,
    features: NDArray[Any],
    digits: NDArray[Any],
    k: int,
    seed: int,
    *,
    quiet: bool,
) -> None:
    """Write the report of the last consensus; tell where it is, or how to get it."""
    from ensemblage import report

    votes, truth = folder / "votes.csv", folder / "labels.csv"
    path = folder / "report.html"
    command = f"ensemblage report {votes} -k {k} --seed {seed} --truth {truth} -o {path}"
    try:
        with stage("Writing the report", quiet=quiet):
            report.write(
                model,
                path,
                features=features,
                truth=digits,
                names=[f"kmeans_{place}" for place in range(1, model.n_features_in_ + 1)],
                title="Handwritten digits",
                command=command,
            )
    except ImportError as error:
        told = f"\nNo report was written. {error}"
    else:
        told = f"\nA report to open in a browser: {path}"
    if not quiet:
        typer.echo(told)


def _what_next(folder: Path | None, k: int) -> str:
    where = Path("demo") if folder is None else folder
    consensus = f"ensemblage consensus {where / 'votes.csv'} --truth {where / 'labels.csv'}"
    lines = [
        ("These votes as files:", f"ensemblage demo -o {where}"),
        ("Their consensus:", f"{consensus} -k {k} -o consensus.csv"),
        ("Several k at once:", f"{consensus} --k-range 2:20 -o consensus_by_k.csv"),
        ("A report on them:", f"ensemblage report {where / 'votes.csv'} -k auto -o report.html"),
    ]
    shown = lines[:2] if folder is None else lines[1:]
    return "\nTry next\n" + "\n".join(f"  {what:<22}{command}" for what, command in shown)
