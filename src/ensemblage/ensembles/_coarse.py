"""The members of a consensus, and a coarse member if no vote links their groups.

Members are finer than the consensus. Nested members, such as those of a deterministic hierarchical
clusterer, never join the groups that the consensus should: their votes leave more groups apart than
there will be clusters, and which groups are joined would be arbitrary.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ensemblage import flow
from ensemblage.ensembles._member import fit_member
from ensemblage.ensembles._run import run_members

if TYPE_CHECKING:
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


def _count_groups(members: list[Member]) -> int:
    votes = np.column_stack([member.labels for member in members]).astype(np.int32)
    return flow.links_of(votes[(votes >= 0).any(axis=1)]).n_groups if (votes >= 0).any() else 0
