"""Run the requested experiments, then render them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ensemblage._progress import counting
from ensemblage.experiments import records as record_files
from ensemblage.experiments import sources
from ensemblage.experiments.protocol import Plan
from ensemblage.experiments.render import need_matplotlib, render
from ensemblage.experiments.runner import run, workers
from ensemblage.experiments.tables import EXPERIMENTS
from ensemblage.flow import n_threads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike


def reproduce(
    folder: str | PathLike[str],
    names: Sequence[str] | None = None,
    plan: Plan | None = None,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Path:
    """Run the tasks without a record in `folder`, render all, and return the page to open.

    Parameters
    ----------
    folder : str or path-like
        Contains the records, own pools and all rendered files. An interrupted run is resumed from
        its records when it is started again.
    names : sequence of str or None, default=None
        Keys of `EXPERIMENTS`; None is all.
    plan : Plan or None, default=None
        Datasets, pools and numbers of runs; None is the paper's.
    n_jobs : int or None, default=None
        Processes; None is all cores. Scores do not depend on it.
    progress : bool, default=False
        Show a bar for each experiment on standard error.

    Notes
    -----
    Worker processes import the calling script again, so a script needs the usual
    ``if __name__ == "__main__":`` before this call.

    Examples
    --------
    >>> from ensemblage.experiments import Plan, reproduce
    >>> reproduce("results", ["datasets"], Plan(quick=True))  # doctest: +SKIP
    PosixPath('results/index.html')
    """
    need_matplotlib()
    folder = Path(folder)
    unknown = [name for name in names or () if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(f"Unknown experiment {unknown[0]!r}. Use one of {', '.join(EXPERIMENTS)}.")
    chosen = [EXPERIMENTS[name] for name in names or EXPERIMENTS]
    plan = replace(plan or Plan(), at_hand=sources.at_hand())
    if not any(True for experiment in chosen for _ in experiment.tasks(plan)):
        raise ValueError(
            "There is nothing to run: none of these datasets has a pool of the authors in the data"
            " folder (ENSEMBLAGE_DATA). Place it there, or use own pools."
        )
    lacking: set[str] = set()
    with record_files.opened(folder) as records:
        # Timed experiments come last, so that an interrupted run has more results.
        for alone in (False, True):
            n_workers = 1 if alone else n_threads(n_jobs)
            with workers(n_workers) as pool:
                for experiment in (one for one in chosen if one.alone == alone):
                    tasks = sources.prepare(
                        records.missing(experiment.tasks(plan)),
                        folder,
                        lacking,
                        n_jobs=n_jobs,
                        progress=progress,
                    )
                    show = progress and bool(tasks)
                    with counting(experiment.name, len(tasks), show=show, keep=True) as advance:
                        run(
                            tasks,
                            records,
                            folder,
                            pool,
                            on_record=advance,
                            skip=experiment.skip,
                            # One waiting task for each worker keeps all of them busy.
                            n_at_once=1 if alone else 2 * n_workers,
                        )
        if not records.done:
            raise ValueError("Nothing could be run. See the warnings above.")
    return render(folder, plan.pools)
