"""Tables of pandas, polars and Arrow: their columns as arrays, and labels given back in kind.

A library is looked for among those that are imported already: whoever passes its table has.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Table(NamedTuple):
    """A table of polars or Arrow: which of them ("polars", "arrow"), names and columns."""

    kind: str
    names: list[str]
    columns: list[NDArray[Any]]


def is_pandas(X: Any) -> bool:
    """Tell whether X is a DataFrame of pandas, or one that is used like it."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_sparse(X: Any) -> bool:
    """Tell whether X is a sparse array or matrix of scipy."""
    return type(X).__module__.startswith("scipy.sparse")


def foreign_table(X: Any, *, numbers: bool = False) -> Table | None:
    """Return the columns of a polars or Arrow table, None for anything else.

    In columns of integers null is -1, a missing vote; with `numbers`, for features, such a column
    becomes one of floats. In columns of floats null is NaN, in all others (words, categories,
    booleans) None.
    """
    polars, arrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError(
            "A polars LazyFrame was passed, which holds no values yet. Pass X.collect(); votes"
            " that do not fit in memory are for ensemblage.scale.stream."
        )
    if polars is not None and isinstance(X, polars.DataFrame):
        columns = [_polars_array(column, polars, numbers=numbers) for column in X.get_columns()]
        return Table("polars", list(X.columns), columns)
    if arrow is not None and isinstance(X, (arrow.Table, arrow.RecordBatch)):
        columns = [_arrow_array(column, arrow, numbers=numbers) for column in X.columns]
        return Table("arrow", list(X.schema.names), columns)
    return None


def is_series(column: Any) -> bool:
    """Tell whether this is a Series of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(column, pandas.Series)


def is_column(item: Any) -> bool:
    """Tell whether this is a column by itself: a Series, or an array of one dimension.

    Lists are not: nobody can see whether a list of numbers is a row or a column.
    """
    polars, arrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(item, polars.Series):
        return True
    if arrow is not None and isinstance(item, (arrow.Array, arrow.ChunkedArray)):
        return True
    return getattr(item, "ndim", None) == 1 and hasattr(item, "__array__")


def one_column(column: Any) -> NDArray[Any] | None:
    """Return a Series of pandas or polars or an array of Arrow as an array; None for others."""
    polars, arrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if is_series(column):
        return series_array(column)
    if polars is not None and isinstance(column, polars.Series):
        return _polars_array(column, polars, numbers=False)
    if arrow is not None and isinstance(column, (arrow.Array, arrow.ChunkedArray)):
        return _arrow_array(column, arrow, numbers=False)
    return None


def series_array(series: Any) -> NDArray[Any]:
    """Return a pandas column as an array; categories and extension types as objects."""
    plain = isinstance(series.dtype, np.dtype)
    array: NDArray[Any] = series.to_numpy() if plain else series.to_numpy(dtype=object)
    return array


def labels_like(labels: NDArray[np.int64], kind: str | None, index: Any) -> Any:
    """Return labels as the kind of table has its columns: a Series, an Arrow array, or as is."""
    if kind == "pandas":
        import pandas as pd  # what was passed in came from it, so it is there

        return pd.Series(labels, index=index, name="label")
    if kind == "polars":
        import polars as pl

        return pl.Series("label", labels)
    if kind == "arrow":
        import pyarrow as pa

        return pa.array(labels)
    return labels


def table_like(
    columns: list[NDArray[Any]], names: list[Any] | None, kind: str | None, index: Any
) -> Any:
    """Return columns of labels as a table of a kind; as an array where it has none."""
    named = dict(zip(names or range(len(columns)), columns, strict=True))
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(named, index=index)
    if kind == "polars":
        import polars as pl

        return pl.DataFrame({name: column.tolist() for name, column in named.items()})
    if kind == "arrow":
        import pyarrow as pa

        return pa.table({name: column.tolist() for name, column in named.items()})
    return np.column_stack(columns)


def _polars_array(column: Any, polars: Any, *, numbers: bool) -> NDArray[Any]:
    if numbers and column.dtype.is_integer() and column.null_count():
        column = column.cast(polars.Float64)
    array: NDArray[Any]
    if column.dtype.is_integer() and column.null_count() and column.dtype != polars.UInt64:
        array = column.cast(polars.Int64).fill_null(-1).to_numpy()
    elif column.dtype.is_float() or (column.dtype.is_numeric() and not column.null_count()):
        array = column.to_numpy()
    else:
        array = _objects(column.to_list())
    return array


def _arrow_array(column: Any, arrow: Any, *, numbers: bool) -> NDArray[Any]:
    kinds = arrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if numbers and kinds.is_integer(column.type) and column.null_count:
        column = column.cast(arrow.float64(), safe=False)
    whole = kinds.is_integer(column.type)
    array: NDArray[Any]
    if whole and column.null_count and not kinds.is_uint64(column.type):
        array = column.cast(arrow.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    elif kinds.is_floating(column.type) or (
        kinds.is_integer(column.type) and not column.null_count
    ):
        array = column.to_numpy(zero_copy_only=False)
    else:
        array = _objects(column.to_pylist())
    return array


def _objects(values: list[Any]) -> NDArray[Any]:
    """Return values as an array of objects, also where they are lists."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
