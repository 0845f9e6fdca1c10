"""Cuts of a consensus method in the form that `ensemblage.metrics.choose_k` needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ensemblage import flow
from ensemblage._ensemble import Ensemble
from ensemblage.flow import one_blas_thread
from ensemblage.methods.fresh import params_of_fit
from ensemblage.metrics.choosing import Cuts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

    Cut = Callable[[int], NDArray[np.int64]]


def cuts_of(estimator: Any) -> Cuts:
    """Return the cuts of an estimator that has completed its fit except for the last step.

    A method that labels single objects is represented by the most frequent label of each
    microcluster.
    """
    tree = getattr(estimator, "linkage_matrix_", None)
    spectral = getattr(estimator, "_transfer_cut", None) or getattr(
        estimator, "_normalised_cut", None
    )
    return Cuts(
        name=type(estimator).__name__,
        table=estimator.microclusters_.table,
        sizes=estimator.microclusters_.sizes,
        cut=_quiet(estimator),
        similarity_sums=_with_one_thread(estimator._confidence_sums),
        to_itself=1.0,
        heights=None if tree is None else tree[:, 2],
        eigenvalues=None if spectral is None else _with_one_thread(spectral.eigenvalues),
        with_seed=None if estimator._with_seed(0) is None else _reseeding(estimator),
        of_members=lambda columns: _of_members(estimator, columns),
        tree=_tree,
        n_jobs=estimator.n_jobs,
        links=None if estimator._from_similarity else estimator._ensemble.links,
        firm_links=None if estimator._from_similarity else estimator._ensemble.firm_links,
        member_weight=estimator.member_weight_,
        least=getattr(estimator, "_least_to_count", lambda _: 1),
    )


def _quiet(estimator: Any) -> Callable[[int], NDArray[np.int64]]:
    return _with_one_thread(estimator._cut_microclusters)


def _with_one_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*arguments: Any) -> Any:
        with one_blas_thread:
            return function(*arguments)

    return called


def _reseeding(estimator: Any) -> Callable[[int], Callable[[int], NDArray[np.int64]]]:
    """Return a function that cuts with another seed; all earlier steps of the fit are shared."""

    def with_seed(seed: int) -> Callable[[int], NDArray[np.int64]]:
        return _quiet(estimator._with_seed(seed))

    return with_seed


def _of_members(estimator: Any, columns: NDArray[np.int64]) -> tuple[Cut, int]:
    """Return the cut of the same method fitted to some members, for the same microclusters."""
    table, sizes, _ = estimator.microclusters_
    weight = estimator.member_weight_
    other = clone(estimator).set_params(**_fixed(estimator))
    other._keeps_clear_groups = getattr(estimator, "_keeps_clear_groups", False)
    return _fitted_to(other, table[:, columns], sizes, None if weight is None else weight[columns])


def _tree(
    table: NDArray[np.int32], sizes: NDArray[np.int64], weight: FloatArray | None
) -> tuple[Cut, int]:
    """Return the cut of the default tree fitted to other votes."""
    from ensemblage.methods.lwea import LWEA  # circular at module level

    tree = LWEA(1, weights="normalized", min_cluster_size="auto", n_jobs=1)
    return _fitted_to(tree, table, sizes, weight)


def _fitted_to(
    estimator: Any,
    votes: NDArray[np.int32],
    sizes: NDArray[np.int64],
    weight: FloatArray | None,
) -> tuple[Cut, int]:
    """Return the cut of a method fitted to rows of votes (-1: missing), and its largest k."""
    ensemble, place = regrouped(votes, sizes, n_jobs=estimator.n_jobs)
    estimator._by_rule = False  # groups that only the rule joins do not count as reproduced
    estimator.fit(ensemble, member_weight=weight)
    cut_groups = _quiet(estimator)

    def cut(k: int) -> NDArray[np.int64]:
        return np.append(cut_groups(k), -1)[place]

    return cut, len(ensemble.microclusters.sizes)


def regrouped(
    votes: NDArray[np.int32], sizes: NDArray[np.int64], *, n_jobs: int | None
) -> tuple[Ensemble, NDArray[np.int64]]:
    """Return the ensemble of some votes of microclusters, and the position of each in it.

    A row without a vote gets -1.
    """
    voted = np.flatnonzero((votes >= 0).any(axis=1))
    groups, numbers = flow.microclusters(votes[voted], n_jobs=n_jobs)
    counts = np.zeros(len(groups.sizes), dtype=np.int64)
    np.add.at(counts, groups.of_object, sizes[voted])
    ensemble = Ensemble.of_checked_groups(groups.table, counts, numbers)
    ensemble.checked_for_ids = True  # already checked, or permuted
    place = np.full(len(votes), -1, dtype=np.int64)
    place[voted] = groups.of_object
    return ensemble, place


def _fixed(estimator: Any) -> dict[str, Any]:
    """Return parameters of refits: those of the fit, its seed, and microclusters as the level."""
    params = params_of_fit(estimator) | {"n_clusters": 1}
    if "random_state" in params:
        params["random_state"] = estimator._seed
    if "level" in params:
        params["level"] = "microclusters"
    return params
