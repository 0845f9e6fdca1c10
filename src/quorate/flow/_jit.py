"""How every kernel is compiled: one place, one set of flags.

Kernels are serial and release the GIL; threads run them side by side on ranges of rows or panels
(`quorate.flow._threads`). Numba's cache does not look at flags, so they never vary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numba
from numba import extending

if TYPE_CHECKING:
    from collections.abc import Callable

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
    compiler = numba.njit(nogil=True, cache=True, fastmath=fastmath)  # noqa: TID251 - the one place
    compiled: Callable[Parameters, Result] = compiler(function)
    return compiled


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let `function` write LLVM instructions for kernels to call: numba's own, with a type."""
    wrapped: Callable[..., Any] = extending.intrinsic(function)
    return wrapped
