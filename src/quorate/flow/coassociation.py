"""Co-association: in what share of the clusterings two microclusters agree (Definition 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quorate.flow._agreement import count_matches, counter_dtype, turnout_codes, vote_codes
from quorate.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quorate._types import FloatArray

_ROWS_PER_BLOCK = 64


def coassociation(
    table: NDArray[np.int32],
    others: NDArray[np.int32] | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return a[i, j] = agreements / clusterings in which row i and row j both voted.

    Rows of `table` are compared with rows of `others` (default: with each other). Where no
    clustering has both votes, a[i, j] = 0. A full row agrees with itself: a[i, i] = 1.
    """
    if others is None:
        others = table
    n_rows, n_clusterings = table.shape
    votes, turnout = vote_codes(np.vstack([table, others])), None
    if min(table.min(initial=0), others.min(initial=0)) < 0:
        turnout = turnout_codes(np.vstack([table, others]))
    result: FloatArray = np.empty((n_rows, len(others)))

    def fill(rows: tuple[int, int]) -> None:
        start, stop = rows
        counts = np.empty((stop - start, len(others)), dtype=counter_dtype(n_clusterings))
        count_matches(votes.left, votes.right[:, n_rows:], start, counts)
        if turnout is None:
            np.divide(counts, n_clusterings, out=result[start:stop])
            return
        both = np.empty_like(counts)
        count_matches(turnout.left, turnout.right[:, n_rows:], start, both)
        # The float64 quotient, rounded once: equal shares are equal numbers.
        result[start:stop] = counts / np.maximum(both, 1).astype(np.float64)

    in_threads(fill, row_ranges(n_rows, _ROWS_PER_BLOCK), n_jobs)
    return result
