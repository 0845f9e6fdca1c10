"""Random walks between objects and clusters in closed form: the embedding of LWPT.

A walker steps from an object to one of its clusters and on to an object of that cluster. On the
eigenvectors of that double step, p + ½ of them are a scaling by the p-th power of eigenvalues, so
trajectories of any length cost one eigendecomposition on the clusters' side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

_HALVINGS = 60
_LONGEST = 1000.0
_LEAST_WEIGHT = 0.1
_KEPT_WEIGHT = 1e-4
_NO_EIGENVALUE = 1e-12
_LEAST_LOG = np.log(1e-300)


def vote_shares(
    membership: Any,
    entropies: FloatArray,
    n_clusterings: float,
    theta: float,
    weights: FloatArray | None = None,
) -> Any:
    """Return how each row divides one vote among its clusters, with more for certain ones.

    B_iu = H_iu·a_u / Σ_v H_iv·a_v with the certainty a_u = exp(-Ent_u / (theta·M)) of at least
    1e-300: a softmax over a row's own clusters, computed with the row's maximum taken out. With
    `weights`, above 0 for each cluster, w_u·a_u stands for a_u.
    """
    logs = np.maximum(-entropies / (theta * n_clusterings), _LEAST_LOG)
    if weights is not None:
        logs = logs + np.log(weights)
    shares = membership.tocsr(copy=True)
    starts = shares.indptr[:-1]
    of_row = np.repeat(np.arange(shares.shape[0]), np.diff(shares.indptr))
    own = logs[shares.indices]
    weights = np.exp(own - np.maximum.reduceat(own, starts)[of_row])
    shares.data = weights / np.add.reduceat(weights, starts)[of_row]
    return shares


def walk_length(eigenvalues: FloatArray, n_clusters: int) -> float:
    """Return p, such that about half of the k - 1 non-trivial states are still distinguishable.

    The sum of mu_j^(2p) over j = 2, 3, ... is (k - 1)/2, for eigenvalues mu in falling order. The
    length is 0 if no more than (k - 1)/2 of these eigenvalues exceed 0. It is reduced until the
    k-th vector has a weight mu_k^p of at least 0.1, and it is at most 1000.
    """
    mu = _cleaned(eigenvalues)
    states = (n_clusters - 1) / 2
    others = mu[1:][mu[1:] > 0]
    if len(others) <= states:
        return 0.0
    low, high = 0.0, _LONGEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if (others ** (2 * middle)).sum() > states:
            low = middle
        else:
            high = middle
    last = mu[n_clusters - 1] if n_clusters <= len(mu) else 0.0
    if last == 0.0:
        return 0.0
    return min(high, np.log(_LEAST_WEIGHT) / np.log(last)) if last < 1.0 else high


def walk_weights(eigenvalues: FloatArray, length: float) -> FloatArray:
    """Return mu^p for the leading eigenvectors still visible after p double steps, above 1e-4."""
    mu = _cleaned(eigenvalues)
    weights: FloatArray = mu[mu > 0] ** length
    return weights[weights > _KEPT_WEIGHT]


def _cleaned(eigenvalues: FloatArray) -> FloatArray:
    """Return eigenvalues clipped to [0, 1], rounding errors as 0."""
    return np.where(eigenvalues > _NO_EIGENVALUE, np.minimum(eigenvalues, 1.0), 0.0)
