"""Rows of votes in strips of 64, and upper bounds of the agreement of two strips.

Rows are sorted, so that a strip holds similar rows, and each strip stores the labels that occur in
it in each clustering, as the bits of one word. If two strips have no label in common, no row of the
one agrees with any of the other in that clustering; so the number of clusterings with a common bit
bounds all 64 × 64 agreement counts at once, in a few instructions. Labels from 64 on share bits
with others, which weakens the bound but keeps it valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._agreement import counter_dtype, vote_codes
from ensemblage.flow._jit import kernel
from ensemblage.flow._tiles import STRIP

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows are sorted by this number of clusterings; after them few rows are still equal.
_SORT_KEYS = 32


class VoteStrips(NamedTuple):
    """Sorted rows of votes, prepared for the search of neighbours.

    `order` is the row of the table at each position; `codes` is strips × clusterings × 64, padded
    with an unused label; `labels` is strips × clusterings, a bit for each label that occurs, and
    `labels_by_clustering` its transpose.
    """

    order: NDArray[np.int32]
    codes: NDArray[np.unsignedinteger[Any]]
    labels: NDArray[np.uint64]
    labels_by_clustering: NDArray[np.uint64]

    @property
    def counter(self) -> np.dtype[np.unsignedinteger[Any]]:
        """The smallest type that can count to the number of clusterings."""
        return counter_dtype(self.codes.shape[1])


def vote_strips(table: NDArray[np.int32], order: NDArray[np.int32] | None = None) -> VoteStrips:
    """Return the rows of a table without missing votes as strips, sorted by votes by default."""
    votes = vote_codes(table).left
    n_clusterings, n = votes.shape
    if order is None:
        order = np.lexsort(votes[:_SORT_KEYS][::-1]).astype(np.int32)
    n_strips = -(-n // STRIP)
    # The code past the largest one is unused: `vote_codes` leaves room for it.
    codes = np.full((n_strips, n_clusterings, STRIP), int(table.max()) + 1, dtype=votes.dtype)
    labels = np.zeros((n_strips, n_clusterings), dtype=np.uint64)
    _fill(votes, order, codes, labels)
    return VoteStrips(order, codes, labels, np.ascontiguousarray(labels.T))


@kernel
def label_bit(code: Any) -> Any:
    """Return the bit that stands for a label."""
    return np.uint64(1) << np.uint64(code & 63)


@kernel
def _fill(votes: Any, order: Any, codes: Any, labels: Any) -> None:
    n_clusterings = len(votes)
    for place in range(len(order)):
        strip, column = place // STRIP, place % STRIP
        for m in range(n_clusterings):
            code = votes[m, order[place]]
            codes[strip, m, column] = code
            labels[strip, m] |= label_bit(code)


@kernel
def strips_by_bound(strip: Any, labels_by_clustering: Any, bounds: Any, ranked: Any) -> None:
    """Write the largest possible agreement of `strip` with each strip, and rank the strips.

    ``bounds[s]`` is for strip s; `ranked` holds all strips, the highest bound first.
    """
    n_clusterings, n_strips = labels_by_clustering.shape
    bounds[:] = 0
    for m in range(n_clusterings):
        others = labels_by_clustering[m]
        own = others[strip]
        for s in range(n_strips):
            bounds[s] += bounds.dtype.type((others[s] & own) != 0)
    first = np.zeros(n_clusterings + 2, dtype=np.int64)
    for s in range(n_strips):
        first[n_clusterings - bounds[s] + 1] += 1
    for b in range(n_clusterings):
        first[b + 1] += first[b]
    for s in range(n_strips):
        b = n_clusterings - bounds[s]
        ranked[first[b]] = s
        first[b] += 1


@kernel
def common_labels(left: Any, right: Any) -> Any:
    """Return in how many clusterings two sets of labels have a bit in common."""
    total = 0
    for m in range(len(left)):
        total += (left[m] & right[m]) != 0
    return total
