"""The K-elite-neighbour graph (Definitions 5 to 7): the strongest links of co-association.

A link is kept if it reaches the threshold of either end, where the threshold of a row is its K-th
largest weight. So each row needs only its own neighbours, and the graph is their union with its
transpose: no n × n array. Ties are kept, so a row may have more than K neighbours; weights of zero
are not links.

If no vote is missing, weights are integer counts, and the search skips strips of sorted rows that
cannot hold neighbours (`ensemblage.flow._neighbours`): O(n²·M) byte compares at most, a small and
falling share of them in practice. With missing votes weights are quotients, of which there are few
(`ensemblage.flow._quotients`); with weighted clusterings they are any numbers. All pairs are
compared then. Memory O(links).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from ensemblage.flow._agreement import VoteCodes, turnout_codes, vote_codes
from ensemblage.flow._jit import kernel
from ensemblage.flow._link_weights import link_weights, row_thresholds
from ensemblage.flow._membership import narrow
from ensemblage.flow._neighbours import nearest_rows
from ensemblage.flow._quotients import MOST_CLUSTERINGS, all_quotients, rows_by_quotients
from ensemblage.flow._strips import vote_strips
from ensemblage.flow._threads import in_threads, row_ranges
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.flow._neighbours import Neighbours

_ROWS_PER_BLOCK = 16


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
        The paper's K. From n - 1 on every link is kept.
    weights : ndarray of shape (n_clusterings,), optional
        Weight of each clustering; not negative.
    n_jobs : int or None
        Threads; the graph does not depend on it.
    """
    n_neighbors = min(n_neighbors, len(table))
    few = not worth_a_kernel(len(table) * table.size)
    if few or weights is not None or (table < 0).any():
        turnout = turnout_codes(table) if (table < 0).any() else None
        many = table.shape[1] > MOST_CLUSTERINGS
        if few or many or turnout is None or weights is not None:
            find = _elite_rows(vote_codes(table), turnout, weights, n_neighbors)
        else:
            quotients = all_quotients(table.shape[1])
            find = rows_by_quotients(vote_codes(table), turnout, quotients, n_neighbors)
        blocks = row_ranges(len(table), _ROWS_PER_BLOCK)
        return _union(in_threads(find, blocks, n_jobs), len(table))
    strips = vote_strips(table)
    found = nearest_rows(strips, n_neighbors, n_jobs)
    return graph_of_neighbours(found, table.shape[1], strips.order)


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
    """Return the number of neighbours of some rows from `start` on, these, and their weights."""
    n_rows = len(weights)
    weights[np.arange(n_rows), np.arange(start, start + n_rows)] = 0.0
    stays = (weights >= row_thresholds(weights, n_neighbors)[:, None]) & (weights > 0)
    return stays.sum(axis=1), np.nonzero(stays)[1].astype(np.int32), weights[stays]


def _elite_rows(
    votes: VoteCodes, turnout: VoteCodes | None, members: FloatArray | None, n_neighbors: int
) -> Any:
    """Return a function that gives the neighbours of a range of rows, all pairs compared.

    Weights of links are quotients, compared as such; `members` are the weights of clusterings.
    Without `turnout` no vote is missing.
    """
    weigh = link_weights(votes, turnout, members)

    def find(rows: tuple[int, int]) -> tuple[Any, Any, FloatArray]:
        return _own_neighbours(weigh(*rows), rows[0], n_neighbors)

    return find


def graph_of_neighbours(
    found: Neighbours, n_clusterings: int, order: NDArray[np.int32] | None = None
) -> Any:
    """Return the union of rows' own neighbours and its transpose, as `elite_graph` does.

    `order` are the rows of the table that the neighbours were found for; by default, all in order.
    """
    n = len(found.lengths)
    order = np.arange(n, dtype=np.int32) if order is None else order
    ends = np.concatenate([[0], np.cumsum(found.lengths)])
    degrees = np.empty(n, dtype=np.int64)
    degrees[order] = found.lengths
    _count_links(order, ends, found.thresholds, found.places, found.counts, degrees)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    near = np.empty(indptr[-1], dtype=np.int32)
    counts = np.empty(indptr[-1], dtype=found.counts.dtype)
    _write_links(
        order,
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
    return csr_array((data, indices, narrow(indptr)), shape=(n, n))


@kernel
def _count_links(
    order: Any, ends: Any, thresholds: Any, places: Any, counts: Any, degrees: Any
) -> None:
    """Add to `degrees` the links that each row has only through another row's threshold."""
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
            # A link that also reaches the other's threshold is already in the other's own list.
            if counts[link] < thresholds[other]:
                near[cursor[there]], near_counts[cursor[there]] = here, counts[link]
                cursor[there] += 1


@kernel
def _turn_over(indptr: Any, near: Any, counts: Any, weights: Any, indices: Any, data: Any) -> None:
    """Transpose a symmetric graph: it stays the same, and its rows become sorted."""
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
    own = csr_array((weights, indices, narrow(indptr)), shape=(n, n))
    return own.maximum(own.T.tocsr())
