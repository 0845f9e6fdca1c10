"""Votes in Parquet, by pyarrow."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate import MemoryBudgetError, check_memory
from ensemblage.files._errors import FileFormatError
from ensemblage.files._formats import need_pyarrow
from ensemblage.files._layout import find_id
from ensemblage.files._table import VoteTable, table_of
from ensemblage.files._values import MISSING, as_votes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_LARGEST = np.iinfo(np.int64).max


def read_parquet(source: IO[bytes], *, path: str, id_column: str | int | None) -> VoteTable:
    """Return the votes of a Parquet file; a null is a missing vote."""
    names, index, columns = arrow_columns(source, path=path)
    if id_column == "auto" and index:
        id_column = only_level(index, path)

    def where(at: int) -> str:
        return f"{path}, column {names[at]!r}"

    place = find_id(
        names,
        id_column,
        path=path,
        n_rows=len(columns[0]),
        is_unique=lambda at: _is_unique(columns[at], where(at)),
        named=True,
    )
    voting = [other for other in range(len(names)) if other != place and names[other] not in index]
    if not voting:
        raise FileFormatError(f"{path} has an id column and no votes beside it.")
    return table_of(
        [names[other] for other in voting],
        [_votes(columns[other], where(other)) for other in voting],
        ids=None if place is None else arrow_ids(columns[place], where(place)),
        id_name=None if place is None else names[place],
    )


def arrow_columns(source: IO[bytes], *, path: str) -> tuple[list[str], list[str], list[Any]]:
    """Return the names of all columns, of those that pandas wrote its index to, and the columns."""
    need_pyarrow(path)
    import pyarrow.parquet as pq

    with told(f"{path} cannot be read as Parquet: it is damaged, truncated or in another format"):
        _check_size(pq.read_metadata(source), path)
        source.seek(0)
        table = pq.read_table(source)
        names = list(table.column_names)
    if table.num_rows == 0 or not names:
        raise FileFormatError(f"{path} holds no rows. A table has a row for each object.")
    if len(set(names)) < len(names):
        raise FileFormatError(f"{path} has several columns of one name. Give each its own.")
    columns = []
    for at, name in enumerate(names):
        with told(f"{path}, column {name!r} cannot be read"):
            columns.append(_plain(table.column(at)))
    return names, _index_of_pandas(table.schema.metadata, names), columns


def _check_size(metadata: Any, path: str) -> None:
    """Refuse what would not fit: equal values take next to nothing in the file, and all in memory.

    What a file says of its sizes is a claim, so the larger of its claims counts.
    """
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    stored = sum(group.total_byte_size for group in groups)
    check_memory(
        max(metadata.num_rows * metadata.num_columns, stored),
        f"The {metadata.num_rows} rows of {path}",
        "The command ensemblage consensus --engine stream reads them in batches.",
    )


@contextmanager
def told(what: str) -> Iterator[None]:
    """Say what cannot be read where Arrow complains, whatever it complains about."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowMemoryError as error:
        raise out_of_memory(what, error) from error
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{what}: it is not there any more.") from error
    except (MemoryError, PermissionError, FileFormatError):
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")
        raise FileFormatError(f"{what} ({reason}). Make or fetch the file again.") from error


def out_of_memory(what: str, error: Exception) -> MemoryBudgetError:
    """Return the complaint about a file for which Arrow has asked for more than there is."""
    return MemoryBudgetError(
        f"{what}: it asks for more memory than there is ({error}). Either it is damaged, or it"
        " needs a larger machine."
    )


def _index_of_pandas(metadata: dict[bytes, bytes] | None, names: list[str]) -> list[str]:
    """Return the columns that pandas wrote its index to. None of them is a clustering."""
    try:
        index = json.loads((metadata or {})[b"pandas"])["index_columns"]
        return [name for name in index if isinstance(name, str) and name in names]
    except (KeyError, ValueError, TypeError):
        return []


def only_level(index: list[str], path: str) -> str:
    """Return the one column of ids, or ask which of several it is."""
    if len(index) == 1:
        return index[0]
    raise FileFormatError(
        f"{path} has a pandas index of {len(index)} levels ({', '.join(map(repr, index))}), but an"
        " object has one id. Name the level to take as id column; the others then are left out."
    )


def _plain(column: Any) -> Any:
    """Return a column without the ways of storing it: categories and views as their values."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.large_string()) if str(column.type) == "string_view" else column


def _is_unique(column: Any, where: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(column.type) or pa.types.is_floating(column.type) or column.null_count:
        return False
    with told(f"{where} cannot be read"):
        try:
            n_distinct = pc.count_distinct(column, mode="all").as_py()
        except pa.ArrowNotImplementedError:
            n_distinct = len(set(column.to_pylist()))
    return bool(n_distinct == len(column))


def _votes(column: Any, where: str) -> NDArray[Any]:
    """Return an Arrow column as integers (-1 missing) or as objects that are str or None."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.full(len(column), MISSING, dtype=np.int8)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        with told(f"{where} cannot be read"):
            return _names(column)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_integer(column.type):
        return as_votes(_integers(column, where), lambda index: f"{where}, row {index[0] + 1}")
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


def _integers(column: Any, where: str) -> NDArray[Any]:
    """Return integers as numpy's, a null as -1 in a type that has room for it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count == 0:
        return np.asarray(column.to_numpy())
    largest = pc.max(column).as_py()
    if largest is not None and largest > _LARGEST:
        raise FileFormatError(
            f"{where}: {largest} and missing votes stand in one column, and no 64-bit integer holds"
            f" both; labels go up to {_LARGEST} there. Number the clusters from 0."
        )
    return np.asarray(column.cast(pa.int64()).fill_null(MISSING).to_numpy())


def arrow_ids(column: Any, where: str) -> NDArray[Any]:
    """Return ids as integers, dates or texts; what numpy has no type for as text."""
    import pyarrow as pa

    kind = column.type
    with told(f"{where} cannot be read"):
        if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None):
            return _copied(column)
        if pa.types.is_integer(kind) and column.null_count == 0:
            return _copied(column)
        return np.array([_as_given(value) for value in column.to_pylist()], dtype=object)


def _copied(column: Any) -> NDArray[Any]:
    """Return a column as numpy has it; one that is not in chunks says no unless told to copy."""
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _as_given(value: Any) -> Any:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
