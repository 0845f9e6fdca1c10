"""Checks of objects without a vote, and of more clusters than distinct objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._messages import shown
from ensemblage.ensembles._view import count_distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray


def check_each_has_a_vote(owner: str, votes: IntArray, method: Any) -> None:
    """Reject objects that are noise in every member; `method` made the first of them."""
    silent = np.flatnonzero((votes < 0).all(axis=1))
    if len(silent):
        raise ValueError(
            f"{len(silent)} of {len(votes)} object(s) have no vote: row(s) {shown(silent, 5, str)},"
            f" counted from 0, are noise (-1) in every member of {owner}. Add another method, such"
            f" as method=[{method!r}, 'kmeans'], or use one that finds less noise."
        )


def attainable(owner: str, features: NDArray[Any], n_clusters: int | None) -> int | None:
    """Return the number of clusters, limited to the number of distinct objects."""
    if n_clusters is None:
        return None
    n_distinct = count_distinct(features, n_clusters)
    if n_distinct < n_clusters:
        _validate.warn(
            f"{owner} found {n_distinct} of the {n_clusters} requested clusters: there are only"
            f" {n_distinct} distinct object(s).",
            _validate.FewerClustersWarning,
        )
    return n_distinct
