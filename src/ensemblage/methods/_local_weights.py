"""Certainty of the clusters of an ensemble, shared by the locally weighted methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage import _validate, flow

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

WEIGHTS = ("entropy", "normalized")


class LocalWeights(NamedTuple):
    """Checked parameters: whether entropies are normalised, and theta."""

    normalized: bool
    theta: float


def check_local_weights(estimator: Any) -> LocalWeights:
    """Return `weights` and `theta` of an estimator; theta "auto" is that of its `_thetas`."""
    owner = type(estimator).__name__
    kind = _validate.check_choice(owner, "weights", estimator.weights, WEIGHTS)
    theta = estimator.theta
    if isinstance(theta, str) and theta == "auto":
        theta = estimator._thetas[WEIGHTS.index(kind)]
    return LocalWeights(kind == "normalized", _validate.check_number(owner, "theta", theta))


def local_entropies(estimator: Any, weights: LocalWeights) -> FloatArray:
    """Return how scattered each cluster of the ensemble is over the clusterings."""
    entropies: FloatArray = estimator._ensemble.cluster_entropies(
        estimator.member_weight_, n_jobs=estimator.n_jobs
    )
    if weights.normalized:
        return flow.normalised_entropies(entropies, flow.owners(estimator.microclusters_.table))
    return entropies
