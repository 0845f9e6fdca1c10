"""Clusterings that come one by one, in a dict by name: put side by side, Series by their index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._types import Columns
from ensemblage._validate.tables import is_series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray


def side_by_side(
    clusterings: Mapping[Any, Any], as_array: Callable[[Any], NDArray[Any]]
) -> tuple[Columns, Any]:
    """Return the columns of a dict, and the index of their rows where pandas Series give one.

    Series with different indexes are matched: objects come in the order in which they first
    appear, and who is not in a Series has no vote there.
    """
    indexes = {name: one.index for name, one in clusterings.items() if is_series(one)}
    arrays = {name: _column(name, one, as_array) for name, one in clusterings.items()}
    united = next(iter(indexes.values()), None)
    if united is None or all(united.equals(index) for index in indexes.values()):
        return Columns(list(arrays), list(arrays.values())), united
    _check_indexes(indexes, arrays)
    for index in indexes.values():
        united = united.append(index[united.get_indexer(index) < 0])
    places = {name: united.get_indexer(index) for name, index in indexes.items()}
    _check_in_common(places, indexes, len(united))
    spread = [_spread(arrays[name], places[name], len(united)) for name in indexes]
    return Columns(list(arrays), spread), united


def _check_in_common(places: dict[Any, Any], indexes: dict[Any, Any], count: int) -> None:
    """Refuse a Series none of whose objects is in another: its index is of another kind."""
    n_series = np.zeros(count, dtype=np.int64)
    for found in places.values():
        n_series[found[found >= 0]] += 1
    for name, found in places.items():
        if (found < 0).any() or n_series[found].max() == 1:
            raise ValueError(
                f"Votes in a dict are matched by the index of each Series, but that of {name!r}"
                f" ({indexes[name].tolist()[0]!r}, ...) has no object in common with the others."
                f" Give them the same index, or pass lists."
            )


def _column(name: Any, labels: Any, as_array: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    array = as_array(labels)
    if array.ndim != 1:
        shape = f" of shape {array.shape}" if array.ndim else ""
        raise ValueError(
            f"Votes in a dict are a list of labels for each clustering, but {name!r} holds"
            f" {type(labels).__name__}{shape}. Pass a list, an array of one dimension or a Series."
        )
    return array


def _check_indexes(indexes: dict[Any, Any], arrays: dict[Any, NDArray[Any]]) -> None:
    lists = [name for name in arrays if name not in indexes]
    if lists:
        raise ValueError(
            f"Votes in a dict are matched by the index of each Series, but {lists[0]!r} has none"
            f" and the indexes differ. Make it a Series, or give all the same index."
        )
    for name, index in indexes.items():
        if not len(index):
            raise ValueError(f"The Series {name!r} of the votes holds no objects. Leave it out.")
        if not index.is_unique:
            twice = index[index.duplicated()][0]
            raise ValueError(
                f"Votes in a dict are matched by the index of each Series, but {twice!r} occurs"
                f" more than once in that of {name!r}. Name each object once."
            )
    if len({index.nlevels for index in indexes.values()}) > 1:
        raise ValueError(
            "Votes in a dict are matched by the index of each Series, but these have different"
            " numbers of levels. Give them the same index."
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
