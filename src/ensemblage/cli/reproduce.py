"""``ensemblage reproduce``: the paper's tables and figures, run and rendered."""

from __future__ import annotations

from pathlib import Path

import typer

from ensemblage.cli import options
from ensemblage.cli.errors import INTERRUPTED, UsageError
from ensemblage.cli.output import say
from ensemblage.cli.session import JsonSession, verb

EXAMPLES = """\b
Examples:
  ensemblage reproduce --quick all
  ensemblage reproduce table9 --datasets MF,IS --runs 20
  ensemblage reproduce pta-parameters --pools authors -o results
  ensemblage reproduce all --render
  ensemblage reproduce all --check 50 -o docs/results
"""


@verb
def reproduce(
    session: JsonSession,
    *,
    tables: options.Tables,
    datasets: options.Datasets = None,
    runs: options.Runs = None,
    pools: options.Pools = None,
    quick: options.Quick = False,
    uncapped: options.Uncapped = False,
    output: options.RecordFolder = "reproduced",
    render: options.Render = False,
    check: options.CheckSome = None,
    jobs: options.Jobs = -1,
) -> None:
    """Run the paper's experiments and compare with its numbers.

    Each finished run is recorded at once: stop at any time, and the same command resumes from
    there. All results are in one folder, with an index.html that shows them.
    """
    if not output:
        raise UsageError("The name of the folder (-o) is empty.")
    if render and check:
        raise UsageError("--render and --check cannot be combined. Use one after the other.")
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"-o must be a folder, got the file {output!r}. Choose another name.")
    session.check_json(None)
    from ensemblage import experiments
    from ensemblage.experiments import records

    asked = {experiments.ALIASES.get(name, name) for name in tables}
    names = [name for name in experiments.EXPERIMENTS if name in asked or "all" in asked]
    if (render or check) and not records.read(folder):
        option = "--render" if render else "--check"
        raise ValueError(f"There are no records in {folder}. Run without {option} first.")
    if check:
        return _check(session, folder, check)
    if render:
        index = experiments.render(folder, pools)
    else:
        chosen = tuple(datasets) if datasets else None
        plan = experiments.Plan(chosen, runs, pools, quick, uncapped=uncapped)
        try:
            index = experiments.reproduce(
                folder, names, plan, n_jobs=jobs, progress=not session.quiet
            )
        except KeyboardInterrupt:
            kept = f"Finished runs are kept in {folder}; the same command resumes from there."
            say(f"Interrupted. {kept}", err=True)
            raise typer.Exit(INTERRUPTED) from None
    facts = {
        "tables": names,
        "rendered_only": render,
        "output": output,
        "index": str(index),
        "seconds": round(session.clock.elapsed().seconds, 4),
    }
    session.finish("reproduce", facts, f"Open {index}", err=False)
    return None


def _check(session: JsonSession, folder: Path, n_records: int) -> None:
    """Run records again; exit with status 1 if a result differs."""
    from ensemblage import experiments

    n_checked, differences = experiments.check(folder, n_records)
    for task, score, gap in differences:
        say(f"{score} differs by {gap:.2g}: {task}", err=True)
    facts = {
        "output": str(folder),
        "checked": n_checked,
        "differences": len(differences),
        "seconds": round(session.clock.elapsed().seconds, 4),
    }
    same = f"{n_checked} records were run again; {len(differences)} scores differ."
    session.finish("reproduce", facts, same, err=False)
    if differences:
        raise typer.Exit(1)
