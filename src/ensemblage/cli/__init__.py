"""The command: arguments, progress, exit codes. No science; imports are light until a verb runs."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

    app: typer.Typer

__all__ = ["app", "main"]

_EXAMPLES = """\b
Examples:
  ensemblage demo
  ensemblage generate cells.csv -m 100 -o votes.csv
  ensemblage choose-k votes.csv
  ensemblage consensus votes.csv -k 10 -o labels.csv
  ensemblage report votes.csv -k 10 -o report.html

\b
ensemblage COMMAND --help shows the options of a command, with examples.
"""
_LAST_STANDARD_STREAM = 2


def main() -> None:
    """Run the command line; imports happen inside, so that an interruption shows no traceback."""
    try:
        _replace_closed_streams()
        _make_app()(prog_name="ensemblage")
    except KeyboardInterrupt:
        sys.exit(130)  # as in ensemblage.cli.errors, which may not be imported yet
    except OSError as error:  # help or version that could not be shown; verbs report their own
        from ensemblage.cli.errors import discard_stdout, show_error

        discard_stdout()
        show_error(error.strerror or str(error))
        sys.exit(1)
    finally:
        # Another interruption, while Python shuts down, ends the process and shows no traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _replace_closed_streams() -> None:
    """Discard messages if the caller closed standard error (``2>&-``), which Python gives as None.

    Else the next file to be opened would get the number of the closed stream, and what is printed.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD_STREAM:
        pass
    os.close(handle)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end


def _make_app() -> typer.Typer:
    """Return the command with its verbs."""
    import typer

    from ensemblage.cli import (
        choose_k,
        compare,
        consensus,
        demo,
        errors,
        generate,
        predict,
        report,
        reproduce,
    )

    app = typer.Typer(
        name="ensemblage",
        help="Consensus clustering: many clusterings in, one robust clustering out.",
        cls=errors.Verbs,
        epilog=_EXAMPLES,
        no_args_is_help=True,
        rich_markup_mode=None,  # rich would double the time to the first line of help
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for module in (consensus, predict, generate, choose_k, compare, report, reproduce, demo):
        name = module.__name__.rpartition(".")[2]  # of the module and of its function
        verb = getattr(module, name)
        app.command(name.replace("_", "-"), cls=errors.Verb, epilog=module.EXAMPLES)(verb)

    def show_version(asked: bool) -> None:  # noqa: FBT001 - the form of a typer callback
        if asked:
            from importlib.metadata import version

            typer.echo(f"ensemblage {version('ensemblage')}")
            raise typer.Exit

    @app.callback()
    def all_verbs(
        *,
        version: bool = typer.Option(
            False,  # noqa: FBT003 - the form of an option
            "--version",
            callback=show_version,
            is_eager=True,
            help="Show the version.",
        ),
    ) -> None:
        """Consensus clustering: many clusterings in, one robust clustering out."""

    return app


def __getattr__(name: str) -> Any:
    if name == "app":
        globals()["app"] = _make_app()
        return globals()["app"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
