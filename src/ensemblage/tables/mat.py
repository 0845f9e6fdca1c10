"""Arrays of numbers and characters in MATLAB's MAT files, versions 4 to 7.

scipy's compiled parser trusts types and sizes, and damaged files end the process. Here every length
is checked first. Cells, structures, objects and sparse matrices come back as empty arrays.
"""

from __future__ import annotations

import io
import math
import os
import zlib
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate import check_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_UTF_8, _UTF_16, _UTF_32 = 16, 17, 18
#: Classes of arrays: 4 is of characters, 6 to 15 are of numbers.
_CHARACTERS, _NUMERIC, _OPAQUE = 4, range(6, 16), 17
_COMPLEX = 1 << 11
_HEADER_OF_4, _NUMBERS_OF_4 = 20, ("f8", "f4", "i4", "i2", "u2", "u1")
_AT_ONCE = 1 << 20


class NewMatError(Exception):
    """A MAT file of version 7.3, which is HDF5."""


def read_mat(source: IO[bytes], path: str) -> dict[str, NDArray[Any]]:
    """Return the arrays by name, in the types they are stored as."""
    variables = _variables(source, path)
    return {name: array for name, array in variables if name}  # without: of MATLAB's own use


def _check(n_bytes: int, path: str) -> None:
    """Reject an array that would not fit, as bytes and as numbers."""
    advice = "Save the votes alone, in a file of their own."
    check_memory(2 * n_bytes, f"An array in {path}", advice)


def _variables(source: IO[bytes], path: str) -> Iterator[tuple[str, NDArray[Any]]]:
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    head = source.read(128)
    if 0 in head[:4]:
        yield from _variables_of_4(source, size, path)
        return
    order = {b"IM": "<", b"MI": ">"}.get(head[126:])
    if head.startswith(b"\x89HDF"):  # without the usual 512 bytes before
        raise NewMatError
    if order is None:
        raise ValueError("it does not begin as MAT files do")
    version = np.frombuffer(head, f"{order}u2", 1, 124)[0] >> 8
    if version == 2:
        raise NewMatError
    if version != 1:
        raise ValueError(f"a MAT file of the unknown version {version}")
    at = 128
    while at < size:
        source.seek(at)
        kind, length, small = _tag(_Plain(source, size - at, path), order)
        if small is not None:
            raise ValueError(f"an element of type {kind} at byte {at} where an array belongs")
        if length > size - at - 8:
            raise ValueError(f"a variable at byte {at} is longer than the file")
        if kind == _MATRIX:
            yield _matrix(_Plain(source, length, path), order)
        elif kind == _COMPRESSED:
            inner = _Packed(source, length, path)
            kind, unpacked, _ = _tag(inner, order)
            if kind != _MATRIX:
                raise ValueError(f"a compressed element of type {kind} where an array belongs")
            name, array = _matrix(inner, order)
            if array.dtype != object:
                inner.finish(8 + unpacked)
            yield name, array
        at += 8 + length


class _Plain:
    """The bytes of a variable, which stand in the file."""

    def __init__(self, source: IO[bytes], left: int, path: str) -> None:
        self._source, self._left, self._path = source, left, path

    def take(self, count: int) -> bytes:
        """Return so many bytes, or raise where there are fewer."""
        _check(count, self._path)
        content = self.up_to(count)
        if len(content) < count:
            raise ValueError(f"{count} bytes were announced where {len(content)} are left")
        return content

    def up_to(self, count: int) -> bytes:
        """Return so many bytes, or all that are left."""
        content = self._source.read(min(count, self._left))
        self._left -= len(content)
        return content


class _Packed(_Plain):
    """Bytes that are inflated as far as they are wanted, if they fit in memory."""

    def __init__(self, source: IO[bytes], left: int, path: str) -> None:
        super().__init__(source, left, path)
        self._inflate, self._taken = zlib.decompressobj(), 0

    def finish(self, length: int) -> None:
        """Go to the end, where zlib compares its checksum: there must be `length` bytes in all."""
        while self._taken < length and self.up_to(min(_AT_ONCE, length - self._taken)):
            pass
        if self.up_to(1) or self._taken != length or not self._inflate.eof:
            raise ValueError(f"{length} bytes were announced where there are more or fewer")

    def up_to(self, count: int) -> bytes:
        """Return so many bytes, or all that are left."""
        content = io.BytesIO()
        # Beyond the end of the stream its unconsumed tail stays as it is.
        while (wanted := count - content.tell()) > 0 and not self._inflate.eof:
            packed = self._inflate.unconsumed_tail
            if not packed:
                packed = self._source.read(min(self._left, _AT_ONCE))
                self._left -= len(packed)
            some = self._inflate.decompress(packed, wanted)
            if not some and not packed:
                break
            content.write(some)
        self._taken += content.tell()
        return content.getvalue()


def _tag(stream: _Plain, order: str) -> tuple[int, int, bytes | None]:
    """Return type and length of the next element; its bytes too where they stand in the tag."""
    tag = stream.take(8)
    first, length = np.frombuffer(tag, f"{order}u4").tolist()
    if first >> 16 == 0:
        return first, length, None
    if first >> 16 > 4:
        raise ValueError(f"{first >> 16} bytes were announced where 4 are left")
    return first & 0xFFFF, first >> 16, tag[4 : 4 + (first >> 16)]


def _element(stream: _Plain, order: str) -> tuple[int, bytes]:
    """Return the type and the bytes of the next element; it fills a multiple of 8 bytes."""
    kind, length, small = _tag(stream, order)
    if small is not None:
        return kind, small
    content = stream.take(length)
    stream.up_to(-length % 8)
    return kind, content


def _numbers(stream: _Plain, order: str) -> NDArray[Any]:
    kind, content = _element(stream, order)
    if kind not in _NUMBERS:
        raise ValueError(f"an element of type {kind} where numbers belong")
    return np.frombuffer(content, order + _NUMBERS[kind]).astype(_NUMBERS[kind])


def _matrix(stream: _Plain, order: str) -> tuple[str, NDArray[Any]]:
    flags = _numbers(stream, order)
    if not len(flags):
        raise ValueError("an array of no kind")
    kind = int(flags[0]) & 0xFF
    if kind == _OPAQUE:  # a table, say, or a string: the one kind without a shape
        return _name(stream, order), np.empty(0, dtype=object)
    shape = tuple(_numbers(stream, order).tolist())
    name = _name(stream, order)
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"an array of shape {shape}")
    if kind == _CHARACTERS:
        return name, _characters(stream, order, shape)
    if kind not in _NUMERIC:
        return name, np.empty(0, dtype=object)
    values = _numbers(stream, order)
    if int(flags[0]) & _COMPLEX:
        values = _complex(values, _numbers(stream, order))
    return name, _shaped(values, shape)


def _name(stream: _Plain, order: str) -> str:
    return _element(stream, order)[1].decode("latin-1")


def _complex(real: NDArray[Any], imaginary: NDArray[Any]) -> NDArray[Any]:
    values = np.empty(len(real), dtype=np.complex128)
    values.real, values.imag = real, imaginary
    return values


def _shaped(values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if math.prod(shape) != len(values):
        raise ValueError(f"an array of shape {shape} in {len(values)} values")
    return values.reshape(shape, order="F")


def _characters(stream: _Plain, order: str, shape: tuple[int, ...]) -> NDArray[Any]:
    kind, content = _element(stream, order)
    units = {**_NUMBERS, _UTF_16: "u2", _UTF_32: "u4"}
    if kind == _UTF_8:
        text = content.decode("utf-8", errors="surrogateescape")
        codes = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), "<u4")
    elif kind in units:
        codes = np.frombuffer(content, order + units[kind])
    else:
        raise ValueError(f"an element of type {kind} where characters belong")
    if kind == _UTF_8 and len(codes) != math.prod(shape):  # MATLAB counts in halves of some
        return np.empty(0, dtype=object)
    return _texts(codes, shape)


def _texts(codes: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the texts that numbers of characters spell, along the last axis."""
    with np.errstate(invalid="ignore"):
        letters = _shaped(codes.astype(np.int64), shape)
    if letters.size == 0:
        return np.empty(0, dtype="U1")  # not as many texts without a letter as the file likes
    if letters.min() < 0 or letters.max() > 0x10FFFF or ((letters >> 11) == 0x1B).any():
        return np.empty(0, dtype=object)  # halves of characters, or none at all: no text
    rows = np.ascontiguousarray(letters, dtype=np.uint32)
    return rows.view(f"U{rows.shape[-1]}")[..., 0]


def _variables_of_4(source: IO[bytes], size: int, path: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the variables of a file of version 4: a header, a name and numbers for each."""
    at = 0
    while at < size:
        source.seek(at)
        stream = _Plain(source, size - at, path)
        head = stream.take(_HEADER_OF_4)
        order = "<" if 0 <= np.frombuffer(head, "<i4", 1)[0] <= 5000 else ">"
        code, n_rows, n_columns, is_complex, n_name = np.frombuffer(head, f"{order}i4").tolist()
        stored, layout = code % 100 // 10, code % 10
        if not 0 <= code < 2000 or code % 1000 >= 100 or stored > 5 or layout > 2:
            raise ValueError(f"an array of the unknown type {code}")
        if min(n_rows, n_columns, n_name - 1) < 0:
            raise ValueError(f"an array of shape {(n_rows, n_columns)}")
        name = stream.take(n_name).rstrip(b"\0").decode("latin-1")
        kind = np.dtype(order + _NUMBERS_OF_4[stored])
        count = n_rows * n_columns
        parts = [
            np.frombuffer(stream.take(count * kind.itemsize), kind).astype(kind.newbyteorder("="))
            for _ in range(1 + bool(is_complex))
        ]
        at += _HEADER_OF_4 + n_name + len(parts) * count * kind.itemsize
        values = parts[0] if len(parts) == 1 else _complex(*parts)
        if layout == 0:
            yield name, _shaped(values, (n_rows, n_columns))
        elif layout == 1:
            yield name, _texts(values.real, (n_rows, n_columns))
        else:
            yield name, np.empty(0, dtype=object)
