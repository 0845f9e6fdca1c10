"""How many rows are done, how fast, and how long it will take; nothing where no one looks."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def counting(
    what: str, total: int | None, *, done: int = 0, show: bool
) -> Iterator[Callable[[int], None]]:
    """Show a bar that grows by the rows it is told of, on standard error if that is a terminal."""
    if not show or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    from ensemblage.flow import compiling

    class Rows(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = f", {task.speed / 1e6:.1f} M rows/s" if task.speed else ""
            return Text(f"{int(task.completed):,} rows{speed}")

    columns = TextColumn("{task.description}"), BarColumn(), Rows(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, completed=done)
        with compiling.showing(lambda text: bar.update(task, description=text or what)):
            yield lambda n_rows: bar.advance(task, n_rows)


@contextmanager
def working(what: str, *, show: bool) -> Iterator[None]:
    """Show what is being done while it is being done."""
    if not show or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    from ensemblage.flow import compiling

    with (
        Console(stderr=True).status(f"{what} ...") as status,
        compiling.showing(lambda text: status.update(f"{text or what} ...")),
    ):
        yield
