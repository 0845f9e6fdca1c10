"""Average link on co-association without a matrix of all pairs.

A nearest-neighbour chain needs the nearest group of another some 3·n times. It is computed by
adding products along the lists of the group's clusters (`ensemblage.flow._group_lists`), and
stored: the few nearest groups, and a bound on the similarity of all others. The bound stays valid
after merges, since a union is never more similar than the more similar of its parts. So half of the
searches, and more if groups are clear, only compare those few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._group_lists import (
    close_gaps,
    group_lists,
    mean_similarity,
    merge,
    weigh,
)
from ensemblage.flow._jit import kernel
from ensemblage.flow._tree import TIE, root, tree_of_similar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_N_KNOWN = 8


class _Known(NamedTuple):
    """The groups nearest to each group at the time of the last search."""

    group: NDArray[np.int64]
    n: NDArray[np.int64]
    #: No other is more similar than this; infinity if there was no search.
    bound: FloatArray
    #: Buffers for the similarities of one group: to its stored groups, and to all.
    near: FloatArray
    sums: FloatArray


class _Chain(NamedTuple):
    """A chain of groups, each the nearest of the one before it."""

    group: NDArray[np.int64]
    has: NDArray[np.bool_]
    #: Its length, the lowest row that it may start from, and the number of merges so far.
    at: NDArray[np.int64]
    group_of_row: NDArray[np.int64]


def sparse_average_link(
    table: NDArray[np.int32], sizes: NDArray[np.int64], weight: FloatArray, total: float
) -> FloatArray:
    """Return the tree of average link over objects in SciPy's format, heights never falling.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes of microclusters, as codes from 0; none is missing.
    sizes : ndarray of shape (n,)
        Objects of each row.
    weight : ndarray of shape (n_clusters,)
        Weight of each cluster, not negative; clusterings one after the other, by code.
    total : float
        Divisor of weights: the similarity of two different objects is the sum of the weights of
        their common clusters, divided by this.

    Returns
    -------
    ndarray of shape (n - 1, 4)
        The two clusters merged, 1 - their mean similarity, and the number of *rows* in the union:
        the same tree as `average_link` gives for the similarity of all pairs. Ties are broken as
        there.

    Notes
    -----
    O(n·M) memory, some 24 bytes for each vote and 100 for each row. Time grows with n times the
    number of rows that share a cluster with a row, counted once for each cluster: about
    1.5·n·n·Σ_m 1/k_m steps for M clusterings of k_m clusters. It is quadratic in n, but for n =
    100,000 rows of ten clusterings of 200 clusters that is a fortieth of what all pairs cost.
    Clusterings of few clusters cost most.
    """
    n = len(table)
    pairs = np.empty((n - 1, 2), dtype=np.int64)
    similarities = np.empty(n - 1)
    # Similar rows are adjacent, so that sums over their lists stay in the cache.
    row = np.lexsort(table[:, np.argsort(table.max(axis=0), kind="stable")].T)
    groups, clusters = group_lists(table, sizes, weight, row)
    known = _Known(
        group=np.empty((n, _N_KNOWN), dtype=np.int64),
        n=np.zeros(n, dtype=np.int64),
        bound=np.full(n, np.inf),
        near=np.empty(_N_KNOWN),
        sums=np.zeros(n),
    )
    chain = _Chain(
        group=np.empty(n, dtype=np.int64),
        has=np.zeros(n, dtype=np.bool_),
        at=np.zeros(3, dtype=np.int64),
        group_of_row=np.argsort(row),
    )
    while not _follow(chain, groups, clusters, known, pairs, similarities):
        close_gaps(groups)
    n_merges = chain.at[2]
    return tree_of_similar(pairs[:n_merges], similarities[:n_merges] / total, sizes)


@kernel
def _follow(chain: Any, groups: Any, clusters: Any, known: Any, pairs: Any, similarity: Any) -> Any:
    """Write merges as pairs of rows; return whether all are done, or room is needed.

    The same chain as in `average_link`; similarities are not divided by the total weight.
    """
    n, row, parent = len(groups.row), groups.row, groups.parent
    length, start, step = chain.at
    while True:
        if length == 0:
            while start < n and parent[chain.group_of_row[start]] != chain.group_of_row[start]:
                start += 1
            if start == n:
                break
            chain.group[0] = chain.group_of_row[start]
            chain.has[chain.group[0]] = True
            length = 1
        tip = chain.group[length - 1]
        previous = chain.group[length - 2] if length > 1 else -1
        needed = groups.length[tip] + (groups.length[previous] if length > 1 else 0)
        if groups.end[0] + needed > len(groups.cluster):
            break
        nearest = _nearest_known(groups, clusters, known, tip, previous)
        if nearest < 0:
            nearest = _nearest_of_all(groups, clusters, known, tip, previous)
        if nearest < 0 and previous < 0:  # it has nothing in common with any other
            chain.has[tip] = False
            length = 0
            start += 1
            continue
        # Ties within ties may lead back into the chain: then the previous one is as near.
        if nearest >= 0 and nearest != previous and not chain.has[nearest]:
            chain.group[length] = nearest
            chain.has[nearest] = True
            length += 1
            continue
        length -= 2
        chain.has[tip] = chain.has[previous] = False
        a, b = (tip, previous) if row[tip] < row[previous] else (previous, tip)
        pairs[step, 0], pairs[step, 1] = row[a], row[b]
        similarity[step] = merge(groups, clusters, a, b)
        _merge_known(groups, clusters, known, a, b)
        step += 1
    chain.at[0], chain.at[1], chain.at[2] = length, start, step
    return start == n


@kernel
def _nearest_of_all(groups: Any, clusters: Any, known: Any, tip: Any, previous: Any) -> Any:
    """Return the nearest group, -1 if there is none, and store it with the next ones.

    All of `known.sums` are 0, before and after.
    """
    start, length, group = clusters.start, clusters.length, clusters.group
    objects, share, near, sums = clusters.objects, groups.share, known.near, known.sums
    begin, end = groups.start[tip], groups.start[tip] + groups.length[tip]
    for c in range(begin, end):
        u = groups.cluster[c]
        each = clusters.weight[u] * groups.objects[c]
        for e in range(start[u], start[u] + length[u]):
            sums[group[e]] += each * objects[e]
    sums[tip] = 0.0
    to_previous = sums[previous] * share[previous] if previous >= 0 else 0.0
    n_known, nearest, largest, least = 0, np.int64(-1), 0.0, 0.0
    for c in range(begin, end):
        u = groups.cluster[c]
        for e in range(start[u], start[u] + length[u]):
            mean = sums[group[e]] * share[group[e]]
            sums[group[e]] = 0.0  # count it once
            if mean <= least:
                continue
            g = np.int64(group[e])
            if mean >= (1.0 - TIE) * largest:
                if (1.0 - TIE) * mean > largest or groups.row[g] < groups.row[nearest]:
                    nearest = g
                largest = max(largest, mean)
            n_known = _insert(known.group[tip], near, n_known, g, mean)
            if n_known == len(near):
                least = (1.0 - TIE) * near[-1]
    known.n[tip] = n_known
    known.bound[tip] = near[-1] * share[tip] if n_known == len(near) else 0.0
    if nearest >= 0 and to_previous >= (1.0 - TIE) * largest:
        return previous
    return nearest


@kernel
def _insert(nearest: Any, near: Any, n_known: Any, group: Any, similarity: Any) -> Any:
    """Insert a group among the nearest, and return their new number."""
    j = n_known
    if n_known == len(near):
        if similarity <= near[-1]:
            return n_known
        j -= 1
    else:
        n_known += 1
    while j > 0 and near[j - 1] < similarity:
        nearest[j], near[j] = nearest[j - 1], near[j - 1]
        j -= 1
    nearest[j], near[j] = group, similarity
    return n_known


@kernel
def _nearest_known(groups: Any, clusters: Any, known: Any, tip: Any, previous: Any) -> Any:
    """Return the nearest group if the stored groups of `tip` determine it, else -1."""
    bound, near, others = known.bound[tip], known.near, known.group[tip]
    if bound == np.inf:
        return -1
    weigh(groups, clusters, tip, 1.0)
    to_previous = 0.0 if previous < 0 else mean_similarity(groups, tip, previous)
    largest = to_previous
    for j in range(known.n[tip]):
        others[j] = root(groups.parent, others[j])
        near[j] = mean_similarity(groups, tip, others[j])
        largest = max(largest, near[j])
    weigh(groups, clusters, tip, 0.0)
    if to_previous > 0.0 and to_previous >= (1.0 - TIE) * max(largest, bound):
        return previous
    tied = (1.0 - TIE) * largest
    if bound >= tied:
        return -1
    nearest = -1
    for j in range(known.n[tip]):
        if near[j] >= tied and (nearest < 0 or groups.row[others[j]] < groups.row[nearest]):
            nearest = others[j]
    return nearest


@kernel
def _merge_known(groups: Any, clusters: Any, known: Any, a: Any, b: Any) -> None:
    """Let the union a keep the nearest of the stored groups of its parts a and b."""
    of_a, near, n_known = known.group[a].copy(), known.near, 0
    bound = max(known.bound[a], known.bound[b])
    weigh(groups, clusters, a, 1.0)
    for j in range(known.n[a] + known.n[b]):
        other = of_a[j] if j < known.n[a] else known.group[b, j - known.n[a]]
        other = root(groups.parent, other)
        is_new = other != a
        for i in range(n_known):
            is_new &= known.group[a, i] != other
        if not is_new:
            continue
        similarity = mean_similarity(groups, a, other)
        if n_known == len(near):  # one of them is dropped
            bound = max(bound, min(similarity, near[-1]))
        n_known = _insert(known.group[a], near, n_known, other, similarity)
    weigh(groups, clusters, a, 0.0)
    known.n[a], known.bound[a] = n_known, bound
