"""Threads: work items in order, so that n_jobs changes nothing; and one thread for BLAS."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Self, TypeVar

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`.

    None has the meaning of scikit-learn's OpenMP code: ``OMP_NUM_THREADS`` if it is set (joblib
    sets it in its workers), else every core. Negative numbers count from all cores down.
    """
    if n_jobs is None:
        wish = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, int(wish)) if wish.isdigit() else available_cores()
    if n_jobs < 0:
        return max(1, available_cores() + 1 + n_jobs)
    return max(1, n_jobs)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None
) -> list[Result]:
    """Return ``[function(item) for item in items]``, computed by `n_jobs` threads."""
    items = list(items)
    threads = min(n_threads(n_jobs), len(items))
    if threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def row_ranges(n_rows: int, rows_per_range: int) -> list[tuple[int, int]]:
    """Return half-open ranges that cover ``range(n_rows)`` in order."""
    starts = range(0, n_rows, rows_per_range)
    return [(start, min(start + rows_per_range, n_rows)) for start in starts]


class _OneBlasThread:
    """One BLAS thread inside; several threads may enter at once, and the last to leave restores.

    Matrices here are small for BLAS: its threads cost more than they save, wait for each other with
    busy loops, and may change the last bit of a result.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._controller: ThreadpoolController | None = None
        self._limiter: Any = None

    def __enter__(self) -> Self:
        with self._lock:
            if self._inside == 0:
                if self._controller is None:
                    import scipy.linalg  # noqa: F401 - its BLAS must be loaded to be found

                    self._controller = ThreadpoolController()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()


one_blas_thread = _OneBlasThread()
