"""Timing of work, with the time of compiling kernels apart."""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

#: Shorter compile times are not shown.
_LEAST_COMPILE_SECONDS = 0.5


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
    """A clock that starts when it is created."""

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
