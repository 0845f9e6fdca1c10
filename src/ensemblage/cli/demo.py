"""``ensemblage demo``: the method on real data that every installation has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ensemblage import METHODS
from ensemblage.cli import options
from ensemblage.cli.errors import UsageError
from ensemblage.cli.output import Clock, format_count, format_table
from ensemblage.cli.session import Session, verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EXAMPLES = """\b
Examples:
  ensemblage demo
  ensemblage demo --members 50 -o demo
  ensemblage consensus demo/votes.csv -k 10 --truth demo/labels.csv
"""

_HEADER = ("", "NMI (max)", "sd", "ARI", "sd", "seconds")
_BASE, _SINGLE, _DEFAULT = "base clusterings", "k-means, n_init=10", "Consensus, the default"
#: Rows of the table, and the names of their methods.
_METHODS = {_DEFAULT: "auto"} | {METHODS.title(name): name for name in ("pta", "ptgp")}


class _Score(NamedTuple):
    """How well one clustering agrees with the true digits, and how long it took."""

    nmi: float
    ari: float
    seconds: float


@verb
def demo(
    session: Session,
    *,
    members: options.Members = 20,
    k: options.K = 10,
    repeats: options.Repeats = 10,
    seed: options.Seed = 0,
    output: options.DemoFolder = None,
) -> None:
    """Show what a consensus is worth, on images of digits.

    Works offline, on the 1,797 handwritten digits that come with scikit-learn. Makes ensembles of
    base clusterings by k-means as EnsembleClustering does, each from its own seed, finds the
    consensus of each by the default method, by PTA and by PTGP, runs k-means alone (the best of
    ten starts), and compares all of them with the true digits. The table shows means and standard
    deviations over the seeds.
    """
    from sklearn.datasets import load_digits

    import ensemblage as en
    from ensemblage import tables

    tables.check_writable("-")
    if output == "":
        raise UsageError("The name of the folder (-o) is empty.")
    folder = None if output is None else Path(output)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    features, digits = load_digits(return_X_y=True)
    with session.stage("Loading"):
        _warm_up(en)
    seeds = session.track(range(seed, seed + repeats), "Ensembles and consensus", repeats)
    runs = [_compare(en, features, digits, members, k, each) for each in seeds]
    scores, votes, models = runs[0]
    if folder is not None:
        _write(folder, votes, models, digits)
    if not session.quiet or folder is None:
        typer.echo(
            f"{format_count(len(digits), 'image')} of digits, k = {k}, means over"
            f" {format_count(repeats, 'ensemble')} of {format_count(members, 'k-means clustering')}"
            "\n"
        )
        _show([_cells(name, [run[0][name] for run in runs]) for name in scores])
        typer.echo(_what_next(folder, k))
    if folder is not None:
        with session.stage("Writing the report"):
            message = _write_report(folder, models[_DEFAULT], features, digits, k, seed)
        if not session.quiet:
            typer.echo(f"\n{message}")


def _warm_up(en: Any) -> None:
    """Load what is loaded on first use, so that the seconds shown are those of the method."""
    en.EnsembleClustering(2, random_state=0).fit([[0.0], [1.0], [4.0], [6.0]])
    for name in _METHODS:
        _fitted(en, name, [[0, 0], [0, 1], [1, 1], [1, 2]], 2, 0)


def _fitted(en: Any, name: str, votes: Any, k: int, seed: int) -> Any:
    """Return a fitted method; the table compares it with the default, so that it need not."""
    from ensemblage.methods import without_comparison

    with without_comparison():
        return en.Consensus(k, method=_METHODS[name], random_state=seed).fit(votes)


def _compare(
    en: Any, features: NDArray[Any], digits: NDArray[Any], members: int, k: int, seed: int
) -> tuple[dict[str, _Score], NDArray[Any], dict[str, Any]]:
    """Make one ensemble and its consensus by each method.

    Returns the scores by row of the table, the votes, and the fitted methods.
    """
    import numpy as np
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    clusterer = en.EnsembleClustering(k, n_members=members, random_state=seed)
    _, whole = _timed(clusterer.fit, features)
    votes = clusterer.votes_
    with threadpool_limits(limits=1):  # its threads wait for each other on busy machines
        single, seconds = _timed(KMeans(k, n_init=10, random_state=seed).fit, features)
    scores = {_SINGLE: _Score(*_agreement(digits, single.labels_), seconds)}
    models = {}
    for name in _METHODS:
        models[name], seconds = _timed(_fitted, en, name, votes, k, seed)
        scores[name] = _Score(*_agreement(digits, models[name].labels_), seconds)
    nmi, ari = np.mean([_agreement(digits, member) for member in votes.T], axis=0)
    making = max(whole - scores[_DEFAULT].seconds, 0.0)  # the rest of that fit is the consensus
    return {_BASE: _Score(nmi, ari, making)} | scores, votes, models


def _timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return the result of a call and the seconds that it took, without those of compiling."""
    clock = Clock()
    result = work(*arguments)
    return result, clock.elapsed().seconds


def _agreement(digits: NDArray[Any], labels: Any) -> tuple[float, float]:
    from ensemblage import metrics

    return metrics.nmi(digits, labels, average="max"), metrics.ari(digits, labels)


def _cells(name: str, scores: list[_Score]) -> list[str]:
    """Return a line of the table: means and standard deviations over the seeds."""
    import numpy as np

    nmi, ari, seconds = np.mean(scores, axis=0)
    spread = np.std(scores, axis=0, ddof=1) if len(scores) > 1 else None
    of_nmi, of_ari = ("", "") if spread is None else (f"{sd:.3f}" for sd in spread[:2])
    return [name, f"{nmi:.3f}", of_nmi, f"{ari:.3f}", of_ari, f"{seconds:.3f}"]


def _show(rows: list[list[str]]) -> None:
    """Print the table: drawn by rich on a terminal, plain text elsewhere."""
    if not sys.stdout.isatty():
        typer.echo(format_table(_HEADER, rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*_HEADER)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row, style="bold" if row[0] == _DEFAULT else None)
    Console().print(table)


def _write(folder: Path, votes: NDArray[Any], models: dict[str, Any], digits: NDArray[Any]) -> None:
    import numpy as np

    from ensemblage import tables

    ids = {"id": np.arange(len(digits))}
    members = {f"kmeans_{place}": member for place, member in enumerate(votes.T, 1)}
    tables.write(folder / "votes.csv", ids | members)
    labels = {METHODS.title(name).lower(): models[row].labels_ for row, name in _METHODS.items()}
    tables.write(folder / "labels.csv", ids | {"truth": digits} | labels)


def _write_report(
    folder: Path, model: Any, features: NDArray[Any], digits: NDArray[Any], k: int, seed: int
) -> str:
    """Write the report of the default consensus; return where it is, or how to get it."""
    from ensemblage import report

    votes, truth = folder / "votes.csv", folder / "labels.csv"
    path = folder / "report.html"
    try:
        report.write(
            model,
            path,
            features=features,
            truth=digits,
            names=[f"kmeans_{place}" for place in range(1, model.n_features_in_ + 1)],
            title="Handwritten digits",
            command=f"ensemblage report {votes} -k {k} --seed {seed} --truth {truth} -o {path}",
        )
    except ImportError as error:
        return f"No report was written. {error}"
    return f"A report to open in a browser: {path}"


def _what_next(folder: Path | None, k: int) -> str:
    where = Path("demo") if folder is None else folder
    consensus = f"ensemblage consensus {where / 'votes.csv'} --truth {where / 'labels.csv'}"
    lines = [
        ("These votes as files:", f"ensemblage demo -o {where}"),
        ("Their consensus:", f"{consensus} -k {k} -o consensus.csv"),
        ("Several k at once:", f"{consensus} --k-range 2:20 -o consensus_by_k.csv"),
        ("A report on them:", f"ensemblage report {where / 'votes.csv'} -k {k} -o report.html"),
    ]
    shown = lines[:2] if folder is None else lines[1:]
    return "\nTry next\n" + "\n".join(f"  {what:<22}{command}" for what, command in shown)
