"""Groups of similar rows, for a tree of more rows than the exact one can have.

Some rows lead, and every other row joins the leader with which it shares the heaviest clusters.
From the groups on everything is exact: the mean similarity of two groups is that of all their
objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from ensemblage.flow._agreement import turnout_codes, vote_codes
from ensemblage.flow._contingency import cluster_ends, overlaps_with, sharing
from ensemblage.flow._jit import fast_kernel
from ensemblage.flow._threads import in_threads, row_ranges
from ensemblage.flow._tree import tree_of_merges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROWS_PER_BLOCK = 1024
_GROUPS_PER_BLOCK = 250


class Leaders(NamedTuple):
    """Rows in groups.

    Attributes
    ----------
    row : ndarray of shape (n_groups,)
        The row that leads each group.
    group : ndarray of shape (n,)
        The group of each row; that of a leader is its own.
    similarity : ndarray of shape (n,)
        Similarity of each row to its leader, in single precision.
    """

    row: NDArray[np.int64]
    group: NDArray[np.int64]
    similarity: NDArray[np.float32]


class GroupSimilarity(NamedTuple):
    """How similar groups are.

    Attributes
    ----------
    similarity : ndarray of shape (n_groups, n_groups)
        The mean over pairs of their objects.
    sizes : ndarray of shape (n_groups,)
        Objects of each group.
    captured : float
        The share of the squared distances of objects from their mean, in the space whose inner
        products are similarities, that lies between groups.
    """

    similarity: FloatArray
    sizes: NDArray[np.int64]
    captured: float


def leader_rows(
    table: NDArray[np.int32], sizes: NDArray[np.int64], weight: FloatArray, n_groups: int
) -> NDArray[np.int64]:
    """Return representative rows: evenly spaced among objects sorted by their density.

    The density of an object is the weight of its clusters times their sizes, its mean similarity
    with all objects. Except for ties, the result does not depend on the order of rows or names of
    clusters.
    """
    ends = cluster_ends(table)
    density = np.zeros(len(table))
    for m, column in enumerate(table.T):
        # The last is that of a missing vote, which is -1.
        in_cluster = np.bincount(column + 1, sizes, minlength=int(np.diff(ends)[m]) + 1)[1:]
        density += np.append(weight[ends[m] : ends[m + 1]] * in_cluster, 0.0)[column]
    order = np.argsort(density, kind="stable")
    until = np.cumsum(sizes[order])
    places = (np.arange(n_groups) + 0.5) * (until[-1] / n_groups)
    return np.unique(order[np.searchsorted(until, places, side="right")])


def join_leaders(
    table: NDArray[np.int32],
    rows: NDArray[np.int64],
    weight: FloatArray,
    weights: FloatArray,
    *,
    n_jobs: int | None = None,
) -> Leaders:
    """Return the groups of the leading rows, by the similarity of every row to every leader.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes, -1 where there is none.
    rows : ndarray of shape (n_groups,)
        The leading rows. A row that is equally similar to several joins the first of them.
    weight : ndarray of shape (n_clusters,)
        Weight of each cluster, including that of its clustering.
    weights : ndarray of shape (n_clusterings,)
        Weights of clusterings: the divisor of similarities, where both rows voted.
    n_jobs : int or None
        Threads.

    Notes
    -----
    n·n_groups·M comparisons, sixteen at a time.
    """
    n_codes = table.max(axis=0) + 1
    worth = np.zeros((table.shape[1], int(n_codes.max(initial=0)) + 2), dtype=np.float32)
    worth[np.arange(worth.shape[1]) < n_codes[:, None]] = weight
    codes = vote_codes(table)
    leaders = np.ascontiguousarray(codes.right[:, rows])
    group = np.empty(len(table), dtype=np.int64)
    similarity = np.empty(len(table), dtype=np.float32)
    if (table < 0).any():
        turnout = turnout_codes(table)
        voters, voting_leaders = turnout.left, np.ascontiguousarray(turnout.right[:, rows])
    else:
        voters = voting_leaders = np.empty((0, 0), dtype=np.uint8)
    of_member = weights.astype(np.float32)

    def join(some: tuple[int, int]) -> None:
        _join(
            codes.left, leaders, worth, voters, voting_leaders, of_member, *some, group, similarity
        )

    in_threads(join, row_ranges(len(table), _ROWS_PER_BLOCK), n_jobs)
    group[rows] = np.arange(len(rows))
    return Leaders(rows, group, similarity)


def similarity_of_groups(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    leaders: Leaders,
    weight: FloatArray,
    weights: FloatArray,
    *,
    n_jobs: int | None = None,
) -> GroupSimilarity:
    """Return the mean similarity of the objects of every two groups. Parameters are as above.

    It is exact if no vote is missing. Otherwise it is the mean agreement of all pairs of votes,
    which weighs pairs of objects by their common votes.

    O(n_groups²·C) for C clusters, and 8·n_groups·(C + 2·n_groups) bytes. Clusterings with more
    clusters than there are groups do not count in C: most of their clusters are in few groups.
    """
    n_groups, n_clusters = len(leaders.row), table.max(axis=0) + 1
    mass = np.bincount(leaders.group, sizes).astype(np.int64)
    voters, voting = _voters(table, sizes, leaders.group, mass), weights[n_clusters > 0]
    fine = n_clusters > n_groups
    in_fine = np.repeat(fine, n_clusters)
    shared = overlaps_with(leaders.group, n_groups, table[:, ~fine], sizes)
    parts: list[tuple[Any, FloatArray]] = [(shared, weight[~in_fine])]
    if fine.any():
        share = sharing(table[:, fine], sizes)
        shared_fine = share(leaders.group.astype(np.int32), int(fine.sum()), n_groups)
        parts.append((csr_array(shared_fine), weight[in_fine]))
    similarity: FloatArray = np.empty((n_groups, n_groups))

    def compare(rows: tuple[int, int]) -> None:
        some = slice(*rows)
        pairs = (voters[some] * voting) @ voters.T
        sums = np.zeros(pairs.shape)
        for counts, of_cluster in parts:
            product = (counts[some] * of_cluster) @ counts.T
            sums += product.toarray() if issparse(product) else product
        np.divide(sums, pairs, out=similarity[some], where=pairs > 0)

    similarity[:] = 0.0  # where no clustering has votes of both
    in_threads(compare, row_ranges(n_groups, _GROUPS_PER_BLOCK), n_jobs)
    return GroupSimilarity(similarity, mass, _captured(parts, mass))


def _voters(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    group: NDArray[np.int64],
    mass: NDArray[np.int64],
) -> FloatArray:
    """Return the objects of each group that have votes of each clustering that has any."""
    present = table[:, table.max(axis=0) >= 0].T
    columns = [
        mass if votes.min() >= 0 else np.bincount(group, sizes * (votes >= 0)) for votes in present
    ]
    return np.column_stack(columns).astype(np.float64)


def _captured(parts: list[tuple[Any, FloatArray]], mass: NDArray[np.int64]) -> float:
    """Return the share of squared distances from the mean of all that lies between groups."""
    of_mean = whole = between = 0.0
    for shared, weight in parts:
        in_cluster = shared.sum(axis=0)
        of_mean += float(weight @ in_cluster**2) / float(mass.sum())
        whole += float(weight @ in_cluster)
        between += float((shared**2 @ weight / mass).sum())
    return (between - of_mean) / (whole - of_mean) if whole > of_mean else 1.0


def tree_of_rows(tree: FloatArray, leaders: Leaders) -> FloatArray:
    """Return a tree of groups as one of rows, in SciPy's format.

    Rows join their leader at 1 - their similarity, and before any two groups are merged.
    """
    n_groups = len(leaders.row)
    merged = tree[:, :2].astype(np.int64)
    row_of = np.append(leaders.row, np.empty(len(tree), dtype=np.int64))
    for step, a in enumerate(merged[:, 0]):
        row_of[n_groups + step] = row_of[a]
    followers = np.setdiff1d(np.arange(len(leaders.group)), leaders.row)
    inside = np.column_stack([leaders.row[leaders.group[followers]], followers])
    lowest = tree[0, 2] if len(tree) else 1.0
    heights = np.clip(1.0 - leaders.similarity[followers].astype(np.float64), 0.0, lowest)
    return tree_of_merges(
        np.concatenate([inside, row_of[merged]]), np.concatenate([heights, tree[:, 2]])
    )


@fast_kernel
def _join(
    left: Any,
    leaders: Any,
    worth: Any,
    voters: Any,
    voting_leaders: Any,
    weights: Any,
    start: Any,
    stop: Any,
    group: Any,
    similarity: Any,
) -> None:
    """Find the leader of each row from `start` to `stop`."""
    n_clusterings, n_leaders = leaders.shape
    sums = np.empty(n_leaders, dtype=np.float32)
    both = np.empty(n_leaders, dtype=np.float32)
    zero = np.float32(0.0)
    both[:] = weights.sum()
    whole = n_clusterings - n_clusterings % 4
    for i in range(start, stop):
        sums[:] = zero
        for m in range(0, whole, 4):
            codes_0, codes_1 = leaders[m], leaders[m + 1]
            codes_2, codes_3 = leaders[m + 2], leaders[m + 3]
            vote_0, vote_1 = left[m, i], left[m + 1, i]
            vote_2, vote_3 = left[m + 2, i], left[m + 3, i]
            worth_0, worth_1 = worth[m, vote_0], worth[m + 1, vote_1]
            worth_2, worth_3 = worth[m + 2, vote_2], worth[m + 3, vote_3]
            for j in range(n_leaders):
                value = sums[j]
                value += worth_0 if codes_0[j] == vote_0 else zero
                value += worth_1 if codes_1[j] == vote_1 else zero
                value += worth_2 if codes_2[j] == vote_2 else zero
                value += worth_3 if codes_3[j] == vote_3 else zero
                sums[j] = value
        for m in range(whole, n_clusterings):
            codes, vote = leaders[m], left[m, i]
            value_here = worth[m, vote]
            for j in range(n_leaders):
                sums[j] += value_here if codes[j] == vote else zero
        if len(voters):
            both[:] = zero
            for m in range(n_clusterings):
                if voters[m, i] == 1:
                    codes, value_here = voting_leaders[m], weights[m]
                    for j in range(n_leaders):
                        both[j] += value_here if codes[j] == 1 else zero
        best, nearest = np.float32(-1.0), 0
        for j in range(n_leaders):
            mean = sums[j] / both[j] if both[j] > zero else zero
            if mean > best:
                best, nearest = mean, j
        group[i], similarity[i] = nearest, best
