"""Sizes of the record batches of an Arrow IPC file, before any of them is unpacked.

A compressed buffer begins with its unpacked length. pyarrow does not give it, so the few fields of
the metadata (a flatbuffer) that are needed are read here, each position checked by `struct`.
"""

from __future__ import annotations

import os
import struct
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ensemblage._validate.memory import is_cramped

if TYPE_CHECKING:
    from collections.abc import Iterator

_END = 10  # bytes after the footer: its length, and the mark of the format
_BLOCK = struct.Struct("<qi4xq")  # where a message is, the length of its metadata, and of its body
_DICTIONARY, _RECORD_BATCH = 2, 3  # as kinds of messages, and as fields of the footer
_CONTINUED = b"\xff\xff\xff\xff"  # before the metadata of a message, but for very old files
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


def _messages(content: IO[bytes]) -> Iterator[tuple[int, BatchSize]]:
    """Yield the size of each message that the footer lists: others may stand between them."""
    file = _Bytes(content)
    length = _unpack("<i", file.at(file.end - _END, 4), 0)
    footer = file.at(file.end - _END - length, length)
    root = _unpack("<I", footer, 0)
    for kind in (_DICTIONARY, _RECORD_BATCH):
        if _field(footer, root, kind) is None:
            continue
        start = _follow(footer, root, kind)
        for place in range(_unpack("<I", footer, start)):
            at, n_metadata, _ = _BLOCK.unpack_from(footer, start + 4 + place * _BLOCK.size)
            yield kind, _message_size(file, at, n_metadata, kind)


def _message_size(file: _Bytes, start: int, n_metadata: int, kind: int) -> BatchSize:
    """Return the size of the batch in a message."""
    before = 8 if file.at(start, 4) == _CONTINUED else 4
    metadata = file.at(start + before, n_metadata - before)
    root = _unpack("<I", metadata, 0)
    place = _field(metadata, root, 1)
    if place is None or _unpack("<B", metadata, place) != kind:
        raise IndexError("a message of another kind than the footer says")
    table = _follow(metadata, root, 2)
    if kind == _DICTIONARY:
        table = _follow(metadata, table, 1)
    return _size(metadata, table, file, start + n_metadata)


def _size(metadata: bytes, table: int, file: _Bytes, body: int) -> BatchSize:
    place = _field(metadata, table, 0)
    n_rows = 0 if place is None else _unpack("<q", metadata, place)
    packed = _field(metadata, table, 3) is not None
    start = _follow(metadata, table, 2)
    total = 0
    for at in range(start + 4, start + 4 + 16 * _unpack("<I", metadata, start), 16):
        offset, length = struct.unpack_from("<qq", metadata, at)
        unpacked = length
        if packed and length >= 8:
            unpacked = _unpack("<q", file.at(body + offset, 8), 0)
            unpacked = length - 8 if unpacked == _STORED else unpacked
        total += max(0, unpacked)
    return BatchSize(n_rows, total)


class _Bytes:
    """The bytes of a file by their places, each of them checked."""

    def __init__(self, content: IO[bytes]) -> None:
        self._content, self.end = content, content.seek(0, os.SEEK_END)

    def at(self, place: int, size: int) -> bytes:
        """Return some bytes, or raise where they are not in the file."""
        if place < 0 or size < 0 or place + size > self.end:
            raise IndexError(f"{size} bytes at {place}, of {self.end}")
        self._content.seek(place)
        return self._content.read(size)


def _unpack(form: str, buffer: bytes, place: int) -> int:
    (number,) = struct.unpack_from(form, buffer, place)
    return int(number)


def _field(metadata: bytes, table: int, number: int) -> int | None:
    """Return where a field of a table is, None where it has its default."""
    layout = table - _unpack("<i", metadata, table)
    at = 4 + 2 * number
    if at >= _unpack("<H", metadata, layout):
        return None
    offset = _unpack("<H", metadata, layout + at)
    return table + offset if offset else None


def _follow(metadata: bytes, table: int, number: int) -> int:
    """Return where a field of a table points to."""
    place = _field(metadata, table, number)
    if place is None:
        raise IndexError(f"field {number} is not there")
    return place + _unpack("<I", metadata, place)
