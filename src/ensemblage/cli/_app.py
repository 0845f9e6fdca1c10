"""The verbs of the command, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from ensemblage.cli import choose_k, compare, consensus, demo, generate, predict, report, reproduce
from ensemblage.cli._usage import Verb, Verbs

EXAMPLES = """\b
Examples:
  ensemblage demo
  ensemblage generate cells.csv -m 100 -o votes.csv
  ensemblage choose-k votes.csv
  ensemblage consensus votes.csv -k 10 -o labels.csv
  ensemblage report votes.csv -k 10 -o report.html

\b
ensemblage COMMAND --help shows the options of a command, with examples.
"""

app = typer.Typer(
    name="ensemblage",
    help="Consensus clustering: many clusterings in, one robust clustering out.",
    cls=Verbs,
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,  # rich would double the time to the first line of help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _verb in (consensus, predict, generate, choose_k, compare, report, reproduce, demo):
    _name = _verb.__name__.rpartition(".")[2]  # what a module and its function are called
    app.command(_name.replace("_", "-"), cls=Verb, epilog=_verb.EXAMPLES)(getattr(_verb, _name))


def _show_version(asked: bool) -> None:  # noqa: FBT001 - the form of a typer callback
    if asked:
        from importlib.metadata import version

        typer.echo(f"ensemblage {version('ensemblage')}")
        raise typer.Exit


@app.callback()
def _all_verbs(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and stop."
        ),
    ] = False,
) -> None:
    """Consensus clustering: many clusterings in, one robust clustering out."""
