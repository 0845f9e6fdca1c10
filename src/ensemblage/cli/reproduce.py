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
  ensemblage reproduce comparison --datasets MF,IS --runs 20
  ensemblage reproduce pta-parameters ptgp-parameters --pools authors -o results
  ensemblage reproduce all --render
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
    output: options.RecordFolder = "reproduced",
    render: options.Render = False,
    jobs: options.Jobs = -1,
) -> None:
    """Run the paper's experiments, beside its numbers.

    Each finished run is recorded at once: stop at any time, and the same command resumes from
    there. All results are in one folder, with an index.html that shows them.
    """
    if not output:
        raise UsageError("The name of the folder (-o) is empty.")
    session.check_json(None)
    from ensemblage import experiments
    from ensemblage.experiments import records

    names = [name for name in experiments.EXPERIMENTS if name in tables or "all" in tables]
    folder = Path(output)
    if render:
        if not records.read(folder):
            raise ValueError(f"There are no records in {folder}. Run without --render first.")
        index = experiments.render(folder, pools)
    else:
        plan = experiments.Plan(tuple(datasets) if datasets else None, runs, pools, quick)
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
