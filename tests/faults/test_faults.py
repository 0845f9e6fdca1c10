"""Disturbed runs: nothing finished is lost, no partial file looks complete, errors are clear."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import fault_jobs
import numpy as np
import pytest
from fault_jobs import JOBS, Run

#: Seconds each; `make faults` runs them, besides kills at random points.
long = pytest.mark.skipif("ENSEMBLAGE_FAULTS" not in os.environ, reason="long: make faults")
REPRODUCE = pytest.param("reproduce", marks=long)
LOCAL = ["generate", "stream", REPRODUCE]  # one process does the work, and tells what is done


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return what an undisturbed run of a job leaves, made once."""
    found = {}

    def of(name):
        if name not in found:
            folder = tmp_path_factory.mktemp(name) / "undisturbed"
            found[name] = fault_jobs.undisturbed(JOBS[name], folder)
        return found[name]

    return of


def begun(name, folder, n_done=3, before=""):
    """Return a run that has done some pieces of its work."""
    JOBS[name].prepare(folder)
    run = Run(JOBS[name], folder, before)
    run.wait_for(n_done)
    return run


def goes_on(name, folder, expected):
    """Check that the same command ends with what an undisturbed run leaves."""
    status, told = Run(JOBS[name], folder).end()
    assert status == 0, told
    assert JOBS[name].read(folder) == expected(name)[0]


@pytest.mark.parametrize("name", LOCAL)
def test_killed_it_goes_on_and_does_nothing_twice(name, expected, tmp_path):
    whole, n_pieces = expected(name)
    points = (1, n_pieces // 3)
    done = fault_jobs.kill_and_go_on(JOBS[name], tmp_path / "killed", whole, points)
    once = [piece for piece in done if not piece.endswith((".json", ".npz"))]
    assert len(once) == len(set(once)) > 10


@long
def test_a_killed_run_on_dask(expected, tmp_path):
    whole, _ = expected("stream")
    fault_jobs.kill_and_go_on(JOBS["dask"], tmp_path / "killed", whole, (2,), pause=0.1)


@long
@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("n_signals", [1, 2])
def test_interrupted(name, n_signals, expected, tmp_path):
    run = begun(name, tmp_path)
    for _ in range(n_signals):
        run.send(signal.SIGINT)
        time.sleep(0.02)
    status, told = run.end()
    assert status in (130, -signal.SIGINT)
    assert "Interrupted" in told
    assert "resumes from there" in told
    assert "Traceback" not in told
    assert JOBS[name].read(tmp_path) is None
    goes_on(name, tmp_path, expected)


@pytest.mark.parametrize("name", ["generate", pytest.param("stream", marks=long), REPRODUCE])
def test_a_second_run_into_the_same_output(name, expected, tmp_path):
    first = begun(name, tmp_path)
    os.kill(first.process.pid, signal.SIGSTOP)
    try:
        status, told = Run(JOBS[name], tmp_path).end()
    finally:
        os.kill(first.process.pid, signal.SIGCONT)
    assert status == 1
    assert "error: Another run is" in told
    assert first.end()[0] == 0
    assert JOBS[name].read(tmp_path) == expected(name)[0]


@pytest.mark.parametrize("name", ["generate", pytest.param("stream", marks=long), REPRODUCE])
def test_its_folder_vanishes(name, expected, tmp_path):
    run = begun(name, tmp_path)
    while (tmp_path / JOBS[name].parts).exists():
        with suppress(OSError):  # a file is written meanwhile
            shutil.rmtree(tmp_path / JOBS[name].parts)
    status, told = run.end()
    assert status == 1
    assert "cannot be written: its folder was removed meanwhile. Start again" in told
    assert JOBS[name].read(tmp_path) is None
    goes_on(name, tmp_path, expected)


NO_LARGE_FILES = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))
"""


@pytest.mark.parametrize(
    ("name", "most", "file"),
    [
        ("generate", 600, "p.parquet"),
        ("stream", 1400, "l.parquet.parts/index.npz"),
        pytest.param("reproduce", 2500, "out/records.jsonl", marks=long),
    ],
)
def test_no_room(name, most, file, expected, tmp_path):
    """A limit on the size of files stands for a full disk: a write ends in the middle."""
    status, told = begun(name, tmp_path, 1000, NO_LARGE_FILES.format(most=most)).end()
    assert status == 1
    assert f"error: {file} cannot be written: File too large. Make room, or write elsewh" in told
    assert JOBS[name].read(tmp_path) is None
    goes_on(name, tmp_path, expected)


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on a disk of 256 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    words = ["-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if (
        mount is None
        or subprocess.run([mount, *words], capture_output=True, check=False).returncode
    ):
        pytest.skip("only root may mount a disk of its own")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@long
def test_a_full_disk(small_disk):
    fault_jobs.write_votes(small_disk)
    (small_disk / "ballast").write_bytes(bytes(150_000))
    status, told = Run(JOBS["stream"], small_disk).end()
    assert status == 1
    assert "cannot be written: No space left on device. Make room, or write elsewhere." in told
    assert JOBS["stream"].read(small_disk) is None
    (small_disk / "ballast").unlink()
    assert Run(JOBS["stream"], small_disk).end()[0] == 0
    assert len(JOBS["stream"].read(small_disk)["label"]) == 20_000


@long
def test_a_worker_that_is_killed(expected, tmp_path):
    """The process that runs the tasks ends; what it had done is kept, and told."""
    run = begun("reproduce", tmp_path)
    children = f"/proc/{run.process.pid}/task/{run.process.pid}/children"
    for child in Path(children).read_text().split():
        if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
            os.kill(int(child), signal.SIGKILL)
    status, told = run.end()
    assert status == 1
    assert "error: A worker process died" in told
    assert "Finished runs are kept; start again to resume." in told
    goes_on("reproduce", tmp_path, expected)


def test_a_limit_on_memory_is_known(tmp_path):
    """``ulimit -v``: what would not fit is refused, not tried."""
    rows = np.arange(20_000)
    votes = np.column_stack([rows, rows // 2, rows % 7])
    votes[0, 2] = -1  # without missing votes there is a way that needs less
    np.save(tmp_path / "v.npy", votes)
    limit = 'ulimit -v 5000000; exec "$0" -m ensemblage consensus v.npy -k 3 -m eac -o l.csv'
    done = subprocess.run(
        ["sh", "-c", limit, sys.executable],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "20000 microclusters and its tree would take 6.4 GB of memory, and " in done.stderr
    assert "no such matrix" in done.stderr
    assert not (tmp_path / "l.csv").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forks")
def test_killed_streams_with_damaged_parts_lose_no_row(tmp_path):
    """A few of what `python tools/kill_parts.py` does 200 times."""
    program = Path(__file__).resolve().parents[2] / "tools" / "kill_parts.py"
    done = subprocess.run(
        [sys.executable, str(program), "--kills", "6"],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "every output as undisturbed" in done.stdout


def test_a_dry_run_leaves_finished_work_alone(tmp_path):
    """It may come between a kill and the run that resumes, and may be killed itself."""
    run = begun("stream", tmp_path)
    run.send(signal.SIGKILL)
    run.end()
    parts = tmp_path / JOBS["stream"].parts

    def content():
        return {path.name: path.read_bytes() for path in parts.iterdir()}

    before = content()
    job = JOBS["stream"]._replace(words=(*JOBS["stream"].words, "--dry-run"))
    status, told = Run(job, tmp_path).end()
    assert status == 0, told
    killed = Run(job, tmp_path)
    killed.send(signal.SIGKILL)
    killed.end()
    assert content() == before
    assert not (tmp_path / "l.parquet").exists()
