"""One process that fits, cuts, predicts, saves and streams small things for as long as you like.

python -m benchmarks.soak [--minutes 60] [--methods ptgp,pta,...]

A line a minute: rounds and fits so far, resident memory, open files, threads. At the end the growth
of each for 1,000 fits, by a straight line through the second half of the run: the first fills
caches and compiles. A leak shows as a slope that stays whatever the length of the run.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ensemblage as en
from ensemblage.ensembles import generate
from ensemblage.scale import stream

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SECONDS_BETWEEN = 5.0
#: Slow at any size: not what a soak is about.
_LEFT_OUT = {"ecmc"}


class Reading(NamedTuple):
    """What the process holds after so many fits."""

    n_fits: int
    resident: int
    n_files: int
    n_threads: int


def resident_bytes() -> int:
    """Return the memory of this process that is in RAM."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE


def open_files() -> int:
    """Return how many files, pipes and sockets this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def reading(n_fits: int) -> Reading:
    """Return what the process holds now, garbage aside."""
    gc.collect()
    return Reading(n_fits, resident_bytes(), open_files(), threading.active_count())


def growth(readings: list[Reading]) -> dict[str, float]:
    """Return what each 1,000 fits add, by a straight line through the second half."""
    late = np.array(readings[len(readings) // 2 :], dtype=float)
    if len(late) < 2 or late[0, 0] == late[-1, 0]:
        return dict.fromkeys(Reading._fields[1:], float("nan"))
    slopes = np.polyfit(late[:, 0], late[:, 1:], 1)[0]
    return dict(zip(Reading._fields[1:], 1000 * slopes, strict=True))


def one_round(rng: np.random.Generator, folder: Path, methods: list[str]) -> int:
    """Do everything once on new votes and features; return how many fits that were."""
    n, m = int(rng.integers(20, 400)), int(rng.integers(2, 12))
    truth = rng.integers(0, 4, n)
    noise = rng.integers(0, 6, (n, m))
    votes = np.where(rng.random((n, m)) < 0.7, truth[:, None], noise)
    for name in methods:
        _use(en.METHODS[name](3), votes, folder / f"{name}.model")
    gaps = rng.random((n, m)) < 0.1
    gaps[:, 0] = False  # nobody without a vote
    _use(en.PTGP("auto"), np.where(gaps, -1, votes), folder / "auto.model")
    features = rng.normal(size=(n, 3)) + 4 * truth[:, None]
    generate(features, 4, random_state=0, n_jobs=2)
    return len(methods) + 1 + _stream(votes, folder)


def _use(estimator: Any, votes: Any, path: Path) -> None:
    estimator.fit(votes).cut(2)
    estimator.predict(votes[:10])
    assert len(estimator.confidence_) == len(votes)
    estimator.save(path)
    en.load(path)


def _stream(votes: Any, folder: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = folder / "votes.parquet"
    pq.write_table(pa.table({f"m{m}": column for m, column in enumerate(votes.T)}), source)
    stream.consensus(source, en.EAC(3), folder / "labels.parquet", batch_rows=64, n_jobs=2)
    source.unlink()
    source = folder / "votes.csv"
    names = ",".join(f"m{m}" for m in range(votes.shape[1]))
    np.savetxt(source, votes, fmt="%d", delimiter=",", header=names, comments="")
    stream.consensus(source, en.PTGP(3, random_state=0), folder / "labels.csv", n_jobs=2)
    return 2


def soak(minutes: float, methods: list[str]) -> list[Reading]:
    """Run rounds until the time is over, and print a line a minute."""
    rng = np.random.default_rng(0)
    begin = told = noted = time.monotonic()
    readings: list[Reading] = []
    n_rounds = n_fits = 0
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while time.monotonic() - begin < 60 * minutes or not readings:
            n_fits += one_round(rng, Path(place), methods)
            n_rounds += 1
            now = time.monotonic()
            if now - noted >= _SECONDS_BETWEEN or not readings:
                noted = now
                readings.append(reading(n_fits))
            if now - told >= 60 or n_rounds == 1:
                told = now
                _tell(now - begin, n_rounds, readings[-1])
    readings.append(reading(n_fits))
    _tell(time.monotonic() - begin, n_rounds, readings[-1])
    return readings


def _tell(seconds: float, n_rounds: int, last: Reading) -> None:
    print(
        f"{seconds / 60:6.1f} min  {n_rounds:6,} rounds  {last.n_fits:8,} fits"
        f"  {last.resident / 1e6:8.1f} MB  {last.n_files:4} files  {last.n_threads:3} threads",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=60.0)
    every = ",".join(name for name in en.METHODS if name not in _LEFT_OUT)
    parser.add_argument("--methods", default=every)
    asked = parser.parse_args()
    grown = growth(soak(asked.minutes, asked.methods.split(",")))
    print(
        f"growth for 1,000 fits, second half: {grown['resident'] / 1e6:+.2f} MB,"
        f" {grown['n_files']:+.2f} files, {grown['n_threads']:+.2f} threads"
    )


if __name__ == "__main__":
    main()
