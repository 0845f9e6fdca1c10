"""``ensemblage reproduce``: the paper's tables and figures, run and rendered."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from ensemblage.cli import _arguments as arguments
from ensemblage.cli import _words
from ensemblage.cli._errors import INTERRUPTED, WrongCall, reported
from ensemblage.cli._json import check_json, print_json
from ensemblage.cli._options import one_of, whole
from ensemblage.cli._warnings import warnings_as_lines

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = """\b
Examples:
  ensemblage reproduce --quick all
  ensemblage reproduce comparison --datasets MF,IS --runs 20
  ensemblage reproduce pta-parameters ptgp-parameters --pools authors -o results
  ensemblage reproduce all --render
"""

Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="TABLE... | all",
        help=f"{', '.join(_words.TABLES)}.",
        show_default=False,
        autocompletion=_words.completes(*_words.TABLES, "all"),
    ),
]
Datasets = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,...",
        help="Which datasets.",
        show_default="the paper's ten",
        autocompletion=_words.completes_list(*_words.DATASETS),
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        metavar="INT",
        parser=whole("--runs", 1),
        help="How many draws.",
        show_default="as the paper: 20 or 100",
    ),
]
Pools = Annotated[
    str | None,
    typer.Option(
        metavar="authors|own",
        help="Where ensembles are drawn from; own pools are made from the features.",
        show_default="authors' where at hand, else own",
        autocompletion=_words.completes(*_words.POOLS),
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="Two draws, two datasets, small own pools: a look at everything in minutes."
    ),
]
Output = Annotated[
    str,
    typer.Option("-o", "--output", "--out", metavar="DIR", help="Records, own pools and results."),
]
Render = Annotated[
    bool, typer.Option("--render", help="Run nothing; make tables and figures of the records.")
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="INT",
        parser=whole("--jobs"),
        help="Processes; -1 is all cores. Scores do not depend on it.",
    ),
]


def reproduce(
    *,
    tables: Tables,
    datasets: Datasets = None,
    runs: Runs = None,
    pools: Pools = None,
    quick: Quick = False,
    output: Output = "reproduced",
    render: Render = False,
    jobs: Jobs = -1,
    as_json: arguments.Json = False,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Run the paper's experiments, beside its numbers.

    Each finished run is recorded at once: stop it whenever you like, and the same command goes on
    from there. Everything lands in one folder, with an index.html that shows all of it.
    """
    with reported(debug=debug), warnings_as_lines():
        start = time.perf_counter()
        if jobs == 0:
            raise WrongCall("--jobs is a number of processes from 1 on, or -1 for all. Found 0.")
        if not output:
            raise WrongCall("The name of the folder (-o) is empty.")
        pools = one_of("--pools", pools, _words.POOLS)
        check_json(None, as_json=as_json)
        from pathlib import Path

        from ensemblage import experiments

        names = _chosen(tables, list(experiments.EXPERIMENTS))
        folder = Path(output)
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
        if as_json:
            facts = {
                "tables": names,
                "rendered_only": render,
                "output": output,
                "index": str(index),
                "seconds": round(time.perf_counter() - start, 4),
            }
            print_json("reproduce", facts)
        elif not quiet:
            typer.echo(f"Open {index}")


def _chosen(tables: list[str], known: list[str]) -> list[str]:
    names = [name.lower() for name in tables]
    if "all" in names:
        return known
    for name in names:
        if name not in known:
            hint = _words.did_you_mean(name, [*known, "all"])
            raise WrongCall(f"There is no table {name!r}.{hint} Known: {', '.join(known)}, all.")
    return [name for name in known if name in names]


def _datasets(text: str | None) -> tuple[str, ...] | None:
    from ensemblage.datasets import NAMES

    if text is None:
        return None
    known = {name.lower().replace("_", "-"): name for name in NAMES}
    found = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        name = known.get(word.lower().replace("_", "-"))
        if name is None:
            hint = _words.did_you_mean(word, NAMES)
            raise WrongCall(f"There is no dataset {word!r}.{hint} Known: {', '.join(NAMES)}.")
        found.append(name)
    if not found:
        raise WrongCall("--datasets needs names with commas between them, as in MF,IS.")
    return tuple(dict.fromkeys(found))


def _check_records(folder: Path) -> None:
    from ensemblage.experiments import records

    if not records.read(folder):
        raise ValueError(f"There are no records in {folder}. Run without --render first.")
