"""Reading features: a row for each object, a column for each measurement."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from os import PathLike, fspath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage._validate import is_id_name, is_likely_id_name
from ensemblage.files._arrays import choose_array, is_table, label_vectors, load_arrays
from ensemblage.files._csv import (
    check_rows,
    checked_first,
    complain_of_names,
    ids_of_texts,
    whole_row,
)
from ensemblage.files._errors import FileFormatError
from ensemblage.files._formats import TEXT, called, format_to_read
from ensemblage.files._ids import joined_ids
from ensemblage.files._layout import find_id, has_header
from ensemblage.files._parquet import arrow_columns, arrow_ids, only_level, told
from ensemblage.files._read import complain_of_options
from ensemblage.files._rows import split_rows
from ensemblage.files._source import opened, seekable
from ensemblage.files._table import Array, Origin
from ensemblage.files._text_column import TextColumn

if TYPE_CHECKING:
    import io
    from collections.abc import Collection, Sequence

_BLOCK = 4096
_FEATURES = ("X", "features", "data", "fea")
_NAMES = ("columns", "feature_names", "genes")


class FeatureTable(NamedTuple):
    """Features of a file, before it is known which of them are wanted.

    Attributes
    ----------
    columns : dict of str to ndarray
        The columns by name: floats, NaN where a cell is empty; or objects that are str, None where
        a cell is empty.
    ids : ndarray of shape (n_objects,) or None
        What the objects are called.
    id_name : str or None
        The name of the id column.
    extra : dict of str to ndarray
        Vectors of labels that came along in an NPZ or MAT file, such as ``y``.
    origin : tuple of Origin
        The files that the rows came from, in order.
    """

    columns: dict[str, Array]
    ids: Array | None
    id_name: str | None
    extra: dict[str, Array]
    origin: tuple[Origin, ...] = ()


def read_features(
    paths: Sequence[str | PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002 - what the command calls it too
    id_column: str | int | None = "auto",
    header: bool | str = "auto",
    key: str | None = None,
    keep: Collection[str] = (),
) -> FeatureTable:
    r"""Read features from one file, or from several as one table.

    Parameters
    ----------
    paths : sequence of str or path-like
        Files of any format that `read_table` reads; their rows follow each other.
    format, id_column, header, key
        As for `read_table`; `key` is by default ``X``, ``features``, ``data``, ``fea`` or the only
        2-D array. With "auto", a first column without a telling name is taken for ids where its
        values are different names, or count rows.
    keep : collection of str, optional
        Columns of text files whose cells are wanted as they stand where they are no numbers.

    Returns
    -------
    FeatureTable

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "cells.csv")
    ...     _ = file.write_text("cell,size,kind\na,1.5,T\nb,2,T\nc,,B\n")
    ...     table = read_features([file])
    >>> table.ids.tolist(), table.columns["size"], table.columns["kind"].tolist()
    (['a', 'b', 'c'], array([1.5, 2. , nan]), ['T', 'T', 'B'])
    """
    tables: list[FeatureTable] = []
    for path in paths:
        asked = tables[0].id_name if tables and id_column == "auto" else id_column
        tables.append(_read_one(fspath(path), format, asked, key, keep, header=header))
    return _stacked(tables)


def _read_one(
    path: str,
    asked_format: str | None,
    id_column: str | int | None,
    key: str | None,
    keep: Collection[str],
    *,
    header: bool | str,
) -> FeatureTable:
    name = called(path)
    with opened(path) as stream:
        chosen = format_to_read(path, stream.peek(16)[:16], asked_format)
        complain_of_options(chosen, name, header=header, key=key)
        if chosen in TEXT:
            return _of_text(stream, name, chosen, id_column, keep, header=header)
        if chosen == "parquet":
            return _of_parquet(seekable(stream), name, id_column)
        arrays = load_arrays(seekable(stream), format=chosen, path=name)
    return _of_arrays(arrays, name, key, id_column)


# -- text ------------------------------------------------------------------------------------------


def _of_text(
    stream: io.BufferedReader,
    path: str,
    chosen: str,
    id_column: str | int | None,
    keep: Collection[str],
    *,
    header: bool | str,
) -> FeatureTable:
    with closing(split_rows(stream, path, preferred="\t" if chosen == "tsv" else ",")) as rows:
        first = checked_first(next(rows, None), path, "A table of features")
        columns = [
            TextColumn(keep_texts=_is_kept(place, cell.strip(), id_column, keep))
            for place, cell in enumerate(first)
        ]
        done = 1
        while block := list(islice(rows, _BLOCK)):
            if set(map(len, block)) != {len(columns)}:
                block = [
                    whole_row(row, len(columns), done + i, path) for i, row in enumerate(block, 1)
                ]
            for column, cells in zip(columns, zip(*block, strict=True), strict=True):
                column.add(cells)
            done += len(block)
            check_rows(done, 8 * len(columns), path)
    named = _has_names(first, columns, header=header)
    if named:
        names = [cell.strip() or f"c{place}" for place, cell in enumerate(first, 1)]
        complain_of_names(names, path)
        names[0] = first[0].strip()
    else:
        names = [f"c{place}" for place in range(1, len(first) + 1)]
        for column, cell in zip(columns, first, strict=True):
            column.prepend(cell)
    n_rows = columns[0].n_rows
    if n_rows == 0:
        raise FileFormatError(f"{path} has a header and no rows.")
    place = find_id(
        names,
        id_column,
        path=path,
        n_rows=n_rows,
        is_unique=lambda place: columns[place].can_be_ids(),
        named=named,
    )
    names[0] = names[0] or "c1"
    return FeatureTable(
        {names[other]: columns[other].values() for other in range(len(names)) if other != place},
        None if place is None else ids_of_texts(columns[place].texts()),
        None if place is None else names[place],
        {},
        (Origin(path, 2 if named else 1, n_rows),),
    )


def _is_kept(place: int, name: str, id_column: str | int | None, keep: Collection[str]) -> bool:
    """Tell whether the texts of a column may be wanted: ids, and what the caller asks for."""
    asked = name in keep or str(id_column) in (name, str(place))
    return asked or place == 0 or is_id_name(name) or is_likely_id_name(name)


def _has_names(first: list[str], columns: list[TextColumn], *, header: bool | str) -> bool:
    if header != "auto":
        return bool(header)
    return has_header(
        first,
        [column.is_numeric() for column in columns],
        [column.holds(cell) for column, cell in zip(columns, first, strict=True)],
    )


# -- Parquet and arrays ----------------------------------------------------------------------------


def _of_parquet(source: IO[bytes], path: str, id_column: str | int | None) -> FeatureTable:
    names, index, columns = arrow_columns(source, path=path)
    if id_column == "auto" and index:
        id_column = only_level(index, path)
    n_rows = len(columns[0])
    values = []
    for name, column in zip(names, columns, strict=True):
        with told(f"{path}, column {name!r} cannot be read"):
            values.append(_of_arrow(column))
    place = find_id(
        names,
        id_column,
        path=path,
        n_rows=n_rows,
        is_unique=lambda at: _can_be_ids(values[at]),
        named=True,
    )
    wanted = [other for other in range(len(names)) if other != place and names[other] not in index]
    return FeatureTable(
        {names[other]: values[other] for other in wanted},
        None if place is None else arrow_ids(columns[place], f"{path}, column {names[place]!r}"),
        None if place is None else names[place],
        {},
        (Origin(path, 1, n_rows),),
    )


def _of_arrow(column: Any) -> Array:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        single = pa.types.is_float16(kind) or pa.types.is_float32(kind)
        # Not safe: a whole number beyond 2 ** 53 is rounded, as in any other format.
        kind = pa.float32() if single else pa.float64()
        return np.asarray(column.cast(kind, safe=False).to_numpy())
    if pa.types.is_boolean(kind):
        return np.asarray(column.cast(pa.int8()).cast(pa.float64()).to_numpy())
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    texts = [None if value is None else str(value) for value in column.to_pylist()]
    return np.array(texts, dtype=object)


def _can_be_ids(values: Array) -> bool:
    if values.dtype != object:
        return counts_rows(values)
    return None not in values.tolist() and len(set(values.tolist())) == len(values)


def counts_rows(values: Array) -> bool:
    """Tell whether numbers go up by one from 0 or 1 on, as ids that stand for nothing do."""
    start = values[0] if len(values) else np.nan
    return start in (0, 1) and bool(np.array_equal(values, start + np.arange(len(values))))


def _of_arrays(
    arrays: dict[str, Array], path: str, key: str | None, id_column: str | int | None
) -> FeatureTable:
    name = choose_array(arrays, key, path, usual=_FEATURES, fits=is_table)
    array = arrays[name]
    if array.dtype.kind not in "fiub" or array.ndim != 2 or array.size == 0:
        raise FileFormatError(
            f"{path}: features are a 2-D array of numbers, a row for each object, but {name} has"
            f" the shape {array.shape} and the type {array.dtype}."
        )
    n_rows, width = array.shape
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    found = next((arrays[n] for n in _NAMES if n in arrays and arrays[n].shape == (width,)), None)
    names = [f"c{place}" for place in range(1, width + 1)]
    if found is not None and len(set(map(str, found.tolist()))) == width:
        names = list(map(str, found.tolist()))
    place = find_id(
        names, id_column, path=path, n_rows=n_rows, is_unique=lambda _: False, named=False
    )
    return FeatureTable(
        {names[other]: array[:, other] for other in range(width) if other != place},
        None if place is None else arrays[name][:, place],
        None if place is None else names[place],
        label_vectors({other: arrays[other] for other in arrays if other != name}, n_rows),
        (Origin(path, 1, n_rows),),
    )


# -- several files ---------------------------------------------------------------------------------


def _stacked(tables: list[FeatureTable]) -> FeatureTable:
    first = tables[0]
    if len(tables) == 1:
        return first
    for table in tables[1:]:
        same = (list(table.columns), table.id_name) == (list(first.columns), first.id_name)
        if not same:
            odd = [name for name in table.columns if name not in first.columns]
            lacking = [name for name in first.columns if name not in table.columns]
            how = [f" It has {name!r} too." for name in odd[:1]]
            how += [f" It lacks {name!r}." for name in lacking[:1]]
            raise FileFormatError(
                f"The columns of {table.origin[0].path} are not those of {first.origin[0].path}."
                f"{''.join(how)} Files given together must have the same columns in the same order."
            )
    ids = None if first.ids is None else joined_ids([t.ids for t in tables if t.ids is not None])
    return FeatureTable(
        {name: _joined([table.columns[name] for table in tables]) for name in first.columns},
        ids,
        first.id_name,
        {
            name: _joined([table.extra[name] for table in tables])
            for name in first.extra
            if all(name in table.extra for table in tables)
        },
        sum((table.origin for table in tables), ()),
    )


def _joined(parts: list[Array]) -> Array:
    """Return parts of a column as one; text where one of them is text."""
    if len({part.dtype == object for part in parts}) == 1:
        return np.concatenate(parts)
    return np.concatenate([part.astype(object) for part in parts])
