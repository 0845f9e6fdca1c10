"""The seconds that a command took, and apart from them those of compiling kernels."""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

#: Compiling for less than this is not worth a word.
_LEAST_SECONDS = 0.5


class Took(NamedTuple):
    """The seconds of the work itself, and those in which kernels were compiled."""

    seconds: float
    compile_seconds: float

    def __str__(self) -> str:
        if self.compile_seconds < _LEAST_SECONDS:
            return f"{self.seconds:.2f} s"
        return f"{self.seconds:.2f} s, and {self.compile_seconds:.1f} s compiling kernels, once"

    def facts(self) -> dict[str, float]:
        """Return both, for machines."""
        return {
            "seconds": round(self.seconds, 4),
            "compile_seconds": round(self.compile_seconds, 4),
        }


class Clock:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._begun, self._compiled = time.perf_counter(), _compile_seconds()

    def took(self) -> Took:
        """Return what has passed since."""
        compiling = _compile_seconds() - self._compiled
        return Took(time.perf_counter() - self._begun - compiling, compiling)


def _compile_seconds() -> float:
    """Return the seconds in which this process compiled kernels; none before there are any."""
    module = sys.modules.get("ensemblage.flow.compiling")
    return 0.0 if module is None else float(module.compiled()[1])
