"""Groups of microclusters as counts of their objects in the clusters of an ensemble.

Where two objects are as similar as the clusters that they share weigh, the similarity summed over
all pairs of two groups of objects is Σ_u w_u · n_Au · n_Bu, n_Au the objects of group A in cluster
u. Each cluster has a list of the groups that it meets, with these counts; the entries of a group
are chained in the order of clusters. Merging two groups joins their chains and takes an entry off
each list that both are in, all in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


class Clusters(NamedTuple):
    """The clusters of the ensemble, and the groups that each meets.

    Entries ``start[u]`` to ``start[u] + length[u]`` belong to cluster u, in any order.
    """

    weight: FloatArray
    start: NDArray[np.int64]
    length: NDArray[np.int64]
    #: Of each entry: its cluster, its group, its objects, and the next entry of the group or -1.
    cluster: NDArray[np.int32]
    group: NDArray[np.uint32]
    objects: FloatArray
    following: NDArray[np.int64]


class Groups(NamedTuple):
    """The groups of rows, a union under the number of its part with the lowest row."""

    #: Of each: its lowest row, its objects, the inverse of that, the similarity of its last merge.
    row: NDArray[np.int64]
    mass: FloatArray
    share: FloatArray
    inner: FloatArray
    #: Its first entry, and the group that it was merged into, itself if it is there.
    first: NDArray[np.int64]
    parent: NDArray[np.int64]
    #: The weighted counts of one group in all clusters: see `weigh`.
    counts: FloatArray


def group_lists(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    weight: FloatArray,
    row: NDArray[np.int64],
) -> tuple[Groups, Clusters]:
    """Return a group for each row of a table of votes, numbered in the order of `row`.

    Clusters without weight have no entries.
    """
    table, sizes = table[row], sizes[row]
    n, n_members = table.shape
    n_codes = table.max(axis=0) + 1
    cluster = (table + (np.cumsum(n_codes) - n_codes)).ravel()
    kept = np.flatnonzero(weight[cluster] > 0)
    kept = kept[np.argsort(cluster[kept], kind="stable")]
    length = np.bincount(cluster[kept], minlength=len(weight))
    group = (kept // n_members).astype(np.uint32)
    # The entry of each vote; where it has none that of the next; -1 past the last.
    entry = np.full((n, n_members + 1), -1)
    entry[:, :-1].flat[kept] = np.arange(len(kept))
    for m in range(n_members - 1, -1, -1):
        entry[:, m] = np.where(entry[:, m] < 0, entry[:, m + 1], entry[:, m])
    clusters = Clusters(
        weight=weight,
        start=np.cumsum(length) - length,
        length=length,
        cluster=cluster[kept].astype(np.int32),
        group=group,
        objects=sizes[group].astype(np.float64),
        following=entry[:, 1:].flat[kept],
    )
    groups = Groups(
        row=row,
        mass=sizes.astype(np.float64),
        share=1.0 / sizes,
        inner=np.full(n, np.inf),
        first=entry[:, 0].copy(),
        parent=np.arange(n),
        counts=np.zeros(len(weight)),
    )
    return groups, clusters


@kernel
def weigh(groups: Any, clusters: Any, group: Any, times: Any) -> None:
    """Write the weighted counts of a group into the row of all clusters; 0 times clears it."""
    entry = groups.first[group]
    while entry >= 0:
        u = clusters.cluster[entry]
        groups.counts[u] = times * clusters.weight[u] * clusters.objects[entry]
        entry = clusters.following[entry]


@kernel
def mean_similarity(groups: Any, clusters: Any, weighed: Any, other: Any) -> Any:
    """Return the mean similarity of the group that was weighed and another."""
    total = 0.0
    entry = groups.first[other]
    while entry >= 0:
        total += groups.counts[clusters.cluster[entry]] * clusters.objects[entry]
        entry = clusters.following[entry]
    return total / (groups.mass[weighed] * groups.mass[other])


@kernel
def merge(groups: Any, clusters: Any, a: Any, b: Any) -> Any:
    """Merge group b into group a and return the mean similarity that they had.

    A merge is no more similar than those inside it: rounding must not turn their order around.
    """
    cluster, count, following = clusters.cluster, clusters.objects, clusters.following
    total = 0.0
    e, f, last = groups.first[a], groups.first[b], -1
    while e >= 0 or f >= 0:
        if f < 0 or (e >= 0 and cluster[e] < cluster[f]):
            taken, e = e, following[e]
        elif e < 0 or cluster[f] < cluster[e]:
            clusters.group[f] = a
            taken, f = f, following[f]
        else:
            total += clusters.weight[cluster[e]] * count[e] * count[f]
            count[e] += count[f]
            next_e, next_f = following[e], following[f]
            taken = _drop(groups, clusters, e, f)
            e, f = next_e, next_f
        if last < 0:
            groups.first[a] = taken
        else:
            following[last] = taken
        last = taken
    following[last] = -1
    mean = total / (groups.mass[a] * groups.mass[b])
    groups.inner[a] = min(mean, groups.inner[a], groups.inner[b])
    groups.mass[a] += groups.mass[b]
    groups.share[a] = 1.0 / groups.mass[a]
    groups.parent[b] = a
    return groups.inner[a]


@kernel
def _drop(groups: Any, clusters: Any, kept: Any, dropped: Any) -> Any:
    """Take an entry off the list of its cluster, and return where `kept` is then.

    The last entry of the list moves to the free place, and what led to it is led there.
    """
    u = clusters.cluster[dropped]
    clusters.length[u] -= 1
    last = clusters.start[u] + clusters.length[u]
    if last == dropped:
        return kept
    moved = clusters.group[last]
    clusters.group[dropped], clusters.objects[dropped] = moved, clusters.objects[last]
    clusters.following[dropped] = clusters.following[last]
    if last == kept:
        return dropped
    entry = groups.first[moved]
    if entry == last:
        groups.first[moved] = dropped
        return kept
    while clusters.following[entry] != last:
        entry = clusters.following[entry]
    clusters.following[entry] = dropped
    return kept
