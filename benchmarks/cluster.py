"""Votes on a Dask cluster of this machine, compared with the plain stream of the same file.

python -m benchmarks.cluster [--rows 1e7] [--distinct 1e5] [--workers 2] [--folder DIR]

Prints CPU seconds of all processes for a stream in one process, for a cluster whose workers have
loaded everything (a small run went before), and for one of whose workers is killed on the way; then
whether the labels are equal. Start-up of the cluster stands apart. Workers are killed when the
first of the parts they write is there.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path
from threading import Thread

import pyarrow.parquet as pq
from distributed import Client

import ensemblage as en
from benchmarks.stream import _write
from ensemblage.flow import compiling
from ensemblage.scale import dask as on_dask
from ensemblage.scale import stream

TICKS = os.sysconf("SC_CLK_TCK")
#: CPU seconds of workers when they were killed; nobody can ask them afterwards.
DIED: dict[int, float] = {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--distinct", type=float, default=1e5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--task-rows", type=int, default=1 << 21)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        votes, small = folder / "votes.parquet", folder / "small.parquet"
        _write(votes, int(asked.rows), int(asked.distinct))
        _write(small, 1000, 500)
        print("                              CPU s   ratio   wall s")
        with compiling.kernels_for(everything=True):
            stream.consensus(small, en.Vote(3), folder / "warm.parquet", n_jobs=1)
        plain = _timed("stream, one thread", None, None, lambda: _stream(votes, folder))
        start = time.perf_counter()
        with on_dask.local_cluster(asked.workers) as cluster, Client(cluster) as client:
            client.wait_for_workers(asked.workers)
            started = time.perf_counter() - start
            cpu = sum(map(_cpu, _processes(client)))
            print(f"{'cluster started':28} {cpu:6.2f} {'':7} {started:8.2f}", flush=True)

            def run(source: Path | list[Path], name: str) -> None:
                output = folder / name
                on_dask.consensus(source, en.Vote(3), output, task_rows=asked.task_rows)

            few = [small] * (8 * asked.workers)  # so that every worker gets some of each task
            _timed("first run, few rows", plain, client, lambda: run(few, "warm.parquet"))
            _timed("cluster", plain, client, lambda: run(votes, "cluster.parquet"))
            _timed("a worker killed", plain, client, lambda: _killing(client, folder, run, votes))
        labels = [pq.read_table(folder / f"{n}.parquet") for n in ("stream", "cluster", "killed")]
        print("equal to the stream:", labels[0].equals(labels[1]), labels[0].equals(labels[2]))


def _stream(votes: Path, folder: Path) -> None:
    stream.consensus(votes, en.Vote(3), folder / "stream.parquet", n_jobs=1)


def _killing(client, folder: Path, run, votes: Path) -> None:
    """Kill a worker as soon as there is a part of the output."""
    victim = next(iter(client.run(os.getpid).values()))
    parts = folder / "killed.parquet.parts"

    def kill() -> None:
        while not any(parts.glob("part-*")):
            time.sleep(0.005)
        DIED[victim] = _cpu(victim)
        os.kill(victim, signal.SIGKILL)

    watcher = Thread(target=kill)
    watcher.start()
    run(votes, "killed.parquet")
    watcher.join()


def _timed(name, plain, client, work):
    """Run it; print the CPU of this process and of the workers, and return it."""
    before = _all_cpu(client)
    wall = time.perf_counter()
    work()
    wall = time.perf_counter() - wall
    after = _all_cpu(client)
    spent = sum(seconds - before.get(pid, 0) for pid, seconds in (after | DIED).items())
    DIED.clear()
    ratio = 1.0 if plain is None else spent / plain
    print(f"{name:28} {spent:6.2f} {ratio:7.2f} {wall:8.2f}", flush=True)
    return spent


def _all_cpu(client) -> dict[int, float]:
    return {pid: _cpu(pid) for pid in [os.getpid(), *(_processes(client) if client else [])]}


def _processes(client) -> list[int]:
    return list(client.run(os.getpid).values())


def _cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has taken, its threads together (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    main()
