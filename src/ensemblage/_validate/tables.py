"""Tables of other libraries: columns as arrays, labels in the type passed, rejected types."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator, Mapping, ValuesView
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FILES = (".csv", ".tsv", ".parquet", ".npy", ".npz", ".mat", ".gz", ".xlsx", ".h5ad", ".feather")
_LONGEST = 60
#: What is passed in place of a table, and what to do: as votes, and as features.
_WANTED = (
    "votes are a table of labels, a column for each clustering",
    "features are a table of numbers, a row for each object",
)
_ANNDATA = (
    (
        "Use ensemblage.sc.tl.consensus(adata, keys=[...], n_clusters=...), where keys are the"
        " columns of adata.obs that hold clusterings."
    ),
    (
        "Pass a matrix of it, such as adata.obsm['X_pca']. For clusterings in adata.obs use"
        " ensemblage.sc.tl.consensus(adata, keys=[...], n_clusters=...)."
    ),
)
_STRANGERS = {
    ("anndata", "AnnData"): _ANNDATA,
    ("mudata", "MuData"): _ANNDATA,
    ("spatialdata", "SpatialData"): (
        (
            "Use ensemblage.sc.tl.consensus(sdata.tables[...], keys=[...], n_clusters=...) with"
            " one of its tables."
        ),
        "Pass a matrix of a table, such as sdata.tables[...].obsm[...].",
    ),
    ("ensemblage", "VoteTable"): (
        None,
        "Read features with ensemblage.tables.read_features; votes are for consensus methods.",
    ),
    ("ensemblage", "FeatureTable"): (
        "Its features belong to ensemblage.EnsembleClustering, which makes the votes.",
        "Pass numpy.column_stack(list(table.columns.values())).",
    ),
    ("ensemblage", "Ensemble"): (
        None,
        "An Ensemble holds votes, which the consensus methods take.",
    ),
    ("sklearn", "Bunch"): (
        "Its features are X.data: use ensemblage.EnsembleClustering().fit(X.data).",
        "Pass X.data.",
    ),
    ("dask", "DataFrame"): (
        "Use ensemblage.scale.dask.consensus(X, estimator), or pass X.compute().",
        "Pass X.compute().",
    ),
    ("xarray", "Dataset"): ("Pass X.to_dataframe().", "Pass X.to_dataframe()."),
}
_CLUSTERER = (
    "Pass a list of fitted clusterers, whose labels_ are then the columns.",
    "Base clusterers are the parameter 'method'.",
)
_PATH = (
    "Read the file: fit(ensemblage.tables.read({0!r})); or run: ensemblage consensus {0}",
    (
        "Read a file first, with pandas.read_csv({0!r}) for example; or run: ensemblage generate"
        " {0} -o pool.parquet"
    ),
)


# -- what is not a table ---------------------------------------------------------------------------


def refuse_strangers(X: Any, *, as_features: bool = False) -> None:
    """Raise an error if X is not a table of votes or features; name the call that accepts it."""
    name = type(X).__name__
    given, advice = f"{'An' if name[:1].lower() in 'aeiou' else 'A'} {name} object", None
    path = _path(X)
    classes = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__}
    if known := classes & _STRANGERS.keys():
        advice = _STRANGERS[known.pop()][as_features]
    elif path is not None:
        given, advice = f"A path or text ({path!r})", _PATH[as_features].format(path)
    elif is_clusterer(X):
        advice = _CLUSTERER[as_features]
    elif isinstance(X, type):
        given, advice = f"The class {X.__name__}", "Pass the table itself."
    elif isinstance(X, Iterator | ValuesView):
        advice = "Pass list(X), which can be read more than once."
    elif isinstance(X, set | frozenset):
        advice = "A set has no order. Pass a list."
    if advice is not None:
        raise TypeError(f"{given} was passed, but {_WANTED[as_features]}. {advice}")


def is_clusterer(item: Any) -> bool:
    """Return whether this is an estimator, fitted or not."""
    if isinstance(item, type | Mapping) or hasattr(type(item), "__array__"):
        return False  # a column of a DataFrame may be called labels_
    return hasattr(item, "labels_") or (hasattr(item, "fit") and hasattr(item, "get_params"))


def _path(X: Any) -> str | None:
    """Return a text or path, or the first of a list of paths; cut where it is very long."""
    if isinstance(X, list | tuple) and X and not hasattr(X, "_fields"):
        files = (isinstance(x, str | PathLike) and str(x).lower().endswith(_FILES) for x in X[:3])
        X = X[0] if all(files) else None
    if not isinstance(X, str | bytes | PathLike):
        return None
    text = X.decode(errors="replace") if isinstance(X, bytes) else str(X)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def check_shape(shape: tuple[int, ...], what: str, columns: str, reshape: str) -> None:
    """Raise where an array is not a table of objects × `columns` with a row and a column."""
    if shape == (0,):
        raise ValueError(
            f"{what} are empty (shape=(0,)). Pass a table with a row for each object and a column"
            f" for each of the {columns}."
        )
    if len(shape) != 2:
        raise ValueError(
            f"{what} must be a table of objects × {columns} (two dimensions), but an array of"
            f" {len(shape)} dimension(s) was passed, shape={tuple(shape)}. Reshape your data:"
            f" {reshape}."
        )
    for count, missing, found in zip(
        shape, ("objects", columns), ("sample", "feature"), strict=True
    ):
        if count == 0:
            raise ValueError(
                f"{what} have no {missing}: found array with 0 {found}(s) (shape={tuple(shape)})"
                f" while a minimum of 1 is required."
            )


# -- tables and columns ----------------------------------------------------------------------------


class Table(NamedTuple):
    """A table of polars or Arrow: which of them ("polars", "arrow"), names and columns."""

    kind: str
    names: list[str]
    columns: list[NDArray[Any]]


def is_pandas(X: Any) -> bool:
    """Return whether X is a DataFrame of pandas, or one that is used like it."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse array or matrix of scipy."""
    return type(X).__module__.startswith("scipy.sparse")


def is_series(column: Any) -> bool:
    """Return whether this is a Series of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(column, pandas.Series)


def is_extension(column: Any) -> bool:
    """Return whether this is a column of pandas (Series, Index or array) of an extension type."""
    pandas = sys.modules.get("pandas")
    kind = getattr(column, "dtype", None)
    return pandas is not None and isinstance(kind, pandas.api.extensions.ExtensionDtype)


def in_order_of_index(rows: Any, index: Any) -> Any:
    """Return a Series or DataFrame in the order of the objects of `index`, if it has the same ones.

    Anything else is returned as it is: its rows are in order already.
    """
    pandas = sys.modules.get("pandas")
    if index is None or pandas is None or not isinstance(rows, pandas.Series | pandas.DataFrame):
        return rows
    own = rows.index
    alike = len(own) == len(index) and own.nlevels == index.nlevels
    if not alike or not own.is_unique or not index.is_unique:
        return rows
    place = own.get_indexer(index)
    return rows if (place < 0).any() else rows.iloc[place]


def is_column(item: Any) -> bool:
    """Return whether this is a column by itself: a Series or a 1-D array; lists may be rows."""
    if getattr(item, "ndim", None) == 1 and hasattr(item, "__array__"):
        return True
    return not hasattr(item, "columns") and _as_arrow(item) is not None


def foreign_table(X: Any, *, numbers: bool = False) -> Table | None:
    """Return the columns of a polars or Arrow table, None for anything else.

    Null is -1 in columns of integers (NaN with `numbers`, for features), NaN in floats, else None.
    """
    table = _as_arrow(X)
    if not hasattr(table, "schema"):
        return None
    if table is X:
        columns = [_arrow_array(column, numbers=numbers) for column in table.columns]
        return Table("arrow", list(table.schema.names), columns)
    pairs = zip(X.get_columns(), table.columns, strict=True)
    columns = [_polars_array(series, column, numbers=numbers) for series, column in pairs]
    return Table("polars", list(table.schema.names), columns)


def one_column(column: Any) -> NDArray[Any] | None:
    """Return a Series of pandas or polars or an array of Arrow as an array; None for others."""
    if is_series(column):
        return series_array(column)
    array = _as_arrow(column)
    if array is None or hasattr(array, "schema"):
        return None
    return _arrow_array(array) if array is column else _polars_array(column, array)


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
    if kind is None:
        return np.column_stack(columns)
    listed = {name: column.tolist() for name, column in named.items()}
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(listed)
    import pyarrow as pa

    return pa.table(listed)


def _as_arrow(X: Any) -> Any:
    """Return a table or column of polars or Arrow as one of Arrow, None for anything else."""
    polars, arrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError(
            "A polars LazyFrame was passed, which holds no values yet. Pass X.collect(); votes"
            " that do not fit in memory are for ensemblage.scale.stream."
        )
    if polars is not None and isinstance(X, (polars.DataFrame, polars.Series)):
        _refuse_128_bits(X, polars)
        return X.to_arrow()
    if arrow is None:
        return None
    of_arrow = (arrow.Table, arrow.RecordBatch, arrow.Array, arrow.ChunkedArray)
    return X if isinstance(X, of_arrow) else None


def _refuse_128_bits(X: Any, polars: Any) -> None:
    """Raise where a column of polars is of integers that no other library takes."""
    columns = {X.name: X.dtype} if isinstance(X, polars.Series) else X.schema
    for name, kind in columns.items():
        if str(kind) in ("Int128", "UInt128"):
            raise TypeError(
                f"Column {name!r} is of type {kind}, and votes are integers of at most 64 bits."
                f" Cast it: X.with_columns(polars.col({name!r}).cast(polars.String)), or to"
                f" polars.Int64 where that holds it."
            )


def _arrow_array(column: Any, *, numbers: bool = False) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind, gaps = column.type, column.null_count > 0
    if gaps and numbers and pa.types.is_integer(kind):
        column = column.cast(pa.float64(), safe=False)
    elif gaps and pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        column = column.cast(pa.int64()).fill_null(-1)
    whole = pa.types.is_integer(column.type) and not column.null_count
    if whole or pa.types.is_floating(column.type):
        array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return array
    if kind == pa.time64("ns"):
        return _objects(_times_of_day(column.cast(pa.int64()).to_pylist()))
    return _objects(column.to_pylist())


def _times_of_day(nanoseconds: list[int | None]) -> list[Any]:
    """Return times as Python's, and those between two microseconds, which it lacks, as NumPy's."""
    start = datetime.datetime.min
    return [
        None
        if n is None
        else np.timedelta64(n, "ns")
        if n % 1000
        else (start + datetime.timedelta(microseconds=n // 1000)).time()
        for n in nanoseconds
    ]


def _polars_array(series: Any, column: Any, *, numbers: bool = False) -> NDArray[Any]:
    """Return a column of polars; of Python objects Arrow would have the addresses only."""
    is_object = str(series.dtype) == "Object"
    return _objects(series.to_list()) if is_object else _arrow_array(column, numbers=numbers)


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values  # by place: values may be lists
    return array
