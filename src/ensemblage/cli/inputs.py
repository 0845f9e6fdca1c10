"""Files that a call reads: standard input once, and none that it writes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ensemblage.cli.errors import UsageError
from ensemblage.cli.output import format_target

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_stdin(paths: list[str]) -> None:
    """Check that standard input is read only once."""
    if paths.count("-") > 1:
        raise UsageError("Standard input (-) can be read only once.")


def check_apart(output: str, inputs: Iterable[str | None]) -> None:
    """Check that an output is not one of the inputs, under whatever name: it would replace it."""
    from ensemblage import tables

    for path in inputs:
        if path is None:
            continue
        with suppress(OSError, ValueError):  # one of them is not a path
            same = tables.identity(output) == tables.identity(path, read=True)
            if same and (output == "-" or Path(os.path.realpath(output)).is_file()):
                source = "standard input" if path == "-" else format_target(path)
                raise UsageError(
                    f"The output {format_target(output)} is the input {source}, which it would"
                    " replace. Name another output."
                )
