"""Soft memberships of cells in clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.metrics.explain import objects_in_clusters

if TYPE_CHECKING:
    from ensemblage._types import FloatArray


def memberships(fitted: Any) -> FloatArray:
    """Return the membership of each object in each cluster; rows sum to 1.

    Those of the method itself if it has any (LCA). Otherwise, for an object and a cluster, a
    clustering contributes the share of the cluster's objects, among those that it labels, that it
    puts with the object. The mean over the clusterings that label the object, by weight, is the
    mean co-association if no vote is missing; rows are then divided by their sums.
    """
    own = getattr(fitted, "memberships_", None)
    if own is not None:
        return np.asarray(own)
    table, _, of_object = fitted.microclusters_
    counts, _ = objects_in_clusters(fitted)
    voters = flow.membership(table, by_rows=True)
    member = np.repeat(np.arange(table.shape[1]), table.max(axis=0) + 1)
    together = (voters.T @ counts).toarray()  # of clusters of the ensemble × clusters
    voted = np.zeros((table.shape[1], together.shape[1]))
    np.add.at(voted, member, together)
    share = np.divide(together, voted[member], out=np.zeros_like(together), where=together > 0)
    if fitted.member_weight_ is not None:
        share *= fitted.member_weight_[member][:, None]
    sums = voters @ share
    total = sums.sum(axis=1, keepdims=True)
    even = np.full_like(sums, 1.0 / sums.shape[1])
    shares: FloatArray = np.divide(sums, total, out=even, where=total > 0)
    return shares[of_object]
