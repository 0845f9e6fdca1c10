"""Clusters of a consensus: sizes, cohesion, confidence and nearest neighbours.

Everything is computed through microclusters, so a million objects cost a few passes over their
labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ensemblage import _validate, flow
from ensemblage._messages import counted
from ensemblage.metrics._tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

ROWS_TO_COMPARE = 1024
#: Limits of `lowest_usual`.
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
        objects together; 1 for a cluster of one object.
    confidence : ndarray of shape (n_clusters,)
        Mean ``confidence_`` of its objects.
    nearest : ndarray of shape (n_clusters,), int64
        The other cluster with the largest mean co-association, the lowest on ties; -1 if there is
        no other.
    nearest_similarity : ndarray of shape (n_clusters,)
        That mean co-association, over pairs of an object here and an object there; 0 if there is no
        other.

    Examples
    --------
    >>> import ensemblage as en
    >>> summary = en.metrics.clusters(en.EAC(n_clusters=2).fit([[0, 0], [0, 0], [1, 1]]))
    >>> summary.sizes, summary.nearest
    (array([2, 1]), array([1, 0]))
    """

    __slots__ = ()

    def _heading(self) -> str:
        return f"ClusterSummary of {counted(int(self.sizes.sum()), 'object')}"

    def _index(self) -> tuple[str, Any]:
        return "cluster", np.arange(len(self.sizes))

    def _columns(self) -> dict[str, Any]:
        return self._asdict()


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
    Two objects without a common clustering have co-association 0. With n microclusters, M
    clusterings and k clusters: O(n·M·k) without missing votes, because sums of co-association
    follow from the overlaps of clusters; O(n²·M) otherwise.

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


def cluster_consensus(fitted: Any) -> FloatArray:
    """Return the mean co-association inside each cluster of a fitted consensus method."""
    return _mean_coassociations(fitted, *objects_in_clusters(fitted))[0]


def objects_in_clusters(fitted: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return how many objects of each microcluster are in each cluster, sparse, and the sizes.

    A microcluster is in one cluster, unless single objects were clustered.
    """
    shape = len(fitted.microclusters_.sizes), fitted.n_clusters_
    places = fitted.microclusters_.of_object, fitted.labels_
    counts = csr_array((objects_per_label(fitted).astype(np.float64), places), shape=shape)
    return counts, np.rint(counts.sum(axis=0)).astype(np.int64)


def objects_per_label(fitted: Any) -> NDArray[np.int64]:
    """Return the number of objects of each label: the microcluster's with `Ensemble.of_groups`.

    If every object is its own microcluster, sizes are 1 and both cases are the same.
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
        # Agreements of two clusters' objects, summed over clusterings, are products of their
        # counts in each cluster of the ensemble: integers, without pairs.
        shared = flow.cluster_sums(table, counts)
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
    """Return the agreement below which one of several clusterings is an outlier.

    3 robust standard deviations below the median, and at most half of it; at least four scores are
    needed.

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


def n_jobs_of(fitted: Any) -> int | None:
    """Return the `n_jobs` of a method."""
    n_jobs: int | None = getattr(fitted, "n_jobs", None)
    return n_jobs
