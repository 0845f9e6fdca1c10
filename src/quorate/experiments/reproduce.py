"""Run the experiments that are asked for, then render them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from quorate.experiments import records as record_files
from quorate.experiments import sources
from quorate.experiments.protocol import Plan
from quorate.experiments.render import need_matplotlib, render
from quorate.experiments.runner import run, workers
from quorate.experiments.tables import EXPERIMENTS
from quorate.flow._threads import n_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


def reproduce(
    folder: Path,
    names: Sequence[str] | None = None,
    plan: Plan | None = None,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Path:
    """Run what the records in `folder` lack, render all of it, and return the page to open.

    Parameters
    ----------
    folder : Path
        Holds the records, own pools and everything rendered. A run that is stopped, in whatever
        way, goes on from its records when it is started again.
    names : sequence of str or None, default=None
        Keys of `EXPERIMENTS`; None is all.
    plan : Plan or None, default=None
        Which datasets, pools and how many runs; None is the paper's.
    n_jobs : int or None, default=None
        Processes; None is all cores. Scores do not depend on it.
    progress : bool, default=False
        Show a bar for each experiment on standard error.
    """
    need_matplotlib()
    chosen = [EXPERIMENTS[name] for name in names or EXPERIMENTS]
    plan = replace(plan or Plan(), at_hand=sources.at_hand())
    lacking: set[str] = set()
    with record_files.opened(folder) as records:
        # What is timed comes last, so that an interrupted run has more to show.
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
                    with _bar(experiment.name, len(tasks), shown=progress) as advance:
                        run(
                            tasks,
                            records,
                            folder,
                            pool,
                            on_record=advance,
                            skip=experiment.skip,
                            # One in waiting for each worker keeps all of them busy.
                            n_at_once=1 if alone else 2 * n_workers,
                        )
    return render(folder, names, plan.pools)


@contextmanager
def _bar(what: str, total: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    """Show how far an experiment is, and how long it will take."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        disable=not (shown and total and console.is_terminal),
    ) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)
