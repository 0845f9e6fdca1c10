"""What a consensus is made of: its clusters, and the members that voted for it.

All of it goes through microclusters, so a million objects cost a few passes over their labels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage.metrics._tables import Table
from ensemblage.metrics.agreement import nmi_of_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

ROWS_TO_COMPARE = 1024
#: When a member is one to look at, see `members`.
_FEW_VOTES = 0.5
_ENOUGH_TO_JUDGE = 4
_FAR, _FAR_AT_LEAST = 3 * 1.4826, 0.5


class _Clusters(NamedTuple):
    sizes: NDArray[np.int64]
    consensus: FloatArray
    confidence: FloatArray
    nearest: NDArray[np.int64]
    nearest_similarity: FloatArray


class ClusterSummary(Table, _Clusters):
    """The clusters of a consensus, one entry for each label.

    Attributes
    ----------
    sizes : ndarray of shape (n_clusters,), int64
        Objects.
    consensus : ndarray of shape (n_clusters,)
        Mean co-association of the pairs of different objects in the cluster (Monti's cluster
        consensus): the share of clusterings, by weight if they have one, that put two of its
        objects together. A cluster of one object has no pairs, and 1.
    confidence : ndarray of shape (n_clusters,)
        Mean ``confidence_`` of its objects.
    nearest : ndarray of shape (n_clusters,), int64
        The other cluster with the largest mean co-association, the lowest on ties; -1 where there
        is no other.
    nearest_similarity : ndarray of shape (n_clusters,)
        That mean co-association, over pairs of an object here and an object there; 0 where there
        is no other.
    """

    __slots__ = ()

    def _heading(self) -> str:
        return f"ClusterSummary of {int(self.sizes.sum()):,} objects"

    def _index(self) -> tuple[str, Any]:
        return "cluster", np.arange(len(self.sizes))

    def _columns(self) -> dict[str, Any]:
        return self._asdict()


class _Members(NamedTuple):
    names: list[str]
    n_clusters: NDArray[np.int64]
    turnout: FloatArray
    agreement: FloatArray
    agreement_with_others: FloatArray
    diversity: FloatArray
    look_at: NDArray[np.bool_]
    reasons: list[str]


class MemberSummary(Table, _Members):
    """The clusterings of an ensemble beside their consensus, one entry for each.

    Attributes
    ----------
    names : list of str
        As a table gave them, else "0", "1", ...
    n_clusters : ndarray of shape (n_clusterings,), int64
        Clusters of the member.
    turnout : ndarray of shape (n_clusterings,)
        The share of objects that it votes on.
    agreement : ndarray of shape (n_clusterings,)
        NMI (max) with the consensus, over the objects that it votes on.
    agreement_with_others : ndarray of shape (n_clusterings,)
        Mean NMI (max) with the other members; 1 for one that has no others.
    diversity : ndarray of shape (n_clusterings,)
        1 less that.
    look_at : ndarray of shape (n_clusterings,), bool
        Whether a person should look at it.
    reasons : list of str
        Why; "" where there is nothing to say.
    """

    __slots__ = ()

    def _heading(self) -> str:
        return f"MemberSummary: look at {int(self.look_at.sum())} of {len(self.names)}"

    def _index(self) -> tuple[str, Any]:
        return "clustering", self.names

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields[1:]}


def clusters(estimator: Any) -> ClusterSummary:
    """Return size, consensus, confidence and nearest neighbour of each consensus cluster.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.

    Returns
    -------
    ClusterSummary

    Notes
    -----
    Two objects that no clustering votes on both have co-association 0. With n microclusters, M
    clusterings and k clusters: O(n·M·k) where every vote is there, because sums of co-association
    follow from how clusters overlap; O(n²·M) where some are missing.

    References
    ----------
    S. Monti, P. Tamayo, J. Mesirov, T. Golub, "Consensus clustering: a resampling-based method for
    class discovery and visualization of gene expression microarray data", Machine Learning 52,
    2003, pp. 91-118.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> found = en.metrics.clusters(en.EAC(n_clusters=2).fit(votes))
    >>> found.sizes
    array([3, 3])
    >>> found.consensus.round(3)
    array([0.778, 0.778])
    >>> found
    ClusterSummary of 6 objects
    cluster  sizes  consensus  confidence  nearest  nearest_similarity
          0      3      0.778       0.833        1               0.111
          1      3      0.778       0.856        0               0.111
    """
    fitted = _validate.check_fitted("metrics.clusters", estimator)
    _validate.check_has_votes("metrics.clusters", fitted)
    counts, sizes = objects_in_clusters(fitted)
    within, means = _mean_coassociations(fitted, counts, sizes)
    np.fill_diagonal(means, -1.0)
    nearest = means.argmax(axis=1)
    alone = len(sizes) == 1
    return ClusterSummary(
        sizes=sizes,
        consensus=within,
        confidence=mean_confidence(fitted, sizes),
        nearest=np.full(1, -1) if alone else nearest,
        nearest_similarity=np.zeros(1) if alone else means[np.arange(len(sizes)), nearest],
    )


def members(estimator: Any, *, names: Sequence[str] | None = None) -> MemberSummary:
    """Return how each clustering agrees with the consensus and the others, and whom to look at.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.
    names : sequence of str, optional
        What to call the members, if not as the table of votes did.

    Returns
    -------
    MemberSummary

    Notes
    -----
    A member is one to look at if it

    - has no vote at all, or votes on less than half of the objects;
    - puts all objects it votes on into one cluster, which says nothing;
    - is the same partition as an earlier member, with the same votes missing: it counts twice;
    - agrees with nobody: its mean agreement with the others is less than half of the median
      member's, and lower by more than 3 robust standard deviations (1.4826 times the median
      distance from the median). Members that say nothing or too little are left out of this, and
      of fewer than four that are left none is an outlier.

    These are reasons to look, not to remove: an outlier may be the only member that is right.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0]]
    >>> found = en.metrics.members(en.EAC(n_clusters=2).fit(votes))
    >>> found.agreement
    array([1., 1., 0.])
    >>> found.reasons[1:]
    ['the same partition as 0', 'all in one cluster']
    """
    fitted = _validate.check_fitted("metrics.members", estimator)
    _validate.check_has_votes("metrics.members", fitted)
    groups = fitted.microclusters_
    similarity = flow.member_pairs(groups.table, groups.sizes, n_jobs=n_jobs_of(fitted))
    n_members = len(similarity)
    if names is None:
        names = fitted._ensemble.names or [str(m) for m in range(n_members)]
    names = [str(name) for name in _validate.check_names("metrics.members", names, n_members)]
    turnout = groups.sizes @ (groups.table >= 0) / groups.sizes.sum()
    n_clusters = groups.table.max(axis=0).astype(np.int64) + 1
    others = np.ones(1)
    if n_members > 1:
        others = np.clip((similarity.sum(axis=1) - 1.0) / (n_members - 1), 0.0, 1.0)
    reasons = _reasons(names, groups.table, n_clusters, turnout, others)
    return MemberSummary(
        names=names,
        n_clusters=n_clusters,
        turnout=turnout,
        agreement=member_agreement(fitted),
        agreement_with_others=others,
        diversity=1.0 - others,
        look_at=np.array([bool(reason) for reason in reasons]),
        reasons=reasons,
    )


def member_similarity(X: Any, *, n_jobs: int | None = None) -> FloatArray:
    """Return the NMI (max) of every two clusterings of an ensemble.

    Parameters
    ----------
    X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
        Votes.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Returns
    -------
    ndarray of shape (n_clusterings, n_clusterings)
        Over the objects that voted in both; 0 where there is none. 1 on the diagonal.

    Examples
    --------
    >>> from ensemblage.metrics import member_similarity
    >>> member_similarity([[0, 0, 5], [0, 0, 5], [1, 1, 5], [1, 2, 5]]).round(3)
    array([[1.   , 0.667, 0.   ],
           [0.667, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """
    _validate.check_n_jobs("member_similarity", n_jobs)
    groups = as_ensemble(X, n_jobs=n_jobs).microclusters
    return flow.member_pairs(groups.table, groups.sizes, n_jobs=n_jobs)


def cluster_consensus(fitted: Any) -> FloatArray:
    """Return the mean co-association inside each cluster of a fitted consensus method."""
    return _mean_coassociations(fitted, *objects_in_clusters(fitted))[0]


def member_agreement(fitted: Any) -> FloatArray:
    """Return the NMI (max) of each clustering with the consensus; 0 for one without a vote."""
    table = fitted.microclusters_.table
    counts, _ = objects_in_clusters(fitted)
    shared = (flow.membership(table).T @ counts).toarray().astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(table.max(axis=0) + 1)])
    parts = [shared[start:end] for start, end in pairwise(ends)]
    return np.array([nmi_of_table(part) if len(part) else 0.0 for part in parts])


def objects_in_clusters(fitted: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return how many objects of each microcluster are in each cluster, sparse, and the sizes.

    A microcluster is in one cluster, unless objects were clustered one by one.
    """
    shape = len(fitted.microclusters_.sizes), fitted.n_clusters_
    places = fitted.microclusters_.of_object, fitted.labels_
    counts = csr_array((objects_per_label(fitted).astype(np.float64), places), shape=shape)
    return counts, np.rint(counts.sum(axis=0)).astype(np.int64)


def objects_per_label(fitted: Any) -> NDArray[np.int64]:
    """Return how many objects each label stands for; with `Ensemble.of_groups` a microcluster's.

    Where every object is its own microcluster, sizes are 1 and both readings are the same.
    """
    sizes: NDArray[np.int64] = fitted.microclusters_.sizes
    n_labels = len(fitted.labels_)
    return sizes if n_labels == len(sizes) else np.ones(n_labels, dtype=np.int64)


def mean_confidence(fitted: Any, sizes: NDArray[np.int64]) -> FloatArray:
    """Return the mean confidence of the objects of each cluster."""
    sums = np.bincount(
        fitted.labels_, weights=fitted.confidence_ * objects_per_label(fitted), minlength=len(sizes)
    )
    return np.clip(sums / sizes, 0.0, 1.0)


def _mean_coassociations(
    fitted: Any, counts: Any, sizes: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Return mean co-association inside clusters, themselves excluded, and between clusters."""
    table = fitted.microclusters_.table
    n = sizes.astype(np.float64)
    scale = 1.0
    if (table < 0).any():
        sums = _sums_over_pairs(table, counts, fitted.member_weight_, n_jobs_of(fitted))
    else:
        # Agreements of two clusters' objects, summed over clusterings, are products of how many
        # of them are in each cluster of the ensemble: whole numbers, without any pair.
        shared = (flow.membership(table).T @ counts).toarray()
        weight = fitted._cluster_weight()
        counted = shared if weight is None else weight[:, None] * shared
        sums, scale = shared.T @ counted, fitted._total_weight()
    pairs = scale * n * (n - 1)
    inside = np.divide(sums.diagonal() - scale * n, pairs, out=np.ones(len(n)), where=pairs > 0)
    return np.clip(inside, 0.0, 1.0), np.clip(sums / (scale * np.outer(n, n)), 0.0, 1.0)


def _sums_over_pairs(
    table: NDArray[np.int32], counts: Any, weight: FloatArray | None, n_jobs: int | None
) -> FloatArray:
    """Return co-association summed over the pairs of objects of every two clusters."""
    sums = np.zeros((counts.shape[1], counts.shape[1]))
    for start in range(0, len(table), ROWS_TO_COMPARE):
        rows = slice(start, start + ROWS_TO_COMPARE)
        block = flow.coassociation(table[rows], table, weights=weight, n_jobs=n_jobs)
        sums += counts[rows].T @ (block @ counts)
    return sums


def lowest_usual(scores: FloatArray) -> float:
    """Return the agreement below which one of several clusterings is an outlier among them.

    3 robust standard deviations below the median, and at most half of it; fewer than four have no
    outlier.

    Examples
    --------
    >>> import numpy as np
    >>> float(lowest_usual(np.array([0.8, 0.8, 0.8, 0.1])))
    0.4
    """
    if len(scores) < _ENOUGH_TO_JUDGE:
        return -np.inf
    median = float(np.median(scores))
    spread = float(np.median(np.abs(scores - median)))
    return min(median - _FAR * spread, _FAR_AT_LEAST * median)


def _reasons(
    names: list[str],
    table: NDArray[np.int32],
    n_clusters: NDArray[np.int64],
    turnout: FloatArray,
    others: FloatArray,
) -> list[str]:
    """Return why each member is one to look at, "" for one that is not; the rule of `members`."""
    first: dict[bytes, int] = {}
    judged = np.flatnonzero((n_clusters > 1) & (turnout >= _FEW_VOTES))
    lowest = lowest_usual(others[judged])
    reasons = []
    for m in range(len(names)):
        found = []
        # Codes are by first appearance, so equal partitions are equal columns.
        earlier = first.setdefault(table[:, m].tobytes(), m)
        if n_clusters[m] == 0:
            found.append("no vote at all")
        elif turnout[m] < _FEW_VOTES:
            found.append(f"votes on {turnout[m]:.0%} of the objects only")
        if n_clusters[m] == 1:
            found.append("all in one cluster")
        if earlier != m:
            found.append(f"the same partition as {names[earlier]}")
        if m in judged and others[m] < lowest:
            found.append(f"agrees with nobody (NMI {others[m]:.2f} on average)")
        reasons.append("; ".join(found))
    return reasons


def n_jobs_of(fitted: Any) -> int | None:
    """Return the number of threads that a method was given."""
    n_jobs: int | None = getattr(fitted, "n_jobs", None)
    return n_jobs
