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

    with Console(stderr=True).status(f"{what} ...") as status:
        from ensemblage.flow import compiling  # slow to import, so it is under the spinner

        with compiling.showing(lambda text: status.update(f"{text or what} ...")):
            yield


def track(
    items: Iterable[Item], what: str, *, total: int | None = None, quiet: bool = False
) -> Iterator[Item]:
    """Yield the items under a bar that grows with them; `total` where they cannot be counted."""
    if quiet or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        from ensemblage.flow import compiling

        with compiling.showing(lambda text: bar.update(task, description=text or what)):
            yield from bar.track(items, task_id=task)
