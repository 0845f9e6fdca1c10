"""Progress on standard error, where that is a terminal; nothing at all where it is not."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")


@contextmanager
def counting(
    what: str, total: int | None, *, show: bool, keep: bool = False
) -> Iterator[Callable[[], None]]:
    """Show a bar that grows by one with each call, and the time left; `keep` it when all is done.

    While a kernel is compiled, the bar says so in place of `what`.
    """
    if not show or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from ensemblage.flow import compiling

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=not keep) as bar:
        task = bar.add_task(what, total=total)
        with compiling.showing(lambda text: bar.update(task, description=text or what)):
            yield lambda: bar.advance(task)


def track(items: Iterable[Item], what: str, total: int, *, show: bool) -> Iterator[Item]:
    """Yield the items under a bar that grows with them."""
    with counting(what, total, show=show) as advance:
        for item in items:
            yield item
            advance()
