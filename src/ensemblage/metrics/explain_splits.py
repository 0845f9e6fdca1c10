"""Clusters that contain two groups: their best split is as clear as the borders of other clusters.

Confidence compares an object's own cluster with the others. It does not show that a cluster should
be split: the objects of both halves are far from all others. Here every cluster is split as well as
its votes allow, and the halves are compared like clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, flow
from ensemblage.metrics._tables import Table
from ensemblage.metrics.confidence import cluster_weights, confidence
from ensemblage.metrics.explain import (
    ROWS_TO_COMPARE,
    mean_confidence,
    n_jobs_of,
    objects_in_clusters,
)
from ensemblage.metrics.sizes import ranked_by_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: A split is clear if its objects are, on average, twice as close to their half as to the other,
#: and nearly as confident in it as the objects of other clusters are in theirs.
CLEAR = 0.5
_AS_CLEAR = 0.8
#: Above this number of microclusters in a cluster, this number is sampled.
_MOST_MICROCLUSTERS = 2000


class _Splits(NamedTuple):
    sizes: NDArray[np.int64]
    clarity: FloatArray
    together: FloatArray
    usual: FloatArray
    two_groups: NDArray[np.bool_]
    halves: NDArray[np.int64]


class SplitSummary(Table, _Splits):
    """The best split of each cluster of a consensus in two, one entry for each label.

    Attributes
    ----------
    sizes : ndarray of shape (n_clusters, 2), int64
        Objects of the two halves, the larger first; 0 in the second column for a cluster that
        cannot be split.
    clarity : ndarray of shape (n_clusters,)
        Mean confidence of the cluster's objects in their half, against the other half, in [0, 1];
        0 for a cluster that cannot be split.
    together : ndarray of shape (n_clusters,)
        Mean co-association of an object of one half and an object of the other; 1 for a cluster
        that cannot be split.
    usual : ndarray of shape (n_clusters,)
        The value that `clarity` is compared with: the median, over the other clusters, of the mean
        ``confidence_`` of their objects; 0 if there is no other.
    two_groups : ndarray of shape (n_clusters,), bool
        Whether the cluster probably consists of two groups.
    halves : ndarray of shape (n_objects,), int64
        For each object, whether it is in the larger half of its cluster (0) or the smaller (1); of
        equal halves the one that appears first is 0.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0]] * 4 + [[1, 1]] * 4 + [[2, 2]] * 4
    >>> splits = en.metrics.splits(en.EAC(n_clusters=3).fit(votes))
    >>> splits.two_groups
    array([False, False, False])
    """

    __slots__ = ()

    def _heading(self) -> str:
        return f"SplitSummary: {int(self.two_groups.sum())} of {len(self.sizes)} may be two groups"

    def _index(self) -> tuple[str, Any]:
        return "cluster", np.arange(len(self.sizes))

    def _columns(self) -> dict[str, Any]:
        larger, smaller = self.sizes.T
        rest = {name: getattr(self, name) for name in self._fields[1:-1]}
        return {"larger": larger, "smaller": smaller, **rest}


def splits(estimator: Any) -> SplitSummary:
    """Split every cluster in two, and return which clusters may be two groups.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.

    Returns
    -------
    SplitSummary

    Notes
    -----
    The microclusters of a cluster are merged by average link on plain co-association, weighted by
    objects, and the tree is cut in two such that each half holds at least a tenth of the mean size
    of a cluster, and at least 2 objects; smaller branches join the more similar half. Each object
    then has a confidence in its half, as ``confidence_`` defines it: (a - b) / max(a, b), at least
    0, with a its mean co-association with the other objects of its half and b that with the other
    half. `clarity` is the mean of these.

    A cluster is marked in `two_groups` if its `clarity` is at least 0.5 (its objects are twice as
    close to their half) and at least 0.8 of the `usual` clarity of the borders of the other
    clusters.

    With n microclusters in a cluster and M clusterings: O(n²·M) time and 16·n² bytes for each
    cluster. Above 2,000 microclusters in a cluster, 2,000 are sampled, evenly by their objects, and
    the others join the more similar half.

    Examples
    --------
    Three clear groups in two clusters:

    >>> import ensemblage as en
    >>> votes = [[0, 0, 0]] * 4 + [[1, 1, 1]] * 3 + [[2, 2, 2]] * 5
    >>> en.metrics.splits(en.EAC(n_clusters=2).fit(votes))
    SplitSummary: 1 of 2 may be two groups
    cluster  larger  smaller  clarity  together  usual  two_groups
          0       5        4    1.000     0.000  1.000         yes
          1       3        0    0.000     1.000  0.062          no
    """
    owner = "metrics.splits"
    fitted = _validate.check_fitted(owner, estimator)
    _validate.check_has_votes(owner, fitted)
    counts, sizes = objects_in_clusters(fitted)
    counts = counts.tocsc()
    k = len(sizes)
    least = max(2, _validate.least_size("auto", int(sizes.sum()), k))
    sizes_of_halves = np.column_stack([sizes, np.zeros(k, dtype=np.int64)])
    clarity, together = np.zeros(k), np.ones(k)
    halves = np.zeros(len(fitted.labels_), dtype=np.int64)
    of_object = fitted.microclusters_.of_object
    for cluster in range(k):
        part = slice(*counts.indptr[cluster : cluster + 2])
        rows = counts.indices[part].astype(np.int64)
        weights = np.rint(counts.data[part]).astype(np.int64)
        split = _best_split(fitted, rows, weights, least)
        if split is None:
            continue
        clarity[cluster], together[cluster] = split.clarity, split.together
        sizes_of_halves[cluster] = np.bincount(split.half, weights=weights).astype(np.int64)
        half_of = np.zeros(counts.shape[0], dtype=np.int64)
        half_of[rows] = split.half
        own = fitted.labels_ == cluster
        halves[own] = half_of[of_object[own]]
    usual = _usual(mean_confidence(fitted, sizes))
    two_groups = (clarity >= CLEAR) & (clarity >= _AS_CLEAR * usual)
    return SplitSummary(sizes_of_halves, clarity, together, usual, two_groups, halves)


class _Split(NamedTuple):
    """A cluster split in two: 0 or 1 for each of its microclusters, 0 for the larger half."""

    half: NDArray[np.int64]
    clarity: float
    together: float


def _best_split(
    fitted: Any, rows: NDArray[np.int64], weights: NDArray[np.int64], least: int
) -> _Split | None:
    """Return the best split of the microclusters `rows`; None if no half is large enough."""
    if len(rows) < 2 or weights.sum() < 2 * least:
        return None
    table, members = fitted.microclusters_.table, fitted.member_weight_
    chosen = _evenly(weights, _MOST_MICROCLUSTERS)
    near, mass = table[rows[chosen]], weights[chosen]
    similarity = flow.coassociation(near, weights=members, n_jobs=n_jobs_of(fitted))
    half = _halves(similarity, mass, least)
    sums = cluster_weights(half, mass, 2)
    objects = sums.sum(axis=0)
    if objects.min() < least:
        return None
    to_halves = similarity @ sums
    together = float(to_halves[half == 0, 1] @ mass[half == 0] / objects.prod())
    sure = float(np.average(confidence(to_halves, half, mass), weights=mass))
    whole = np.empty(len(rows), dtype=np.int64)
    whole[chosen] = half
    rest = np.setdiff1d(np.arange(len(rows)), chosen)
    for start in range(0, len(rest), ROWS_TO_COMPARE):
        block = rest[start : start + ROWS_TO_COMPARE]
        to_near = flow.coassociation(
            table[rows[block]], near, weights=members, n_jobs=n_jobs_of(fitted)
        )
        whole[block] = (to_near @ sums / objects).argmax(axis=1)
    if ranked_by_size(whole, weights)[0] != whole[0]:
        whole = 1 - whole
    return _Split(whole, min(sure, 1.0), min(together, 1.0))


def _halves(similarity: FloatArray, mass: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Return 0 or 1 for each row: the tree of average link, cut in two with a least size."""
    merges = flow.average_link(similarity, mass)
    tree = flow.sized_tree(merges, mass)
    parts = flow.least_size_parts(tree, 2, least)
    if parts is None:
        return flow.cut_tree(merges, 2)
    weights = np.zeros((len(mass), 2))
    for half, node in enumerate(parts.clusters):
        leaves = tree.leaves(node)
        weights[leaves, half] = mass[leaves]
    rows = np.concatenate([np.empty(0, np.int64), *map(tree.leaves, parts.set_aside)])
    return flow.attach(tree, parts, similarity[rows] @ weights, weights.sum(axis=0), mass[rows])


def _evenly(weights: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return at most `most` positions, evenly spaced over their objects.

    Examples
    --------
    >>> import numpy as np
    >>> _evenly(np.array([1, 1, 1, 1, 8, 1, 1, 1]), 4)
    array([1, 4, 6])
    """
    if len(weights) <= most:
        return np.arange(len(weights))
    ends = np.cumsum(weights)
    ranks = (2 * np.arange(most) + 1) * int(ends[-1]) // (2 * most)
    return np.unique(np.searchsorted(ends, ranks, side="right"))


def _usual(sure: FloatArray) -> FloatArray:
    """Return, for each cluster, the median of the others; 0 for a single cluster.

    Examples
    --------
    >>> import numpy as np
    >>> _usual(np.array([0.2, 0.6, 0.9]))
    array([0.75, 0.55, 0.4 ])
    """
    if len(sure) == 1:
        return np.zeros(1)
    return np.array([np.median(np.delete(sure, place)) for place in range(len(sure))])
