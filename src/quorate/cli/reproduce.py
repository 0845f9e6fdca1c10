"""``quorate reproduce``: the paper's tables and figures, run and rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quorate.cli import _arguments as arguments  # noqa: TC001 - typer reads annotations
from quorate.cli._errors import INTERRUPTED, WrongCall, reported
from quorate.cli._warnings import warnings_as_lines

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = """\b
Examples:
  quorate reproduce --quick all
  quorate reproduce comparison --datasets MF,IS --runs 20
  quorate reproduce pta-parameters ptgp-parameters --pools authors --out results
  quorate reproduce all --render
"""

Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="TABLE... | all",
        help="link-weights, datasets, microclusters, preserved-links, pta-parameters,"
        " ptgp-parameters, base-clusterings, comparison, ensemble-size, execution-time, ranking.",
        show_default=False,
    ),
]
Datasets = Annotated[
    str | None,
    typer.Option(metavar="NAME,NAME,...", help="Which datasets.", show_default="the paper's ten"),
]
Runs = Annotated[
    int | None,
    typer.Option(min=1, help="How many draws.", show_default="as the paper: 20 or 100"),
]
Pools = Annotated[
    str | None,
    typer.Option(
        metavar="authors|own",
        help="Where ensembles are drawn from; own pools are made from the features.",
        show_default="authors' where at hand, else own",
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="Two draws, two datasets, small own pools: a look at everything in minutes."
    ),
]
Out = Annotated[str, typer.Option(metavar="DIR", help="Records, own pools and results.")]
Render = Annotated[
    bool, typer.Option("--render", help="Run nothing; make tables and figures of the records.")
]
Jobs = Annotated[int, typer.Option(help="Processes; -1 is all cores. Scores do not depend on it.")]


def reproduce(
    *,
    tables: Tables,
    datasets: Datasets = None,
    runs: Runs = None,
    pools: Pools = None,
    quick: Quick = False,
    out: Out = "reproduced",
    render: Render = False,
    jobs: Jobs = -1,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Run the experiments of the paper and show them beside its numbers.

    Each finished run is recorded at once: stop it whenever you like, and the same command goes on
    from there. Everything lands in one folder, with an index.html that shows all of it.
    """
    with reported(debug=debug), warnings_as_lines():
        if jobs == 0:
            raise WrongCall("--jobs is a number of processes from 1 on, or -1 for all. Found 0.")
        if not out:
            raise WrongCall("The name of the folder (--out) is empty.")
        if pools not in (None, "authors", "own"):
            raise WrongCall(f"--pools is authors or own. Found {pools!r}.")
        from pathlib import Path

        from quorate import experiments

        names = _chosen(tables, list(experiments.EXPERIMENTS))
        folder = Path(out)
        if render:
            _check_records(folder)
            index = experiments.render(folder, pools)
        else:
            plan = experiments.Plan(_datasets(datasets), runs, pools, quick)
            try:
                index = experiments.reproduce(folder, names, plan, n_jobs=jobs, progress=not quiet)
            except KeyboardInterrupt:
                kept = f"Finished runs are kept in {folder}; the same command goes on from there."
                typer.echo(f"Interrupted. {kept}", err=True)
                raise typer.Exit(INTERRUPTED) from None
        if not quiet:
            typer.echo(f"Open {index}")


def _chosen(tables: list[str], known: list[str]) -> list[str]:
    names = [name.lower() for name in tables]
    if "all" in names:
        return known
    for name in names:
        if name not in known:
            raise WrongCall(f"There is no table {name!r}. Known: {', '.join(known)}, all.")
    return [name for name in known if name in names]


def _datasets(text: str | None) -> tuple[str, ...] | None:
    from quorate.datasets import NAMES

    if text is None:
        return None
    known = {name.lower().replace("_", "-"): name for name in NAMES}
    found = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        name = known.get(word.lower().replace("_", "-"))
        if name is None:
            raise WrongCall(f"There is no dataset {word!r}. Known: {', '.join(NAMES)}.")
        found.append(name)
    if not found:
        raise WrongCall("--datasets needs names with commas between them, as in MF,IS.")
    return tuple(dict.fromkeys(found))


def _check_records(folder: Path) -> None:
    from quorate.experiments import records

    if not records.read(folder):
        raise ValueError(f"There are no records in {folder}. Run without --render first.")
