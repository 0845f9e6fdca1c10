"""Agglomeration on a similarity in sixteen bits, in place.

The same chains of nearest neighbours as in `ensemblage.flow.agglomerate`, on half a matrix of the
levels of `ensemblage.flow.packed`. Merging rows a and b writes the mean (or larger, or smaller)
distance over row a. For complete and single link that is one of the two levels: only the order of
levels counts, and nothing is rounded. A mean is rounded, so as soon as three tenths of the rows are
merged, and the rest of the triangle takes half of its memory, average link continues with float32
distances in all of it. Until then a large cluster that absorbs single rows would not move at all if
each of them moves it by less than half a level: means of such unequal parts are rounded up or down
alternately, in proportion.

Merged rows are removed whenever they are half of all. O(n²) time, and no memory besides the
triangle but a few rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow._tree import tree_of_merges
from ensemblage.flow._triangle import compact, n_entries, padded, read_row, widen, write_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_RULES = ("average", "complete", "single")
_AVERAGE, _COMPLETE = 0, 1
_FARTHEST = 65535.0
_FEW_ROWS = 256
#: A merge is lopsided if one part has less than this share of the rows.
_LOPSIDED = 0.125
#: Multiples of these, less their whole parts, spread evenly over [0, 1).
_TURNS = (0.6180339887498949, 0.7548776662466927)


def packed_linkage(packed: NDArray[np.uint16], n: int, linkage: str) -> FloatArray:
    """Return the tree of merges in SciPy's format, heights never falling.

    Parameters
    ----------
    packed : ndarray of uint16
        Levels of n rows as `ensemblage.flow.packed_similarity` gives them for this linkage;
        overwritten.
    n : int
        Number of rows.
    linkage : {"average", "complete", "single"}
        Similarity of two clusters: the mean, smallest or largest of their members'.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        The two clusters merged, the height 1 - similarity, and the number of rows in the union.
        Equal levels are common in sixteen bits: a chain turns back on a tie, otherwise the
        cluster whose lowest row is the lowest wins. Complete and single link do not compare means
        here, as `ensemblage.flow.agglomerate` does: these would take a triangle of their own.
    """
    rule = _RULES.index(linkage)
    rows = np.arange(n)
    mass, inner = np.ones(n), np.zeros(n)
    chain, length = np.empty(n, dtype=np.int64), 0
    pairs, heights = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    levels: NDArray[Any] = packed
    done = 0
    while done < n - 1:
        rounded = rule == _AVERAGE and levels.dtype == np.uint16
        stop = _next_size(len(rows), half_of_memory=rounded)
        alive = np.zeros(padded(len(rows)), dtype=np.bool_)
        alive[: len(rows)] = True
        last = done + len(rows) - stop
        length = _merge(
            levels, alive, rows, mass, inner, chain, length, rule,
            pairs[done:last], heights[done:last],
        )  # fmt: skip
        done = last
        left = np.flatnonzero(alive)
        compact(levels, left)
        if rounded and stop > 1:
            levels = widen(packed, stop)
            levels /= _FARTHEST
            np.square(levels, out=levels)  # sixteen bits held roots of distances
        chain[:length] = np.searchsorted(left, chain[:length])
        rows, mass, inner = rows[left], mass[left], inner[left]
    return tree_of_merges(pairs, heights)


def _next_size(n: int, *, half_of_memory: bool) -> int:
    """Return the number of rows at which merged ones are removed; 1 is the end."""
    if n <= _FEW_ROWS:
        return 1
    size = n // 2
    if half_of_memory:
        size = int(n / np.sqrt(2))
        while 2 * n_entries(size) > n_entries(n):
            size -= 1
    return size


@kernel
def _height(level: Any, rule: Any, wide: Any) -> Any:
    """Return 1 - similarity for a level."""
    if wide:
        return level
    if rule == _COMPLETE:
        return 1.0 - (1.0 - level / _FARTHEST) ** 2
    return (level / _FARTHEST) ** 2


@kernel
def _nearest(row: Any, alive: Any, tip: Any, previous: Any) -> Any:
    """Return the position of the lowest level among existing rows, `previous` on ties."""
    highest = row.dtype.type(1 if row.itemsize == 4 else 65535)
    row[tip] = highest
    lowest = highest
    for j in range(len(row)):
        level = row[j] if alive[j] else highest
        lowest = min(lowest, level)
    if previous >= 0 and row[previous] == lowest:
        return previous
    for j in range(len(row)):
        if alive[j] and row[j] == lowest and j != tip:
            return j
    return -1


@kernel
def _merge(
    levels: Any, alive: Any, rows: Any, mass: Any, inner: Any, chain: Any, length: Any, rule: Any,
    pairs: Any, heights: Any,
) -> Any:  # fmt: skip
    """Write as many merges as fit; a union keeps the lower of its two positions.

    `chain` holds the positions of the chain so far; its new length is returned. A merge is not
    lower than those inside it: rounding must not reverse the order of a merge and its parts.
    """
    one, other = np.empty(len(alive), levels.dtype), np.empty(len(alive), levels.dtype)
    wide = levels.itemsize == 4
    for step in range(len(pairs)):
        if length == 0:
            chain[0] = 0  # row 0 survives every merge
            length = 1
        while True:
            tip = chain[length - 1]
            previous = chain[length - 2] if length > 1 else -1
            read_row(levels, tip, one)
            nearest = _nearest(one, alive, tip, previous)
            if nearest == previous:
                break
            chain[length] = nearest
            length += 1
        length -= 2
        a, b = min(tip, previous), max(tip, previous)
        pairs[step, 0], pairs[step, 1] = rows[a], rows[b]
        heights[step] = max(_height(float(one[previous]), rule, wide), inner[a], inner[b])
        inner[a] = heights[step]
        read_row(levels, previous, other)
        share = mass[tip] / (mass[tip] + mass[previous])
        lopsided = min(share, 1.0 - share) < _LOPSIDED
        for z in range(len(one)):
            lower, upper = min(one[z], other[z]), max(one[z], other[z])
            if rule == _AVERAGE:
                left, right = float(one[z]), float(other[z])
                if wide:
                    mean = share * left + (1.0 - share) * right
                else:
                    turn = step * _TURNS[0] + z * _TURNS[1]
                    mean = np.sqrt(share * left**2 + (1.0 - share) * right**2)
                    mean += turn - np.floor(turn) if lopsided else 0.5
                # Between the two, regardless of rounding: chains rely on it.
                one[z] = min(max(mean, float(lower)), float(upper))
            else:
                one[z] = upper if rule == _COMPLETE else lower
        write_row(levels, a, one)
        mass[a] += mass[b]
        alive[b] = False
    return length
