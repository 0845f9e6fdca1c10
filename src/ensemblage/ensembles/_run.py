"""Members made in parallel, in the order in which they finish."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from ensemblage.ensembles._member import Member, fit_member
from ensemblage.flow import n_threads

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from ensemblage._types import IntArray
    from ensemblage.ensembles._plan import Plan

    Results = Generator[tuple[int, Any], None, None]


def run_members(plan: Plan, indices: Iterable[int], n_jobs: int | None) -> Results:
    """Yield (index, Member) as they finish."""
    return _run(_whole, plan, indices, n_jobs)


def run_labels(plan: Plan, indices: Iterable[int], n_jobs: int | None) -> Results:
    """Yield (index, labels) as they finish."""
    return _run(_labels, plan, indices, n_jobs)


def _run(function: Any, plan: Plan, indices: Iterable[int], n_jobs: int | None) -> Results:
    results = _parallel(n_jobs)(delayed(function)(plan, index) for index in indices)
    try:
        # Not "yield from", which would close it without the filter below.
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():
            # A caller that stops early expects that some members were started in vain.
            warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning)
            results.close()


def _whole(plan: Plan, index: int) -> tuple[int, Member]:
    return index, fit_member(plan, index)


def _labels(plan: Plan, index: int) -> tuple[int, IntArray]:
    return index, fit_member(plan, index).labels  # the member itself may be large


def _parallel(n_jobs: int | None) -> Parallel:
    """Return a pool of threads, unless the user's `joblib.parallel_config` sets another."""
    if n_jobs is None and not _is_configured():
        n_jobs = n_threads(None)
    return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")


def _is_configured() -> bool:
    """Tell whether the user has configured the workers or the backend of joblib."""
    if get_active_backend()[1] is not None:
        return True
    # Without a chosen backend, joblib uses the preferred one.
    preferred = [type(get_active_backend(prefer=kind)[0]) for kind in ("threads", "processes")]
    return preferred[0] is preferred[1]
