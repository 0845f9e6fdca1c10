"""Bars on a terminal, and nothing elsewhere."""

import io
import sys

import pytest

from ensemblage._progress import counting, track


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    return shown


def test_items_pass_under_a_bar(terminal):
    assert list(track("abc", "letters", 3, show=True)) == ["a", "b", "c"]
    assert "letters" in terminal.getvalue()
    assert "3/3" in terminal.getvalue()


def test_nothing_is_shown_where_nobody_asks(terminal):
    assert list(track("abc", "letters", 3, show=False)) == ["a", "b", "c"]
    assert not terminal.getvalue()


def test_nothing_is_shown_in_a_file(capsys):
    with counting("letters", 3, show=True) as advance:
        advance()
    assert capsys.readouterr() == ("", "")
