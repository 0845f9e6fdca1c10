"""Agreement along the edges of a graph: only pairs of objects that an edge joins are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.flow._agreement import VoteCodes, counter_dtype, turnout_codes, vote_codes
from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray

_EDGES_PER_BLOCK = 65_536


def edge_agreement(
    table: NDArray[np.int32],
    rows: IntArray,
    columns: IntArray,
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the share of clusterings in which the two ends of each edge agree.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings), int32
        Votes as codes from 0, -1 where missing.
    rows, columns : ndarray of shape (n_edges,)
        The rows of `table` at both ends of each edge.
    weights : ndarray of shape (n_clusterings,), optional
        Weight of each clustering.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    ndarray of shape (n_edges,)
        Agreements divided by the clusterings in which both ends have a vote; 0 if there are none.

    Notes
    -----
    O(n_edges · n_clusterings) time, in blocks of edges. Clusterings are added in their order, so
    equal edges have equal numbers in any block and with any number of threads.
    """
    votes = vote_codes(table)
    turnout = turnout_codes(table) if (table < 0).any() else None
    n_clusterings = table.shape[1]
    total = n_clusterings if weights is None else float(np.cumsum(weights)[-1])
    agreement = np.zeros(len(rows))

    def fill(block: tuple[int, int]) -> None:
        part = slice(*block)
        i, j = np.asarray(rows[part]), np.asarray(columns[part])
        agreed = _matches(votes, i, j, weights)
        if turnout is None:
            agreement[part] = agreed / total
        else:
            both = _matches(turnout, i, j, weights)
            np.divide(agreed, both, out=agreement[part], where=both > 0)

    in_threads(fill, row_ranges(len(rows), _EDGES_PER_BLOCK), n_jobs)
    return agreement


def _matches(codes: VoteCodes, i: IntArray, j: IntArray, weights: FloatArray | None) -> FloatArray:
    """Return the number, or the weight, of the clusterings whose codes match at both ends."""
    if weights is None:
        counts = np.zeros(len(i), dtype=counter_dtype(len(codes.left)))
        for left, right in zip(*codes, strict=True):
            counts += left[i] == right[j]
        return counts.astype(np.float64)
    sums = np.zeros(len(i))
    for left, right, weight in zip(*codes, weights.tolist(), strict=True):
        np.add(sums, weight, out=sums, where=left[i] == right[j])
    return sums


def two_core(n_vertices: int, rows: IntArray, columns: IntArray) -> NDArray[np.bool_]:
    """Return the vertices of the 2-core: left after repeatedly removing those with fewer edges.

    Each edge is given once, without loops. A vertex with one edge stores its neighbour as the sum
    of its neighbours, so that no lists of neighbours are needed.
    """
    ends, others = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    degree = np.bincount(ends, minlength=n_vertices)
    leaves = np.flatnonzero(degree == 1).tolist()
    if not leaves:
        return degree > 1
    left, neighbours = degree.tolist(), np.zeros(n_vertices, dtype=np.int64)
    np.add.at(neighbours, ends, others)
    sums = neighbours.tolist()
    for leaf in leaves:
        vertex = leaf
        while left[vertex] == 1:
            neighbour = sums[vertex]
            left[vertex] = 0
            left[neighbour] -= 1
            sums[neighbour] -= vertex
            vertex = neighbour
    return np.array(left) > 1


def community_strength(agreement: FloatArray) -> float:
    """Return 1 - 2 · mean of min(w, 1 - w): 1 if all members agree on every edge, else less.

    NaN without edges.
    """
    if len(agreement) == 0:
        return float("nan")
    return float(1.0 - 2.0 * np.minimum(agreement, 1.0 - agreement).mean())


def vertex_refusal(
    n_vertices: int, rows: IntArray, columns: IntArray, agreement: FloatArray
) -> FloatArray:
    """Return 1 - mean agreement of the edges of each vertex; NaN for one without edges."""
    degree = np.bincount(rows, minlength=n_vertices) + np.bincount(columns, minlength=n_vertices)
    sums = _at_ends(n_vertices, rows, columns, agreement)
    means = np.divide(sums, degree, out=np.full(n_vertices, np.nan), where=degree > 0)
    scores: FloatArray = np.clip(1.0 - means, 0.0, 1.0)
    return scores


def vertex_outside(
    rows: IntArray, columns: IntArray, agreement: FloatArray, labels: IntArray
) -> FloatArray:
    """Return the share of the agreement of each vertex's edges that leads to other communities.

    NaN for a vertex without any.
    """
    n_vertices = len(labels)
    leaves = labels[rows] != labels[columns]
    total = _at_ends(n_vertices, rows, columns, agreement)
    out = _at_ends(n_vertices, rows[leaves], columns[leaves], agreement[leaves])
    shares = np.divide(out, total, out=np.full(n_vertices, np.nan), where=total > 0)
    scores: FloatArray = np.clip(shares, 0.0, 1.0)
    return scores


def _at_ends(n_vertices: int, rows: IntArray, columns: IntArray, values: FloatArray) -> FloatArray:
    """Return the sum of the values of the edges at each vertex."""
    ends, twice = np.concatenate([rows, columns]), np.concatenate([values, values])
    return np.bincount(ends, weights=twice, minlength=n_vertices).astype(np.float64)
