"""Columns to write, as arrays of equal length, or what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import ParameterError, did_you_mean
from ensemblage._validate.tables import is_extension, one_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OWNER = "tables.write"
_EXPECTED = "a mapping of names to columns of equal length"


def given_columns(columns: Any, *, matrices: bool) -> dict[str, NDArray[Any]]:
    """Return columns as arrays; `matrices` may have two dimensions."""
    if not isinstance(columns, Mapping):
        hint = "Of a DataFrame, pass dict(frame)."
        raise ParameterError(_OWNER, "columns", _EXPECTED, columns, hint)
    if not columns:
        raise ParameterError(_OWNER, "columns", _EXPECTED, "none", "Pass at least one column.")
    arrays = {name: _array(name, values) for name, values in columns.items()}
    for name, array in arrays.items():
        if not isinstance(name, str):
            raise ParameterError(_OWNER, "columns", _EXPECTED, name, "Names are texts.")
        if array.ndim != 1 and not (matrices and array.ndim == 2):
            got = f"{name!r} of shape {array.shape}"
            hint = "Pass each column of a matrix by itself, or write NPY or NPZ."
            raise ParameterError(_OWNER, "columns", _EXPECTED, got, hint)
    lengths = {name: len(array) for name, array in arrays.items()}
    first = next(iter(lengths))
    odd = next((name for name in lengths if lengths[name] != lengths[first]), None)
    if odd is not None:
        got = f"{lengths[first]} values of {first!r} and {lengths[odd]} of {odd!r}"
        raise ParameterError(_OWNER, "columns", _EXPECTED, got)
    return arrays


def _array(name: Any, values: Any) -> NDArray[Any]:
    nulls = getattr(values, "null_count", 0)  # of Arrow; of polars it is a method
    if is_extension(values):
        cells = zip(values.isna(), values.astype(object).tolist(), strict=True)
        values = [None if missing else value for missing, value in cells]
    elif nulls and (nulls() if callable(nulls) else nulls):
        values = values.to_pylist() if hasattr(values, "to_pylist") else values.to_list()
    column = one_column(values)
    if column is not None:
        return column
    try:
        array = np.asarray(values)
        listed = not isinstance(values, np.ndarray)
        return np.array(values, dtype=object) if listed and array.dtype.kind in "US" else array
    except ValueError as error:
        got = f"{name!r} with values of different lengths"
        raise ParameterError(_OWNER, "columns", _EXPECTED, got) from error


def rounded(arrays: dict[str, NDArray[Any]], decimals: Any) -> dict[str, NDArray[Any]]:
    """Return the columns with as many decimals as asked for."""
    expected = "a mapping of names of columns to numbers of decimals"
    if decimals is None:
        return arrays
    if not isinstance(decimals, Mapping):
        raise ParameterError(_OWNER, "decimals", expected, decimals, optional=True)
    for name, places in decimals.items():
        if name not in arrays:
            hint = f"There is no column {name!r}.{did_you_mean(name, arrays)}"
            raise ParameterError(_OWNER, "decimals", expected, decimals, hint, optional=True)
        whole = isinstance(places, int | np.integer) and not isinstance(places, bool)
        if not whole or arrays[name].dtype.kind not in "iuf":
            hint = f"Column {name!r} must hold numbers, and its decimals be a whole number."
            raise ParameterError(_OWNER, "decimals", expected, decimals, hint, optional=True)
    return arrays | {name: np.round(arrays[name], int(at)) for name, at in decimals.items()}


def typed_columns(
    arrays: Mapping[str, NDArray[Any]], types: Mapping[str, Any], *, as_arrow: bool
) -> dict[str, Any]:
    """Return columns of these Arrow types, with None for NaN; or as Arrow arrays, with null."""
    if as_arrow:
        import pyarrow as pa

        return {n: pa.array(arrays[n], kind, from_pandas=True) for n, kind in types.items()}
    return {n: _without_nan(arrays[n]) for n in types if arrays[n].dtype.kind == "f"}


def _without_nan(values: NDArray[Any]) -> NDArray[Any]:
    floats = values.astype(np.float64).astype(object)
    floats[np.isnan(values)] = None
    return floats
