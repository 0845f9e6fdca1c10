"""Check of stored records: run some again, and compare the scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.experiments import records as record_files
from ensemblage.experiments import sources
from ensemblage.experiments.measures import measure

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from ensemblage.experiments.records import Record, Task

#: Scores that differ by less are the same.
TOLERANCE = 5e-7
_TIMED = "seconds"


class Check(NamedTuple):
    """The number of records that were run again, and those with differences: task, score, gap."""

    n_checked: int
    differences: list[tuple[Task, str, float]]


def check(
    folder: str | PathLike[str],
    n_records: int = 50,
    seed: int = 0,
    *,
    on_record: Callable[[], None] | None = None,
) -> Check:
    """Run some records of a folder again, drawn at random, and compare the scores.

    Parameters
    ----------
    folder : str or path-like
        The folder of the records.
    n_records : int, default=50
        Number of records, of those whose pool is available and that do not measure time.
    seed : int, default=0
        Seed of the selection.
    on_record : callable, optional
        Called after each.

    Returns
    -------
    Check
        Scores that differ by more than 5e-7, so that six decimals would differ.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ensemblage.experiments import check
    >>> with TemporaryDirectory() as folder:
    ...     check(folder).n_checked
    0
    """
    folder = Path(folder)
    at_hand = sources.at_hand()
    checked = [
        record for record in record_files.read(folder).values() if _can_run(record, folder, at_hand)
    ]
    chosen = np.random.default_rng(seed).permutation(len(checked))[:n_records]
    differences = []
    for place in sorted(chosen.tolist()):
        stored = checked[place]
        task = stored["what"]
        again = measure(folder, task)
        differences += [
            (task, score, gap)
            for score, gap in _gaps(stored["scores"], again["scores"])
            if not gap <= TOLERANCE
        ]
        if on_record is not None:
            on_record()
    return Check(len(chosen), differences)


def _can_run(record: Record, folder: Path, at_hand: frozenset[str]) -> bool:
    what = record["what"]
    if "skipped" in record or what["kind"] == _TIMED:
        return False
    if what["kind"] in ("scores", "settings") and "cuts" not in what:
        return False
    pool, dataset = what.get("pool"), what["dataset"]
    if pool in (None, sources.AUTHORS):
        return dataset in at_hand
    return (folder / "pools" / f"{dataset}-{pool}.npz").exists()


def _gaps(stored: dict[str, Any], again: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the differences of numbers that both have."""
    gaps = []
    for name, value in stored.items():
        if value is None or again.get(name) is None:
            continue
        before, after = _numbers(value), _numbers(again[name])
        same = before.shape == after.shape
        gaps.append((name, float(np.abs(before - after).max(initial=0.0)) if same else np.inf))
    return gaps


def _numbers(value: Any) -> Any:
    return np.asarray(list(value.values()) if isinstance(value, dict) else value, dtype=float)
