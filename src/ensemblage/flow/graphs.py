"""Votes as graphs for a partitioner, with integer weights of edges and vertices.

Partitioners need integers. Weights are scaled to a total of 10⁸, which keeps eight digits and stays
below the 31 bits of partitioners, and no positive weight becomes 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import block_array, csr_array

from ensemblage.flow._agreement import count_matches, counter_dtype, turnout_codes, vote_codes
from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray

#: Total of the integer weights of a graph, up to rounding.
WHOLE = 100_000_000
_TINY = 1e-200
_ROWS_PER_BLOCK = 64


def agreement_graph(
    table: NDArray[np.int32], sizes: NDArray[np.int64], *, n_jobs: int | None = None
) -> Any:
    """Return the graph of all pairs of rows that agree anywhere, as a symmetric sparse matrix.

    The weight of a pair is n_a · n_b · a_ab: the co-association of all pairs of objects, one of
    either row. There are no edges from a row to itself. Memory is O(edges).
    """
    n, n_clusterings = table.shape
    votes = vote_codes(table)
    turnout = turnout_codes(table) if (table < 0).any() else None

    def find(rows: tuple[int, int]) -> tuple[Any, Any, FloatArray]:
        start, stop = rows
        counts = np.empty((stop - start, n), dtype=counter_dtype(n_clusterings))
        count_matches(votes.left, votes.right, start, counts)
        counts[np.arange(stop - start), np.arange(start, stop)] = 0
        of_row, indices = np.nonzero(counts)
        weights: FloatArray = counts[of_row, indices] / np.float64(n_clusterings)
        if turnout is not None:
            both = np.empty_like(counts)
            count_matches(turnout.left, turnout.right, start, both)
            weights = counts[of_row, indices] / both[of_row, indices].astype(np.float64)
        weights *= (sizes[start + of_row] * sizes[indices]).astype(np.float64)
        return np.count_nonzero(counts, axis=1), indices.astype(np.int32), weights

    parts = in_threads(find, row_ranges(n, _ROWS_PER_BLOCK), n_jobs)
    lengths, indices, weights = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return csr_array((weights, indices, indptr), shape=(n, n))


def membership_graph(membership: Any, sizes: NDArray[np.int64]) -> Any:
    """Return the graph of rows and their clusters, rows first, as a symmetric sparse matrix.

    An edge represents the objects of its row, and weighs their number.
    """
    links = membership.multiply(sizes[:, None].astype(np.float64))
    return block_array([[None, links], [links.T, None]], format="csr")


def whole_weights(weights: FloatArray) -> NDArray[np.int64]:
    """Return weights as integers with the sum 10⁸; positive ones stay at least 1."""
    total = weights.sum()
    if total <= 0:
        return np.zeros(weights.shape, dtype=np.int64)
    if total < _TINY:  # a power of two changes no digit, and keeps the quotient finite
        weights = weights * 2.0**500
        total = weights.sum()
    scaled = np.rint(weights * (WHOLE / total)).astype(np.int64)
    return np.where(weights > 0, np.maximum(scaled, 1), 0)


def net_weights(cluster_sizes: IntArray, n_votes: int) -> NDArray[np.int64]:
    """Return each cluster's size times ⌊10⁸ / number of votes⌉, as in the authors' toolbox."""
    return cluster_sizes.astype(np.int64) * max(1, round(WHOLE / n_votes))


def association(
    membership: Any, voted: NDArray[np.bool_], owner: IntArray, groups: IntArray, n_groups: int
) -> FloatArray:
    """Return the share of each group's clusters that contain each row.

    Only clusters of clusterings in which the row voted are counted; if a group has none of them,
    the share is 0.
    """
    of_cluster = np.zeros((len(groups), n_groups))
    of_cluster[np.arange(len(groups)), groups] = 1.0
    of_clustering = np.zeros((voted.shape[1], n_groups))
    np.add.at(of_clustering, (owner, groups), 1.0)
    containing: FloatArray = membership @ of_cluster
    possible: FloatArray = voted.astype(np.float64) @ of_clustering
    return np.divide(containing, possible, out=np.zeros_like(containing), where=possible > 0)
