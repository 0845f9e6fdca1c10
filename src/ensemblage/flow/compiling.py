"""When kernels are compiled, and the time it takes: the first use on a machine waits for it.

Small inputs are left to NumPy, which finishes before a kernel would be compiled or loaded. Numba
reports the start and the end of compilation; kernels from the cache on disk are not reported, so
counting costs nothing once they exist.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core import event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Steps that take NumPy about 20 ms. A kernel takes as long to load, and ten times that to compile.
_SMALL = 1 << 22
_most_steps = _SMALL


def worth_a_kernel(steps: int) -> bool:
    """Tell whether this number of steps takes longer in NumPy than preparing a kernel.

    A stage that calls it has two routes, with equal results to the last bit.
    """
    return steps > _most_steps


@contextmanager
def kernels_for(*, everything: bool) -> Iterator[None]:
    """Use kernels for all inputs, or only where NumPy has no route: for tests and measurements.

    Examples
    --------
    >>> import ensemblage as en
    >>> from ensemblage.flow import compiling
    >>> with compiling.kernels_for(everything=True):
    ...     en.EAC(2).fit_predict([[0, 0], [1, 1], [1, 2]])
    array([0, 1, 1])
    """
    global _most_steps  # noqa: PLW0603 - one setting of the process
    before, _most_steps = _most_steps, -1 if everything else 2**62
    try:
        yield
    finally:
        _most_steps = before


class _Compiled(event.Listener):  # type: ignore[misc]
    """Counts the kernels of this package that are compiled in this process.

    Numba compiles one at a time, under a lock; a kernel that calls others waits for theirs.
    """

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0
        self.listeners: list[Callable[[int], None]] = []
        self._depth, self._begun = 0, 0.0

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        if self._depth == 0:
            self._begun = time.perf_counter()
        self._depth += 1
        self.count += 1
        self._tell(self.count)

    def on_end(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._begun
            self._tell(0)

    def _tell(self, count: int) -> None:
        for listener in self.listeners:
            listener(count)


def _is_ours(event: Any) -> bool:
    module = event.data["dispatcher"].py_func.__module__  # None for code made by exec
    return str(module).startswith("ensemblage.")


_compiled = _Compiled()


def listen() -> None:
    """Start counting; called once, where kernels are made."""
    event.register("numba:compile", _compiled)


def compiled() -> tuple[int, float]:
    """Return the number of kernels compiled by this process, and the seconds they took."""
    return _compiled.count, _compiled.seconds


@contextmanager
def showing(show: Callable[[str | None], None]) -> Iterator[None]:
    """Call `show` with a line of text when a kernel is compiled, and with None after the last.

    The total depends on the data, so the text shows only the number so far.
    """

    def tell(count: int) -> None:
        show(f"Compiling kernels, once: {count} so far" if count else None)

    _compiled.listeners.append(tell)
    try:
        yield
    finally:
        _compiled.listeners.remove(tell)
