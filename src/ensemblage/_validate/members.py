"""What an ensemble is made of: methods, numbers of clusters, shares of features and objects."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import Message, Parameter, ParameterError
from ensemblage._validate.names import shown
from ensemblage._validate.tables import is_series

if TYPE_CHECKING:
    from ensemblage._types import FloatArray, Microclusters

#: Base clusterers of this library, by name.
NAMED_METHODS = ("kmeans", "rpcl")
#: Weights beyond this, or below its inverse, overflow or vanish when they are added or multiplied.
_LARGEST_WEIGHT = 1e100


def check_member_weight(
    owner: str, weight: Any, groups: Microclusters, names: list[Any] | None = None
) -> FloatArray | None:
    """Return weights of the clusterings, or None where there are none or all are the same.

    A dict, or a Series whose index does not just count, goes by the `names` of the clusterings.
    """
    if weight is None:
        return None
    n_clusterings = groups.table.shape[1]
    wanted = (
        f"The member_weight of {owner} must be {n_clusterings} number(s) from 0 up, one for each"
        f" clustering"
    )
    weight = _in_order(owner, weight, names)
    try:
        weights = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted}. Got {weight!r} instead ({error}).") from error
    if weights.shape != (n_clusterings,):
        raise ValueError(f"{wanted}, but its shape is {weights.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        place = int(wrong[0])
        raise ValueError(f"{wanted}, but number {place}, counted from 0, is {weights[place]}.")
    extreme = (weights > _LARGEST_WEIGHT) | ((weights > 0) & (weights < 1 / _LARGEST_WEIGHT))
    if extreme.any():
        place = int(np.flatnonzero(extreme)[0])
        raise ValueError(
            f"{wanted}, but number {place}, counted from 0, is {weights[place]}, with which sums"
            f" leave the range of numbers. Only ratios matter: bring them near 1, and use 0 for"
            f" nothing."
        )
    if not weights.any():
        raise ValueError(f"{wanted}, but all are 0, and nobody would vote.")
    if (weights == weights[0]).all():
        return None
    silent = np.flatnonzero((groups.table[:, weights > 0] < 0).all(axis=1))
    if len(silent):
        rows = np.flatnonzero(np.isin(groups.of_object, silent))
        shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
        raise ValueError(
            f"{len(rows)} object(s) have votes of clusterings with member_weight 0 only: row(s)"
            f" {shown}, counted from 0. Leave these rows out, or give such a clustering a weight."
        )
    return weights


def _in_order(owner: str, weight: Any, names: list[Any] | None) -> Any:
    """Return weights that go by name as a list in the order of the clusterings."""
    if isinstance(weight, Mapping):
        keys, values = list(weight), list(weight.values())
    elif is_series(weight):
        keys, values = list(weight.index), list(weight)
    else:
        return weight
    by_name = dict(zip(keys, values, strict=True))
    if names is not None and len(by_name) == len(keys) and set(by_name) == set(names):
        return [by_name[name] for name in names]
    if keys == list(range(len(keys))) and not isinstance(weight, Mapping):
        return values
    if names is None:
        raise ValueError(
            f"The member_weight of {owner} goes by name, but the votes are an array, whose"
            f" clusterings have none. Pass a list of weights in the order of the columns."
        )
    twice = [key for place, key in enumerate(keys) if key in keys[:place]]
    unknown = [key for key in keys if key not in names]
    forgotten = [name for name in names if name not in by_name]
    if twice:
        found = f"it has {twice[0]!r} more than once"
    elif unknown:
        found = f"{unknown[0]!r} is no clustering"
        near = difflib.get_close_matches(str(unknown[0]), map(str, forgotten), n=1, cutoff=0.5)
        found += f" (did you mean {near[0]!r}?)" if near else ""
    else:
        found = f"it has none for {forgotten[0]!r}"
    raise ValueError(
        f"The member_weight of {owner} goes by name, with a weight for each clustering, but"
        f" {found}. Clusterings: {shown(names)}."
    )


def check_methods(owner: str, method: Any) -> tuple[Any, ...]:
    """Return the base clusterers that members use in turn."""
    methods = tuple(method) if isinstance(method, list | tuple) else (method,)
    methods = tuple(
        one.lower() if isinstance(one, str) and one.lower() in NAMED_METHODS else one
        for one in methods
    )
    expected = "'kmeans', 'rpcl', a clusterer of scikit-learn, or a list of these"
    if not methods:
        raise ParameterError(owner, "method", expected, method, "Name at least one method.")
    for one in methods:
        if isinstance(one, str) and one in NAMED_METHODS:
            continue
        if not isinstance(one, type) and _may_cluster(one):
            continue
        hint = ""
        if isinstance(one, type):
            hint = "Pass an instance, not the class."
        elif hasattr(one, "fit"):
            hint = "It is no clusterer: it has no fit_predict."
        raise ParameterError(owner, "method", expected, one, hint)
    return methods


def _may_cluster(one: Any) -> bool:
    """Tell whether an estimator may be a clusterer; `labels_` is not there before a fit."""
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
    `n_clusters`, from twice to four times as many at least, while clusters have two objects.
    """
    if value is None:
        low, high = 2, max(2, min(50, int(np.ceil(np.sqrt(n_objects) / 2))))
        if n_clusters is not None:
            half = n_objects // 2
            low = max(low, min(2 * n_clusters, half))
            high = max(high, 2 * n_clusters, min(4 * n_clusters, half))
        return low, high
    good = not isinstance(value, str) and np.ndim(value) == 1 and len(value) == 2
    good = good and all(isinstance(k, Integral) and not isinstance(k, bool) for k in value)
    if not good or not 1 <= value[0] <= value[1]:
        expected = (
            "two whole numbers, the smallest and the largest number of clusters, from 1 up and in"
            " this order"
        )
        raise ParameterError(owner, "n_clusters_range", expected, value, optional=True)
    if value[0] > n_objects:
        message = Message(
            "{owner} was asked for members of at least {low} clusters ({parameter}), but there are"
            " only {n} object(s). Lower the range.",
            owner=owner,
            low=value[0],
            parameter=Parameter("n_clusters_range"),
            n=Parameter("n_samples", n_objects),
        )
        raise ValueError(message)
    if value[1] >= np.iinfo(np.int64).max:
        hint = f"There are never more clusters than the {n_objects} object(s)."
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
        f"a share above 0 and up to 1.0 of the {whole} feature(s), or a whole number from 1 up to"
        f" {whole}"
    )
    raise ParameterError(owner, name, expected, value, optional=True)


def check_subsample(owner: str, value: Any) -> float | None:
    """Return the share of objects that each member sees, None for all."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        expected = "a share of the objects, above 0 and up to 1"
        raise ParameterError(owner, "subsample", expected, value, optional=True)
    return float(value)


def check_consensus(owner: str, value: Any) -> Any:
    """Return the consensus method: None, or an estimator that takes votes."""
    if value is None:
        return None
    wanted = ("fit", "predict", "cut", "get_params")
    if isinstance(value, type) or not all(hasattr(value, name) for name in wanted):
        expected = "an instance of a consensus method of ensemblage, such as ensemblage.PTA()"
        raise ParameterError(owner, "consensus", expected, value, optional=True)
    return value


def check_enough_objects(owner: str, n_clusters: int, n_objects: int) -> None:
    """Refuse more clusters than objects."""
    if n_clusters > n_objects:
        message = Message(
            "{owner} was asked for {asked}, but there are only {n} object(s). Ask for at most"
            " {most} cluster(s).",
            owner=owner,
            asked=Parameter("n_clusters", n_clusters),
            n=Parameter("n_samples", n_objects),
            most=n_objects,
        )
        raise ValueError(message)
