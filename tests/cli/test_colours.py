"""Colours and progress: on terminals that want them, on standard error, and nowhere else."""

import os
import subprocess
import sys

import pytest

from ensemblage.cli.errors import coloured

pty = pytest.importorskip("pty")  # POSIX

ENSEMBLAGE = [sys.executable, "-c", "from ensemblage.cli import main; main()"]
ESCAPE = "\x1b["


def on_terminal(words, **variables):
    """Return what a command prints: standard output, a pipe, and standard error, a terminal."""
    ours, theirs = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    environment = kept | {"TERM": "xterm-256color"} | variables
    told = b""
    with subprocess.Popen(
        [*ENSEMBLAGE, *words], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        printed = process.stdout.read().decode()
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux tells the end of a terminal in this way
                break
            if not part:
                break
            told += part
    os.close(ours)
    return printed, told.decode()


@pytest.mark.parametrize(
    ("is_terminal", "variables", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),  # an empty one says nothing, as no-color.org has it
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_who_gets_colours(monkeypatch, is_terminal, variables, expected):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    assert (ESCAPE in coloured("error:", "red")) == expected
    assert "error:" in coloured("error:", "red")


def test_an_error_on_a_terminal():
    printed, told = on_terminal(["consenus"])
    assert printed == ""
    assert told.startswith(f"{ESCAPE}31m")
    assert on_terminal(["consenus"], NO_COLOR="1")[1].startswith("error: Unknown command")
    piped = subprocess.run([*ENSEMBLAGE, "consenus"], capture_output=True, text=True, check=False)
    assert piped.stderr.startswith("error: Unknown command")


def test_progress_and_warnings_on_a_terminal(tmp_path):
    votes = tmp_path / "v.csv"
    votes.write_text("a,b,gt\n" + "0,0,0\n0,1,0\n1,1,1\n" * 5)
    printed, told = on_terminal(["consensus", str(votes), "-k", "2"])
    assert printed.startswith("row,label\n")
    assert ESCAPE not in printed
    assert "Reading votes" in told
    assert f"{ESCAPE}33m" in told  # a warning: gt counts as a clustering
    _, told = on_terminal(["consensus", str(votes), "-k", "2", "-q"], NO_COLOR="1")
    assert ESCAPE not in told
    assert told.startswith("warning: column 'gt' counts as a clustering")
