"""Start labels for methods that improve the consensus of another method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.methods._choosing import regrouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Largest number of clusters in the ensemble of a start: its time grows with their cube.
CLUSTERS_OF_START = 1000


class Start(NamedTuple):
    """A fitted method that supplies start labels.

    Attributes
    ----------
    method : estimator
        The fitted method.
    place : ndarray of shape (n,)
        The microcluster of `method` that contains each microcluster to label, -1 for none.
    """

    method: Any
    place: NDArray[np.int64]

    def labels(self, n_clusters: int) -> NDArray[np.int64]:
        """Return a label for each microcluster, at most `n_clusters` in all; -1 for none."""
        k = min(n_clusters, self.method.n_microclusters_)
        return np.append(self.method._cut_microclusters(k), -1)[self.place]


def start_from(methods: list[Any], estimator: Any) -> list[Start]:
    """Fit each method to the votes of an estimator that is being fitted.

    If the ensemble has more than `CLUSTERS_OF_START` clusters, the methods see only some of its
    clusterings, evenly spaced in the table. Rows without a vote in these get no start label.
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
        for method in methods:
            method._sees_a_part = True
    return [Start(method.fit(ensemble, member_weight=weights), place) for method in methods]
