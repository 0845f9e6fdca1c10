"""Folders of datasets: where there is no home folder, and where two runs share one."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from fetch_server import CONTENT, SHA

from ensemblage import datasets
from ensemblage.datasets import DownloadError, _fetch
from ensemblage.datasets._fetch import fetch


@pytest.fixture
def homeless(monkeypatch):
    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("ENSEMBLAGE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_local_data_need_no_home(homeless, tmp_path):
    np.savez(tmp_path / "PD.npz", X=np.eye(3), y=np.arange(3))
    assert datasets.load("PD", folder=tmp_path).name == "PD"
    with pytest.raises(FileNotFoundError, match="Set the environment variable ENSEMBLAGE_CACHE"):
        datasets.load("MF", folder=tmp_path)


def test_a_cache_named_by_the_system_needs_no_home(homeless, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    np.savez(tmp_path / "PD.npz", X=np.eye(3), y=np.arange(3))
    with pytest.raises(DownloadError, match=f"none in the cache {tmp_path}"):
        datasets.load("PD", folder=tmp_path / "none", download=False)


@pytest.mark.parametrize("sha256", [SHA, None])
def test_of_two_runs_one_fetches(server, tmp_path, monkeypatch, sha256):
    pytest.importorskip("fcntl")
    code = (
        "import sys\nfrom pathlib import Path\nfrom ensemblage.datasets._fetch import fetch\n"
        "fetch([sys.argv[1]], Path(sys.argv[2]), sha256=sys.argv[3] or None)"
    )
    held = server.held = threading.Event()
    words = (f"{server.address}/file", str(tmp_path / "file"), sha256 or "")
    other = subprocess.Popen([sys.executable, "-c", code, *words])
    sleep = time.sleep
    try:
        while not server.asked:
            assert other.poll() is None
            sleep(0.01)
        # The server answers the first when the second waits.
        monkeypatch.setattr(time, "sleep", lambda seconds: (held.set(), sleep(seconds)))
        fetch([f"{server.address}/file"], tmp_path / "file", sha256=sha256)
        assert other.wait(timeout=60) == 0
    finally:
        held.set()
        other.kill()
    assert len(server.asked) == 1
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_another_run_may_have_made_the_dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_CACHE", str(tmp_path))
    sleep, asleep = time.sleep, threading.Event()
    monkeypatch.setattr(time, "sleep", lambda seconds: (asleep.set(), sleep(seconds)))
    with _fetch.alone(tmp_path / "PD.lock"):
        found = []
        waiting = threading.Thread(
            target=lambda: found.append(
                datasets.load("PD", folder=tmp_path / "none", unverified=True)
            )
        )
        waiting.start()
        assert asleep.wait(timeout=60)
        np.savez(tmp_path / "PD.npz", X=np.eye(3), y=np.arange(3))
    waiting.join()
    assert found[0].features.shape == (3, 3)


def test_a_cache_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ENSEMBLAGE_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(_fetch, "fetch", None)
    with pytest.raises(DownloadError, match="Nothing can be fetched into the folder"):
        datasets.load("PD", folder=tmp_path, unverified=True)


@pytest.mark.parametrize("status", [201, 203, 204])
def test_an_answer_without_a_file(server, tmp_path, status):
    server.status, server.headers = status, {"Content-Length": None}
    with pytest.raises(DownloadError, match=f"the server answers {status} .*, without a file"):
        fetch([f"{server.address}/file"], tmp_path / "file")
    assert not list(tmp_path.iterdir())
