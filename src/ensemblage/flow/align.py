"""Clusterings relabelled to agree with a consensus, and the plurality of their votes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ensemblage.flow._jit import kernel
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def cluster_agreement(
    shared: FloatArray, owner: NDArray[np.int64], weights: FloatArray | None = None
) -> FloatArray:
    """Return the similarity of the clusters of one clustering by the ensemble.

    Entry (u, v) is the share of agreements among all votes on pairs of objects, one of cluster u
    and one of cluster v: the mean co-association between them if no vote is missing. It is computed
    from the objects that these clusters (rows) share with all clusters of the ensemble, whose
    clusterings are `owner`. With `weights`, votes of a clustering count by its weight.
    """
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    voters = np.add.reduceat(shared, starts, axis=1)
    if weights is None:
        agreement: FloatArray = (shared @ shared.T) / (voters @ voters.T)
        return agreement
    agreed, voted = shared * weights[owner], voters * weights[owner[starts]]
    weighted: FloatArray = (agreed @ shared.T) / (voted @ voters.T)
    return weighted


def match(shared: FloatArray) -> NDArray[np.int64]:
    """Return the label of each cluster, given the objects that labels (rows) share with clusters.

    The Hungarian method gives each label at most one cluster so that most objects keep their label.
    A cluster that is left over, or whose label has no object in common with it, takes the label of
    most of its objects, the lowest on ties; -1 if none of them has a label.
    """
    label_of = np.where(shared.max(axis=0) > 0, shared.argmax(axis=0), -1)
    labels, clusters = linear_sum_assignment(shared, maximize=True)
    real = shared[labels, clusters] > 0
    label_of[clusters[real]] = labels[real]
    return label_of


def plurality(
    membership: Any,
    label_of: NDArray[np.int64],
    n_labels: int,
    weights: FloatArray | None = None,
) -> NDArray[np.int64]:
    """Return the label that most clusters of each row vote for, the lowest on ties; -1 if none.

    With `weights`, one for each cluster, the largest sum of weights wins.
    """
    votes = np.ones(len(label_of)) if weights is None else weights
    ballots = _sums_by_label(membership, label_of, n_labels, votes)
    return np.where(ballots.max(axis=1) > 0, ballots.argmax(axis=1), -1)


def vote(
    membership: Any,
    sizes: NDArray[np.int64],
    owner: NDArray[np.int64],
    start: NDArray[np.int64],
    max_rounds: int,
    weights: FloatArray | None = None,
) -> NDArray[np.int64]:
    """Return the consensus of clusterings that are relabelled to it, round by round.

    Parameters
    ----------
    membership : sparse array of shape (n, n_clusters)
        Which microcluster is in which cluster of the ensemble.
    sizes : ndarray of shape (n,)
        Objects in each microcluster.
    owner : ndarray of shape (n_clusters,)
        The clustering that each cluster belongs to.
    start : ndarray of shape (n,)
        Labels 0, 1, ... of a first consensus; -1 for a row without one.
    max_rounds : int
        Maximal number of rounds; it ends when labels no longer change.
    weights : ndarray of shape (n_clusters,), optional
        Weight of a vote for each cluster.

    Notes
    -----
    A row that shares no cluster with a labelled one, directly or indirectly, joins the largest
    cluster.
    """
    labels, n_labels = start, int(start.max()) + 1
    ends = np.append(np.flatnonzero(np.diff(owner, prepend=-1)), len(owner)).tolist()
    membership, clusters = membership.tocsr(), membership.T.tocsr()
    for _ in range(max_rounds):
        shared = _sums_by_label(clusters, labels, n_labels, sizes).T
        label_of = np.concatenate([match(shared[:, a:b]) for a, b in pairwise(ends)])
        before, labels = labels, plurality(membership, label_of, n_labels, weights)
        if np.array_equal(before, labels):
            break
    largest = np.bincount(labels[labels >= 0], sizes[labels >= 0]).argmax()
    return np.where(labels < 0, largest, labels)


def _sums_by_label(
    matrix: Any, labels: NDArray[np.int64], n_labels: int, values: NDArray[Any]
) -> FloatArray:
    """Return the sum of `values` of the columns of each label, over the ones of each row.

    `matrix` holds 0 and 1; a column of label -1 is not counted.
    """
    values = values.astype(np.float64, copy=False)
    if not worth_a_kernel(matrix.nnz * n_labels):
        labelled = np.flatnonzero(labels >= 0)
        indicator = np.zeros((len(labels), n_labels))
        indicator[labelled, labels[labelled]] = values[labelled]
        product: FloatArray = matrix @ indicator
        return product
    sums, matrix = np.zeros((matrix.shape[0], n_labels)), matrix.tocsr()
    _add_by_label(matrix.indptr, matrix.indices, labels, values, sums)
    return sums


@kernel
def _add_by_label(ends: Any, columns: Any, labels: Any, values: Any, sums: Any) -> None:
    for i in range(len(sums)):
        row = sums[i]
        for place in range(ends[i], ends[i + 1]):
            column = columns[place]
            if labels[column] >= 0:
                row[labels[column]] += values[column]
