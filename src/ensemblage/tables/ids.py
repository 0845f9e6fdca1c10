"""Ids that were detected must differ within a file, in all of its rows and for every engine."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage._messages import Message, Parameter
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.labels import is_text
from ensemblage.tables.times import values_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

#: Ids that Python compares before a kernel is loaded.
_FEW = 1 << 15


class Ids(NamedTuple):
    """Ids of some objects that have one: the row of each in its file, and an Arrow column."""

    rows: NDArray[np.int64]
    values: Any


def present_ids(column: Any, first: int = 0, *, missing: Sequence[str] = ()) -> Ids:
    """Return the ids of an Arrow column without the missing ones; it begins at row `first`.

    Null and empty texts are missing, and so are these texts.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    # Of a null the length is null too, which a filter leaves out.
    present = pc.greater(pc.binary_length(column), 0) if is_text(column.type) else column.is_valid()
    if missing:
        present = pc.and_not(present, pc.is_in(column, pa.array(missing, column.type)))
    rows = pc.indices_nonzero(present).to_numpy().astype(np.int64) + first + 1
    return Ids(rows, column if len(rows) == len(column) else column.filter(present))


def id_keys(ids: Any) -> NDArray[np.uint64]:
    """Return 64 bits for each id of an Arrow column: numbers and dates themselves, texts hashed."""
    import pyarrow as pa

    from ensemblage.flow.text_keys import text_keys

    if not is_text(ids.type):
        numbers = ids.view(f"int{ids.type.bit_width}").to_numpy()
        return np.asarray(numbers, dtype=np.int64).view(np.uint64)
    texts = ids.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64, len(texts) + 1, 8 * texts.offset)
    return text_keys(ends, np.frombuffer(data or b"", np.uint8))


def repeated(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys that occur more than once among sorted ones, once for each repetition."""
    again: NDArray[np.uint64] = keys[1:][keys[1:] == keys[:-1]]
    return again


def check_ids_differ(path: str, name: Any, ids: list[Ids]) -> None:
    """Raise where an id occurs twice in a file."""
    if sum(len(part.rows) for part in ids) > _FEW:
        keys = np.sort(np.concatenate([id_keys(part.values) for part in ids]))
        if not len(repeated(keys)):
            return
    raise_repeated(path, name, ids)


def raise_repeated(path: str, name: Any, ids: Iterable[Ids]) -> None:
    """Raise with the first id that occurs a second time, if there is one."""
    seen: dict[Any, int] = {}
    for rows, values in ids:
        for row, value in zip(rows.tolist(), values_of(values), strict=True):
            first = seen.setdefault(value, row)
            if first != row:
                raise repeated_id(path, name, value, (first, row))


def repeated_id(path: str, name: Any, value: Any, rows: tuple[int, int]) -> FileFormatError:
    """Return the error about an id that is in two rows of a file."""
    message = Message(
        "Column {name} of {path} looks like ids, but {value} is in rows {first} and {again}."
        " Correct it; or pass {ids} to use it as it is, or {none} to count it as a clustering.",
        name=repr(name),
        path=path,
        value=repr(value),
        first=rows[0],
        again=rows[1],
        ids=Parameter("id_column", name),
        none=Parameter("id_column", "none"),
    )
    return FileFormatError(message)


def numbers_of_pandas(metadata: dict[bytes, bytes] | None) -> tuple[int, int] | None:
    """Return start and step of an index of pandas that is not stored, as it numbers the rows."""
    try:
        (index,) = json.loads((metadata or {})[b"pandas"])["index_columns"]
        return (int(index["start"]), int(index["step"])) if index["kind"] == "range" else None
    except (KeyError, ValueError, TypeError):
        return None


def warn_of_numbers(path: str, numbers: tuple[int, int]) -> None:
    """Warn that the rows have other numbers in the output than in pandas."""
    message = (
        f"The index of {path} in pandas numbers its rows from {numbers[0]} by {numbers[1]}, but the"
        " file has no column of it: rows are counted from 0. To have it as ids, save the file with"
        " to_parquet(..., index=True)."
    )
    warnings.warn(message, UserWarning, stacklevel=2)


def index_of_pandas(metadata: dict[bytes, bytes] | None, names: list[str]) -> list[str]:
    """Return the columns that pandas wrote its index to. None of them is a clustering."""
    try:
        index = json.loads((metadata or {})[b"pandas"])["index_columns"]
        return [name for name in index if isinstance(name, str) and name in names]
    except (KeyError, ValueError, TypeError):
        return []
