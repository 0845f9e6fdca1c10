"""Progress on standard error, where that is a terminal; nothing at all where it is not."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def track(items: Sequence[Item], what: str, *, quiet: bool = False) -> Iterator[Item]:
    """Yield the items under a bar that grows with them."""
    if quiet or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    yield from bar(items, description=what, console=Console(stderr=True), transient=True)
