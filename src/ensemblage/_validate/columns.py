"""Clusterings that come one by one, in a dict or a list, put side by side; Series by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import shown
from ensemblage._types import Columns
from ensemblage._validate.tables import is_clusterer, is_column, is_series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

#: What a row is made of; a list of these cannot be one of columns.
_PLAIN = {list, tuple, int, float, str, bool, type(None)}


# -- lists -----------------------------------------------------------------------------------------


def is_list_of_columns(X: Any) -> bool:
    """Return whether X is a list with clusterings (arrays, Series, fitted clusterers) or tables."""
    if not isinstance(X, list | tuple) or hasattr(X, "_fields"):
        return False
    if set(map(type, X)) <= _PLAIN:  # at once, for lists of millions of rows
        return False
    return any(is_column(item) or is_clusterer(item) or getattr(item, "ndim", 0) == 2 for item in X)


def columns_of_list(X: list[Any] | tuple[Any, ...]) -> tuple[dict[Any, Any], bool]:
    """Return the clusterings of a list, by name or by place, and whether by name."""
    for place, item in enumerate(X):
        shape = getattr(item, "shape", ())
        if isinstance(shape, tuple) and len(shape) > 1:
            raise ValueError(
                f"A list of clusterings holds one column in each item, but item {place}, counted"
                f" from 0, has the shape {shape}. Put tables side by side first, with numpy.hstack"
                f" or pandas.concat(..., axis=1)."
            )
    names = [getattr(item, "name", None) if is_column(item) else None for item in X]
    if all(name not in (None, "") for name in names) and len(set(names)) == len(names):
        return dict(zip(names, X, strict=True)), True
    return dict(enumerate(X)), False


def _labels_of(item: Any, called: str) -> Any:
    """Return the labels of a fitted clusterer, and anything else as it is."""
    if isinstance(item, type) and hasattr(item, "fit"):
        raise TypeError(
            f"Votes hold fitted clusterers, but {called} is the class {item.__name__}. Make one"
            f" and fit it first: {item.__name__}(...).fit(features)."
        )
    if not is_clusterer(item):
        return item
    last = item.steps[-1][1] if hasattr(item, "steps") else item
    labels = getattr(item, "labels_", getattr(last, "labels_", None))
    if labels is None:
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"Votes hold fitted clusterers, but {called}, a {type(last).__name__}, has no labels_."
            f" Call its fit(features) first. Of a clusterer without labels_, such as a mixture,"
            f" pass what fit_predict(features) returns."
        )
    return labels


# -- side by side ----------------------------------------------------------------------------------


def side_by_side(
    clusterings: Mapping[Any, Any],
    as_array: Callable[[Any], NDArray[Any]],
    *,
    named: bool = True,
    of: str = "dict",
) -> tuple[Columns, Any]:
    """Return clusterings as columns, and the index of their rows where pandas Series give one.

    Series with different indexes are matched: objects come in order of first appearance, and one
    that is not in a Series has no vote there.
    """
    called = {name: repr(name) if named else f"item {name}" for name in clusterings}
    given = {name: _labels_of(one, called[name]) for name, one in clusterings.items()}
    indexes = {name: one.index for name, one in given.items() if is_series(one)}
    arrays = {name: _column(called[name], one, as_array, of) for name, one in given.items()}
    united = next(iter(indexes.values()), None)
    if united is None or all(united.equals(index) for index in indexes.values()):
        _check_lengths(called, arrays)
        return Columns(list(arrays), list(arrays.values())), united
    start = f"Votes in a {of} are matched by the index of each Series, but"
    _check_indexes(start, called, indexes, arrays)
    if all(_just_counts(index) for index in indexes.values()):
        _check_lengths(called, arrays, " Series with an index of ids are matched by it.")
    for index in indexes.values():
        united = united.append(index[united.get_indexer(index) < 0])
    places = {name: united.get_indexer(index) for name, index in indexes.items()}
    _check_in_common(start, called, places, indexes, len(united))
    spread = [_spread(arrays[name], places[name], len(united)) for name in indexes]
    return Columns(list(arrays), spread), united


def _check_lengths(called: dict[Any, str], arrays: dict[Any, NDArray[Any]], hint: str = "") -> None:
    """Reject columns of different lengths, by name or place."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        listed = [f"{called[name]} has {length}" for name, length in lengths.items()]
        raise ValueError(
            f"Votes must have equally long columns, but {shown(listed, form=str)}. Give a label, or"
            f" -1 for none, to each object in each of them.{hint}"
        )


def _just_counts(index: Any) -> bool:
    """Return whether an index is what pandas gives to a Series without one: 0, 1, 2, ..."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _check_in_common(
    start: str,
    called: dict[Any, str],
    places: dict[Any, Any],
    indexes: dict[Any, Any],
    count: int,
) -> None:
    """Reject a Series none of whose objects is in another: its index is of another kind."""
    n_series = np.zeros(count, dtype=np.int64)
    for rows in places.values():
        n_series[rows[rows >= 0]] += 1
    for name, rows in places.items():
        if (rows < 0).any() or n_series[rows].max() == 1:
            raise ValueError(
                f"{start} that of {called[name]} ({indexes[name].tolist()[0]!r}, ...) has no object"
                f" in common with the others. Give them the same index, or pass lists."
            )


def _column(
    called: str, labels: Any, as_array: Callable[[Any], NDArray[Any]], of: str
) -> NDArray[Any]:
    array = as_array(labels)
    if array.ndim != 1:
        shape = f" of shape {array.shape}" if array.ndim else ""
        raise ValueError(
            f"Votes in a {of} are a list of labels for each clustering, but {called} holds"
            f" {type(labels).__name__}{shape}. Pass a list, an array of one dimension or a Series."
        )
    return array


def _check_indexes(
    start: str,
    called: dict[Any, str],
    indexes: dict[Any, Any],
    arrays: dict[Any, NDArray[Any]],
) -> None:
    lists = [name for name in arrays if name not in indexes]
    if lists:
        raise ValueError(
            f"{start} {called[lists[0]]} has none and the indexes differ. Make it a Series, or"
            f" give all the same index."
        )
    for name, index in indexes.items():
        if not len(index):
            raise ValueError(
                f"The Series {called[name]} of the votes holds no objects. Leave it out."
            )
        if not index.is_unique:
            twice = index[index.duplicated()][0]
            raise ValueError(
                f"{start} {twice!r} occurs more than once in that of {called[name]}. Name each"
                f" object once."
            )
    if len({index.nlevels for index in indexes.values()}) > 1:
        raise ValueError(
            f"{start} these have different numbers of levels. Give them the same index."
        )


def _spread(values: NDArray[Any], places: NDArray[Any], count: int) -> NDArray[Any]:
    """Return values at their places among `count`, missing votes elsewhere."""
    missing: Any = None
    dtype: Any = object
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        missing, dtype = -1, np.int64
    elif values.dtype.kind == "f":
        missing, dtype = np.nan, values.dtype
    result = np.full(count, missing, dtype=dtype)
    result[places] = values
    return result
