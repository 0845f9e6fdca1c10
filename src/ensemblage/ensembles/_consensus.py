"""The consensus of the members of an ensemble of features."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ensemblage import _validate
from ensemblage._ensemble import ensemble_of_members
from ensemblage.flow import one_blas_thread
from ensemblage.methods import Consensus

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.metrics import KChoice


def find_consensus(
    asked: Any, votes: IntArray, n_clusters: int | str, seed: int, n_jobs: int | None
) -> Any:
    """Return the fitted consensus method; None is `Consensus`.

    It is cloned, and gets the seed and the number of threads if it has none of its own.
    """
    consensus = Consensus() if asked is None else clone(asked)
    own_params = consensus.get_params()
    own = {"random_state": seed, "n_jobs": n_jobs}
    lacking = {name: own[name] for name in own if name in own_params and own_params[name] is None}
    if "draws" in own_params:
        consensus.set_params(draws="columns")  # as members are
    consensus.set_params(n_clusters=n_clusters, **lacking)
    return consensus.fit(ensemble_of_members(votes, n_jobs=n_jobs))


def cuts_of(consensus: Any) -> Callable[[int], NDArray[np.int64]]:
    """Return the function from numbers of clusters to labels of the objects, without warnings."""
    cut, of_object = copy(consensus)._cut_microclusters, consensus.microclusters_.of_object

    def labels(k: int) -> NDArray[np.int64]:
        with one_blas_thread:
            return np.asarray(cut(k))[of_object]

    return labels


def form_doubted(owner: str, consensus: Any, choice: KChoice | None) -> None:
    """Fit the consensus again with another choice of k, with a warning if it is one cluster."""
    if choice is None or choice.k == consensus.k_choice_.k:
        return
    if choice.k == 1:
        _validate.warn(
            f"{owner} formed a single cluster. {choice.reasons[0]} Pass n_clusters to form more.",
            _validate.NoStructureWarning,
        )
    consensus.set_params(n_clusters=choice.k).fit(consensus._ensemble)
