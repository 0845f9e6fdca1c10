"""How every kernel is compiled: one place, one set of flags.

Kernels are serial and release the GIL; threads run them side by side on ranges of rows or panels
(`quorate.flow._threads`). Numba's cache does not look at flags, so they never vary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numba

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

F = TypeVar("F", bound="Callable[..., Any]")


def kernel(function: F) -> F:
    """Compile `function` on first use, cached on disk, without the GIL."""
    compiled: F = numba.njit(nogil=True, cache=True)(function)  # noqa: TID251
    return compiled


def fast_kernel(function: F) -> F:
    """Like `kernel`, and let sums and minima be reordered, which is what vectorises them.

    Only for kernels whose inputs hold no NaN: infinities are kept, NaN is not looked for.
    """
    flags = {"nsz", "arcp", "contract", "reassoc", "nnan"}
    compiled: F = numba.njit(nogil=True, cache=True, fastmath=flags)(function)  # noqa: TID251
    return compiled
