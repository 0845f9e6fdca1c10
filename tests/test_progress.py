"""Bars on a terminal, and nothing elsewhere."""

import io
import sys

from ensemblage._progress import counting, track


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self):
        return True


def on_a_terminal(monkeypatch, **options):
    """Return what is shown while three items are tracked."""
    monkeypatch.setenv("TERM", "xterm")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", Terminal())
        assert list(track("abc", "letters", 3, **options)) == ["a", "b", "c"]
        return sys.stderr.getvalue()


def test_items_pass_under_a_bar(monkeypatch):
    shown = on_a_terminal(monkeypatch, show=True)
    assert "letters" in shown
    assert "3/3" in shown


def test_nothing_is_shown_where_nobody_asks(monkeypatch):
    assert not on_a_terminal(monkeypatch, show=False)


def test_nothing_is_shown_in_a_file(capsys):
    with counting("letters", 3, show=True) as advance:
        advance()
    assert capsys.readouterr() == ("", "")
