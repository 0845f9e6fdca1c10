"""Reading features: a row for each object, a column for each measurement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.tables.arrays import choose_array, is_table, label_vectors
from ensemblage.tables.columns import joined, plain, to_array, whole_ids
from ensemblage.tables.files import File, arrow_errors, resolve
from ensemblage.tables.formats import FORMATS, TEXT, FileFormatError, load
from ensemblage.tables.labels import NO_VOTE, is_empty
from ensemblage.tables.layout import Choice, check_options, find_id, other_columns
from ensemblage.tables.parse import FLOATS, TEXTS
from ensemblage.tables.reading import read_arrays
from ensemblage.tables.rows import has_decimal_comma
from ensemblage.tables.table import Array, FeatureTable, Origin
from ensemblage.tables.text import name_columns, text_of

if TYPE_CHECKING:
    from ensemblage.tables.parse import HeadColumn


_FEATURES = ("X", "features", "data", "fea")
_NAMES = ("columns", "feature_names", "genes")
_FLOAT = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?inf(inity)?|nan", re.IGNORECASE
)


def read_features(
    sources: Any,
    *,
    format: str | None = None,  # noqa: A002 - what the command calls it too
    id_column: str | int | None = "auto",
    header: bool | str = "auto",
    key: str | None = None,
) -> FeatureTable:
    r"""Read features from one file, or from several as one table.

    Parameters
    ----------
    sources : str, path-like or list of these
        As for `ensemblage.tables.read`. Every file must have the columns of the first.
    format, header : optional
        As for `ensemblage.tables.read`.
    id_column : str, int or None, default="auto"
        The column that names the objects. "auto" looks for it as `ensemblage.tables.read` does,
        but the first column is taken for its content only if it holds different names, or counts
        the rows from 0 or 1 on: numbers that differ are measurements otherwise.
    key : str, optional
        Which array of NPZ or MAT holds the features; by default ``X``, ``features``, ``data``,
        ``fea`` or the only 2-D one.

    Returns
    -------
    FeatureTable
        Columns of numbers, and columns of texts: of text files, those in which a cell is neither
        a number nor empty. Texts are as they are written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "features.csv")
    ...     _ = file.write_text("cell,size,kind\na,1.5,T\nb,2,T\nc,,B\n")
    ...     table = read_features([file])
    >>> table.ids.tolist(), table.columns["size"], table.columns["kind"].tolist()
    (['a', 'b', 'c'], array([1.5, 2. , nan]), ['T', 'T', 'B'])
    """
    parts: list[FeatureTable] = []
    for path in resolve(sources):
        asked = parts[0].id_name if parts and id_column == "auto" else id_column
        file = File(path)
        chosen = file.format(format)
        check_options(chosen, file.name, header=header, key=key)
        if chosen == "xlsx":
            file, chosen = load("text.sheet_as_text")(file), "csv"
        if chosen in TEXT:
            part = _of_text(file, chosen, asked, header=header)
        elif FORMATS[chosen].source is None:
            part = _of_arrays(read_arrays(path, format=chosen), file.name, key, asked)
        else:
            part = _of_arrow(file, chosen, asked)
        parts.append(part)
    return _stacked(parts)


def _without_ids(
    names: list[str],
    columns: list[Array],
    place: int | None,
    ids: Array | None,
    origin: Origin,
    extra: dict[str, Array] | None = None,
) -> FeatureTable:
    """Return the table of these columns without the one at `place`, which holds the ids."""
    others = dict(zip(names, columns, strict=True))
    id_name = None if place is None else names[place]
    others.pop(str(id_name), None)
    return FeatureTable(others, None if place is None else ids, id_name, extra or {}, (origin,))


# -- text ------------------------------------------------------------------------------------------


def _of_text(
    file: File, chosen: str, id_column: str | int | None, *, header: bool | str
) -> FeatureTable:
    import pyarrow as pa

    text = text_of(file, chosen, "A table of features")
    names, named = name_columns(text, header=header, path=file.name)
    head = text.head
    place = find_id(
        names,
        id_column,
        path=file.name,
        n_rows=head[0].n_rows,
        is_unique=lambda at: _names_objects(head[at]),
        named=named,
    )
    names[0] = names[0] or "c1"
    types = [
        FLOATS if at != place and _is_numeric(column) else TEXTS for at, column in enumerate(head)
    ]
    batches = [batch for _, batch in text.batches(types, n_before=int(named), whole=True)]
    if not batches:
        raise FileFormatError(f"{file.name} has a header and no rows.")
    table = pa.Table.from_batches(batches)
    readers = [_numbers if kind == FLOATS else _texts for kind in types]
    columns = [read(column) for read, column in zip(readers, table.columns, strict=True)]
    ids = table.column(place or 0)
    whole = whole_ids(ids) if place is not None else None
    values = to_array(ids if whole is None else whole, file.name) if place is not None else None
    return _without_ids(names, columns, place, values, Origin(file.name, 1 + named, len(table)))


def _names_objects(column: HeadColumn) -> bool:
    """Tell whether all cells are different names, or count the rows from 0 or 1 on."""
    cells = list(column.counts)
    if not column.is_unique() or any(map(has_decimal_comma, cells)):
        return False
    start = cells[0] if cells else ""
    counted = [str(int(start) + at) for at in range(len(cells))] if start in ("0", "1") else []
    return not _is_numeric(column) or cells == counted


def _is_numeric(column: HeadColumn) -> bool:
    return all(is_empty(cell) or _FLOAT.fullmatch(cell.strip()) for cell in column.counts)


def _numbers(column: Any) -> Array:
    """Return numbers, NaN for an empty cell; texts where a cell is not a number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        empty = pc.is_in(trimmed, pa.array(NO_VOTE))
        try:
            column = pc.if_else(empty, pa.scalar(None, pa.string()), trimmed).cast(pa.float64())
        except pa.ArrowInvalid:
            return _texts(column)
    return np.array(column.to_numpy())


def _texts(column: Any) -> Array:
    """Return texts, None for an empty cell."""
    texts = [None if is_empty(text) else text.strip() for text in column.to_pylist()]
    return np.array(texts, dtype=object)


# -- other formats ---------------------------------------------------------------------------------


def _of_arrow(file: File, chosen: str, id_column: str | int | None) -> FeatureTable:
    import pyarrow as pa

    # Which column has ids is decided here: numbers that differ are measurements.
    source = load(str(FORMATS[chosen].source))(file, Choice(id_column=None, whole=True), chosen)
    source.check_fits()
    names = list(source.schema.names)
    if id_column == "auto" and source.index:
        id_column = source.only_level()
    batches = [rows for _, rows in source.rows(0, None, names, 2)]
    if not batches:
        raise FileFormatError(f"{file.name} holds no rows. A table has a row for each object.")
    table = pa.Table.from_batches(batches).select(names)
    columns = []
    for name, column in zip(names, table.columns, strict=True):
        with arrow_errors(f"{source.place(name)} cannot be read"):
            columns.append(_of_column(plain(column, source.place(name))))
    place = find_id(
        names,
        id_column,
        path=file.name,
        n_rows=len(table),
        is_unique=lambda at: _can_be_ids(columns[at]),
        named=True,
    )
    ids = None if place is None else to_array(table.column(place), source.place(names[place]))
    features = _without_ids(names, columns, place, ids, Origin(file.name, 1, len(table)))
    for name in source.index:
        features.columns.pop(name, None)
    return features


def _of_column(column: Any) -> Array:
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
    """Tell whether values are different names, or go up by one from 0 or 1 on."""
    if values.dtype == object:
        return None not in values.tolist() and len(set(values.tolist())) == len(values)
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
    called = next((arrays[n] for n in _NAMES if n in arrays and arrays[n].shape == (width,)), None)
    names = [f"c{place}" for place in range(1, width + 1)]
    if called is not None and len(set(map(str, called.tolist()))) == width:
        names = list(map(str, called.tolist()))
    place = find_id(
        names, id_column, path=path, n_rows=n_rows, is_unique=lambda _: False, named=False
    )
    columns = list((array if array.dtype.kind == "f" else array.astype(np.float64)).T)
    extra = label_vectors({other: arrays[other] for other in arrays if other != name}, n_rows)
    return _without_ids(names, columns, place, array[:, place or 0], Origin(path, 1, n_rows), extra)


# -- several files ---------------------------------------------------------------------------------


def _stacked(parts: list[FeatureTable]) -> FeatureTable:
    first = parts[0]
    for part in parts[1:]:
        if (list(part.columns), part.id_name) != (list(first.columns), first.id_name):
            paths = first.origin[0].path, part.origin[0].path
            raise other_columns(paths[0], first.columns, paths[1], part.columns)
    if len(parts) == 1:
        return first
    common = [name for name in first.extra if all(name in part.extra for part in parts)]
    return FeatureTable(
        {name: _joined([part.columns[name] for part in parts]) for name in first.columns},
        None if first.ids is None else joined([part.ids for part in parts if part.ids is not None]),
        first.id_name,
        {name: _joined([part.extra[name] for part in parts]) for name in common},
        sum((part.origin for part in parts), ()),
    )


def _joined(parts: list[Array]) -> Array:
    """Return parts of a column as one; text where one of them is text."""
    if len({part.dtype == object for part in parts}) == 1:
        return np.concatenate(parts)
    return np.concatenate([part.astype(object) for part in parts])
