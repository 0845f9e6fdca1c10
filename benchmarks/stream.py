"""Votes larger than memory: both passes compared with plain reading of the same columns.

python -m benchmarks.stream [--rows 1e7] [--distinct 1e5] [--jobs 1] [--folder DIR] [--keep]

Writes a Parquet file of 10 columns (uint8), then prints CPU seconds and their ratio to reading it
with pyarrow alone, rows a second, and the peak memory of a process that does nothing else. Labels
are compared with those found in memory where the votes fit there.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ensemblage as en
from ensemblage.flow import compiling
from ensemblage.scale import _passes, _work, stream

COLUMNS = 10
BATCH = 1 << 20
MOST_ROWS_IN_MEMORY = 3 * 10**7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--distinct", type=float, default=1e5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--keep", action="store_true", help="leave the file for another run")
    parser.add_argument("--stage", choices=["read", "stream"], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.stage:
        {"read": _read, "stream": _stream}[asked.stage](asked)
        return
    with tempfile.TemporaryDirectory() as scratch:
        asked.folder = asked.folder or Path(scratch)
        asked.folder.mkdir(parents=True, exist_ok=True)
        votes = _file(asked)
        if not votes.exists():
            _write(votes, int(asked.rows), int(asked.distinct))
        print(f"{votes}: {votes.stat().st_size / 1e6:,.0f} MB", flush=True)
        for stage in ("read", "stream"):
            subprocess.run([*_again(asked), "--stage", stage], check=True)
        if asked.rows <= MOST_ROWS_IN_MEMORY:
            _compare(asked)
        for path in [_labels(asked)] if asked.keep else [_labels(asked), votes]:
            path.unlink()


def _file(asked: argparse.Namespace) -> Path:
    return asked.folder / f"votes-{int(asked.rows)}-{int(asked.distinct)}.parquet"


def _labels(asked: argparse.Namespace) -> Path:
    return asked.folder / "labels.parquet"


def _again(asked: argparse.Namespace) -> list[str]:
    words = ["--rows", asked.rows, "--distinct", asked.distinct, "--jobs", asked.jobs]
    command = [sys.executable, "-m", "benchmarks.stream", "--folder", asked.folder, *words]
    return list(map(str, command))


def _write(path: Path, n_rows: int, n_distinct: int) -> None:
    """Write rows drawn from so many different ones: three groups with noise."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n_distinct)
    rows = (group[:, None] * 8 + rng.integers(0, 24, (n_distinct, COLUMNS)) % 11).astype(np.uint8)
    schema = pa.schema([(f"m{m}", pa.uint8()) for m in range(COLUMNS)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, BATCH):
            drawn = rows[rng.integers(0, n_distinct, min(BATCH, n_rows - start))]
            columns = [pa.array(np.ascontiguousarray(column)) for column in drawn.T]
            writer.write_table(pa.table(columns, schema=schema))


def _plain(path: Path) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    with pq.ParquetFile(path) as file:
        n_rows = sum(batch.num_rows for batch in file.iter_batches(BATCH, use_threads=False))
    assert n_rows == file.metadata.num_rows
    return time.perf_counter() - wall, time.process_time() - cpu


def _read(asked: argparse.Namespace) -> None:
    print("                     CPU s   ratio   M rows/CPU-s   wall s")
    wall, cpu = min((_plain(_file(asked)) for _ in range(2)), key=lambda cost: cost[1])
    _line("plain reading", asked.rows, cpu, wall, cpu)
    print(f"{'':20} peak memory {_peak():.2f} GB", flush=True)


def _stream(asked: argparse.Namespace) -> None:
    """Stream with every stage timed by what it adds to the clock of the process."""
    costs: dict[str, tuple[float, float]] = {}
    runtime = stream.Threads
    for owner, name in ((runtime, "first_pass"), (_work, "fit"), (runtime, "second_pass")):
        setattr(owner, name, _timed(name, getattr(owner, name), costs))
    estimator = en.Vote(3)
    _warm_up(asked.folder, estimator)
    costs.clear()
    result = stream.consensus(_file(asked), estimator, _labels(asked), n_jobs=asked.jobs)
    peak = _peak()  # of streaming alone: one iteration over the whole file takes more
    _, plain = min((_plain(_file(asked)) for _ in range(2)), key=lambda cost: cost[1])
    first, fit, second = (costs[name] for name in ("first_pass", "fit", "second_pass"))
    both = (first[0] + second[0], first[1] + second[1])
    for name, (wall, cpu) in {"pass 1": first, "pass 2": second, "both": both}.items():
        _line(name, asked.rows, cpu, wall, plain)
    _line(f"fit ({type(estimator).__name__})", asked.rows, fit[1], fit[0], plain)
    print(f"{'':20} {result.n_microclusters:,} microclusters, peak memory {peak:.2f} GB,")
    print(f"{'':20} a piece is {_passes.PIECE_ROWS:,} rows, {asked.jobs} thread(s)", flush=True)


def _timed(name, function, costs):
    def call(*arguments, **options):
        wall, cpu = time.perf_counter(), time.process_time()
        found = function(*arguments, **options)
        costs[name] = (time.perf_counter() - wall, time.process_time() - cpu)
        return found

    return call


def _warm_up(folder: Path, estimator) -> None:
    """Load or compile the kernels, which is not what is measured."""
    small = folder / "warm.parquet"
    _write(small, 1000, 500)
    with compiling.kernels_for(everything=True):
        stream.consensus(small, estimator, folder / "warm-labels.parquet")
    small.unlink()
    (folder / "warm-labels.parquet").unlink()


def _compare(asked: argparse.Namespace) -> None:
    table = pq.read_table(_file(asked))
    votes = np.column_stack([table.column(m).to_numpy() for m in range(COLUMNS)])
    found = pq.read_table(_labels(asked)).column("label").to_numpy()
    expected = en.Vote(3).fit_predict(votes)
    print("equal to labels in memory:", bool((found == expected).all()))


def _line(name: str, rows: float, cpu: float, wall: float, plain: float) -> None:
    speed = rows / 1e6 / max(cpu, 1e-9)
    print(f"{name:20} {cpu:6.2f} {cpu / plain:7.2f} {speed:14.1f} {wall:8.2f}", flush=True)


def _peak() -> float:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9


if __name__ == "__main__":
    main()
