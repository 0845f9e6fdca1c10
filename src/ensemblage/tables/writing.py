"""Writing columns to files of every format. Writers only move forward, so pipes work."""

from __future__ import annotations

import gzip
import io
import json
import math
import zipfile
from contextlib import nullcontext
from decimal import Decimal
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import ParameterError
from ensemblage.tables.cells import csv_text, rows_of_text
from ensemblage.tables.formats import (
    ARRAYS,
    BY_NAME,
    TEXT,
    FileFormatError,
    format_to_write,
    load,
    packing,
)
from ensemblage.tables.given import given_columns, rounded, typed_columns
from ensemblage.tables.target import check_target, replacing
from ensemblage.tables.times import iso_dates, texts_of_lengths, texts_of_times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Table = Mapping[str, NDArray[Any]]

_TYPED = ("parquet", "arrow", "orc")
#: What writers raise where a format has no type for the values of a column.
_UNFIT = (ValueError, TypeError, OverflowError, NotImplementedError)


def write(
    path: str | PathLike[str],
    columns: Mapping[str, NDArray[Any]],
    *,
    format: str | None = None,  # noqa: A002 - what the command calls it too
    decimals: Mapping[str, int] | None = None,
) -> None:
    """Write columns of equal length, whole or not at all.

    The content goes to a new file beside the target and takes its name at the very end, so that
    an error on the way leaves an existing file as it was.

    Parameters
    ----------
    path : str or path-like
        A file, or ``-`` for standard output. Names that end in ``.gz`` or ``.zst`` are compressed.
    columns : mapping of str to array-like
        The columns by name, in order. NPY has no place for names: it holds a vector for
        one column and a 2-D array for several, so give it labels only.
    format : {"csv", "tsv", "parquet", "arrow", "orc", "json", "npy", "npz"}, optional
        By default inferred from the name; CSV where it has no suffix.
    decimals : mapping of str to int, optional
        How many decimals these columns get in CSV and TSV. All other numbers, and the other
        formats, keep every digit.

    Examples
    --------
    >>> import numpy as np
    >>> columns = {"id": np.array(["a", "b"]), "confidence": np.array([1, 2]) / 3}
    >>> write("-", columns, decimals={"confidence": 3})
    id,confidence
    a,0.333
    b,0.667
    """
    path = _named(path)
    chosen = format_to_write(path, format)
    _write(path, given_columns(columns, matrices=chosen in ARRAYS), chosen, decimals)


def write_typed(
    path: str,
    columns: Mapping[str, NDArray[Any]],
    types: Mapping[str, Any],
    *,
    decimals: Mapping[str, int] | None = None,
) -> None:
    """Write columns as `write` does, some of them in Arrow types: None and NaN are missing."""
    path = _named(path)
    chosen = format_to_write(path, None)
    given = given_columns(columns, matrices=chosen in ARRAYS)
    if chosen not in ARRAYS:
        types = {name: kind for name, kind in types.items() if name in given}
        given |= typed_columns(given, types, as_arrow=chosen in _TYPED)
    _write(path, given, chosen, decimals)


def _write(path: str, columns: Any, chosen: str, decimals: Any) -> None:
    shorter = rounded(columns, decimals)
    columns = shorter if chosen in TEXT else columns
    writer = load(str(BY_NAME[chosen].write))
    with replacing(path) as target, _packed(target, packing(path)) as stream:
        try:
            writer(Forward(stream), columns)
        except (FileFormatError, UnicodeError):
            raise
        except _UNFIT:
            _name_unfit(writer, columns, chosen)
            raise


def _name_unfit(writer: Any, columns: Table, chosen: str) -> None:
    """Raise with the first column that cannot be written alone."""
    for name, values in columns.items():
        try:
            writer(Forward(io.BytesIO()), {name: values})
        except _UNFIT as error:
            reason = str(error).rstrip(".")
            raise FileFormatError(
                f"Column {name!r} cannot be written as {chosen.upper()} ({reason}). Write CSV"
                " instead, or make its values texts."
            ) from error


def _packed(target: Any, how: str | None) -> Any:
    """Return a stream that compresses what is written to it, or the target itself."""
    if how == "gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0)
    if how == "zst":
        import pyarrow as pa

        return pa.CompressedOutputStream(pa.PythonFile(Forward(target), "w"), "zstd")
    return nullcontext(target)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all; see `write`."""
    with replacing(_named(path)) as target:
        target.write(text.encode() + b"\n")


def check_writable(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Raise now what `write` would raise after the work, and leave everything as it was."""
    path = _named(path)
    format_to_write(path, format)
    check_target(path)


def _named(path: str | PathLike[str]) -> str:
    """Return the path as a string."""
    if not isinstance(path, str | PathLike):
        raise ParameterError("tables.write", "path", "a path, or - for standard output", path)
    return fspath(path)


# -- formats ---------------------------------------------------------------------------------------


class Forward(io.BufferedIOBase):
    """A stream that only takes the next bytes, so that pipes and files get the same."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def writable(self) -> bool:
        """Return True: this is for writing."""
        return True

    def write(self, data: Any) -> int:
        """Pass the bytes on."""
        return int(self._stream.write(data))


def write_csv(stream: Forward, columns: Table, delimiter: str = ",") -> None:
    """Write CSV; numbers keep every digit, dates are ISO 8601."""
    shown = list(_with_iso_dates(columns, "").values())
    stream.write(csv_text([columns], delimiter).encode())
    at_once = rows_of_text(len(shown))
    for start in range(0, len(shown[0]) if shown else 0, at_once):
        part = slice(start, start + at_once)
        rows = zip(*(values[part].tolist() for values in shown), strict=True)
        stream.write(csv_text(rows, delimiter).encode())


def write_tsv(stream: Forward, columns: Table) -> None:
    """Write TSV."""
    write_csv(stream, columns, delimiter="\t")


def write_parquet(stream: Forward, columns: Table) -> None:
    """Write Parquet."""
    import pyarrow.parquet as pq

    pq.write_table(_arrow_table(columns), stream)


def write_arrow(stream: Forward, columns: Table) -> None:
    """Write an Arrow IPC file (Feather)."""
    import pyarrow as pa

    table = _arrow_table(columns)
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def write_orc(stream: Forward, columns: Table) -> None:
    """Write ORC."""
    import pyarrow as pa
    from pyarrow import orc

    table = _arrow_table(columns)
    for place, field in enumerate(table.schema):
        # ORC has no unsigned integers, no short floats and no type of nothing.
        kind = pa.int64() if pa.types.is_unsigned_integer(field.type) else field.type
        kind = pa.float32() if pa.types.is_float16(kind) else kind
        kind = pa.string() if pa.types.is_null(kind) else kind
        try:
            column = table.column(place).cast(kind)
        except pa.ArrowInvalid:
            raise FileFormatError(
                f"Column {field.name!r} holds numbers above {2**63 - 1}, for which ORC has no type."
                " Write Parquet or CSV instead."
            ) from None
        table = table.set_column(place, field.name, column)
    orc.write_table(table, pa.PythonFile(stream, "w"))


def write_json(stream: Forward, columns: Table) -> None:
    """Write JSON lines."""
    table = _arrow_table(_with_iso_dates(columns))
    for row in zip(*map(_json_values, table.columns), strict=True):
        shown = dict(zip(table.schema.names, row, strict=True))
        stream.write(json.dumps(shown, ensure_ascii=False).encode() + b"\n")


def _with_iso_dates(columns: Table, missing: str | None = None) -> Table:
    """Return the columns with dates and lengths of time as texts."""
    texts = {n: iso_dates(values) for n, values in columns.items() if values.dtype.kind == "M"}
    texts |= {n: texts_of_lengths(v) for n, v in columns.items() if v.dtype.kind == "m"}
    for times in texts.values():
        times[times == ""] = missing
    return {**columns, **texts}


def _json_values(column: Any) -> list[Any]:
    """Return an Arrow column as values that JSON has: texts for those that it has not."""
    import pyarrow as pa

    if pa.types.is_duration(column.type):
        return texts_of_times(column)
    return [_json_value(value) for value in column.to_pylist()]


def _json_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _arrow_table(columns: Table) -> Any:
    import pyarrow as pa

    return pa.table({n: v if isinstance(v, pa.Array) else pa.array(v) for n, v in columns.items()})


def write_npy(stream: Forward, columns: Table) -> None:
    """Write NPY: a vector for one column, a 2-D array for several."""
    arrays = [_without_objects(values) for values in columns.values()]
    whole = arrays[0] if len(arrays) == 1 else np.column_stack(arrays)
    np.lib.format.write_array(stream, whole, allow_pickle=False)


def write_npz(stream: Forward, columns: Table) -> None:
    """Write NPZ: an array for each column."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in columns.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, _without_objects(values), allow_pickle=False)


def _without_objects(values: NDArray[Any]) -> NDArray[Any]:
    """Return strings as numpy's own, since objects could only be pickled."""
    if values.dtype != object:
        return values
    return np.array(["" if value is None else str(value) for value in values.tolist()])
