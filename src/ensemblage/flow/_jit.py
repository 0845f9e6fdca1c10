"""Compilation of every kernel, with one set of flags.

Kernels are serial and release the GIL; threads run them in parallel on ranges of rows or panels
(`ensemblage.flow._threads`). Numba's cache ignores flags, so they never vary.
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
    """Like `kernel`, but allow sums and minima to be reordered, which vectorises them.

    Only for kernels whose inputs hold no NaN: infinities are kept, NaN is not checked.
    """
    return _compile(function, fastmath={"nsz", "arcp", "contract", "reassoc", "nnan"})


def _compile(
    function: Callable[Parameters, Result], *, fastmath: bool | set[str]
) -> Callable[Parameters, Result]:
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath}
    try:
        compiled = numba.njit(cache=True, **options)(function)  # noqa: TID251 - the one place
    except RuntimeError:  # no writable folder for the cache
        return numba.njit(**options)(function)  # type: ignore[no-any-return]  # noqa: TID251
    if hasattr(compiled, "_cache"):  # absent if compiling is disabled
        compiled._cache = _Forgiving(compiled._cache)
    return compiled  # type: ignore[no-any-return]


class _Forgiving:
    """A cache of compiled code that is skipped if it cannot be read or written.

    A disk may be full, or a file truncated by a crash. Compiling again takes seconds, which is
    better than an error.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return self._cache.load_overload(*arguments)
        except Exception:  # noqa: BLE001 - a damaged pickle may raise anything
            with suppress(Exception):
                self._cache.flush()  # the next process starts with an empty one
            return None

    def save_overload(self, *arguments: Any) -> None:
        with suppress(OSError):
            self._cache.save_overload(*arguments)


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let `function` write LLVM instructions for kernels to call: numba's own, with a type."""
    wrapped: Callable[..., Any] = extending.intrinsic(function)
    return wrapped
