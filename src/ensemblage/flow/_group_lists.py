"""Groups of microclusters as counts of their objects in the clusters of an ensemble.

If the similarity of two objects is the weight of the clusters that they share, its sum over all
pairs of two groups of objects is Σ_u w_u · n_Au · n_Bu, n_Au the objects of group A in cluster u.
These counts are stored twice: each group has a row of its clusters, and each cluster a list of its
groups. Merging two groups joins their rows, and removes an entry from each list that has both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


class Clusters(NamedTuple):
    """The clusters of the ensemble, and the groups in each.

    The list of cluster u is from ``start[u]`` to ``start[u] + length[u]``, in any order.
    """

    weight: FloatArray
    start: NDArray[np.int64]
    length: NDArray[np.int64]
    #: The lists: a group, and its objects in the cluster.
    group: NDArray[np.uint32]
    objects: FloatArray


class Groups(NamedTuple):
    """The groups; a union has the number of its part with the lowest row of the table.

    The clusters of group g are from ``start[g]`` to ``start[g] + length[g]``, in their order.
    """

    #: Of each: its lowest row, its objects, the inverse of that, the similarity of its last merge,
    #: and the group that it was merged into, or itself.
    row: NDArray[np.int64]
    mass: FloatArray
    share: FloatArray
    inner: FloatArray
    parent: NDArray[np.int64]
    start: NDArray[np.int64]
    length: NDArray[np.int64]
    #: The clusters: number, objects, and position in the list. New ones are appended.
    cluster: NDArray[np.int32]
    objects: FloatArray
    place: NDArray[np.int32]
    end: NDArray[np.int64]
    #: The weighted counts of one group in all clusters: see `weigh`.
    counts: FloatArray


def group_lists(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    weight: FloatArray,
    row: NDArray[np.int64],
) -> tuple[Groups, Clusters]:
    """Return a group for each row of a table of votes, numbered in the order of `row`.

    Clusters without weight are left out.
    """
    table, sizes = table[row], sizes[row]
    n, n_members = table.shape
    n_codes = table.max(axis=0) + 1
    vote = (table + (np.cumsum(n_codes) - n_codes)).ravel()
    counts = weight[vote] > 0
    cluster, group = vote[counts], np.flatnonzero(counts) // n_members
    in_lists = np.argsort(cluster, kind="stable")
    n_votes = np.count_nonzero(counts.reshape(n, n_members), axis=1)
    n_groups = np.bincount(cluster, minlength=len(weight))
    room = 2 * len(cluster)
    groups = Groups(
        row=row,
        mass=sizes.astype(np.float64),
        share=1.0 / sizes,
        inner=np.full(n, np.inf),
        parent=np.arange(n),
        start=np.cumsum(n_votes) - n_votes,
        length=n_votes,
        cluster=np.empty(room, dtype=np.int32),
        objects=np.empty(room),
        place=np.empty(room, dtype=np.int32),
        end=np.array([len(cluster)]),
        counts=np.zeros(len(weight)),
    )
    groups.cluster[: len(cluster)] = cluster
    groups.objects[: len(cluster)] = sizes[group]
    groups.place[in_lists] = np.arange(len(cluster))
    clusters = Clusters(
        weight=weight,
        start=np.cumsum(n_groups) - n_groups,
        length=n_groups,
        group=group[in_lists].astype(np.uint32),
        objects=sizes[group[in_lists]].astype(np.float64),
    )
    return groups, clusters


def close_gaps(groups: Groups) -> None:
    """Move the clusters of all existing groups to the front, to make room.

    A union has no more clusters than its parts together, so at least half of the room becomes free.
    """
    there = np.flatnonzero(groups.parent == np.arange(len(groups.parent)))
    there = there[np.argsort(groups.start[there])]
    length = groups.length[there]
    ends = np.cumsum(length)
    source = np.repeat(groups.start[there] - (ends - length), length) + np.arange(ends[-1])
    for values in (groups.cluster, groups.objects, groups.place):
        values[: ends[-1]] = values[source]
    groups.start[there] = ends - length
    groups.end[0] = ends[-1]


@kernel
def weigh(groups: Any, clusters: Any, group: Any, times: Any) -> None:
    """Write the weighted counts of a group into the row of all clusters; factor 0 clears it."""
    for e in range(groups.start[group], groups.start[group] + groups.length[group]):
        u = groups.cluster[e]
        groups.counts[u] = times * clusters.weight[u] * groups.objects[e]


@kernel
def mean_similarity(groups: Any, weighed: Any, other: Any) -> Any:
    """Return the mean similarity of the weighed group and another."""
    total = 0.0
    for e in range(groups.start[other], groups.start[other] + groups.length[other]):
        total += groups.counts[groups.cluster[e]] * groups.objects[e]
    return total / (groups.mass[weighed] * groups.mass[other])


@kernel
def merge(groups: Any, clusters: Any, a: Any, b: Any) -> Any:
    """Merge group b into group a and return their mean similarity.

    There must be room for the clusters of both. A merge is at most as similar as those inside it:
    rounding must not reverse their order.
    """
    cluster, objects, place = groups.cluster, groups.objects, groups.place
    total = 0.0
    i, end_a = groups.start[a], groups.start[a] + groups.length[a]
    j, end_b = groups.start[b], groups.start[b] + groups.length[b]
    first = e = groups.end[0]
    while i < end_a or j < end_b:
        if j == end_b or (i < end_a and cluster[i] < cluster[j]):
            cluster[e], objects[e], place[e] = cluster[i], objects[i], place[i]
            i += 1
        elif i == end_a or cluster[j] < cluster[i]:
            cluster[e], objects[e], place[e] = cluster[j], objects[j], place[j]
            clusters.group[place[j]] = a
            j += 1
        else:
            total += clusters.weight[cluster[i]] * objects[i] * objects[j]
            cluster[e], objects[e] = cluster[i], objects[i] + objects[j]
            clusters.objects[place[i]] = objects[e]
            place[e] = _drop(groups, clusters, cluster[i], place[i], place[j])
            i += 1
            j += 1
        e += 1
    length = e - first
    if length <= groups.length[a]:  # no new room needed
        e = first
        first = groups.start[a]
        for k in range(length):
            cluster[first + k], objects[first + k] = cluster[e + k], objects[e + k]
            place[first + k] = place[e + k]
    groups.end[0] = e
    groups.start[a], groups.length[a] = first, length
    mean = total / (groups.mass[a] * groups.mass[b])
    groups.inner[a] = min(mean, groups.inner[a], groups.inner[b])
    groups.mass[a] += groups.mass[b]
    groups.share[a] = 1.0 / groups.mass[a]
    groups.parent[b] = a
    return groups.inner[a]


@kernel
def _drop(groups: Any, clusters: Any, u: Any, kept: Any, dropped: Any) -> Any:
    """Remove an entry from the list of cluster u, and return the new position of `kept`.

    The last entry moves to the free position, and the stored position of its group is updated.
    """
    clusters.length[u] -= 1
    last = clusters.start[u] + clusters.length[u]
    if last == dropped:
        return kept
    moved = clusters.group[last]
    clusters.group[dropped], clusters.objects[dropped] = moved, clusters.objects[last]
    if last == kept:
        return dropped
    low, high = groups.start[moved], groups.start[moved] + groups.length[moved]
    while high - low > 1:
        middle = (low + high) // 2
        if groups.cluster[middle] <= u:
            low = middle
        else:
            high = middle
    groups.place[low] = dropped
    return kept
