"""The first use compiles kernels: it is shown, and it is not counted in the seconds."""

import contextlib
import io
import json
import os
import pty
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from numba.core import event

from ensemblage import _progress
from ensemblage._progress import Clock, Elapsed
from ensemblage.flow import compiling

VOTES = "id,a,b,c,d\n" + "".join(f"o{i},{i % 3},{i // 70},{i % 4},{i % 2}\n" for i in range(200))


def compiled(*modules, seconds=0.0):
    """Report what Numba reports when it compiles kernels that call one another."""
    kernels = [SimpleNamespace(py_func=SimpleNamespace(__module__=name)) for name in modules]
    for kernel in kernels:
        event.start_event("numba:compile", data={"dispatcher": kernel})
        time.sleep(seconds)
    for kernel in reversed(kernels):
        event.end_event("numba:compile", data={"dispatcher": kernel})


def test_kernels_are_counted_and_others_are_not():
    count, seconds = compiling.compiled()
    begun = time.perf_counter()
    compiled("ensemblage.flow.one", "numba.np", "ensemblage.flow.two", seconds=0.01)
    taken = time.perf_counter() - begun
    compiled("somebody.else", seconds=0.05)
    now, later = compiling.compiled()
    assert now - count == 2
    assert 0.03 <= later - seconds <= taken


def test_a_kernel_that_fails_to_compile_does_not_stop_the_clock():
    clock = Clock()
    kernel = SimpleNamespace(py_func=SimpleNamespace(__module__="ensemblage.flow.one"))
    with pytest.raises(TypeError), event.trigger_event("numba:compile", {"dispatcher": kernel}):
        raise TypeError
    time.sleep(0.02)
    assert clock.elapsed().seconds >= 0.02


def test_seconds_exclude_compiling():
    clock = Clock()
    compiled("ensemblage.flow.one", "ensemblage.flow.two", seconds=0.1)
    took = clock.elapsed()
    assert took.compile_seconds >= 0.2
    assert took.seconds < 0.1
    assert Clock().elapsed().compile_seconds == 0.0


def test_the_summary_tells_of_compiling_that_takes_long():
    assert str(Elapsed(0.314, 0.4)) == "0.31 s"
    assert str(Elapsed(0.314, 4.81)) == "0.31 s, and 4.8 s compiling kernels, once"
    assert Elapsed(1.23456, 0.0).facts() == {"seconds": 1.2346, "compile_seconds": 0.0}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def bar():
    for _ in _progress.track([1], "Comparing", 1, show=True):
        compiled("ensemblage.flow.one", seconds=0.3)


def rows():
    with _progress.counting("Reading", 10, show=True, rows=True):
        compiled("ensemblage.flow.one", seconds=0.3)


def spinner():
    with _progress.working("Consensus", show=True):
        compiled("ensemblage.flow.one", seconds=0.3)


@pytest.mark.parametrize("display", [bar, spinner, rows])
def test_progress_shows_compiling(display, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    display()
    assert "Compiling kernels, once: " in sys.stderr.getvalue()


def test_nothing_is_shown_to_those_who_ask_for_quiet(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with _progress.working("Consensus", show=False):
        compiled("ensemblage.flow.one", seconds=0.2)
    assert sys.stderr.getvalue() == ""


def run_on_a_terminal(call, **settings):
    """Run a command; return what it prints, and what it shows on a terminal as standard error."""
    reader, writer = pty.openpty()
    shown = []

    def read():
        with contextlib.suppress(OSError):  # which is how a terminal ends
            while True:
                shown.append(os.read(reader, 1 << 16))

    thread = threading.Thread(target=read)
    thread.start()
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=writer, check=True, **settings)
    os.close(writer)
    thread.join()
    os.close(reader)
    return done.stdout, b"".join(shown).decode()


def test_first_and_second_use(tmp_path):
    """In a cache that is empty at first."""
    (tmp_path / "v.csv").write_text(VOTES)
    cache = tmp_path / "cache"
    call = [sys.executable, "-m", "ensemblage", "consensus", "v.csv", "-k", "3", "-m", "lwgp"]
    call += ["-o", "l.csv", "--json"]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "TERM": "xterm", "COLUMNS": "120"}
    begun = time.perf_counter()
    printed, shown = run_on_a_terminal(call, cwd=tmp_path, env=env)
    wall = time.perf_counter() - begun
    first = json.loads(printed)
    assert "Compiling kernels, once: " in shown
    assert first["compile_seconds"] > 0.2
    assert first["seconds"] + first["compile_seconds"] < wall
    names = sorted(path.name.split("-")[0] for path in cache.rglob("*.nbi"))
    assert names == ["kmeans._add_rows", "kmeans._approach", "kmeans._weighted_sum"]

    printed, shown = run_on_a_terminal(call, cwd=tmp_path, env=env)
    assert json.loads(printed)["compile_seconds"] == 0.0
    assert "Compiling" not in shown
