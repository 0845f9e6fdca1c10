"""A Dask cluster that lasts for all tests, a client for each file, and one thread."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

SECONDS_TO_START = 180


@pytest.fixture
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Start a scheduler and two workers, each under a nanny that starts it again if it dies.

    The workers start once the scheduler has its address: a worker that reads the scheduler's
    file while it is being written gives up after a tenth of a second.
    """
    folder = tmp_path_factory.mktemp("cluster")
    known = folder / "scheduler.json"
    loopback = ["--host", "tcp://127.0.0.1", "--no-dashboard"]
    processes = []
    with (folder / "log").open("wb") as log:

        def start(*command):
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *map(str, command), *loopback],
                cwd=folder,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            processes.append(process)

        try:
            start("scheduler", "--port", "0", "--scheduler-file", known)
            until = time.monotonic() + SECONDS_TO_START
            while not known.exists() or not known.read_text().endswith("}"):
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.05)
            address = json.loads(known.read_text())["address"]
            for _ in range(2):
                start("worker", address, "--nthreads", "1", "--local-directory", folder)
            yield address
        finally:
            for process in reversed(processes):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="module")
def client(address):
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=SECONDS_TO_START)
        yield client
