"""The K-elite-neighbour graph (Definitions 5 to 7): the links of co-association worth trusting.

A link stays if it reaches the threshold of either end, where the threshold of a row is its K-th
largest weight. So each row needs only its own neighbours, and the graph is their union with its
transpose: no n × n array. Ties are kept, so a row may have more than K neighbours; links of
weight zero are no links.

Where no vote is missing, weights are integer counts, and the search skips whatever sorted strips of
rows show to be too far (`quorate.flow._neighbours`): O(n²·M) byte compares at most, a small and
falling share of them in practice. With gaps weights are quotients, of which there are few
(`quorate.flow._quotients`); where clusterings count differently they are any numbers. All pairs are
compared then. Memory O(links).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from quorate.flow._agreement import (
    VoteCodes,
    count_matches,
    counter_dtype,
    sum_matches,
    turnout_codes,
    vote_codes,
)
from quorate.flow._jit import kernel
from quorate.flow._neighbours import nearest_rows
from quorate.flow._quotients import MOST_CLUSTERINGS, all_quotients, rows_by_quotients
from quorate.flow._strips import vote_strips
from quorate.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quorate._types import FloatArray
    from quorate.flow._neighbours import Neighbours
    from quorate.flow._strips import VoteStrips

_ROWS_PER_BLOCK = 16
_FEW_NEIGHBOURS = 64  # so few are kept in order while the others pass by


def elite_graph(
    table: NDArray[np.int32],
    n_neighbors: int,
    *,
    weights: FloatArray | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the K-elite-neighbour graph of the microclusters as a symmetric sparse matrix.

    Parameters
    ----------
    table : ndarray of shape (n_microclusters, n_clusterings)
        Votes; -1 where one is missing.
    n_neighbors : int
        The paper's K. From n - 1 on every link stays.
    weights : ndarray of shape (n_clusterings,), optional
        How much each clustering counts; not negative.
    n_jobs : int or None
        Threads; the graph does not depend on it.
    """
    n_neighbors = min(n_neighbors, len(table))
    if weights is not None or (table < 0).any():
        turnout = turnout_codes(table) if (table < 0).any() else None
        if turnout is not None and weights is None and table.shape[1] <= MOST_CLUSTERINGS:
            quotients = all_quotients(table.shape[1])
            find = rows_by_quotients(vote_codes(table), turnout, quotients, n_neighbors)
        else:
            find = _elite_rows(vote_codes(table), turnout, weights, n_neighbors)
        blocks = row_ranges(len(table), _ROWS_PER_BLOCK)
        return _union(in_threads(find, blocks, n_jobs), len(table))
    strips = vote_strips(table)
    return _symmetric(strips, nearest_rows(strips, n_neighbors, n_jobs))


def elite_graph_of(similarity: FloatArray, n_neighbors: int) -> Any:
    """Return the K-elite-neighbour graph of a symmetric similarity of all pairs."""
    n = len(similarity)
    parts = []
    for start, stop in row_ranges(n, _ROWS_PER_BLOCK):
        parts.append(_own_neighbours(similarity[start:stop].copy(), start, min(n_neighbors, n)))
    return _union(parts, n)


def _own_neighbours(
    weights: FloatArray, start: int, n_neighbors: int
) -> tuple[Any, Any, FloatArray]:
    """Return how many neighbours some rows from `start` on have, which, and by which weight."""
    n_rows, n = weights.shape
    weights[np.arange(n_rows), np.arange(start, start + n_rows)] = 0.0
    if n_neighbors <= _FEW_NEIGHBOURS:
        thresholds = np.empty(n_rows)
        _kth_largest(weights, np.empty(n_neighbors), thresholds)
    else:
        place = max(n - n_neighbors, 0)
        thresholds = np.partition(weights, place, axis=1)[:, place]
    stays = (weights >= thresholds[:, None]) & (weights > 0)
    return stays.sum(axis=1), np.nonzero(stays)[1].astype(np.int32), weights[stays]


@kernel
def _kth_largest(weights: Any, best: Any, kth: Any) -> None:
    """Write the K-th largest number of each row, for K = len(best); `best` is overwritten."""
    last = len(best) - 1
    for r in range(weights.shape[0]):
        best[:] = -np.inf
        for j in range(weights.shape[1]):
            weight = weights[r, j]
            if weight > best[last]:
                place = last
                while place > 0 and best[place - 1] < weight:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = weight
        kth[r] = best[last]


def _elite_rows(
    votes: VoteCodes, turnout: VoteCodes | None, members: FloatArray | None, n_neighbors: int
) -> Any:
    """Return a function that gives the neighbours of a range of rows, all pairs compared.

    Weights of links are quotients, compared as such; `members` are the weights of clusterings.
    Without `turnout` everybody has voted everywhere.
    """
    n_clusterings, n = votes.right.shape
    total = float(n_clusterings) if members is None else np.cumsum(members)[-1]

    def agreements(codes: VoteCodes, start: int, stop: int) -> Any:
        if members is None:
            counts = np.empty((stop - start, n), dtype=counter_dtype(n_clusterings))
            count_matches(codes.left, codes.right, start, counts)
            return counts
        sums = np.empty((stop - start, n))
        sum_matches(codes.left, codes.right, members, start, sums)
        return sums

    def find(rows: tuple[int, int]) -> tuple[Any, Any, FloatArray]:
        start, stop = rows
        agreed = agreements(votes, start, stop)
        weights: FloatArray = np.zeros(agreed.shape)
        if turnout is None:
            np.divide(agreed, total, out=weights)
        else:
            both = agreements(turnout, start, stop)
            np.divide(agreed, both.astype(np.float64), out=weights, where=both > 0)
        return _own_neighbours(weights, start, n_neighbors)

    return find


def _symmetric(strips: VoteStrips, found: Neighbours) -> Any:
    """Return the union of rows' own neighbours and its transpose, rows back in their old order."""
    n, n_clusterings = len(strips.order), strips.codes.shape[1]
    ends = np.concatenate([[0], np.cumsum(found.lengths)])
    degrees = np.empty(n, dtype=np.int64)
    degrees[strips.order] = found.lengths
    _count_links(strips.order, ends, found.thresholds, found.places, found.counts, degrees)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    near = np.empty(indptr[-1], dtype=np.int32)
    counts = np.empty(indptr[-1], dtype=found.counts.dtype)
    _write_links(
        strips.order,
        ends,
        found.thresholds,
        found.places,
        found.counts,
        indptr[:-1].copy(),
        near,
        counts,
    )
    indices, data = np.empty_like(near), np.empty(len(near))
    weights = np.arange(n_clusterings + 1) / np.float64(n_clusterings)
    _turn_over(indptr, near, counts, weights, indices, data)
    # SciPy would copy all indices to 64 bits if the row ends were.
    index = np.int32 if len(near) < 2**31 else np.int64
    return csr_array((data, indices, indptr.astype(index)), shape=(n, n))


@kernel
def _count_links(
    order: Any, ends: Any, thresholds: Any, places: Any, counts: Any, degrees: Any
) -> None:
    """Add to `degrees` the links that each row has through another's threshold only."""
    for row in range(len(order)):
        for link in range(ends[row], ends[row + 1]):
            other = places[link]
            degrees[order[other]] += counts[link] < thresholds[other]


@kernel
def _write_links(
    order: Any,
    ends: Any,
    thresholds: Any,
    places: Any,
    counts: Any,
    cursor: Any,
    near: Any,
    near_counts: Any,
) -> None:
    """Write each row's links to its part of `near`, unsorted; `cursor` is where the parts begin."""
    for row in range(len(order)):
        here = order[row]
        for link in range(ends[row], ends[row + 1]):
            other = places[link]
            there = order[other]
            near[cursor[here]], near_counts[cursor[here]] = there, counts[link]
            cursor[here] += 1
            # A link that reaches the other's threshold too is among the other's own.
            if counts[link] < thresholds[other]:
                near[cursor[there]], near_counts[cursor[there]] = here, counts[link]
                cursor[there] += 1


@kernel
def _turn_over(indptr: Any, near: Any, counts: Any, weights: Any, indices: Any, data: Any) -> None:
    """Transpose a symmetric graph: it stays the same, and its rows come out sorted."""
    cursor = indptr[:-1].copy()
    for row in range(len(cursor)):
        for link in range(indptr[row], indptr[row + 1]):
            place = cursor[near[link]]
            indices[place], data[place] = row, weights[counts[link]]
            cursor[near[link]] += 1


def _union(parts: list[tuple[Any, Any, FloatArray]], n: int) -> Any:
    """Return the union of rows' own neighbours and its transpose, as a sparse matrix."""
    lengths, indices, weights = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    own = csr_array((weights, indices, indptr), shape=(n, n))
    return own.maximum(own.T.tocsr())
