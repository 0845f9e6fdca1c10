"""Check whether a method is reliable on the given votes.

PTA and PTGP need several microclusters in every cluster. If a cluster has only one or two, which is
common on easy data, walkers cannot move inside it, and the result can be worse than the average
clustering. LWPT, LCA and ECMC can be misled by very small clusters. A comparison with the default
method on the same votes detects this.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage import _validate, flow
from ensemblage.metrics.agreement import nmi_with_members

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

#: A result is unreliable if its agreement with the members is below this share of the default's.
_SHARE = 0.9
#: Above this number of microclusters walks are reliable, and the comparison would be slow.
MOST_MICROCLUSTERS = 4000

_compares: ContextVar[bool] = ContextVar("compares", default=True)


@contextmanager
def without_comparison() -> Iterator[None]:
    """Fit without the comparison with the default method, for callers that compare themselves."""
    token = _compares.set(False)
    try:
        yield
    finally:
        _compares.reset(token)


def warn_if_unreliable(estimator: Any, name: str) -> None:
    """Warn if a fitted method agrees clearly less with the members than the default does."""
    default = default_for(estimator) if _compares.get() else None
    if default is None:
        return
    compared = agreement_with_default(estimator, default)
    if not compared.is_unreliable:
        return
    k = estimator.n_clusters_
    _validate.warn(
        f"{name} is unreliable on these votes: its {k} clusters have a mean NMI of"
        f" {compared.own:.2f} with the clusterings, those of Consensus {compared.default:.2f}."
        f" {_reason(estimator)}",
        _validate.UntrustedMethodWarning,
    )


def _reason(estimator: Any) -> str:
    """Return the usual cause, and what to do."""
    k, n = estimator.n_clusters_, estimator.n_microclusters_
    table, sizes, _ = estimator.microclusters_
    method = getattr(estimator, "_named", None) or estimator
    if method._why_unreliable:
        return f"{method._why_unreliable} Use Consensus({k})."
    return (
        f"Its random walks need several microclusters in every cluster, and there are {n}"
        f" microclusters; {_largest_single(table, sizes)}. Use Consensus({k}), or add more varied"
        " clusterings."
    )


class Agreement(NamedTuple):
    """Mean NMI with the members, of a method and of the default at the same k."""

    own: float
    default: float

    @property
    def is_unreliable(self) -> bool:
        """Whether the method agrees clearly less with the members."""
        return self.own < _SHARE * self.default


def default_for(estimator: Any) -> Any:
    """Return the default method at the same k; None if it would be uninformative or slow."""
    from ensemblage.methods.consensus import Consensus  # circular at module level

    k, n = estimator.n_clusters_, estimator.n_microclusters_
    if k < 2 or n > MOST_MICROCLUSTERS or estimator._from_similarity:
        return None
    default = Consensus(k, random_state=0, n_jobs=estimator.n_jobs)
    default._warns_of_chance = False  # the compared method warns
    if type(estimator) is Consensus and _is_default(estimator, default):
        return estimator
    try:
        return default.fit(estimator._ensemble, member_weight=estimator.member_weight_)
    except MemoryError:  # the comparison must not make a fit fail
        return None


def _is_default(estimator: Any, default: Any) -> bool:
    """Tell whether a `Consensus` has default values for all parameters that affect labels."""
    names = ("method", "min_cluster_size")
    return all(getattr(estimator, name) == getattr(default, name) for name in names)


def agreement_with_default(estimator: Any, default: Any) -> Agreement:
    """Return how well the clusters of a method and of the default agree with the members."""
    table, sizes, _ = estimator.microclusters_
    return Agreement(
        *(
            nmi_with_members(labels, table, sizes, estimator.member_weight_)
            for labels in (estimator._micro_labels, default._micro_labels)
        )
    )


def _largest_single(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> str:
    """Return the size of the largest cluster of the ensemble that is a single microcluster."""
    members = flow.membership(table)
    parts = members.sum(axis=0)
    objects = members.T @ sizes
    single = objects[parts == 1]
    if not len(single):
        return "no cluster of the ensemble is a single microcluster"
    return (
        f"the largest cluster of the ensemble that is a single microcluster has"
        f" {int(single.max()):,} of {int(sizes.sum()):,} objects"
    )
