"""The verbs of the command, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from quorate.cli import choose_k, compare, consensus, demo, generate, predict, report, reproduce
from quorate.cli._usage import Verbs

EXAMPLES = """\b
Examples:
  quorate demo
  quorate generate cells.csv -m 100 -o votes.csv
  quorate choose-k votes.csv
  quorate consensus votes.csv -k 10 -o labels.csv
  quorate report votes.csv -k 10 -o report.html

\b
quorate COMMAND --help shows the options of a command, with examples.
"""

app = typer.Typer(
    name="quorate",
    help="Consensus clustering: many clusterings in, one robust clustering out.",
    cls=Verbs,
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,  # rich would double the time to the first line of help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("consensus", epilog=consensus.EXAMPLES)(consensus.consensus)
app.command("predict", epilog=predict.EXAMPLES)(predict.predict)
app.command("generate", epilog=generate.EXAMPLES)(generate.generate)
app.command("choose-k", epilog=choose_k.EXAMPLES)(choose_k.choose_k)
app.command("compare", epilog=compare.EXAMPLES)(compare.compare)
app.command("report", epilog=report.EXAMPLES)(report.report)
app.command("reproduce", epilog=reproduce.EXAMPLES)(reproduce.reproduce)
app.command("demo", epilog=demo.EXAMPLES)(demo.demo)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - the form of a typer callback
    if asked:
        from importlib.metadata import version

        typer.echo(f"quorate {version('quorate')}")
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
