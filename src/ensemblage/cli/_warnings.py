"""Warnings of the library as lines that begin with "warning:"."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ensemblage.cli._colours import coloured
from ensemblage.cli._speech import in_options

if TYPE_CHECKING:
    from collections.abc import Iterator


def warn(message: Warning | str) -> None:
    """Show one warning as one line on standard error."""
    text = in_options(message) if isinstance(message, Warning) else " ".join(message.split())
    typer.echo(f"{coloured('warning:', 'yellow')} {text}", err=True)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show what the user should know, once; not what concerns developers (deprecations)."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            warn(message)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
