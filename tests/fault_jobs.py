"""Runs of the command to disturb: how each is started, and what it must leave in the end.

A run prints ``done NAME`` for each piece of work that is safe from then on, and waits a moment, so
that there are many points at which to disturb it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.io import savemat

PROGRAM = """
import sys, time
from ensemblage.ensembles import checkpoint as members
from ensemblage.experiments import records
from ensemblage.scale import _checkpoint, _passes
_passes.PIECE_ROWS = 1000

def told(function, name):
    def tells(*given, **named):
        function(*given, **named)
        print("done", name(*given), flush=True)
        time.sleep(0.01)
    return tells

_checkpoint.Folder.replace = told(_checkpoint.Folder.replace, lambda _, name, write: name)
_checkpoint.Folder.write_part = told(
    _checkpoint.Folder.write_part, lambda _, name, n_rows, write: name
)
members.Folder.write = told(members.Folder.write, lambda _, index, labels: f"member-{index}")
records.RecordFile.add = told(
    records.RecordFile.add, lambda _, record: records.key(record["what"]).replace(" ", "")
)
sys.argv = ["ensemblage", *sys.argv[1:]]
if __name__ == "__main__":
    from ensemblage.cli import main
    main()
"""

LIMIT = 120.0


class Job(NamedTuple):
    """A command, what it needs, and how its output is read: None where there is none."""

    words: tuple
    prepare: object
    read: object
    parts: str


def write_votes(folder, n=20_000, seed=0):
    votes = np.random.default_rng(seed).integers(0, 3, (n, 4))
    table = pa.table({f"m{m}": column for m, column in enumerate(votes.T)})
    pq.write_table(table, folder / "v.parquet", row_group_size=700)


def write_features(folder):
    rng = np.random.default_rng(0)
    np.save(folder / "f.npy", rng.normal(size=(300, 3)) + 4 * rng.integers(0, 3, (300, 1)))


def write_world(folder):
    rng = np.random.default_rng(0)
    for name in ("data", "pools", "paper"):
        (folder / "world" / name).mkdir(parents=True)
    (folder / "world" / "paper" / "tables.json").write_text("{}")
    truth = np.arange(60) % 3
    np.savez(folder / "world" / "data" / "MF.npz", X=truth[:, None] * 4.0, y=truth)
    members = np.where(rng.random((60, 60)) < 0.2, rng.integers(1, 6, (60, 60)), truth[:, None] + 1)
    content = {"members": members.astype(np.uint8), "gt": truth[:, None] + 1.0}
    savemat(folder / "world" / "pools" / "bc_pool_MF.mat", content)


def read_labels(folder):
    file = folder / "l.parquet"
    return pq.read_table(file).to_pydict() if file.exists() else None


def read_pool(folder):
    file = folder / "p.parquet"
    return pq.read_table(file).to_pydict() if file.exists() else None


def read_scores(folder):
    """Return the scores by their tasks; there is no output but records until all are there."""
    from ensemblage.experiments import records

    if not (folder / "out" / "index.html").exists():
        return None
    return {name: found["scores"] for name, found in records.read(folder / "out").items()}


_CONSENSUS = ("consensus", "v.parquet", "-k", "3", "-m", "eac", "-o", "l.parquet", "--engine")
_REPRODUCE = ("reproduce", "pta-parameters", "--datasets", "MF", "--runs", "1", "--jobs", "1")

JOBS = {
    "generate": Job(
        ("generate", "f.npy", "-m", "30", "-o", "p.parquet", "--jobs", "1"),
        write_features,
        read_pool,
        "p.parquet.parts",
    ),
    "stream": Job((*_CONSENSUS, "stream"), write_votes, read_labels, "l.parquet.parts"),
    "dask": Job((*_CONSENSUS, "dask"), write_votes, read_labels, "l.parquet.parts"),
    "reproduce": Job((*_REPRODUCE, "--out", "out"), write_world, read_scores, "out"),
}


class Run:
    """A command at work in a folder, in a group of processes of its own."""

    def __init__(self, job, folder, before=""):
        """Start it; `before` is Python to run in the process first."""
        self.done = []
        self._job, self._folder = job, folder
        variables = {"ENSEMBLAGE_DATA": str(folder / "world"), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", before + PROGRAM, *job.words],
            cwd=folder,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._complaints = []
        self._threads = [threading.Thread(target=self._listen), threading.Thread(target=self._hear)]
        for thread in self._threads:
            thread.start()

    def _listen(self):
        for line in self.process.stdout:
            if line.startswith("done "):
                self.done.append(line.split()[1])

    def _hear(self):
        self._complaints.append(self.process.stderr.read())

    def wait_for(self, n_done):
        """Wait until so many pieces are done, or the run has ended."""
        until = time.monotonic() + LIMIT
        while len(self.done) < n_done and self.process.poll() is None:
            assert time.monotonic() < until, "the run does not get on"
            time.sleep(0.001)

    def send(self, number):
        """Send a signal to the command and all processes that it has started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def end(self):
        """Wait for the end; return the exit status and what was said on standard error."""
        try:
            status = self.process.wait(LIMIT)
        finally:
            self.send(signal.SIGKILL)
        for thread in self._threads:
            thread.join(LIMIT)
        self.process.stdout.close()
        self.process.stderr.close()
        return status, "".join(self._complaints)


def undisturbed(job, folder):
    """Return what a run leaves that nobody disturbs, and how many pieces it has."""
    folder.mkdir()
    job.prepare(folder)
    run = Run(job, folder)
    status, told = run.end()
    assert status == 0, told
    found = job.read(folder)
    assert found is not None
    return found, len(run.done)


def kill_and_go_on(job, folder, expected, points, pause=0.0):
    """Kill a run at each of some numbers of pieces done, then let it end; return all done.

    At every stop the output is either not there or whole, and in the end it is as expected.
    """
    folder.mkdir()
    job.prepare(folder)
    done = []
    for n_done in points:
        run = Run(job, folder)
        run.wait_for(n_done)
        time.sleep(pause)
        run.send(signal.SIGKILL)
        run.end()
        done += run.done
        found = job.read(folder)
        assert found in (None, expected)
        if found is not None:  # it had ended before, and the next run is a new one
            done = []
    run = Run(job, folder)
    status, told = run.end()
    assert status == 0, told
    assert "Traceback" not in told, told
    assert job.read(folder) == expected
    return done + run.done
