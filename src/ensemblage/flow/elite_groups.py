"""The elite graph of more rows than can all be compared: neighbours in groups of similar rows.

Rows join the most similar of some leaders (`ensemblage.flow.leaders`). The neighbours of a row are
then searched among a fixed number of rows: those of the groups with which its strip of 64 rows
agrees most. For a sample of rows all neighbours are searched, which tells whether the exact graph
is affordable, and otherwise the share of neighbours that was found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ensemblage.flow._contingency import cluster_ends, numbered, overlaps_with
from ensemblage.flow._membership import narrow
from ensemblage.flow._neighbours import nearest_of, nearest_rows
from ensemblage.flow._strips import vote_strips
from ensemblage.flow._threads import in_threads
from ensemblage.flow._tiles import ROWS, STRIP
from ensemblage.flow.elite import elite_graph, graph_of_neighbours
from ensemblage.flow.leaders import join_leaders, leader_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.flow._neighbours import Neighbours
    from ensemblage.flow._strips import VoteStrips

#: Pairs of rows to compare at most; about 100 CPU seconds. Fewer rows never have as many.
MOST_PAIRS = 9e10
N_GROUPS = 500
#: Rows that each row is compared with beyond that.
N_CANDIDATES = 1 << 16
_SAMPLED_STRIPS = 32


class LargeGraph(NamedTuple):
    """An elite graph as of `elite_graph`.

    `captured` is the share of the rows' own neighbours that it holds; None if the graph is exact.
    """

    graph: Any
    captured: float | None


def large_elite_graph(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    n_neighbors: int,
    *,
    most_pairs: float = MOST_PAIRS,
    n_groups: int = N_GROUPS,
    n_candidates: int = N_CANDIDATES,
    n_jobs: int | None = None,
) -> LargeGraph:
    """Return the elite graph, approximately if too many pairs of rows would be compared.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes, none missing.
    sizes : ndarray of shape (n,)
        Objects of each row; they decide which rows lead.
    n_neighbors : int
        The paper's K.
    most_pairs : float
        The graph is exact if it takes no more comparisons of rows. The number is estimated from a
        sample, since the exact search skips rows that cannot be neighbours.
    n_groups, n_candidates : int
        Otherwise, the number of groups, and of rows that each row is compared with, up to a strip.
    n_jobs : int or None
        Threads; the graph does not depend on it.

    Notes
    -----
    n·(n_groups + n_candidates)·M comparisons of votes if the graph is approximate.
    """
    n, n_clusterings = table.shape
    n_neighbors = min(n_neighbors, n)
    if n * n <= most_pairs:
        return LargeGraph(elite_graph(table, n_neighbors, n_jobs=n_jobs), None)
    strips = vote_strips(table)
    sample = _sample(strips, n_neighbors, n_jobs)
    if sample.compared * n * n <= most_pairs:
        found = nearest_rows(strips, n_neighbors, n_jobs)
        return LargeGraph(graph_of_neighbours(found, n_clusterings, strips.order), None)
    ones = np.ones(int((table.max(axis=0) + 1).sum()))
    rows = leader_rows(table, sizes, ones, n_groups)
    group = join_leaders(table, rows, ones, np.ones(n_clusterings), n_jobs=n_jobs).group
    strips = vote_strips(table, np.argsort(group, kind="stable").astype(np.int32))
    nearest = _NearestStrips(table, group, strips.order, -(-n_candidates // STRIP))
    found = nearest_rows(strips, n_neighbors, n_jobs, candidates=nearest)
    captured = _captured(found, strips.order, sample)
    return LargeGraph(_union(found, strips.order, n_clusterings), captured)


class _Sample(NamedTuple):
    """Some rows with the threshold and the number of their neighbours among all rows.

    `compared` is the share of all rows with which the search compares a row.
    """

    rows: NDArray[np.int32]
    thresholds: NDArray[Any]
    lengths: NDArray[np.int64]
    compared: float


def _sample(strips: VoteStrips, n_neighbors: int, n_jobs: int | None) -> _Sample:
    """Search the neighbours of the rows of some strips, evenly spaced."""
    n_strips = len(strips.codes)
    some = np.unique(np.linspace(0, n_strips - 1, _SAMPLED_STRIPS).astype(np.int64)).tolist()
    found = in_threads(lambda s: nearest_of(strips, n_neighbors, (s, s + 1)), some, n_jobs)
    compared = []
    for s, exact in zip(some, found, strict=True):
        first = np.bitwise_or.reduce(_bits(strips.codes[s, :, :ROWS]), axis=1)
        common = np.count_nonzero(strips.labels & first, axis=1)
        compared.append((common >= exact.thresholds[:ROWS].min()).mean())
    return _Sample(
        np.concatenate([strips.order[s * STRIP : (s + 1) * STRIP] for s in some]),
        np.concatenate([exact.thresholds for exact in found]),
        np.concatenate([exact.lengths for exact in found]),
        float(np.mean(compared)),
    )


def _bits(codes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return `label_bit` of each code."""
    bits: NDArray[np.uint64] = np.uint64(1) << (codes & 63).astype(np.uint64)
    return bits


def _captured(found: Neighbours, order: NDArray[np.int32], sample: _Sample) -> float:
    """Return the share of the neighbours of sampled rows that were found."""
    place = np.argsort(order)[sample.rows]
    ends = np.append(0, np.cumsum(found.lengths))
    n_found = sum(
        int(np.count_nonzero(found.counts[ends[p] : ends[p + 1]] >= threshold))
        for p, threshold in zip(place.tolist(), sample.thresholds, strict=True)
    )
    n_all = int(sample.lengths.sum())
    return n_found / n_all if n_all else 1.0


class _NearestStrips:
    """Strips in the order of the groups with which the rows of a strip agree most."""

    def __init__(
        self,
        table: NDArray[np.int32],
        group: NDArray[np.int64],
        order: NDArray[np.int32],
        n_wanted: int,
    ) -> None:
        self._table, self._order, self._ends = table, order, cluster_ends(table)
        n_rows = np.bincount(group)
        self._shared = overlaps_with(group, len(n_rows), table, np.ones(len(table), dtype=np.int64))
        self._n_rows = n_rows
        # A strip belongs to the group of its first row.
        n_strips = -(-len(table) // STRIP)
        firsts = np.searchsorted(np.arange(n_strips) * STRIP, np.cumsum(n_rows) - n_rows)
        self._strips = np.split(np.arange(n_strips, dtype=np.int32), firsts[1:])
        self._n_wanted = min(n_wanted, n_strips)

    def __call__(self, some: tuple[int, int]) -> NDArray[np.int32]:
        """Return the strips to search for each strip from `some[0]` to `some[1]`."""
        rows = self._order[some[0] * STRIP : some[1] * STRIP]
        shape = some[1] - some[0], self._shared.shape[1]
        strip = np.arange(len(rows)) // STRIP
        cells = strip[:, None] * shape[1] + numbered(self._table[rows], self._ends)
        shared = np.bincount(cells.ravel(), minlength=shape[0] * shape[1]).reshape(shape)
        # Sums of whole numbers, exact in any order.
        agreement = shared.astype(np.float64) @ self._shared.T / self._n_rows
        return np.array([self._listed(ranked) for ranked in np.argsort(-agreement, kind="stable")])

    def _listed(self, ranked: NDArray[np.intp]) -> NDArray[np.int32]:
        return np.concatenate([self._strips[g] for g in ranked])[: self._n_wanted]


def _union(found: Neighbours, order: NDArray[np.int32], n_clusterings: int) -> Any:
    """Return the union of rows' own neighbours and its transpose.

    Of two rows only one may have been compared with the other, so neither threshold tells whether
    a link is in both lists.
    """
    n = len(order)
    ends = narrow(np.append(0, np.cumsum(found.lengths)))
    own = csr_array((found.counts, order[found.places], ends), shape=(n, n))[np.argsort(order)]
    own.sort_indices()
    graph = own.maximum(own.T.tocsr())
    weights = np.arange(n_clusterings + 1) / np.float64(n_clusterings)
    return csr_array((weights[graph.data], graph.indices, graph.indptr), shape=(n, n))
