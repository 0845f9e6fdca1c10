"""Checks of the columns of votes, the weights, the level and the memory of a method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ensemblage import _validate
from ensemblage._ensemble import Ensemble
from ensemblage._messages import Message, ParameterError, printable
from ensemblage._types import VoteTable
from ensemblage.methods import METHODS

#: The units that are clustered: microclusters (identical rows stay together) or objects.
LEVELS = ("microclusters", "objects")
#: Methods without a matrix of all pairs of microclusters, by increasing memory.
_WITHOUT_PAIRS = ("lwgp", "ptgp")


def check_takes_weight(kind: type[Any], member_weight: Any) -> None:
    """Raise an error if the method does not support weights."""
    if member_weight is None or kind._takes_member_weight:
        return
    takers = {other.__name__: None for other in METHODS.values() if other._takes_member_weight}
    raise TypeError(
        f"{kind.__name__} does not support member_weight. Leave it out, or use one of"
        f" {', '.join(takers)}."
    )


def check_columns(estimator: Any, X: Any, ensemble: Ensemble, *, reset: bool) -> None:
    """Compare number and names of clusterings, as scikit-learn does for features."""
    owner, names, n = type(estimator).__name__, ensemble.names, ensemble.n_clusterings
    fitted = None if reset else estimator._ensemble.names
    if fitted is not None and names == fitted:  # already in this order
        return
    by_column = isinstance(X, Ensemble | Mapping | VoteTable) or _validate.is_list_of_columns(X)
    if not by_column and ensemble.kind in (None, "pandas"):
        try:
            validate_data(estimator, X=X, reset=reset, skip_check_array=True)
        except ValueError as error:  # it has the names as they are
            raise ValueError(printable(str(error))) from None
    elif reset:
        estimator.n_features_in_ = n
        if names is not None and all(isinstance(name, str) for name in names):
            estimator.feature_names_in_ = np.array(names, dtype=object)
    if names is not None and fitted is not None and _tells(names) and _tells(fitted):
        _refuse_names(owner, names, fitted)
    if n != estimator.n_features_in_:
        one_row = isinstance(X, list | tuple) and ensemble.n_objects == estimator.n_features_in_
        hint = " Arrays in a list are columns; pass one row as [[...]] or votes[[0]]."
        raise ValueError(
            f"X has {n} features (clusterings), but {owner} is expecting"
            f" {estimator.n_features_in_} features as input.{hint if one_row else ''}"
        )


def _tells(names: list[Any]) -> bool:
    """Tell whether names differ from the default column numbers."""
    return names != list(range(len(names)))


def _refuse_names(owner: str, names: list[Any], fitted: list[Any]) -> None:
    """Raise an error that names the clusterings which differ from those of the fit."""
    missing = [name for name in fitted if name not in names]
    unknown = [name for name in names if name not in fitted]
    parts = [f"does not have {_validate.shown(missing)}"] if missing else []
    parts += [f"has unexpected {_validate.shown(unknown)}"] if unknown else []
    raise ValueError(
        f"The feature names should match those that were passed during fit: {owner} was fitted on"
        f" {_validate.shown(fitted)}, but X {' and '.join(parts)}. Pass the same clusterings, in"
        f" any order."
    )


def check_numbers(owner: str, n_clusters: Any, n_microclusters: int) -> list[int]:
    """Return numbers of clusters, if there are any and all are valid."""
    numbers = list(n_clusters) if np.iterable(n_clusters) else []
    if not numbers or isinstance(n_clusters, str):
        expected = "a list of at least one integer, such as [2, 3, 4]"
        raise ParameterError(owner, "n_clusters", expected, n_clusters)
    ks = [_validate.check_n_clusters(owner, k) for k in numbers]
    for k in ks:
        _validate.check_enough_groups(owner, k, n_microclusters)
    return ks


def check_pairs(
    estimator: Any, n_bytes: int, what: str, instead: str = "", *, kind: str = "matrix"
) -> None:
    """Raise MemoryBudgetError before a matrix, or another `kind`, that would not fit is allocated.

    The message includes `instead`, and names the methods without it that would fit.
    """
    limit = _validate.available_memory()
    if n_bytes > limit:
        fitting = [name for name, needed in _needs(estimator) if needed <= limit]
        others = "Fewer or coarser clusterings need less."
        if fitting:
            verb = "need" if len(fitting) > 1 else "needs"
            others = f"{' and '.join(fitting)} {verb} no such {kind}."
        advice = Message("{others} {instead}", instead=instead, others=others)
        _validate.check_memory(n_bytes, what, advice if instead else others)


def _needs(estimator: Any) -> list[tuple[str, int]]:
    """Return the memory that the alternative methods need for the votes of an estimator."""
    needs: list[tuple[str, int]] = []
    if estimator._from_similarity or estimator._sees_a_part:
        return needs
    for name in _WITHOUT_PAIRS:
        other: Any = METHODS[name]()
        other.n_jobs, other.n_clusters = estimator.n_jobs, estimator.n_clusters
        for attribute in ("microclusters_", "n_microclusters_", "member_weight_"):
            setattr(other, attribute, getattr(estimator, attribute))
        needs.append((type(other).__name__, other._needed_bytes()))
    return needs


def check_method_params(owner: str, value: Any, kind: type[Any]) -> dict[str, Any]:
    """Return the parameters for a named method, or raise an error if it does not have them."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        expected = "a dict of parameters by name"
        raise ParameterError(owner, "method_params", expected, value, optional=True)
    own = [name for name in kind._get_param_names() if name != "n_clusters"]
    strange = [name for name in value if name not in own]
    if strange:
        expected = f"a dict of parameters of {kind.__name__} ({', '.join(own)})"
        hint = f"Pass n_clusters to {owner} itself."
        raise ParameterError(owner, "method_params", expected, strange[0], hint)
    return dict(value)
