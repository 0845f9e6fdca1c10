"""Votes in Parquet, by pyarrow."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from quorate.files._errors import FileFormatError
from quorate.files._formats import need_pyarrow
from quorate.files._layout import find_id
from quorate.files._table import VoteTable, table_of
from quorate.files._values import MISSING, as_votes

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_parquet(source: IO[bytes], *, path: str, id_column: str | int | None) -> VoteTable:
    """Return the votes of a Parquet file; a null is a missing vote."""
    need_pyarrow(path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(source)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].strip().rstrip(".")
        raise FileFormatError(
            f"{path} cannot be read as Parquet: it is damaged, truncated or in another format"
            f" ({reason}). Make or fetch it again."
        ) from error
    names = list(table.column_names)
    if table.num_rows == 0 or not names:
        raise FileFormatError(f"{path} holds no rows. A table of votes has a row for each object.")
    if len(set(names)) < len(names):
        raise FileFormatError(f"{path} has several columns of one name. Give each its own.")
    place = find_id(
        names,
        _index_of_pandas(table.schema.metadata, names) if id_column == "auto" else id_column,
        path=path,
        n_rows=table.num_rows,
        is_unique=lambda place: _is_unique(table.column(place)),
        named=True,
    )
    votes = [other for other in range(len(names)) if other != place]
    if not votes:
        raise FileFormatError(f"{path} has an id column and no votes beside it.")
    columns = [_votes(table.column(other), f"{path}, column {names[other]!r}") for other in votes]
    return table_of(
        [names[other] for other in votes],
        columns,
        ids=None if place is None else _ids(table.column(place)),
        id_name=None if place is None else names[place],
    )


def _index_of_pandas(metadata: dict[bytes, bytes] | None, names: list[str]) -> str:
    """Return the column that pandas wrote its index to, or "auto"."""
    try:
        index = json.loads((metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, ValueError):
        return "auto"
    stored = [name for name in index if isinstance(name, str) and name in names]
    return stored[0] if stored else "auto"


def _is_unique(column: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(column.type) or pa.types.is_floating(column.type):
        return False
    return bool(pc.count_distinct(column, mode="all").as_py() == len(column))


def _votes(column: Any, where: str) -> NDArray[Any]:
    """Return an Arrow column as integers (-1 missing) or as objects that are str or None."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return np.full(len(column), MISSING, dtype=np.int8)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return _names(column)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_integer(column.type):
        return as_votes(_integers(column), lambda index: f"{where}, row {index[0] + 1}")
    if pa.types.is_floating(column.type):
        values = column.to_numpy()
        return as_votes(values, lambda index: f"{where}, row {index[0] + 1}")
    raise FileFormatError(
        f"{where}: values of type {column.type} are no cluster labels. Votes are whole numbers or"
        " names."
    )


def _names(column: Any) -> NDArray[Any]:
    """Return strings as objects, equal ones as one object; a null as None."""
    import pyarrow as pa

    encoded = column.dictionary_encode().unify_dictionaries()
    if encoded.num_chunks == 0:
        return np.zeros(0, dtype=object)
    names = np.array([*encoded.chunk(0).dictionary.to_pylist(), None], dtype=object)
    indices = pa.chunked_array([chunk.indices for chunk in encoded.chunks])
    codes: NDArray[np.int32] = indices.fill_null(len(names) - 1).to_numpy()
    return np.take(names, codes)


def _integers(column: Any) -> NDArray[Any]:
    """Return integers as numpy's, a null as -1 in a type that has room for it."""
    import pyarrow as pa

    if column.null_count == 0:
        return np.asarray(column.to_numpy())
    wider = column.cast(pa.int64())
    return np.asarray(wider.fill_null(MISSING).to_numpy())


def _ids(column: Any) -> NDArray[Any]:
    values = column.to_numpy() if column.null_count == 0 else np.array(column.to_pylist(), object)
    return np.asarray(values)
