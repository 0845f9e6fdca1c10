"""The nearest of a few centres, for rows of features of any numeric type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import fast_kernel
from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROWS = 8192


def nearest(
    rows: NDArray[Any], centres: FloatArray, *, n_jobs: int | None = 1
) -> NDArray[np.int64]:
    """Return the number of the nearest centre of each row, the lowest on ties.

    Every row is treated separately, so its result does not depend on other rows.
    """
    nearest = np.empty(len(rows), dtype=np.int64)

    def one_range(bounds: tuple[int, int]) -> None:
        start, stop = bounds
        find_nearest(rows[start:stop], centres, nearest[start:stop])

    in_threads(one_range, row_ranges(len(rows), _ROWS), n_jobs)
    return nearest


# A call between kernels that is not inlined costs as much as four distances in 40 dimensions, so
# the loops over centres below are written out, and called once for a row.


@fast_kernel
def squared_distance(a: Any, b: Any) -> float:
    """Return the squared Euclidean distance, in float64 for any type of `a`."""
    total = 0.0
    for d in range(len(a)):
        difference = np.float64(a[d]) - b[d]
        total += difference * difference
    return total


@fast_kernel
def find_nearest(rows: Any, centres: Any, found: Any) -> None:
    """Write the number of the nearest centre of each row, the lowest on ties."""
    for i in range(len(rows)):
        least = np.inf
        found[i] = 0  # if all distances are infinite
        for c in range(len(centres)):
            total = 0.0
            for d in range(rows.shape[1]):
                difference = np.float64(rows[i, d]) - centres[c, d]
                total += difference * difference
            if total < least:
                least = total
                found[i] = c


@fast_kernel
def two_least(rows: Any, i: Any, centres: Any, factors: Any) -> Any:
    """Return the centres of least and second least ``factor * distance²``, and these costs.

    Ties go to the lowest centre. With a single centre, the second is -1, at infinity.
    """
    least, second = np.inf, np.inf
    first, other = -1, -1
    for c in range(len(centres)):
        total = 0.0
        for d in range(rows.shape[1]):
            difference = np.float64(rows[i, d]) - centres[c, d]
            total += difference * difference
        total *= factors[c]
        if total < least:
            second, other = least, first
            least, first = total, c
        elif total < second:
            second, other = total, c
    if first < 0:  # all distances are infinite
        first = 0
    return first, other, least, second
