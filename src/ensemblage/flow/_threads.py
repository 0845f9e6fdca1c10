"""Work items over threads: results in the order of the items, so that n_jobs changes nothing."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

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
