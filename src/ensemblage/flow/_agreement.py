"""Number of clusterings in which two rows of votes agree: the kernel of several stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_COLUMNS_PER_STRIP = 4096  # counters of a strip stay in the L1 cache


class VoteCodes(NamedTuple):
    """Votes as the smallest unsigned integers, clusterings first, ready to be compared.

    A missing vote has different codes on the left and on the right, so that it never agrees.
    """

    left: NDArray[np.unsignedinteger[Any]]
    right: NDArray[np.unsignedinteger[Any]]


def vote_codes(table: NDArray[np.int32]) -> VoteCodes:
    """Return the votes of `table` for `count_matches`."""
    top = int(table.max(initial=0)) + 2
    dtype = np.min_scalar_type(top)
    votes = np.ascontiguousarray(table.T)
    if not (votes < 0).any():
        codes = votes.astype(dtype)
        return VoteCodes(codes, codes)
    missing = votes < 0
    return VoteCodes(
        np.where(missing, top, votes).astype(dtype), np.where(missing, top - 1, votes).astype(dtype)
    )


def turnout_codes(table: NDArray[np.int32]) -> VoteCodes:
    """Return which votes are present, so that `count_matches` counts where both are."""
    voted = np.ascontiguousarray((table >= 0).T)
    return VoteCodes(np.where(voted, 1, 2).astype(np.uint8), voted.astype(np.uint8))


def counter_dtype(n_clusterings: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the dtype that can count to `n_clusterings`: bytes wherever they suffice."""
    return np.min_scalar_type(n_clusterings)


def sum_matches(
    left: NDArray[Any], right: NDArray[Any], weights: Any, start: int, sums: FloatArray
) -> None:
    """Write to ``sums[r, j]`` the weight of the clusterings where row start + r matches row j.

    Clusterings are added in a fixed order: equal sums are equal numbers.
    """
    if worth_a_kernel(left.size * right.shape[1]):
        _sum_matches(left, right, weights, start, sums)
        return
    sums[:] = 0.0
    for votes, codes, weight in zip(
        left[:, start : start + len(sums)], right, weights, strict=True
    ):
        sums += np.where(votes[:, None] == codes, weight, 0.0)


def count_matches(
    left: NDArray[Any], right: NDArray[Any], start: int, counts: NDArray[Any]
) -> None:
    """Write to ``counts[r, j]`` in how many clusterings row ``start + r`` matches row j."""
    if worth_a_kernel(left.size * right.shape[1]):
        _count_matches(left, right, start, counts)
        return
    counts[:] = 0
    for votes, codes in zip(left[:, start : start + len(counts)], right, strict=True):
        counts += votes[:, None] == codes


@kernel
def _sum_matches(left: Any, right: Any, weights: Any, start: Any, sums: Any) -> None:
    n_clusterings, n_columns = right.shape
    for first in range(0, n_columns, _COLUMNS_PER_STRIP):
        last = min(first + _COLUMNS_PER_STRIP, n_columns)
        for r in range(sums.shape[0]):
            strip = sums[r, first:last]
            strip[:] = 0.0
            for m in range(n_clusterings):
                codes = right[m, first:last]
                vote, weight = left[m, start + r], weights[m]
                for j in range(last - first):
                    strip[j] += weight if codes[j] == vote else 0.0


@kernel
def _count_matches(left: Any, right: Any, start: Any, counts: Any) -> None:
    n_clusterings, n_columns = right.shape
    for first in range(0, n_columns, _COLUMNS_PER_STRIP):
        last = min(first + _COLUMNS_PER_STRIP, n_columns)
        for r in range(counts.shape[0]):
            strip = counts[r, first:last]
            strip[:] = 0
            for m in range(n_clusterings):
                codes = right[m, first:last]
                vote = left[m, start + r]
                for j in range(last - first):
                    strip[j] += codes[j] == vote
