"""Progress bars on standard error, if it is a terminal, and timing of work."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ensemblage._messages import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
#: Shorter compile times are not shown.
_LEAST_COMPILE_SECONDS = 0.5


@contextmanager
def counting(
    what: str,
    total: int | None,
    *,
    show: bool,
    keep: bool = False,
    done: int = 0,
    rows: bool = False,
) -> Iterator[Callable[..., None]]:
    """Show a bar that grows by one with each call, or by the number passed.

    For `rows` it shows their number and rate. `keep` leaves the bar at the end. While a kernel is
    compiled, the bar shows that instead of `what`.
    """
    if not show or not sys.stderr.isatty():
        yield lambda *_: None
        return
    what = printable(what)
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
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

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        Rows() if rows else MofNCompleteColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=not keep) as bar:
        task = bar.add_task(what, total=total, completed=done)
        with compiling.showing(lambda text: bar.update(task, description=text or what)):
            yield lambda n=1: bar.advance(task, n)


@contextmanager
def working(what: str, *, show: bool) -> Iterator[None]:
    """Show the name of the work while it runs."""
    if not show or not sys.stderr.isatty():
        yield
        return
    what = printable(what)
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ...") as status:
        from ensemblage.flow import compiling  # slow to import, so under the spinner

        with compiling.showing(lambda text: status.update(f"{text or what} ...")):
            yield


def track(items: Iterable[Item], what: str, total: int, *, show: bool) -> Iterator[Item]:
    """Yield the items under a bar that grows with them."""
    with counting(what, total, show=show) as advance:
        for item in items:
            yield item
            advance()


class Elapsed(NamedTuple):
    """Seconds of the work itself, and seconds spent compiling kernels."""

    seconds: float
    compile_seconds: float

    def __str__(self) -> str:
        if self.compile_seconds < _LEAST_COMPILE_SECONDS:
            return f"{self.seconds:.2f} s"
        return f"{self.seconds:.2f} s, and {self.compile_seconds:.1f} s compiling kernels, once"

    def facts(self) -> dict[str, float]:
        """Return both, rounded, by name."""
        return {name: round(value, 4) for name, value in self._asdict().items()}


class Clock:
    """Starts when it is created."""

    def __init__(self) -> None:
        self._start, self._compiled = time.perf_counter(), _compile_seconds()

    def elapsed(self) -> Elapsed:
        """Return the time since then."""
        compiling = _compile_seconds() - self._compiled
        return Elapsed(time.perf_counter() - self._start - compiling, compiling)


def _compile_seconds() -> float:
    """Return the seconds in which this process compiled kernels; 0 before any is imported."""
    module = sys.modules.get("ensemblage.flow.compiling")
    return 0.0 if module is None else float(module.compiled()[1])
