"""Columns that pass through: ids and what the caller keeps, as arrays, Arrow columns and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.tables.files import arrow_errors
from ensemblage.tables.labels import is_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNITS = ("D", "s", "ms", "us", "ns")


# -- Arrow columns ---------------------------------------------------------------------------------


def plain(column: Any, where: str) -> Any:
    """Return a column without the ways of storing it: categories and views as their values."""
    import pyarrow as pa

    with arrow_errors(f"{where} cannot be read"):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column.cast(pa.large_string()) if str(column.type) == "string_view" else column


def to_array(column: Any, where: str) -> NDArray[Any]:
    """Return a column as an array of numbers, dates or objects; other types as text."""
    import pyarrow as pa

    column = plain(column, where)
    kind = column.type
    with arrow_errors(f"{where} cannot be read"):
        dates = pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None)
        whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
        if dates or pa.types.is_floating(kind) or (whole and column.null_count == 0):
            return np.asarray(column.to_numpy(zero_copy_only=False))
        return np.array([_as_given(value) for value in column.to_pylist()], dtype=object)


def output_type(kind: Any, *, is_id: bool) -> Any:
    """Return the Arrow type that a carried column has in the output."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    naive = pa.types.is_timestamp(kind) and kind.tz is None
    if pa.types.is_integer(kind) or pa.types.is_date(kind) or naive:
        return kind
    if not is_id and (pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        return kind
    return pa.string()


def common_type(kinds: list[Any]) -> Any:
    """Return the Arrow type that holds a column of every file: text if they are of many kinds."""
    import pyarrow as pa

    kinds = list({str(kind): kind for kind in kinds}.values())
    if len(kinds) == 1:
        return kinds[0]
    if all(pa.types.is_integer(kind) for kind in kinds):
        if all(pa.types.is_unsigned_integer(kind) for kind in kinds):
            return pa.uint64()
        return pa.string() if pa.uint64() in kinds else pa.int64()
    return pa.string()


def cast_to(kind: Any, column: Any, where: str) -> Any:
    """Return a carried column as an Arrow array of this type."""
    import pyarrow as pa

    column = plain(column, where)
    if column.type == kind:
        return column
    if is_text(column.type) or pa.types.is_integer(column.type):
        with arrow_errors(f"{where} cannot be read"):
            return column.cast(kind)
    return pa.array(texts_of(column, where), pa.string())


def texts_of(column: Any, where: str) -> list[Any]:
    """Return a column as texts, which are the same in every batch; None where there is none."""
    values = to_array(column, where)
    if values.dtype.kind == "M":
        return date_texts(values)
    if values.dtype.kind == "f":
        return [None if number != number else str(number) for number in values.tolist()]
    return [None if value is None else str(value) for value in values.tolist()]


def whole_ids(texts: Any) -> Any:
    """Return a column of text as int64 if writing the numbers gives the same texts, else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers if pc.all(pc.equal(numbers.cast(texts.type), texts)).as_py() else None


def _as_given(value: Any) -> Any:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


# -- ids of a table --------------------------------------------------------------------------------


def as_texts(ids: NDArray[Any]) -> list[str]:
    """Return ids as text files spell them; equal texts are equal ids.

    Examples
    --------
    >>> as_texts(np.array([7, 8])), as_texts(np.array(["2020-01-02"], dtype="datetime64[ns]"))
    (['7', '8'], ['2020-01-02'])
    """
    values = iso_dates(ids).tolist() if ids.dtype.kind == "M" else ids.tolist()
    return ["" if value is None else str(value) for value in values]


def iso_dates(dates: NDArray[Any]) -> NDArray[Any]:
    """Return dates as ISO 8601 texts, as fine as the finest of them needs."""
    known = dates[~np.isnat(dates)]
    unit = next(unit for unit in _UNITS if (known.astype(f"datetime64[{unit}]") == known).all())
    texts = np.datetime_as_string(dates.astype(f"datetime64[{unit}]"))
    return np.where(np.isnat(dates), "", texts)


def date_texts(dates: NDArray[Any]) -> list[Any]:
    """Return dates as ISO 8601; as fine as their type, since no batch knows what others need."""
    texts = np.datetime_as_string(dates).astype(object)
    texts[np.isnat(dates)] = None
    return list(texts)


def joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids of several files as one array: as text where they are of different kinds."""
    if len({part.dtype.kind for part in parts}) == 1:
        return np.concatenate(parts)
    return np.array([text for part in parts for text in as_texts(part)], dtype=object)
