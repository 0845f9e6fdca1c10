"""Reading features: a row for each object, a column for each measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._types import Origin
from ensemblage.tables.choice import Choice
from ensemblage.tables.columns import joined, plain
from ensemblage.tables.files import File, arrow_errors, resolve
from ensemblage.tables.headers import USE_HEADER
from ensemblage.tables.labels import NO_VOTE
from ensemblage.tables.layout import no_rows, open_beside
from ensemblage.tables.table import Array, FeatureTable
from ensemblage.tables.text import TextSource

if TYPE_CHECKING:
    from ensemblage.tables.source import Source


def read_features(
    sources: Any,
    *,
    format: str | None = None,  # noqa: A002 - what the command calls it too
    id_column: str | int | None = "auto",
    header: bool | str = "auto",
    key: str | None = None,
    id_name: str | None = None,
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
    id_name : str, optional
        What the ids of the votes are called. With ``id_column="auto"``, a column of that name
        holds the ids, whatever its values.

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
    choice = Choice(id_column=id_column, header=header, whole=True, features=True)
    choice = choice.checked("read_features")
    files = [File(path) for path in resolve(sources)]
    opened = open_beside(files, choice, id_name, format=format, key=key)
    parts = [_part(source) for source in opened]
    first, ids = parts[0], [part.ids for part in parts if part.ids is not None]
    common = [name for name in first.extra if all(name in part.extra for part in parts)]
    return FeatureTable(
        {name: _joined([part.columns[name] for part in parts]) for name in first.columns},
        joined(ids) if ids else None,
        first.id_name,
        {name: _joined([part.extra[name] for part in parts]) for name in common},
        sum((part.origin for part in parts), ()),
    )


def _part(source: Source) -> FeatureTable:
    """Return all rows of a file."""
    if source.matrix is not None:
        matrix = source.matrix
        matrix = matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)
        origin = Origin(source.path, 1, len(matrix))
        columns = dict(zip(source.names, matrix.T, strict=True))
        return FeatureTable(columns, None, None, dict(source.extra), (origin,))
    import pyarrow as pa

    source.check_fits()
    batches = list(source.batches(carried=True, threads=2))
    if not batches:
        raise no_rows(source.path, header=bool(source.n_before))
    columns = {}
    for place, name in enumerate(source.names):
        column = pa.chunked_array([batch.columns[place] for batch in batches])
        with arrow_errors(f"{source.place(name)} cannot be read"):
            if isinstance(source, TextSource):
                column = _of_text(column, numeric=name in source.numeric)
            columns[name] = _of_column(plain(column, source.place(name)))
    ids = source.carried_values(batches)[0] if source.id_name is not None else None
    hint = USE_HEADER if isinstance(source, TextSource) and source.first_is_object else ""
    n_rows = sum(batch.n_rows for batch in batches)
    origin = Origin(source.path, source.n_before + 1, n_rows, hint)
    return FeatureTable(columns, ids, source.id_name, dict(source.extra), (origin,))


def _of_text(column: Any, *, numeric: bool) -> Any:
    """Return numbers where all cells are, else texts; null for an empty cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        return column
    trimmed = pc.utf8_trim_whitespace(column)
    texts = pc.if_else(pc.is_in(trimmed, pa.array(NO_VOTE)), pa.scalar(None, pa.string()), trimmed)
    try:
        return texts.cast(pa.float64()) if numeric else texts
    except pa.ArrowInvalid:
        return texts


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


def _joined(parts: list[Array]) -> Array:
    """Return parts of a column as one; text where one of them is text."""
    if len(parts) == 1:
        return parts[0]
    if len({part.dtype == object for part in parts}) == 1:
        return np.concatenate(parts)
    return np.concatenate([part.astype(object) for part in parts])
