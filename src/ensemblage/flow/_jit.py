"""How every kernel is compiled: one place, one set of flags.

Kernels are serial and release the GIL; threads run them side by side on ranges of rows or panels
(`ensemblage.flow._threads`). Numba's cache does not look at flags, so they never vary.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numba
from numba import extending

from ensemblage.flow import compiling

if TYPE_CHECKING:
    from collections.abc import Callable

compiling.listen()

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile `function` on first use, cached on disk, without the GIL."""
    return _compile(function, fastmath=False)


def fast_kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Like `kernel`, and let sums and minima be reordered, which is what vectorises them.

    Only for kernels whose inputs hold no NaN: infinities are kept, NaN is not looked for.
    """
    return _compile(function, fastmath={"nsz", "arcp", "contract", "reassoc", "nnan"})


def _compile(
    function: Callable[Parameters, Result], *, fastmath: bool | set[str]
) -> Callable[Parameters, Result]:
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath}
    try:
        compiled = numba.njit(cache=True, **options)(function)  # noqa: TID251 - the one place
    except RuntimeError:  # neither beside the package nor at home is a place to write to
        return numba.njit(**options)(function)  # type: ignore[no-any-return]  # noqa: TID251
    if hasattr(compiled, "_cache"):  # not where compiling is turned off
        compiled._cache = _Forgiving(compiled._cache)
    return compiled  # type: ignore[no-any-return]


class _Forgiving:
    """A cache of compiled code that is done without where it cannot be read or written.

    A disk may be full, a file cut off by a crash. Compiling again costs seconds; ending a
    consensus because of that costs more.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return self._cache.load_overload(*arguments)
        except Exception:  # noqa: BLE001 - whatever a damaged pickle raises
            with suppress(Exception):
                self._cache.flush()  # the next process finds a sound, empty one
            return None

    def save_overload(self, *arguments: Any) -> None:
        with suppress(OSError):
            self._cache.save_overload(*arguments)


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let `function` write LLVM instructions for kernels to call: numba's own, with a type."""
    wrapped: Callable[..., Any] = extending.intrinsic(function)
    return wrapped
