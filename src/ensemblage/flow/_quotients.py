"""Neighbours by quotients of counts, compared by their rank among all quotients.

With missing votes, the weight of a link is agreements / clusterings in which both voted. For M
clusterings there are at most some M² / 3 different quotients. Each gets its rank once, and then a
row's threshold is found by counting ranks, without arithmetic and without sorting weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._agreement import count_matches, counter_dtype
from ensemblage.flow._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.flow._agreement import VoteCodes

#: Above this number of clusterings the table of all quotients is larger than its benefit.
MOST_CLUSTERINGS = 1500


class Quotients(NamedTuple):
    """All quotients of counts up to M: ``values[ranks[a, b]]`` is a / b, and 0 where b is 0."""

    values: FloatArray
    ranks: NDArray[np.uint32]


def all_quotients(n_clusterings: int) -> Quotients:
    """Return the quotients a / b for all counts up to `n_clusterings`."""
    counts = np.arange(n_clusterings + 1, dtype=np.float64)
    shares = np.zeros((n_clusterings + 1, n_clusterings + 1))
    np.divide(counts[:, None], counts, out=shares, where=counts > 0)
    # More agreements than votes do not occur and need no rank.
    values, ranks = np.unique(np.minimum(shares, 1.0), return_inverse=True)
    return Quotients(values, ranks.reshape(shares.shape).astype(np.uint32))


def rows_by_quotients(
    votes: VoteCodes, turnout: VoteCodes, quotients: Quotients, n_neighbors: int
) -> Any:
    """Return a function that gives the neighbours of a range of rows.

    It returns the number of neighbours of each row, the neighbours, and their weights.
    """
    n_clusterings, n = votes.right.shape
    dtype = counter_dtype(n_clusterings)

    def find(rows: tuple[int, int]) -> tuple[Any, Any, FloatArray]:
        start, stop = rows
        agreed, both = np.empty((2, stop - start, n), dtype=dtype)
        count_matches(votes.left, votes.right, start, agreed)
        count_matches(turnout.left, turnout.right, start, both)
        ranks = np.empty((stop - start, n), dtype=np.uint32)
        lengths = np.empty(stop - start, dtype=np.int64)
        thresholds = np.empty(stop - start, dtype=np.uint32)
        tally = np.zeros(len(quotients.values), dtype=np.int64)
        _thresholds(
            agreed, both, quotients.ranks, start, n_neighbors, tally, ranks, thresholds, lengths
        )
        near = np.empty(lengths.sum(), dtype=np.int32)
        kept_ranks = np.empty(len(near), dtype=np.uint32)
        _collect(ranks, thresholds, near, kept_ranks)
        return lengths, near, quotients.values[kept_ranks]

    return find


@kernel
def _thresholds(
    agreed: Any,
    both: Any,
    rank_of: Any,
    start: Any,
    n_neighbors: Any,
    tally: Any,
    ranks: Any,
    thresholds: Any,
    lengths: Any,
) -> None:
    """Rank all links of some rows; write the lowest rank that is kept, and the number of kept ones.

    `tally` is zero before and after. Rank 0 is weight 0: not a link.
    """
    n_rows, n = agreed.shape
    for r in range(n_rows):
        highest = np.uint32(0)
        for j in range(n):
            rank = rank_of[agreed[r, j], both[r, j]]
            if j == start + r:
                rank = np.uint32(0)
            ranks[r, j] = rank
            tally[rank] += 1
            highest = max(highest, rank)
        threshold, reached = highest, np.int64(0)
        while threshold > 0:
            reached += tally[threshold]
            if reached >= n_neighbors:
                break
            threshold -= np.uint32(1)
        thresholds[r] = max(threshold, np.uint32(1))
        lengths[r] = reached
        for j in range(n):
            tally[ranks[r, j]] = 0


@kernel
def _collect(ranks: Any, thresholds: Any, near: Any, found: Any) -> None:
    """Write the links that reach the threshold of their row, row by row."""
    place = 0
    for r in range(ranks.shape[0]):
        for j in range(ranks.shape[1]):
            if ranks[r, j] >= thresholds[r]:
                near[place], found[place] = j, ranks[r, j]
                place += 1
