"""Starting points of the methods that improve another consensus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.methods._choosing import regrouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The time of a start grows with the cube of the number of clusters, which is limited to this.
CLUSTERS_OF_START = 1000


class Start(NamedTuple):
    """A fitted method, and its microcluster for each microcluster of the other method."""

    method: Any
    place: NDArray[np.int64]

    def labels(self, n_clusters: int) -> NDArray[np.int64]:
        """Return labels at `n_clusters` or fewer, if it finds fewer; -1 if unknown."""
        k = min(n_clusters, self.method.n_microclusters_)
        return np.append(self.method._cut_microclusters(k), -1)[self.place]


def start_from(methods: list[Any], estimator: Any) -> list[Start]:
    """Fit methods to the votes of an estimator that has begun its fit.

    In an ensemble of many clusters, use only clusterings at even distances in the table; rows
    without a vote in any of these are unknown.
    """
    if not methods:
        return []
    table, sizes, _ = estimator.microclusters_
    ensemble, weights = estimator._ensemble, estimator.member_weight_
    place = np.arange(len(sizes))
    n_clusters = table.max(axis=0) + 1
    if n_clusters.sum() > CLUSTERS_OF_START:
        voting = np.flatnonzero(n_clusters)
        step = n_clusters.sum() / CLUSTERS_OF_START
        columns = voting[np.arange(0, len(voting), step).astype(np.int64)]
        ensemble, place = regrouped(table[:, columns], sizes, n_jobs=estimator.n_jobs)
        weights = None if weights is None else weights[columns]
    return [Start(method.fit(ensemble, member_weight=weights), place) for method in methods]
