"""Golden section search."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_GOLDEN = (5.0**0.5 - 1.0) / 2.0


def golden_maximum(
    function: Callable[[float], float], low: float, high: float, tolerance: float
) -> float:
    """Return the maximum of a concave function of one number, within the tolerance.

    Examples
    --------
    >>> round(golden_maximum(lambda x: -((x - 0.3) ** 2), 0.0, 2.0, 1e-4), 3)
    0.3
    """
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > tolerance:
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2.0
