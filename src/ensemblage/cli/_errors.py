"""Failures as one readable paragraph and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from ensemblage.cli._colours import coloured
from ensemblage.cli._speech import in_options

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED = 1
WRONG_CALL = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells count
BROKEN_PIPE = 141  # 128 + SIGPIPE


class WrongCall(Exception):  # noqa: N818 - it names what happened, and nobody but the command sees it
    """The arguments do not make sense, whatever the files hold."""


@contextmanager
def reported(*, debug: bool) -> Iterator[None]:
    """Turn whatever is raised inside into a paragraph on standard error and an exit code.

    0 is success, 1 a failure of the work, 2 a wrong call. `debug` shows the traceback first.
    """
    try:
        yield
    except typer.Exit:
        raise
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - all are told, none is lost
        if isinstance(error, BrokenPipeError):
            let_go_of_stdout()
            raise typer.Exit(BROKEN_PIPE) from None
        if debug:
            traceback.print_exception(error)
        if isinstance(error, KeyboardInterrupt):
            typer.echo("Interrupted. An output file that existed is as it was.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        code, message = _verdict(error)
        complain(message)
        raise typer.Exit(code) from None


def complain(message: str) -> None:
    """Show an error as one paragraph on standard error."""
    typer.echo(f"{coloured('error:', 'red')} {message}", err=True)


def _verdict(error: Exception) -> tuple[int, str]:
    """Return the exit code for an error, and what to say about it."""
    if isinstance(error, WrongCall):
        return WRONG_CALL, str(error)
    if isinstance(error, (ValueError, TypeError, OSError, MemoryError)):
        # Not imported for this: that may be what has just failed.
        option_error = getattr(sys.modules.get("ensemblage.files"), "OptionError", ())
        return WRONG_CALL if isinstance(error, option_error) else FAILED, _in_words(error)
    text = in_options(error)
    if isinstance(error, ImportError) and "pip install" in text:
        return FAILED, text
    if isinstance(error, getattr(sys.modules.get("ensemblage._device"), "DeviceError", ())):
        return FAILED, text
    return FAILED, (
        f"ensemblage met a case it does not know: {type(error).__name__}: {text}. This is a defect"
        " of ensemblage: run the same command with --debug, and report what it shows."
    )


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    text = in_options(error)
    if isinstance(error, MemoryError):
        return text or "There was not enough memory for this."
    return text or type(error).__name__


def let_go_of_stdout() -> None:
    """Point standard output nowhere: its reader has gone, and the final flush must not complain."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
