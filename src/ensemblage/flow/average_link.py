"""Average link on a similarity of all pairs, with the same ties as the route without pairs.

Sums of similarities of groups are stored instead of means: they stay exact for integers, 0 stays 0,
and rounding errors stay far below the tolerance of ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import fast_kernel, kernel
from ensemblage.flow._symmetry import mirror
from ensemblage.flow._tree import TIE, tree_of_similar
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def average_link(
    similarity: FloatArray, sizes: NDArray[np.int64], *, overwrite: bool = False
) -> FloatArray:
    """Return the tree of average link over objects in SciPy's format, heights never falling.

    Parameters
    ----------
    similarity : ndarray of shape (n, n)
        Not negative. The lower triangle decides for both; the diagonal is ignored.
    sizes : ndarray of shape (n,)
        Objects of each row.
    overwrite : bool, default=False
        Whether `similarity` may be overwritten. It must then be symmetric to the last bit.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        The two clusters merged, 1 - their mean similarity, and the number of *rows* in the union.

    Notes
    -----
    A nearest-neighbour chain in O(n²) time on a copy of the matrix, 8·n² bytes. The chain starts
    at the lowest row. Of groups that are equally similar but for rounding (by a share of 1e-12) it
    prefers the one it comes from, then the one with the lowest row. Merges of equal height are in
    the order in which the chain finds them. Groups with similarity 0 join last, larger ones
    first. `sparse_average_link` keeps to the same rules.
    """
    mass = sizes.astype(np.float64)
    sums = similarity
    if not overwrite:
        sums = similarity.copy()
        mirror(sums)
    if (sizes > 1).any():
        for row, m in zip(sums, mass, strict=True):
            row *= m * mass
    pairs = np.empty((max(len(sizes) - 1, 0), 2), dtype=np.int64)
    similarities = np.empty(len(pairs))
    follow = _chain_compiled if worth_a_kernel(sums.size) else _chain
    n_merges = follow(sums, mass, pairs, similarities)
    return tree_of_similar(pairs[:n_merges], similarities[:n_merges], sizes)


def _chain(
    sums: FloatArray,
    mass: FloatArray,
    pairs: NDArray[np.int64],
    similarity: FloatArray,
) -> int:
    """Write merges as pairs of rows, the union in the lower one; return their number.

    The share of a removed row, 1 / mass otherwise, is 0.
    """
    n = len(mass)
    share = 1.0 / mass
    inner = np.full(n, np.inf)
    np.fill_diagonal(sums, 0.0)
    chain: list[int] = []
    in_chain = np.zeros(n, dtype=np.bool_)
    start = step = 0
    while True:
        if not chain:
            while start < n and share[start] == 0.0:
                start += 1
            if start == n:
                return step
            chain.append(start)
            in_chain[start] = True
        previous = chain[-2] if len(chain) > 1 else -1
        nearest = _nearest(sums[chain[-1]], share, previous)
        if nearest < 0:  # it has nothing in common with any other
            in_chain[chain.pop()] = False
            start += 1
            continue
        # Ties within ties may lead back into the chain: then the previous one is as near.
        if nearest != previous and not in_chain[nearest]:
            chain.append(nearest)
            in_chain[nearest] = True
            continue
        a, b = sorted(chain[-2:])
        del chain[-2:]
        in_chain[a] = in_chain[b] = False
        mean = sums[a, b] / (mass[a] * mass[b])
        similarity[step] = inner[a] = min(mean, inner[a], inner[b])
        pairs[step] = a, b
        step += 1
        sums[a] += sums[b]
        sums[a, a] = 0.0
        sums[:, a] = sums[a]
        mass[a] += mass[b]
        share[a], share[b] = 1.0 / mass[a], 0.0


def _nearest(sums: FloatArray, share: FloatArray, previous: int) -> int:
    """Return the first row of the largest mean, `previous` if it ties, -1 if there is none."""
    means = sums * share
    largest = means.max()
    if largest == 0.0 and previous < 0:
        return -1
    tied = (1.0 - TIE) * largest
    if previous >= 0 and means[previous] >= tied:
        return previous
    return int((means >= tied).argmax())


@kernel
def _chain_compiled(sums: Any, mass: Any, pairs: Any, similarity: Any) -> Any:
    """`_chain` with rows that are updated when they are read.

    A merge is then not written to a column, which is scattered in memory. Each row applies all
    merges in their order, which gives the same sums to the last bit.
    """
    n = len(mass)
    share = 1.0 / mass
    inner = np.full(n, np.inf)
    done = np.zeros(n, dtype=np.int64)  # the number of merges applied to each row
    chain = np.empty(n, dtype=np.int64)
    in_chain = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        sums[i, i] = 0.0
    start, step, length = 0, 0, 0
    while True:
        if length == 0:
            while start < n and share[start] == 0.0:
                start += 1
            if start == n:
                return step
            chain[0], in_chain[start], length = start, True, 1
        tip = chain[length - 1]
        previous = chain[length - 2] if length > 1 else -1
        _take_over(sums[tip], pairs, done[tip], step)
        done[tip] = step
        nearest = _nearest_compiled(sums[tip], share, previous)
        if nearest < 0:
            length -= 1
            in_chain[tip] = False
            start += 1
            continue
        if nearest != previous and not in_chain[nearest]:
            chain[length], in_chain[nearest] = nearest, True
            length += 1
            continue
        _take_over(sums[previous], pairs, done[previous], step)
        a, b = min(tip, previous), max(tip, previous)
        length -= 2
        in_chain[a] = in_chain[b] = False
        mean = sums[a, b] / (mass[a] * mass[b])
        similarity[step] = inner[a] = min(mean, inner[a], inner[b])
        pairs[step, 0], pairs[step, 1] = a, b
        step += 1
        sums[a] += sums[b]
        sums[a, a] = 0.0
        mass[a] += mass[b]
        share[a], share[b], done[a] = 1.0 / mass[a], 0.0, step


@kernel
def _take_over(row: Any, pairs: Any, first: Any, stop: Any) -> None:
    for merge in range(first, stop):
        row[pairs[merge, 0]] += row[pairs[merge, 1]]


@kernel
def _nearest_compiled(sums: Any, share: Any, previous: Any) -> Any:
    """`_nearest` in two passes and without arrays."""
    largest = _largest_mean(sums, share)
    if largest == 0.0 and previous < 0:
        return -1
    tied = (1.0 - TIE) * largest
    if previous >= 0 and sums[previous] * share[previous] >= tied:
        return previous
    for j in range(len(sums)):
        if sums[j] * share[j] >= tied:
            return j
    return -1


@fast_kernel
def _largest_mean(sums: Any, share: Any) -> Any:
    largest = 0.0
    for j in range(len(sums)):
        largest = max(largest, sums[j] * share[j])
    return largest
