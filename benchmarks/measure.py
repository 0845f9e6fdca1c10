"""Time and memory of a call."""

from __future__ import annotations

import multiprocessing
import resource
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Cost(NamedTuple):
    """The best wall time of several calls, and the CPU time of that call."""

    wall: float
    cpu: float


def cost(call: Callable[[], object], repeats: int = 3, *, warm: bool = True) -> Cost:
    """Return the cost of `call`, after one call that is not counted if `warm`."""
    if warm:
        call()
    found = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        found.append(Cost(time.perf_counter() - wall, time.process_time() - cpu))
    return min(found)


def peak_memory(call: Callable[[], object]) -> int:
    """Return the bytes that `call` adds at its peak to those of a fork of this process."""
    receive, send = multiprocessing.Pipe(duplex=False)

    def child() -> None:
        before = _peak()
        call()
        send.send(_peak() - before)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"the measured call ended with exit code {process.exitcode}")
    return int(receive.recv())


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
