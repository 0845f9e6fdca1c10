"""A Dask cluster that lasts for all tests, a client for each file, and one thread."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

SECONDS_TO_START = 180


@pytest.fixture
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@contextmanager
def running(folder, n_workers, protocol="tcp", options=()):
    """Start a scheduler and workers, each under a nanny that starts it again if it dies.

    The workers start once the scheduler has its address: a worker that reads the scheduler's
    file while it is being written gives up after a tenth of a second.
    """
    known = folder / "scheduler.json"
    loopback = ["--host", f"{protocol}://127.0.0.1", "--no-dashboard", *map(str, options)]
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
            for _ in range(n_workers):
                start("worker", address, "--nthreads", "1", "--local-directory", folder)
            yield address
        finally:
            for process in reversed(processes):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster"), 2) as found:
        yield found


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """Make an authority, a certificate that it has signed, and one of a stranger."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("certificates are made by openssl, which is not installed")
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words):
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    for name in ("authority", "stranger"):
        openssl("req", "-x509", *new_key, "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                "-out", f"{name}.pem")  # fmt: skip
    openssl("req", *new_key[:-2], "-subj", "/CN=127.0.0.1", "-keyout", "own.key", "-out", "own.csr")
    openssl("x509", "-req", "-in", "own.csr", "-CA", "authority.pem", "-CAkey", "authority.key",
            "-CAcreateserial", "-days", "2", "-out", "own.pem")  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def tls_address(certificates, tmp_path_factory):
    options = ["--tls-ca-file", certificates / "authority.pem", "--tls-cert",
               certificates / "own.pem", "--tls-key", certificates / "own.key"]  # fmt: skip
    with running(tmp_path_factory.mktemp("tls"), 1, "tls", options) as found:
        yield found


@pytest.fixture(scope="module")
def client(address):
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=SECONDS_TO_START)
        yield client
