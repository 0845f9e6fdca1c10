"""Lloyd's algorithm on many rows, without distances that cannot change a label.

Each row keeps an upper bound on the distance to its own centre and a lower bound on the distance
to any other (G. Hamerly, "Making k-means even faster", 2010). Centres soon move little, so most
rows are settled by two comparisons. Bounds are widened by more than rounding can move them: the
labels are those of the plain algorithm, ties included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import fast_kernel, kernel
from ensemblage.flow._nearest import nearest, squared_distance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def bounded_lloyd(
    rows: NDArray[Any], starts: NDArray[np.int64], max_iter: int = 100
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the centres of k-means that starts at the rows `starts`, and the label of each row.

    It ends when no label changes, or after `max_iter` rounds of assignment and averaging. Ties go
    to the lowest centre. A cluster that has lost its last row takes the row farthest from its own
    centre; it stays empty where all rows lie on their centres, so that fewer labels than centres
    occur only if there are fewer distinct rows (or rounds run out).
    """
    centres = rows[starts].astype(np.float64)
    _improve(rows, centres, max_iter)
    return centres, nearest(rows, centres)


#: Relative widening of a bound on each use; rounding moves it by some 1e-16.
_CAUTION = 1e-12


def _improve(rows: NDArray[Any], centres: FloatArray, max_iter: int) -> None:
    n, k = len(rows), len(centres)
    labels = np.full(n, -1, dtype=np.int32)
    own = np.full(n, np.inf)  # not less than the distance to the own centre
    other = np.zeros(n)  # not more than the distance to any other centre
    gap = np.zeros(k)  # half the distance to the nearest other centre
    for _ in range(max_iter):
        before = labels.copy()
        _half_gaps(centres, gap)
        _assign(rows, centres, gap, labels, own, other)
        if np.array_equal(before, labels):
            return
        counts = np.bincount(labels, minlength=k)
        for empty in np.flatnonzero(counts == 0):
            _refill(empty, rows, centres, counts, labels, own, other)
        sums = np.zeros_like(centres)
        _add_rows(rows, labels, sums)
        filled = counts > 0
        means = np.where(filled[:, None], sums / np.maximum(counts, 1)[:, None], centres)
        with np.errstate(over="ignore", invalid="ignore"):  # squares of huge numbers
            moved = np.sqrt(((means - centres) ** 2).sum(axis=1)) * (1.0 + _CAUTION)
            own += moved[labels]
            own *= 1.0 + _CAUTION
            other *= 1.0 - _CAUTION
            other -= moved.max()
        centres[:] = means


# Rounds are driven by NumPy: each kernel that calls another is compiled with it once more.


@kernel
def _add_rows(rows: Any, labels: Any, sums: Any) -> None:
    """Add each row to the sum of its label."""
    for i in range(len(rows)):
        for d in range(rows.shape[1]):
            sums[labels[i], d] += rows[i, d]


@fast_kernel
def _half_gaps(centres: Any, gap: Any) -> None:
    for c in range(len(centres)):
        least = np.inf
        for e in range(len(centres)):
            total = 0.0
            for d in range(centres.shape[1]):
                difference = centres[e, d] - centres[c, d]
                total += difference * difference
            if e != c and total < least:
                least = total
        gap[c] = 0.5 * np.sqrt(least)


@fast_kernel
def _assign(rows: Any, centres: Any, gap: Any, labels: Any, own: Any, other: Any) -> None:
    """Give each row the number of its nearest centre, the lowest on ties."""
    for i in range(len(rows)):
        label = labels[i]
        if label >= 0:
            enough = max(other[i], gap[label]) * (1.0 - _CAUTION)
            if own[i] < enough:
                continue
            total = 0.0
            for d in range(rows.shape[1]):
                difference = np.float64(rows[i, d]) - centres[label, d]
                total += difference * difference
            own[i] = np.sqrt(total) * (1.0 + _CAUTION)
            if own[i] < enough:
                continue
        least, second = np.inf, np.inf
        label = 0  # if all distances are infinite
        for c in range(len(centres)):
            total = 0.0
            for d in range(rows.shape[1]):
                difference = np.float64(rows[i, d]) - centres[c, d]
                total += difference * difference
            if total < least:
                second, least, label = least, total, c
            elif total < second:
                second = total
        own[i] = np.sqrt(least) * (1.0 + _CAUTION)
        other[i] = np.sqrt(second) * (1.0 - _CAUTION)
        labels[i] = label


@kernel
def _refill(
    empty: Any, rows: Any, centres: Any, counts: Any, labels: Any, own: Any, other: Any
) -> None:
    """Give an empty cluster the row farthest from its own centre, unless all are at theirs."""
    farthest, most = 0, 0.0
    for i in range(len(rows)):
        # A row that has filled a cluster in this round is that cluster's centre already.
        if counts[labels[i]] > 1 and own[i] > most:  # check the bound first to avoid the distance
            distance = np.sqrt(squared_distance(rows[i], centres[labels[i]]))
            if distance > most:
                farthest, most = i, distance
    if most > 0.0:
        counts[labels[farthest]] -= 1
        counts[empty] = 1
        labels[farthest] = empty
        # The bounds of this row are invalid; the next round compares all centres.
        own[farthest], other[farthest] = np.inf, 0.0
