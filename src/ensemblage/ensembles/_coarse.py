"""The members of a consensus, and a coarse member if no vote links their groups.

Members are finer than the consensus. Nested members, such as those of a deterministic hierarchical
clusterer, never join the groups that the consensus should: their votes leave more groups apart than
there will be clusters, and which groups are joined would be arbitrary.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage._messages import Message, Parameter
from ensemblage.ensembles._checks import check_each_has_a_vote
from ensemblage.ensembles._member import fit_member
from ensemblage.ensembles._run import run_members

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.ensembles._member import Member
    from ensemblage.ensembles._plan import Plan


def make_members(
    plan: Plan, n_members: int, n_jobs: int | None, n_clusters: int | None
) -> list[Member]:
    """Return the members, and one more of `n_clusters` if they are linked into more groups.

    None is an unknown number. A member that links no groups is not added, nor is one to members of
    subsamples: these are not nested.
    """
    by_index = dict(run_members(plan, range(n_members), n_jobs))
    members = [by_index[index] for index in range(n_members)]
    if n_clusters is None or n_clusters == 1 or plan.n_rows is not None:
        return members
    n_groups = _count_groups(members)
    if n_groups <= n_clusters:
        return members
    coarse = fit_member(replace(plan, n_clusters_range=(n_clusters, n_clusters)), len(members))
    more = [*members, coarse]
    return more if _count_groups(more) < n_groups else members


def votes_of(owner: str, members: list[Member], plan: Plan, n_jobs: int | None) -> IntArray:
    """Return the members' labels, with predictions for objects in none of the subsamples."""
    votes = np.column_stack([member.labels for member in members])
    if plan.n_rows is not None:
        silent = np.flatnonzero((votes < 0).all(axis=1))
        if len(silent):
            votes[silent] = placed_by(members, plan, plan.features[silent], n_jobs)
    check_each_has_a_vote(owner, votes, plan.methods[0])
    return votes


def placed_by(
    members: list[Member], plan: Plan, features: NDArray[Any], n_jobs: int | None
) -> IntArray:
    """Return the labels that members predict for objects, given their scaled features."""
    return np.column_stack([member.place(plan, features, n_jobs=n_jobs) for member in members])


def warn_if_nested(owner: str, members: list[Member]) -> None:
    """Warn if all members are cuts of one hierarchy: each splits clusters of the coarser ones.

    They agree by construction, so they are not evidence for any number of clusters.
    """
    ordered = sorted((member.labels for member in members), key=lambda labels: labels.max())
    several = len({int(labels.max()) for labels in ordered}) > 1
    if several and all(_refines(fine, coarse) for coarse, fine in pairwise(ordered)):
        message = Message(
            "The clusterings of {owner} are nested: each only splits clusters of the coarser ones,"
            " as the cuts of one tree do. They agree by construction, so the number of clusters"
            " that was chosen has no evidence. Pass {k}, or {subsample}.",
            owner=owner,
            k=Parameter("n_clusters"),
            subsample=Parameter("subsample", 0.8),
        )
        _validate.warn(message, UserWarning)


def _refines(fine: IntArray, coarse: IntArray) -> bool:
    """Return whether every cluster of `fine` is inside one of `coarse`; neither has gaps."""
    if min(fine.min(), coarse.min()) < 0:
        return False
    first = np.zeros(int(fine.max()) + 1, dtype=np.int64)
    first[fine] = coarse
    return bool((first[fine] == coarse).all())


def _count_groups(members: list[Member]) -> int:
    votes = np.column_stack([member.labels for member in members]).astype(np.int32)
    return flow.links_of(votes[(votes >= 0).any(axis=1)]).n_groups if (votes >= 0).any() else 0
