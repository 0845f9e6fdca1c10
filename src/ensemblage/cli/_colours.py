"""Colour for the first word of a message, on terminals that want it."""

from __future__ import annotations

import os
import sys

import typer


def coloured(text: str, colour: str) -> str:
    """Return a text in a colour where standard error is a terminal that shows it.

    ``NO_COLOR`` (any value, see https://no-color.org) and ``TERM=dumb`` say that it should not.
    """
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if not wanted or not sys.stderr.isatty():
        return text
    return typer.style(text, fg=colour, bold=True)
