"""``ensemblage demo``: the method on real data that every installation has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage._messages import counted
from ensemblage.cli import options
from ensemblage.cli.errors import UsageError
from ensemblage.cli.output import format_table, say
from ensemblage.cli.session import Session, verb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.experiments.digits import Run, Score

EXAMPLES = """\b
Examples:
  ensemblage demo
  ensemblage demo --members 50 -o demo
  ensemblage consensus demo/votes.csv -k 10 --truth demo/labels.csv
"""

_HEADER = ("", "NMI (max)", "sd", "ARI", "sd", "seconds")


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
    """Compare a consensus with k-means on images of digits.

    Works offline, on the 1,797 handwritten digits that come with scikit-learn. Makes ensembles of
    base clusterings by k-means as EnsembleClustering does, each from its own seed, finds the
    consensus of each by the default method, by PTA and by PTGP, runs k-means alone (the best of
    ten starts), and compares all of them with the true digits. The table shows means and standard
    deviations over the seeds.
    """
    from sklearn.datasets import load_digits

    from ensemblage import tables
    from ensemblage.experiments import digits as experiment

    tables.check_writable("-")
    if output == "":
        raise UsageError("The name of the folder (-o) is empty.")
    folder = None if output is None else Path(output)
    if folder is not None:
        if folder.is_file():
            raise FileExistsError(f"-o {output} is a file, but demo writes several. Name a folder.")
        folder.mkdir(parents=True, exist_ok=True)
    features, digits = load_digits(return_X_y=True)
    with session.stage("Loading"):
        experiment.warm_up()
    seeds = session.track(range(seed, seed + repeats), "Ensembles and consensus", repeats)
    runs = [experiment.compare(features, digits, members, k, each) for each in seeds]
    first = runs[0]
    if folder is not None:
        _write(folder, first, digits)
    if not session.quiet or folder is None:
        say(
            f"{counted(len(digits), 'image')} of digits, k = {k}, means over"
            f" {counted(repeats, 'ensemble')} of {counted(members, 'k-means clustering')}"
            "\n"
        )
        rows = [_cells(name, [run.scores[name] for run in runs]) for name in first.scores]
        say(format_table(_HEADER, rows))
        say(_what_next(folder, k))
    if folder is not None:
        with session.stage("Writing the report"):
            message = _write_report(
                folder, first.models[experiment.DEFAULT], features, digits, k, seed
            )
        if not session.quiet:
            say(f"\n{message}")


def _cells(name: str, scores: list[Score]) -> list[str]:
    """Return a line of the table: means and standard deviations over the seeds."""
    import numpy as np

    nmi, ari, seconds = np.mean(scores, axis=0)
    spread = np.std(scores, axis=0, ddof=1) if len(scores) > 1 else None
    of_nmi, of_ari = ("", "") if spread is None else (f"{sd:.3f}" for sd in spread[:2])
    return [name, f"{nmi:.3f}", of_nmi, f"{ari:.3f}", of_ari, f"{seconds:.3f}"]


def _write(folder: Path, run: Run, digits: NDArray[Any]) -> None:
    import numpy as np

    from ensemblage import METHODS, tables
    from ensemblage.experiments.digits import ROWS

    ids = {"id": np.arange(len(digits))}
    members = {f"kmeans_{place}": member for place, member in enumerate(run.votes.T, 1)}
    tables.write(folder / "votes.csv", ids | members)
    labels = {METHODS.title(ROWS[row]).lower(): one.labels_ for row, one in run.models.items()}
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
