"""Average link on a similarity of all pairs, in the order that the route without pairs has too.

The sums of similarities of groups are kept, not their means: they stay exact where similarities
are whole numbers, 0 stays 0, and the rounding of others stays far below what counts as a tie.
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


def average_link(similarity: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
    """Return the tree of average link over objects in SciPy's format, heights never falling.

    Parameters
    ----------
    similarity : ndarray of shape (n, n)
        Not negative. The lower triangle decides for both; the diagonal is not looked at.
    sizes : ndarray of shape (n,)
        Objects of each row.

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
    sums = similarity.copy()
    if (sizes > 1).any():
        sums *= mass
        sums *= mass[:, None]
    mirror(sums)
    pairs = np.empty((max(len(sizes) - 1, 0), 2), dtype=np.int64)
    found = np.empty(len(pairs))
    n_merges = _chain(sums, mass, pairs, found, compiled=worth_a_kernel(sums.size))
    return tree_of_similar(pairs[:n_merges], found[:n_merges], sizes)


def _chain(
    sums: FloatArray,
    mass: FloatArray,
    pairs: NDArray[np.int64],
    similarity: FloatArray,
    *,
    compiled: bool,
) -> int:
    """Write merges as pairs of rows, the union living on in the lower; return how many there are.

    The share of a row that is gone, 1 / mass otherwise, is 0.
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
        find = _nearest_compiled if compiled else _nearest
        nearest = find(sums[chain[-1]], share, previous)
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
