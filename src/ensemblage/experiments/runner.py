"""Run missing tasks in processes, writing each record as soon as it is finished."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ensemblage.experiments.measures import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ensemblage.experiments.records import Record, RecordFile, Task


def run(
    tasks: Sequence[Task],
    records: RecordFile,
    folder: Path,
    workers: ProcessPoolExecutor,
    *,
    on_record: Callable[[], None],
    skip: Callable[[Task, dict[str, Record]], str | None] | None = None,
    n_at_once: int = 1,
) -> None:
    """Run the tasks, in order, and add the record of each when it is finished.

    A task for which `skip` returns a reason, given all earlier records, is recorded as skipped.
    Finished records are kept after any error.
    """
    waiting = list(reversed(tasks))
    running: dict[Future[Record], Task] = {}
    while waiting or running:
        while waiting and len(running) < n_at_once:
            task = waiting.pop()
            reason = skip(task, records.done) if skip is not None else None
            if reason:
                records.add({"what": task, "skipped": reason})
                on_record()
            else:
                with _interrupts_held():
                    running[workers.submit(measure, folder, task)] = task
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            records.add(_result(future, running.pop(future)))
            on_record()


def _result(future: Future[Record], task: Task) -> Record:
    """Return a record; a method that raises MemoryBudgetError also has a result."""
    try:
        return future.result()
    except MemoryError as error:
        return {"what": task, "skipped": " ".join(str(error).split())}
    except BrokenProcessPool:
        raise ChildProcessError(
            f"A worker process died while {task} was run: most likely for lack of memory (then use"
            " fewer jobs), or because a script of your own has no 'if __name__ == \"__main__\":'"
            " before its calls. Finished runs are kept; start again to resume."
        ) from None


@contextmanager
def workers(n_jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Provide processes of one thread each, or one process with all threads.

    They start with the first task, and are dropped without waiting after an error.
    """
    before = os.environ.get("OMP_NUM_THREADS")
    if n_jobs > 1:
        os.environ["OMP_NUM_THREADS"] = "1"
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(n_jobs, mp_context=context, initializer=_begin)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        # A task may take minutes; an interrupt must not wait for it. Nor must a second interrupt
        # leave some of them alive.
        with _interrupts_held():
            started = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in started:
                process.kill()
        raise
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Block interrupts for a moment: a worker that is just starting would show a traceback.

    The worker inherits the block, and then ignores interrupts.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Leave interrupts to the parent, and end when it ends for any reason."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            with suppress(OSError):
                parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
