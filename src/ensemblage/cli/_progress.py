"""Progress on standard error, where that is a terminal; nothing at all where it is not."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Item = TypeVar("Item")


@contextmanager
def stage(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show what is being done while it is being done."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        yield


def track(
    items: Iterable[Item], what: str, *, total: int | None = None, quiet: bool = False
) -> Iterator[Item]:
    """Yield the items under a bar that grows with them; `total` where they cannot be counted."""
    if quiet or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    console = Console(stderr=True)
    yield from bar(items, description=what, total=total, console=console, transient=True)
