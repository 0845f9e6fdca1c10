"""The K-elite-neighbour graph (Definitions 5 to 7): the links of co-association worth trusting.

A link stays if it reaches the threshold of either end, where the threshold of a row is its K-th
largest weight. So each row needs only its own neighbours, and the graph is their union with its
transpose: no n × n array. Ties are kept, so a row may have more than K neighbours; links of
weight zero are no links.

Cost: O(n²·M) byte compares (vectorised), memory O(links).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from quorate.flow._agreement import (
    VoteCodes,
    count_matches,
    counter_dtype,
    turnout_codes,
    vote_codes,
)
from quorate.flow._jit import kernel
from quorate.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quorate._types import FloatArray

_ROWS_PER_BLOCK = 32


def elite_graph(table: NDArray[np.int32], n_neighbors: int, *, n_jobs: int | None = None) -> Any:
    """Return the K-elite-neighbour graph of the microclusters as a symmetric sparse matrix.

    Parameters
    ----------
    table : ndarray of shape (n_microclusters, n_clusterings)
        Votes; -1 where one is missing.
    n_neighbors : int
        The paper's K. From n - 1 on every link stays.
    n_jobs : int or None
        Threads; the graph does not depend on it.
    """
    votes = vote_codes(table)
    n_neighbors = min(n_neighbors, len(table))
    if (table < 0).any():
        find = _elite_rows_with_gaps(votes, turnout_codes(table), n_neighbors)
    else:
        find = _elite_rows(votes, n_neighbors)
    return _union(in_threads(find, row_ranges(len(table), _ROWS_PER_BLOCK), n_jobs), len(table))


def _elite_rows(votes: VoteCodes, n_neighbors: int) -> Any:
    """Return a function that gives the neighbours of a range of rows, by integer counts."""
    n_clusterings, n = votes.right.shape

    def find(rows: tuple[int, int]) -> tuple[Any, Any, FloatArray]:
        start, stop = rows
        counts = np.empty((stop - start, n), dtype=counter_dtype(n_clusterings))
        count_matches(votes.left, votes.right, start, counts)
        lengths, indices, kept = _select_counts(counts, start, n_neighbors)
        return lengths, indices, kept / np.float64(n_clusterings)

    return find


def _elite_rows_with_gaps(votes: VoteCodes, turnout: VoteCodes, n_neighbors: int) -> Any:
    """Return the same function for votes with gaps: weights are quotients, compared as such."""
    n_clusterings, n = votes.right.shape

    def find(rows: tuple[int, int]) -> tuple[Any, Any, FloatArray]:
        start, stop = rows
        counts = np.empty((stop - start, n), dtype=counter_dtype(n_clusterings))
        both = np.empty_like(counts)
        count_matches(votes.left, votes.right, start, counts)
        count_matches(turnout.left, turnout.right, start, both)
        weights: FloatArray = counts / np.maximum(both, 1).astype(np.float64)
        weights[np.arange(stop - start), np.arange(start, stop)] = 0.0
        place = max(n - n_neighbors, 0)
        thresholds = np.partition(weights, place, axis=1)[:, place]
        stays = (weights >= thresholds[:, None]) & (weights > 0)
        return stays.sum(axis=1), np.nonzero(stays)[1].astype(np.int32), weights[stays]

    return find


@kernel
def _reach(row: Any, level: Any) -> Any:
    """Return how many entries of `row` are at least `level`."""
    total = np.int32(0)
    for j in range(len(row)):
        total += np.int32(row[j] >= level)
    return total


@kernel
def _select_counts(counts: Any, start: Any, n_neighbors: Any) -> Any:
    """Return each row's number of neighbours, and all neighbours with their counts, in order."""
    n_rows, n = counts.shape
    levels = np.empty(n_rows, dtype=counts.dtype)
    lengths = np.empty(n_rows, dtype=np.int64)
    level = counts.dtype.type(1)
    for r in range(n_rows):
        counts[r, start + r] = 0  # no link to itself
        # The threshold is the highest level that at least K entries reach, 1 if there is none.
        # Thresholds of successive rows are alike, so the search starts from the last one.
        reach = _reach(counts[r], level)
        while reach < n_neighbors and level > 1:
            level -= counts.dtype.type(1)
            reach = _reach(counts[r], level)
        while reach >= n_neighbors:
            higher = _reach(counts[r], level + counts.dtype.type(1))
            if higher < n_neighbors:
                break
            level += counts.dtype.type(1)
            reach = higher
        levels[r] = level
        lengths[r] = reach
    # One place more than needed: the loop below writes first and then moves on or not.
    indices = np.empty(lengths.sum() + 1, dtype=np.int32)
    filled = 0
    for r in range(n_rows):
        for j in range(n):
            indices[filled] = j
            filled += counts[r, j] >= levels[r]
    kept = np.empty(filled, dtype=counts.dtype)
    filled = 0
    for r in range(n_rows):
        for _ in range(lengths[r]):
            kept[filled] = counts[r, indices[filled]]
            filled += 1
    return lengths, indices[:filled], kept


def _union(parts: list[tuple[Any, Any, FloatArray]], n: int) -> Any:
    """Return the union of rows' own neighbours and its transpose, as a sparse matrix."""
    lengths, indices, weights = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    own = csr_array((weights, indices, indptr), shape=(n, n))
    return own.maximum(own.T.tocsr())
