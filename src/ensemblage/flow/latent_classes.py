"""Latent classes of votes: a mixture of products of multinomials, by expectation-maximisation.

An object is of class c with probability w_c; its votes are then independent of each other, and its
vote in clustering m is cluster u with probability P_uc. Rows stand for s objects each. A missing
vote is left out of every sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Added to every count of votes, so that a cluster that a class has never seen stays possible.
FLOOR = 1e-6
#: Weight of the label in a start; the rest is shared evenly by all classes.
_KNOWN = 0.9


class LatentClasses(NamedTuple):
    """A mixture: shares of classes, probabilities of votes, and the posterior of the rows.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        The share of objects that each class has, w.
    probabilities : ndarray of shape (n_clusters, k)
        P: probability of each cluster of the ensemble for an object of each class.
    posterior : ndarray of shape (n, k)
        Probability of each class for each row.
    log_likelihoods : ndarray of shape (n_rounds,)
        The log-likelihood of all objects after each round, natural logarithms.
    converged : bool
        Whether it ended because the log-likelihood no longer grew.
    """

    weights: FloatArray
    probabilities: FloatArray
    posterior: FloatArray
    log_likelihoods: FloatArray
    converged: bool


def latent_classes(
    members: Any,
    votes: Any,
    owner: NDArray[np.int64],
    sizes: NDArray[np.int64],
    start: FloatArray,
    *,
    max_iter: int,
    tol: float,
) -> LatentClasses:
    """Return the mixture fitted by expectation-maximisation.

    Parameters
    ----------
    members : sparse array of shape (n, n_clusters)
        Which row votes for which cluster of the ensemble, 0 or 1.
    votes : sparse array of shape (n, n_clusters)
        The same, weighted.
    owner : ndarray of shape (n_clusters,)
        The clustering that each cluster belongs to.
    sizes : ndarray of shape (n,)
        Objects in each row.
    start : ndarray of shape (n, k)
        A first posterior, as returned by `softened`.
    max_iter : int
        Maximal number of rounds.
    tol : float
        Stop when the log-likelihood grows by at most this share of itself.

    Notes
    -----
    A class with less than half an object starts again, once, from the row with the most objects of
    uncertain class: s·(1 - largest posterior).
    """
    counted, restarted = start, np.zeros(start.shape[1], dtype=bool)
    path: list[float] = []
    before = -np.inf
    while True:
        weights, probabilities = maximise(members, owner, sizes, counted)
        posterior, logs = expect(votes, weights, probabilities)
        path.append(float(sizes @ logs))
        empty = (sizes @ posterior < 0.5) & ~restarted
        converged = not empty.any() and path[-1] - before <= tol * abs(path[-1])
        if converged or len(path) == max_iter:
            break
        counted, before = posterior, path[-1]
        if empty.any():
            counted, before = _with_new_starts(posterior, sizes, empty), -np.inf
            restarted |= empty
    return LatentClasses(weights, probabilities, posterior, np.array(path), converged)


def softened(labels: NDArray[np.int64], n_classes: int) -> FloatArray:
    """Return a posterior to start from: most of each row at its label, the rest even.

    Rows with label -1 are even.

    Examples
    --------
    >>> import numpy as np
    >>> softened(np.array([1, -1]), 2)
    array([[0.05, 0.95],
           [0.5 , 0.5 ]])
    """
    posterior = np.full((len(labels), n_classes), (1.0 - _KNOWN) / n_classes)
    labelled = labels >= 0
    posterior[labelled, labels[labelled]] += _KNOWN
    posterior[~labelled] = 1.0 / n_classes
    return posterior


def maximise(
    members: Any, owner: NDArray[np.int64], sizes: NDArray[np.int64], posterior: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the shares of classes and the probabilities of votes that fit a posterior best."""
    objects = sizes[:, None] * posterior
    counts = members.T @ objects + FLOOR
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    totals = np.add.reduceat(counts, starts, axis=0)
    n_clusters = np.diff(starts, append=len(owner))
    return objects.sum(axis=0) / sizes.sum(), counts / np.repeat(totals, n_clusters, axis=0)


def expect(
    votes: Any, weights: FloatArray, probabilities: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the posterior of each row, and the log-likelihood of one object with its votes."""
    with np.errstate(divide="ignore"):  # a class without objects has weight 0
        logs = votes @ np.log(probabilities) + np.log(weights)
    largest = logs.max(axis=1)
    posterior = np.exp(logs - largest[:, None])
    total = posterior.sum(axis=1)
    posterior /= total[:, None]
    return posterior, largest + np.log(total)


def _with_new_starts(
    posterior: FloatArray, sizes: NDArray[np.int64], empty: NDArray[np.bool_]
) -> FloatArray:
    """Return the posterior with a row given to each empty class."""
    posterior = posterior.copy()
    doubtful = sizes * (1.0 - posterior.max(axis=1))
    for place in np.flatnonzero(empty):
        row = int(doubtful.argmax())
        doubtful[row] = -1.0
        posterior[row] = softened(np.array([place]), posterior.shape[1])[0]
    return posterior
