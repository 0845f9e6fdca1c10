"""A Dask cluster that lasts for all tests, a client for each file, and one thread."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

SECONDS_TO_START = 60


@pytest.fixture
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Start a scheduler and two workers, each under a nanny that starts it again if it dies."""
    folder = tmp_path_factory.mktemp("cluster")
    known = folder / "scheduler.json"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    common = ["--scheduler-file", str(known), "--no-dashboard"]
    loopback = "tcp://127.0.0.1"
    commands = [
        ["scheduler", "--host", loopback, "--port", "0", *common],
        *(
            ["worker", "--host", loopback, "--nthreads", "1", "--local-directory", folder, *common]
            for _ in range(2)
        ),
    ]
    processes = []
    with (folder / "log").open("wb") as log:
        try:
            for command in commands:
                process = subprocess.Popen(
                    [sys.executable, "-m", "dask", *map(str, command)],
                    cwd=folder,
                    env=environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
                processes.append(process)
            until = time.monotonic() + SECONDS_TO_START
            while not known.exists() or not known.read_text().endswith("}"):
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.05)
            yield json.loads(known.read_text())["address"]
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
