"""Checks of the parameters of an ensemble: methods, numbers of clusters, shares."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from ensemblage._messages import Message, Parameter, ParameterError

#: Built-in base clusterers, by name.
NAMED_METHODS = ("kmeans", "kmeans++", "rpcl")


def check_methods(owner: str, method: Any) -> tuple[Any, ...]:
    """Return the base clusterers that members use in turn."""
    methods = tuple(method) if isinstance(method, list | tuple) else (method,)
    methods = tuple(
        one.lower() if isinstance(one, str) and one.lower() in NAMED_METHODS else one
        for one in methods
    )
    expected = "'kmeans', 'kmeans++', 'rpcl', a clusterer of scikit-learn, or a list of these"
    if not methods:
        raise ParameterError(owner, "method", expected, method, "Pass at least one method.")
    for one in methods:
        if isinstance(one, str) and one in NAMED_METHODS:
            continue
        if not isinstance(one, type) and _may_cluster(one):
            continue
        hint = ""
        if isinstance(one, type):
            hint = "Pass an instance, not the class."
        elif hasattr(one, "fit"):
            hint = "It is not a clusterer: it has no fit_predict."
        raise ParameterError(owner, "method", expected, one, hint)
    return methods


def _may_cluster(one: Any) -> bool:
    """Tell whether an estimator may be a clusterer; `labels_` does not exist before a fit."""
    if not hasattr(one, "get_params"):
        return False
    if hasattr(one, "fit_predict"):
        return True
    if hasattr(one, "transform") and not hasattr(one, "predict"):
        return False
    tags = one.__sklearn_tags__() if hasattr(one, "__sklearn_tags__") else None
    return hasattr(one, "fit") and getattr(tags, "estimator_type", None) not in (
        "classifier",
        "regressor",
    )


def check_n_clusters_range(
    owner: str, value: Any, n_objects: int, *, n_clusters: int | None = None
) -> tuple[int, int]:
    """Return the smallest and the largest number of clusters of a member.

    None is from 2 to ``ceil(sqrt(n_objects) / 2)``, at most 50; and, for a consensus of
    `n_clusters`, at least from twice to four times this number, as long as clusters have two
    objects.
    """
    if value is None:
        low, high = 2, max(2, min(50, int(np.ceil(np.sqrt(n_objects) / 2))))
        if n_clusters is not None:
            half = n_objects // 2
            low = max(low, min(2 * n_clusters, half))
            high = max(high, 2 * n_clusters, min(4 * n_clusters, half))
        return low, high
    good = hasattr(value, "__getitem__") and not isinstance(value, str | Mapping)
    good = good and getattr(value, "ndim", 1) == 1 and len(value) == 2
    good = good and all(isinstance(k, Integral) and not isinstance(k, bool) for k in value)
    if not good or not 1 <= value[0] <= value[1]:
        expected = (
            "two integers, the smallest and the largest number of clusters, from 1 up and in"
            " this order"
        )
        raise ParameterError(owner, "n_clusters_range", expected, value, optional=True)
    if value[0] > n_objects:
        message = Message(
            "{parameter} of {owner} must start at or below the number of objects, {n}, got {low}."
            " Lower the range.",
            owner=owner,
            low=value[0],
            parameter=Parameter("n_clusters_range"),
            n=Parameter("n_samples", n_objects),
        )
        raise ValueError(message)
    if value[1] >= np.iinfo(np.int64).max:
        hint = f"There are at most as many clusters as objects, {n_objects}."
        expected = "two numbers below 2**63"
        raise ParameterError(owner, "n_clusters_range", expected, value, hint)
    return int(value[0]), int(value[1])


def check_part(owner: str, name: str, value: Any, whole: int) -> int | None:
    """Return a share (a float up to 1) or a number of `whole` features as a number."""
    if value is None:
        return None
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and not isinstance(value, Integral) and 0 < float(value) <= 1:
        return max(1, round(float(value) * whole))
    if is_number and isinstance(value, Integral) and 1 <= int(value) <= whole:
        return int(value)
    expected = (
        f"a share above 0 and up to 1.0 of the {whole} feature(s), or an integer from 1 to {whole}"
    )
    raise ParameterError(owner, name, expected, value, optional=True)


def check_subsample(owner: str, value: Any) -> float | None:
    """Return the share of objects of each member, None for all."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        expected = "a share of the objects, above 0 and up to 1"
        raise ParameterError(owner, "subsample", expected, value, optional=True)
    return float(value)


def check_consensus(owner: str, value: Any) -> Any:
    """Return the consensus method: None, or an estimator that accepts votes."""
    if value is None:
        return None
    wanted = ("fit", "predict", "cut", "get_params")
    has_all = all(hasattr(value, name) for name in wanted)
    if isinstance(value, type) or not has_all or "consensus" in value.get_params(deep=False):
        expected = "an instance of a consensus method of ensemblage, such as ensemblage.PTA()"
        raise ParameterError(owner, "consensus", expected, value, optional=True)
    return value


def check_enough_objects(owner: str, n_clusters: int, n_objects: int) -> None:
    """Reject more clusters than objects."""
    if n_clusters > n_objects:
        message = Message(
            "{asked} of {owner} exceeds the number of objects, {n}. Pass at most {most}"
            " cluster(s).",
            owner=owner,
            asked=Parameter("n_clusters", n_clusters),
            n=Parameter("n_samples", n_objects),
            most=n_objects,
        )
        raise ValueError(message)
