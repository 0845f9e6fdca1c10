"""Sizes of the record batches of an Arrow IPC file, before any of them is unpacked.

A compressed buffer begins with its unpacked length. pyarrow does not give it, so the few fields of
the metadata (a flatbuffer) that are needed are read here, each position checked by `struct`.
"""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ensemblage._validate.memory import is_cramped

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = 8  # bytes before the first message
_DICTIONARY, _RECORD_BATCH = 2, 3
_STORED = -1  # a buffer that would not have become smaller


def open_mapped(path: str) -> Any:
    """Return a file for Arrow: mapped, or opened where there are few addresses for maps."""
    import pyarrow as pa

    try:
        path.encode()
    except UnicodeEncodeError:  # a name that is not UTF-8, which Arrow cannot open
        return pa.PythonFile(open(path, "rb"), "r")  # noqa: PTH123 - closed by Arrow
    return pa.OSFile(path) if is_cramped() else pa.memory_map(path)


class BatchSize(NamedTuple):
    """The rows of a record batch, and its bytes when unpacked."""

    n_rows: int
    n_bytes: int


def batch_sizes(content: IO[bytes], n_batches: int) -> tuple[list[BatchSize], int]:
    """Return the size of each record batch, and the bytes of all dictionaries."""
    import pyarrow as pa

    batches, in_dictionaries = [], 0
    try:
        for kind, size in _messages(content):
            if kind == _RECORD_BATCH:
                batches.append(size)
            else:
                in_dictionaries += size.n_bytes
    except (struct.error, IndexError) as error:
        raise pa.ArrowInvalid(f"metadata that make no sense: {error}") from error
    if len(batches) != n_batches:
        raise pa.ArrowInvalid(f"{len(batches)} record batches where {n_batches} are listed")
    return batches, in_dictionaries


def _messages(content: Any) -> Iterator[tuple[int, BatchSize]]:
    import pyarrow as pa

    content.seek(_MAGIC)
    reader = pa.ipc.MessageReader.open_stream(content)
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return
        metadata = memoryview(message.metadata)
        root = _unpack("<I", metadata, 0)
        place = _field(metadata, root, 1)
        kind = 0 if place is None else _unpack("<B", metadata, place)
        if kind not in (_DICTIONARY, _RECORD_BATCH):
            continue
        table = _follow(metadata, root, 2)
        if kind == _DICTIONARY:
            table = _follow(metadata, table, 1)
        body = b"" if message.body is None else memoryview(message.body)
        yield kind, _size(metadata, table, body)


def _size(metadata: Any, table: int, body: Any) -> BatchSize:
    place = _field(metadata, table, 0)
    n_rows = 0 if place is None else _unpack("<q", metadata, place)
    packed = _field(metadata, table, 3) is not None
    start = _follow(metadata, table, 2)
    total = 0
    for at in range(start + 4, start + 4 + 16 * _unpack("<I", metadata, start), 16):
        offset, length = struct.unpack_from("<qq", metadata, at)
        unpacked = length
        if packed and length >= 8:
            unpacked = _unpack("<q", body, offset)
            unpacked = length - 8 if unpacked == _STORED else unpacked
        total += max(0, unpacked)
    return BatchSize(n_rows, total)


def _unpack(form: str, buffer: Any, place: int) -> int:
    (number,) = struct.unpack_from(form, buffer, place)
    return int(number)


def _field(metadata: Any, table: int, number: int) -> int | None:
    """Return where a field of a table is, None where it has its default."""
    layout = table - _unpack("<i", metadata, table)
    at = 4 + 2 * number
    if at >= _unpack("<H", metadata, layout):
        return None
    offset = _unpack("<H", metadata, layout + at)
    return table + offset if offset else None


def _follow(metadata: Any, table: int, number: int) -> int:
    """Return where a field of a table points to."""
    place = _field(metadata, table, number)
    if place is None:
        raise IndexError(f"field {number} is not there")
    return place + _unpack("<I", metadata, place)
