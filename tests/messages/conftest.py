"""Checks of whole messages: what was asked, what was found, what to do.

A message says ``(...)`` where another library gives the reason in its own words, and FOLDER for the
working one.
"""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ensemblage.cli import app


def assert_says(found, expected):
    pattern = re.escape(expected).replace(re.escape("(...)"), r"\(.+\)")
    assert re.fullmatch(pattern, found.replace(str(Path.cwd()), "FOLDER"), re.DOTALL), found


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Stand in a folder with a good file of votes, v.csv."""
    monkeypatch.chdir(tmp_path)
    Path("v.csv").write_text("id,a,b\nx,1,1\ny,1,2\nz,2,2\n")


@pytest.fixture
def assert_raises():
    """Return a check that a call of the library raises an error with exactly this message."""

    def check(call, error, message):
        with pytest.raises(error) as caught:
            call()
        assert_says(str(caught.value), message)

    return check


@pytest.fixture
def assert_refused():
    """Return a check that a command ends with a code and exactly this message."""

    def check(command, code, message):
        done = CliRunner().invoke(app, shlex.split(command))
        assert (done.exit_code, done.stdout) == (code, ""), done.stderr
        assert_says(done.stderr.removeprefix("error: ").removesuffix("\n"), message)

    return check
