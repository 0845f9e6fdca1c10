"""Repeated search for the closest pair, with a rule for pairs that are equally close.

Complete and single link on co-association have ties at nearly every merge, and ties decide the
result. A chain of nearest neighbours cannot apply a rule to all tied pairs. Here every row keeps
its best partner among the rows before it, and the best of these pairs is merged.

One square table holds both numbers of a pair j < i: its height in ``table[i, j]``, its mean
distance in ``table[j, i]``. A merge makes most pairs worse, so the stored partner of a row is a
bound afterwards: the row is searched again only if its bound is the best (as in D. Müllner, "Modern
hierarchical, agglomerative clustering algorithms", arXiv:1109.2378, 2011). A merge costs O(n), and
as much for each row that is searched again. These are few where the first two numbers of a pair
seldom tie: O(n²) time in practice, O(n³) at worst, and no memory besides the table but a few rows.
Merged rows are removed whenever they are half of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import fast_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Heights and means that differ by less are equal.
TOLERANCE = 1e-12
_FEW_ROWS = 64


def merge_closest(
    table: FloatArray, mass: FloatArray, rule: int, *, by_mean: bool
) -> tuple[NDArray[np.int64], FloatArray]:
    """Return merges as pairs of rows j < i, the merged cluster staying at j, and rising heights.

    Parameters
    ----------
    table : ndarray of shape (n, n)
        Distances, symmetric, C-contiguous; overwritten.
    mass : ndarray of shape (n,)
        Weight of each row in a mean.
    rule : int
        0 merges by the mean distance, 1 by the largest, 2 by the smallest.
    by_mean : bool
        Of tied pairs the one with the least mean distance, then the largest joint mass, then the
        lowest j, then the lowest i; without it, the largest i, then the largest j.
    """
    n = len(table)
    pairs, heights = np.empty((max(n - 1, 0), 2), dtype=np.int64), np.empty(max(n - 1, 0))
    rows, done = np.arange(n), 0
    while done < n - 1:
        stop = len(rows) // 2 if len(rows) > _FEW_ROWS else 1
        last = done + len(rows) - stop
        alive, stale = np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows), dtype=np.bool_)
        best, bounds = np.zeros(len(rows), dtype=np.int64), np.full((2, len(rows)), np.inf)
        _merge(
            table, mass, rule, by_mean, best, bounds[0], bounds[1], stale, alive,
            pairs[done:last], heights[done:last],
        )  # fmt: skip
        pairs[done:last] = rows[pairs[done:last]]
        left = np.flatnonzero(alive)
        table, mass, rows, done = _compact(table, left), mass[left], rows[left], last
    return pairs, np.maximum.accumulate(heights)


def _compact(table: FloatArray, left: NDArray[np.int64]) -> FloatArray:
    """Move some rows of the table, in rising order, to its start, in place."""
    n = len(left)
    smaller = table.reshape(-1)[: n * n].reshape(n, n)
    for row, source in zip(smaller, left.tolist(), strict=True):
        row[:] = table[source, left]  # read at or after the written position
    return smaller


@fast_kernel
def _least(row: Any, size: Any) -> Any:
    """Return the smallest of the first `size` entries."""
    smallest = np.inf
    for j in range(size):
        smallest = min(smallest, row[j])
    return smallest


@kernel
def _search(table: Any, mass: Any, i: Any, by_mean: Any, best: Any, height: Any, mean: Any) -> None:
    """Find the best partner of row i; removed rows are infinitely far."""
    height[i] = _least(table[i], i)
    if height[i] == np.inf:
        return
    limit = height[i] + TOLERANCE
    if not by_mean:
        j = i - 1
        while table[i, j] > limit:
            j -= 1
        best[i] = j
        return
    nearest = np.inf
    for j in range(i):
        if table[i, j] <= limit:
            nearest = min(nearest, table[j, i])
    mean[i], best[i] = nearest, -1
    for j in range(i):
        tied = table[i, j] <= limit and table[j, i] <= nearest + TOLERANCE
        if tied and (best[i] < 0 or mass[j] > mass[best[i]]):
            best[i] = j


@kernel
def _closest(
    table: Any, mass: Any, by_mean: Any, best: Any, height: Any, mean: Any, stale: Any
) -> Any:
    """Return the row with the best of all pairs, searching again where only a bound is known."""
    n = len(mass)
    while True:
        limit = _least(height, n) + TOLERANCE
        nearest = np.inf
        if by_mean:
            for i in range(n):
                if height[i] <= limit:
                    nearest = min(nearest, mean[i])
        chosen, searched = -1, False
        for i in range(n - 1, 0, -1):
            if height[i] > limit or (by_mean and mean[i] > nearest + TOLERANCE):
                continue
            if stale[i]:
                _search(table, mass, i, by_mean, best, height, mean)
                stale[i], searched = False, True
            elif chosen < 0:
                chosen = i
            else:
                j, joint, most = best[i], mass[i] + mass[best[i]], mass[chosen] + mass[best[chosen]]
                if joint > most or (joint == most and j <= best[chosen]):
                    chosen = i
            if not by_mean:
                break
        if not searched:
            return chosen


@kernel
def _offer(
    z: Any, a: Any, b: Any, joined: Any, joined_mean: Any, mass: Any, by_mean: Any,
    best: Any, height: Any, mean: Any, stale: Any,
) -> None:  # fmt: skip
    """Update the pair of row z with a, into which b was merged."""
    if joined > height[z] + TOLERANCE:
        order = 1
    elif joined < height[z] - TOLERANCE:
        order = -1
    elif not by_mean or abs(joined_mean - mean[z]) <= TOLERANCE:
        order = 0
    else:
        order = 1 if joined_mean > mean[z] else -1
    was_one = best[z] in (a, b)
    if order < 0:
        best[z], height[z], mean[z], stale[z] = a, joined, joined_mean, False
    elif order > 0:
        stale[z] = stale[z] or was_one
    elif not stale[z]:
        height[z], mean[z] = min(height[z], joined), min(mean[z], joined_mean)
        if not by_mean:
            stale[z] = best[z] == b  # others may lie between the two
            best[z] = max(best[z], a)
        elif was_one or mass[a] > mass[best[z]] or (mass[a] == mass[best[z]] and a < best[z]):
            best[z] = a


@kernel
def _merge(
    table: Any, mass: Any, rule: Any, by_mean: Any, best: Any, height: Any, mean: Any,
    stale: Any, alive: Any, pairs: Any, heights: Any,
) -> None:  # fmt: skip
    """Write as many merges as fit; `alive` marks the remaining rows."""
    n = len(mass)
    for i in range(1, n):
        _search(table, mass, i, by_mean, best, height, mean)
    for step in range(len(pairs)):
        b = _closest(table, mass, by_mean, best, height, mean, stale)
        a = best[b]
        pairs[step, 0], pairs[step, 1], heights[step] = a, b, table[b, a]
        share = mass[a] / (mass[a] + mass[b])
        mass[a] += mass[b]
        alive[b], height[b] = False, np.inf
        for z in range(n):
            if not alive[z] or z == a:
                table[max(z, b), min(z, b)] = np.inf
                continue
            i, j, c, d = max(z, a), min(z, a), max(z, b), min(z, b)
            joined_mean = share * table[j, i] + (1.0 - share) * table[d, c]
            if rule == 0:
                joined = share * table[i, j] + (1.0 - share) * table[c, d]
            elif rule == 1:
                joined = max(table[i, j], table[c, d])
            else:
                joined = min(table[i, j], table[c, d])
            table[i, j], table[j, i], table[c, d] = joined, joined_mean, np.inf
            if z > a:
                _offer(z, a, b, joined, joined_mean, mass, by_mean, best, height, mean, stale)
        _search(table, mass, a, by_mean, best, height, mean)
        stale[a] = False
