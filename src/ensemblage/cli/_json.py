"""``--json``: what a summary tells, for machines.

One object in one line of standard output, where nothing else is printed. It begins with ``command``
and ``version``. Keys are never left out: what does not apply is null, as is a number that is none.
"""

from __future__ import annotations

import json
import math
from typing import Any

import typer

from ensemblage.cli._errors import WrongCall


def check_json(output: str | None, *, as_json: bool) -> None:
    """Refuse JSON and another output on the same stream, and JSON where nobody would get it."""
    if not as_json:
        return
    if output in ("-", "/dev/stdout"):
        raise WrongCall(
            "--json prints a summary on standard output, where the result would go too. Name a"
            " file for the result with -o."
        )
    from ensemblage import files

    files.check_writable("-")


def print_json(command: str, facts: dict[str, Any]) -> None:
    """Print the object."""
    from ensemblage import __version__

    found = {"command": command, "version": __version__, **facts}
    typer.echo(json.dumps(plain(found), allow_nan=False, ensure_ascii=False))


def plain(value: Any) -> Any:
    """Return a value as JSON knows it.

    Examples
    --------
    >>> plain({"nmi": float("nan"), "ks": range(2, 4), 3: (1.5, None)})
    {'nmi': None, 'ks': [2, 3], '3': [1.5, None]}
    """
    if isinstance(value, dict):
        return {str(name): plain(found) for name, found in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(found) for found in value]
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
