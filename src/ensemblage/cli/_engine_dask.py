"""The consensus of votes on the workers of a Dask cluster."""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ensemblage.cli._engine_stream import check_streamed, streamed
from ensemblage.cli._errors import WrongCall
from ensemblage.cli._progress import stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.cli._task import Done, Task


def on_dask(task: Task) -> Done:
    """Let workers read the votes twice and write the labels."""
    for name in ("distributed", "pyarrow"):
        if importlib.util.find_spec(name) is None:
            raise WrongCall(
                f"--engine dask needs {name}, which is not installed. Run: pip install"
                ' "ensemblage[dask]"'
            )
    check_streamed(task, "dask")
    from ensemblage.scale import dask

    with _scheduler(task) as address:
        return streamed(task, "dask", partial(dask.consensus, client=address))


@contextmanager
def _scheduler(task: Task) -> Iterator[str]:
    """Give the address of the scheduler: the one named, or of processes that live as long."""
    if task.scheduler is not None:
        yield task.scheduler
        return
    from ensemblage.flow._threads import n_threads
    from ensemblage.scale import dask

    with stage("Starting workers", quiet=task.quiet):
        cluster = dask.local_cluster(n_threads(task.jobs))
    with cluster:
        yield cluster.scheduler_address
