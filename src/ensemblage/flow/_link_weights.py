"""Weights of all links of some rows, and which of them are kept.

A weight is the share of clusterings in which two rows agree; each row keeps its K largest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._agreement import VoteCodes, count_matches, counter_dtype, sum_matches
from ensemblage.flow._jit import kernel
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from ensemblage._types import FloatArray

_FEW_NEIGHBOURS = 64  # up to this number, kept in a sorted buffer
#: Steps of NumPy for each number in a partition.
_STEPS_OF_SORTING = 8


def link_weights(
    votes: VoteCodes, turnout: VoteCodes | None, members: FloatArray | None
) -> Callable[[int, int], FloatArray]:
    """Return a function that gives the weights of a range of rows of `votes.left` with all others.

    Without `turnout` no vote is missing; `members` are the weights of clusterings. Weights are
    quotients: two links of equal shares have equal weights, to the last bit.
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

    def weigh(start: int, stop: int) -> FloatArray:
        agreed = agreements(votes, start, stop)
        weights: FloatArray = np.zeros(agreed.shape)
        if turnout is None:
            np.divide(agreed, total, out=weights)
        else:
            both = agreements(turnout, start, stop)
            np.divide(agreed, both.astype(np.float64), out=weights, where=both > 0)
        return weights

    return weigh


def row_thresholds(weights: FloatArray, n_neighbors: int) -> FloatArray:
    """Return the K-th largest weight of each row, the smallest if there are fewer."""
    n_rows, n = weights.shape
    if n_neighbors <= min(n, _FEW_NEIGHBOURS) and worth_a_kernel(n * n * _STEPS_OF_SORTING):
        thresholds = np.empty(n_rows)
        _kth_largest(weights, np.empty(n_neighbors), thresholds)
        return thresholds
    place = max(n - n_neighbors, 0)
    return np.partition(weights, place, axis=1)[:, place]


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
