"""Lloyd's algorithm on many rows: the plain one, without the distances that cannot matter.

Each row keeps an upper bound on the distance to its own centre and a lower bound on the distance
to any other (G. Hamerly, "Making k-means even faster", 2010). Centres soon move little, so most
rows are settled by two comparisons. Bounds are widened by more than rounding can move them: the
labels are those of the plain algorithm, ties included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow._nearest import nearest, squared_distance, two_least

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


#: What a bound is widened by each time it is used; rounding moves it by some 1e-16.
_CAUTION = 1e-12


@kernel
def _improve(rows: Any, centres: Any, max_iter: Any) -> None:
    n, n_dimensions = rows.shape
    k = len(centres)
    labels = np.full(n, -1, dtype=np.int32)
    own = np.full(n, np.inf)  # not less than the distance to the own centre
    other = np.zeros(n)  # not more than the distance to any other centre
    gap = np.zeros(k)  # half the distance to the nearest other centre
    moved = np.zeros(k)
    counts = np.zeros(k, dtype=np.int64)
    sums = np.empty((k, n_dimensions))
    for _ in range(max_iter):
        _half_gaps(centres, gap)
        if not _assign(rows, centres, gap, labels, own, other):
            return
        counts[:] = 0
        for i in range(n):
            counts[labels[i]] += 1
        for c in range(k):
            if counts[c] == 0:
                _refill(c, rows, centres, counts, labels, own, other)
        for c in range(k):
            for d in range(n_dimensions):
                sums[c, d] = 0.0
        for i in range(n):
            c = labels[i]
            for d in range(n_dimensions):
                sums[c, d] += rows[i, d]
        for c in range(k):
            moved[c] = 0.0
            if counts[c] > 0:
                for d in range(n_dimensions):
                    sums[c, d] /= counts[c]
                moved[c] = np.sqrt(squared_distance(sums[c], centres[c])) * (1.0 + _CAUTION)
                for d in range(n_dimensions):
                    centres[c, d] = sums[c, d]
        farthest = 0.0
        for c in range(k):
            farthest = max(farthest, moved[c])
        for i in range(n):
            own[i] = (own[i] + moved[labels[i]]) * (1.0 + _CAUTION)
            other[i] = other[i] * (1.0 - _CAUTION) - farthest


@kernel
def _half_gaps(centres: Any, gap: Any) -> None:
    for c in range(len(centres)):
        least = np.inf
        for e in range(len(centres)):
            if e != c:
                least = min(least, squared_distance(centres[e], centres[c]))
        gap[c] = 0.5 * np.sqrt(least)


@kernel
def _assign(rows: Any, centres: Any, gap: Any, labels: Any, own: Any, other: Any) -> bool:
    """Give each row the number of its nearest centre, the lowest on ties; tell if any changed."""
    changed = False
    ones = np.ones(len(centres))
    for i in range(len(rows)):
        if labels[i] >= 0:
            enough = max(other[i], gap[labels[i]]) * (1.0 - _CAUTION)
            if own[i] < enough:
                continue
            own[i] = np.sqrt(squared_distance(rows[i], centres[labels[i]])) * (1.0 + _CAUTION)
            if own[i] < enough:
                continue
        label, _, least, second = two_least(rows, i, centres, ones)
        own[i] = np.sqrt(least) * (1.0 + _CAUTION)
        other[i] = np.sqrt(second) * (1.0 - _CAUTION)
        changed = changed or labels[i] != label
        labels[i] = label
    return changed


@kernel
def _refill(
    empty: Any, rows: Any, centres: Any, counts: Any, labels: Any, own: Any, other: Any
) -> None:
    """Give an empty cluster the row farthest from its own centre, if any is off it."""
    farthest, most = 0, 0.0
    for i in range(len(rows)):
        # A row that has filled a cluster in this round is that cluster's centre already.
        if counts[labels[i]] > 1 and own[i] > most:  # the bound first: it spares the distance
            distance = np.sqrt(squared_distance(rows[i], centres[labels[i]]))
            if distance > most:
                farthest, most = i, distance
    if most > 0.0:
        counts[labels[farthest]] -= 1
        counts[empty] = 1
        labels[farthest] = empty
        # Nothing is known of this row any more; the next round looks at all centres.
        own[farthest], other[farthest] = np.inf, 0.0
