"""Weights of clusterings beside the votes, and microclusters in place of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage._messages import did_you_mean, shown
from ensemblage._validate.tables import is_series
from ensemblage._validate.votes import check_names, listed_rows
from ensemblage.flow.codes import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, Microclusters

#: Weights beyond this, or below its inverse, overflow or vanish when they are added or multiplied.
_LARGEST = 1e100
_OUT_OF_RANGE = (
    ", with which sums leave the range of numbers. Only ratios matter: bring them near 1"
    " and use 0 to ignore one"
)
_OWNER = "Ensemble.of_groups"
_MOST_OBJECTS = 2.0**62


def check_each_object(owner: str, n_labels: int, n_objects: int) -> None:
    """Reject a consensus of groups, which does not know where each object is."""
    if n_labels != n_objects:
        raise ValueError(
            f"{owner} needs a label for each of the {n_objects:,} objects, but this consensus knows"
            f" {n_labels:,} groups of them only: it was fitted on Ensemble.of_groups, or saved with"
            f" objects=False. Fit it on the votes, and save it with its objects."
        )


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
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{wanted}. Got {weight!r} instead ({error}).") from error
    if weights.shape != (n_clusterings,):
        raise ValueError(f"{wanted}, but its shape is {weights.shape}.")
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    extreme = (weights > _LARGEST) | ((weights > 0) & (weights < 1 / _LARGEST))
    if (wrong | extreme).any():
        place = int(np.flatnonzero(wrong if wrong.any() else extreme)[0])
        why = "" if wrong.any() else _OUT_OF_RANGE
        raise ValueError(f"{wanted}, but number {place}, counted from 0, is {weights[place]}{why}.")
    if not weights.any():
        raise ValueError(f"{wanted}, but all are 0, so that no clustering counts.")
    if (weights == weights[0]).all():
        return None
    silent = np.flatnonzero((groups.table[:, weights > 0] < 0).all(axis=1))
    if len(silent):
        count, rows = listed_rows(silent, groups.of_object)
        raise ValueError(
            f"{count} object(s) have votes of clusterings with member_weight 0 only: {rows}."
            f" Leave these rows out, or give such a clustering a weight."
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
        problem = f"it has {twice[0]!r} more than once."
    elif unknown:
        problem = f"{unknown[0]!r} is not a clustering.{did_you_mean(unknown[0], forgotten)}"
    else:
        problem = f"it has none for {forgotten[0]!r}."
    raise ValueError(
        f"The member_weight of {owner} goes by name, with a weight for each clustering, but"
        f" {problem} Clusterings: {shown(names)}."
    )


def check_groups(
    table: Any, sizes: Any, labels: Any, names: Any
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[Any], list[Any] | None]:
    """Return codes, sizes, labels and names of microclusters, or say what is wrong with them."""
    codes = _whole(table, "table", 2)
    counts = _whole(sizes, "sizes", 1)
    n, n_clusterings = codes.shape
    if codes.size == 0:
        raise ValueError(f"{_OWNER}: table must have rows and columns, got shape {codes.shape}.")
    if counts.shape != (n,) or counts.min() < 1:
        raise ValueError(
            f"{_OWNER}: sizes must be {n} numbers from 1 up, one for each row of table, got"
            f" {len(counts)}, the smallest of which is {counts.min() if len(counts) else None}."
        )
    if counts.astype(np.float64).sum() >= _MOST_OBJECTS:
        raise ValueError(f"{_OWNER}: sizes must add up to less than 2**62, got more.")
    if codes.min() < -1:
        raise ValueError(
            f"{_OWNER}: table must hold codes from 0 up, and -1 for a missing vote, got"
            f" {int(codes.min())}."
        )
    labels = [_listed(some, "each entry of labels") for some in _listed(labels, "labels")]
    n_labels = [len(some) for some in labels]
    if len(labels) != n_clusterings or (codes.max(axis=0) >= n_labels).any():
        raise ValueError(
            f"{_OWNER}: labels must be {n_clusterings} lists, each with a label for every code of"
            f" its column of table, got lists of {n_labels} labels for codes up to"
            f" {codes.max(axis=0).tolist()}."
        )
    for place, some in enumerate(labels):
        if len({label for label in some if not is_missing(label)}) < len(some):
            raise ValueError(
                f"{_OWNER}: the labels of a clustering must differ, and none may mean a missing"
                f" vote (-1, NaN or None), got {shown(some, 5)} for clustering {place}. Missing"
                f" votes are -1 in table."
            )
    names = None if names is None else _listed(names, "names")
    if names is not None and len(names) != n_clusterings:
        raise ValueError(f"{_OWNER}: names must have {n_clusterings} entries, got {len(names)}.")
    check_names(names or [])
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    groups, _ = flow.microclusters(codes)
    if len(groups.sizes) < n:
        first = int(np.flatnonzero(np.diff(groups.of_object, prepend=-1) < 1)[0])
        raise ValueError(
            f"{_OWNER}: rows of table must differ, got row {first} twice. Add up the sizes of"
            f" equal rows."
        )
    return codes, counts.astype(np.int64), labels, names


def _listed(value: Any, what: str) -> list[Any]:
    """Return a list, tuple, array, Series or Index as a list."""
    if isinstance(value, str | Mapping) or not hasattr(value, "__len__"):
        raise TypeError(f"{_OWNER}: {what} must be a list, got {type(value).__name__}.")
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _whole(value: Any, name: str, n_axes: int) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or array.ndim != n_axes:
        raise ValueError(
            f"{_OWNER}: {name} must be whole numbers in {n_axes} dimension(s), got"
            f" {array.ndim} dimension(s) of type {array.dtype}."
        )
    return array
