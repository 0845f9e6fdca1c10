"""Numbers of clusters to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import ParameterError
from ensemblage._validate.parameters import is_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_ks(owner: str, ks: Any, n_microclusters: int) -> NDArray[np.int64]:
    """Return numbers of clusters from 2 up in growing order, each once."""
    try:
        wanted = list(ks)
    except TypeError:
        expected = "a list of whole numbers, such as range(2, 21)"
        raise ParameterError(owner, "ks", expected, ks, optional=True) from None
    for k in wanted:
        if not is_whole(k) or k < 2:
            hint = "A single cluster cannot be compared."
            raise ParameterError(owner, "ks", "whole numbers from 2 up", k, hint)
    if not wanted:
        raise ParameterError(owner, "ks", "at least one number of clusters", ks)
    if max(wanted) > n_microclusters:
        raise ValueError(
            f"{owner} was asked to look at k = {max(wanted)}, but the ensemble tells only"
            f" {n_microclusters} group(s) of objects apart. Look at k up to {n_microclusters}."
        )
    return np.unique(np.array(wanted, dtype=np.int64))


def check_can_choose(owner: str, estimator: Any) -> None:
    """Refuse a fitted estimator that is no consensus method of this library."""
    if not hasattr(estimator, "_cuts"):
        raise TypeError(
            f"{owner} needs a consensus method of ensemblage, which can be cut at any k, but got a"
            f" {type(estimator).__name__}."
        )
