"""Each row's nearest neighbours by agreement counts, ties included, exactly.

Four rows at a time scan the strips of other rows (`ensemblage.flow._strips`), those with the
highest bound first. Each row keeps a level: the K-th largest count so far. The level only rises, so
a strip whose bound is below the levels of all four rows cannot hold a neighbour, and neither can
the strips after it in the ranking. All others are counted in full (`ensemblage.flow._tiles`).

If sorting finds no structure in the votes, all strips are counted, and the bounds cost a tenth
more. With structure a small and falling share is counted: a few percent at 100,000 rows. Memory is
4·n counters for each thread, besides the neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow._strips import common_labels, label_bit, strips_by_bound
from ensemblage.flow._threads import in_threads, row_ranges
from ensemblage.flow._tiles import ROWS, STRIP, count_tile, lowest_bit, reaching

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage.flow._strips import VoteStrips

_STRIPS_PER_ITEM = 8


class Neighbours(NamedTuple):
    """Neighbours of sorted rows: of row p, `lengths[p]` places in `places`, with their counts.

    A row's neighbours are all rows whose count with it is at least its threshold.

    Attributes
    ----------
    thresholds : ndarray of shape (n,)
        The lowest count of a neighbour of each row.
    lengths : ndarray of shape (n,)
        Number of neighbours of each row.
    places : ndarray of shape (n_links,)
        The neighbours of all rows, one row after the other.
    counts : ndarray of shape (n_links,)
        The number of clusterings in which each of them agrees with its row.
    """

    thresholds: NDArray[np.unsignedinteger[Any]]
    lengths: NDArray[np.int64]
    places: NDArray[np.int32]
    counts: NDArray[np.unsignedinteger[Any]]


def nearest_rows(
    strips: VoteStrips,
    n_neighbors: int,
    n_jobs: int | None,
    *,
    candidates: Callable[[tuple[int, int]], NDArray[np.int32]] | None = None,
) -> Neighbours:
    """Return for each sorted row the `n_neighbors` that agree most with it, and all that tie.

    Rows without any agreement are not neighbours, and a row is not its own. With `candidates`, a
    function that returns the strips to search for each strip of a range, others are not searched.
    """

    def find(some: tuple[int, int]) -> Neighbours:
        return nearest_of(
            strips, n_neighbors, some, None if candidates is None else candidates(some)
        )

    parts = in_threads(find, row_ranges(len(strips.codes), _STRIPS_PER_ITEM), n_jobs)
    return Neighbours(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))


def nearest_of(
    strips: VoteStrips,
    n_neighbors: int,
    some: tuple[int, int],
    candidates: NDArray[np.int32] | None = None,
) -> Neighbours:
    """Do the same for the rows of a range of strips."""
    if candidates is None:
        candidates = np.empty((0, 0), dtype=np.int32)
    found = _search(
        strips.codes,
        strips.labels,
        strips.labels_by_clustering,
        len(strips.order),
        n_neighbors,
        *some,
        candidates,
        np.zeros(1, dtype=strips.counter),
    )
    return Neighbours(*found)


@kernel
def _search(
    codes: Any,
    labels: Any,
    labels_by_clustering: Any,
    n: Any,
    n_neighbors: Any,
    first: Any,
    last: Any,
    candidates: Any,
    none: Any,
) -> Any:
    """Return thresholds, numbers of neighbours, neighbours and counts of rows of some strips.

    All strips are searched if there are no `candidates` for each of these.
    """
    n_strips, n_clusterings, _ = codes.shape
    counter = none.dtype
    bounds = np.empty(n_strips, dtype=counter)
    ranked = np.empty(n_strips, dtype=np.int32)
    counts = np.empty((n_strips, ROWS, STRIP), dtype=counter)
    counted = np.empty(n_strips, dtype=np.int32)
    votes = np.empty((n_clusterings, ROWS), dtype=codes.dtype)
    own = np.empty(n_clusterings, dtype=np.uint64)
    levels = np.empty(ROWS, dtype=counter)
    start, stop = first * STRIP, min(last * STRIP, n)
    thresholds = np.empty(stop - start, dtype=counter)
    lengths = np.empty(stop - start, dtype=np.int64)
    places = np.empty(STRIP * ROWS, dtype=np.int32)
    kept = np.empty(STRIP * ROWS, dtype=counter)
    filled = 0
    for row in range(start, stop, ROWS):
        if row % STRIP == 0 and len(candidates) > 0:
            ranked = candidates[row // STRIP - first]
            bounds[:] = counter.type(n_clusterings)
        elif row % STRIP == 0:
            strips_by_bound(row // STRIP, labels_by_clustering, bounds, ranked)
        _take_votes(codes, row, votes, own)
        n_counted = _count_strips(
            codes, labels, bounds, ranked, row, votes, own, n_neighbors, levels, counts, counted
        )
        for r in range(min(ROWS, stop - row)):
            before = filled
            for slot in range(n_counted):
                bits = reaching(counts, slot * ROWS + r, np.int64(levels[r]))
                if filled + STRIP > len(places):
                    places, kept = _twice(places), _twice(kept)
                while bits != 0:
                    column = lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    places[filled] = counted[slot] * STRIP + column
                    kept[filled] = counts[slot, r, column]
                    filled += places[filled] != row + r
            thresholds[row + r - start] = levels[r]
            lengths[row + r - start] = filled - before
    return thresholds, lengths, places[:filled], kept[:filled]


@kernel
def _take_votes(codes: Any, row: Any, votes: Any, own: Any) -> None:
    """Copy the votes of four rows, and the labels that occur in them."""
    strip, column = row // STRIP, row % STRIP
    for m in range(len(own)):
        own[m] = 0
        for r in range(ROWS):
            votes[m, r] = codes[strip, m, column + r]
            own[m] |= label_bit(votes[m, r])


@kernel
def _count_strips(
    codes: Any,
    labels: Any,
    bounds: Any,
    ranked: Any,
    row: Any,
    votes: Any,
    own: Any,
    n_neighbors: Any,
    levels: Any,
    counts: Any,
    counted: Any,
) -> Any:
    """Count four rows' agreements with every strip that may hold neighbours.

    Writes to ``levels[r]`` the threshold of each row: its K-th largest count, at least 1. Strips
    with a count that reached the level of its row are written to `counted` and their counts to
    `counts`; returns their number.
    """
    hits = np.empty(ROWS, dtype=np.uint64)
    above = np.zeros(ROWS, dtype=np.int64)  # counts above the level; always fewer than K
    seen = np.zeros((ROWS, codes.shape[1] + 1), dtype=np.int64)  # how many, for each count
    levels[:] = 1
    lowest = 1
    slot = 0
    for strip in ranked:
        if bounds[strip] < lowest:
            break
        if common_labels(own, labels[strip]) < lowest:
            continue
        count_tile(codes, strip, votes, counts, slot, levels, hits)
        if (hits[0] | hits[1] | hits[2] | hits[3]) == 0:
            continue
        for r in range(ROWS):
            while hits[r] != 0:
                column = lowest_bit(hits[r])
                hits[r] &= hits[r] - np.uint64(1)
                count = counts[slot, r, column]
                if count > levels[r] and strip * STRIP + column != row + r:
                    seen[r, count] += 1
                    above[r] += 1
                    while above[r] >= n_neighbors:
                        levels[r] += counts.dtype.type(1)
                        above[r] -= seen[r, levels[r]]
        counted[slot] = strip
        slot += 1
        lowest = min(levels[0], levels[1], levels[2], levels[3])
    return slot


@kernel
def _twice(array: Any) -> Any:
    """Return the array with twice the capacity."""
    longer = np.empty(2 * len(array), dtype=array.dtype)
    for i in range(len(array)):
        longer[i] = array[i]
    return longer
