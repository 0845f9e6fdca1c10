"""Members of an ensemble compared with their consensus: agreement, and members to check."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage.metrics._tables import Table
from ensemblage.metrics.agreement import nmi_of_table
from ensemblage.metrics.choosing._sample import signatures
from ensemblage.metrics.explain import lowest_usual, n_jobs_of, objects_in_clusters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Least turnout of a member that need not be checked, see `members`.
_FEW_VOTES = 0.5
#: With more members each is compared with only this number of them.
_MOST_COMPARED = 300


class _Members(NamedTuple):
    names: list[str]
    n_clusters: NDArray[np.int64]
    turnout: FloatArray
    agreement: FloatArray
    agreement_with_others: FloatArray
    diversity: FloatArray
    look_at: NDArray[np.bool_]
    reasons: list[str]
    n_compared: int


class MemberSummary(Table, _Members):
    """The clusterings of an ensemble compared with their consensus, one entry for each.

    Attributes
    ----------
    names : list of str
        As a table gave them, else "0", "1", ...
    n_clusters : ndarray of shape (n_clusterings,), int64
        Clusters of the member.
    turnout : ndarray of shape (n_clusterings,)
        The share of objects that it labels.
    agreement : ndarray of shape (n_clusterings,)
        NMI (max) with the consensus, over the objects that it labels.
    agreement_with_others : ndarray of shape (n_clusterings,)
        Mean NMI (max) with the other members, or with `n_compared` of them; 1 for a single member.
    diversity : ndarray of shape (n_clusterings,)
        1 minus that.
    look_at : ndarray of shape (n_clusterings,), bool
        Whether it should be checked by a person.
    reasons : list of str
        Why; "" if there is no reason.
    n_compared : int
        Number of members that each was compared with: all, or 300 evenly spaced ones of more.

    Examples
    --------
    >>> import ensemblage as en
    >>> summary = en.metrics.members(en.EAC(n_clusters=2).fit([[0, 0, 0], [0, 0, 0], [1, 1, 0]]))
    >>> summary.n_clusters, summary.look_at
    (array([2, 2, 1]), array([False,  True,  True]))
    """

    __slots__ = ()

    def _heading(self) -> str:
        n, some = len(self.names), self.n_compared
        compared = f" (each compared with {some} of them)" if some < n else ""
        return f"MemberSummary: {int(self.look_at.sum())} of {n} to check{compared}"

    def _index(self) -> tuple[str, Any]:
        return "clustering", self.names

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields[1:-1]}


def members(estimator: Any, *, names: Sequence[str] | None = None) -> MemberSummary:
    """Return the agreement of each member with the consensus and the others, and ones to check.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`.
    names : sequence of str, optional
        Names of the members, if not those of the table of votes.

    Returns
    -------
    MemberSummary

    Notes
    -----
    A member should be checked if it

    - has no vote, or labels less than half of the objects;
    - puts all objects into one cluster, which carries no information;
    - is the same partition as an earlier member, with the same votes missing: it counts twice;
    - agrees with no other: its mean agreement with the others is less than half of the median
      member's, and lower by more than 3 robust standard deviations (1.4826 times the median
      distance from the median). Members of the first two kinds are excluded from this rule, which
      needs at least four remaining members.

    These are reasons to check, not to remove: an outlier may be the only correct member.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0]]
    >>> found = en.metrics.members(en.EAC(n_clusters=2).fit(votes))
    >>> found.agreement
    array([1., 1., 0.])
    >>> found.reasons[1:]
    ['same partition as 0', 'one cluster only']
    """
    fitted = _validate.check_fitted("metrics.members", estimator)
    _validate.check_has_votes("metrics.members", fitted)
    groups = fitted.microclusters_
    n_members = groups.table.shape[1]
    some = some_members(groups.table, groups.sizes, _MOST_COMPARED)
    similarity = flow.member_nmi(groups.table, groups.sizes, some, n_jobs=n_jobs_of(fitted))
    if names is None:
        names = fitted._ensemble.names or [str(m) for m in range(n_members)]
    expected = f"{n_members} names, one for each clustering"
    listed = _validate.check_n_names("metrics.members", names, n_members, expected)
    names = [str(name) for name in listed]
    turnout = np.array([groups.sizes[votes >= 0].sum() for votes in groups.table.T])
    turnout = turnout / groups.sizes.sum()
    n_clusters = groups.table.max(axis=0).astype(np.int64) + 1
    itself = np.ones(n_members) if some is None else np.isin(np.arange(n_members), some)
    n_compared = similarity.shape[1]
    others = np.ones(1)
    if n_members > 1:
        others = np.clip((similarity.sum(axis=1) - itself) / (n_compared - itself), 0.0, 1.0)
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
        n_compared=n_compared,
    )


def some_members(
    table: NDArray[np.int32], sizes: NDArray[np.int64], most: int
) -> NDArray[np.int64] | None:
    """Return at most `most` members, spread over their signatures; None if there are no more.

    The choice depends on how members divide the objects, not on their order.
    """
    n_members = table.shape[1]
    if n_members <= most:
        return None
    order = np.argsort(signatures(table, sizes)[1], kind="stable")
    return np.sort(order[np.linspace(0, n_members - 1, most).astype(np.int64)])


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
        Over the objects that voted in both; 0 if there are none. 1 on the diagonal.

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
    return flow.member_nmi(groups.table, groups.sizes, n_jobs=n_jobs)


def member_agreement(fitted: Any) -> FloatArray:
    """Return the NMI (max) of each clustering with the consensus; 0 for one without a vote."""
    table = fitted.microclusters_.table
    counts, _ = objects_in_clusters(fitted)
    shared = flow.cluster_sums(table, counts).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(table.max(axis=0) + 1)])
    parts = [shared[start:end] for start, end in pairwise(ends)]
    return np.array([nmi_of_table(part) if len(part) else 0.0 for part in parts])


def _reasons(
    names: list[str],
    table: NDArray[np.int32],
    n_clusters: NDArray[np.int64],
    turnout: FloatArray,
    others: FloatArray,
) -> list[str]:
    """Return why each member should be checked, "" if there is no reason; the rule of `members`."""
    first: dict[bytes, int] = {}
    judged = np.flatnonzero((n_clusters > 1) & (turnout >= _FEW_VOTES))
    lowest = lowest_usual(others[judged])
    reasons = []
    for m in range(len(names)):
        why = []
        # Codes are by first appearance, so equal partitions are equal columns.
        earlier = first.setdefault(table[:, m].tobytes(), m)
        if n_clusters[m] == 0:
            why.append("no votes")
        elif turnout[m] < _FEW_VOTES:
            why.append(f"labels only {turnout[m]:.0%} of the objects")
        if n_clusters[m] == 1:
            why.append("one cluster only")
        if earlier != m:
            why.append(f"same partition as {names[earlier]}")
        if m in judged and others[m] < lowest:
            why.append(f"low agreement with the others (mean NMI {others[m]:.2f})")
        reasons.append("; ".join(why))
    return reasons
