"""Opening what votes are read from: a file or standard input, plain or gzip."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from ensemblage._validate import check_memory
from ensemblage.files._errors import FileFormatError
from ensemblage.files._formats import STANDARD_STREAM, called

if TYPE_CHECKING:
    from collections.abc import Iterator

_GZIP_MARK = b"\x1f\x8b"
_PART = 1 << 26


@contextmanager
def opened(path: str) -> Iterator[io.BufferedReader]:
    """Open bytes to read, unpacked where they are gzip; damage met on the way is a format error."""
    raw = _standard_input() if path == STANDARD_STREAM else _file(path)
    stream = io.BufferedReader(cast("Any", raw))
    try:
        if stream.peek(2).startswith(_GZIP_MARK):
            unpacked = gzip.GzipFile(fileobj=stream, mode="rb")
            yield io.BufferedReader(cast("Any", unpacked))
        else:
            yield stream
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(
            f"{called(path)} is a damaged or truncated gzip file ({error}). Make or fetch it again."
        ) from error
    finally:
        if path == STANDARD_STREAM:
            stream.detach()
        else:
            stream.close()


def seekable(stream: io.BufferedReader) -> IO[bytes]:
    """Return the bytes as something one can jump about in: the file itself, or a copy in memory."""
    plain_file = isinstance(stream.raw, io.FileIO) and stream.seekable()
    return stream if plain_file else _in_memory(stream)


def _in_memory(stream: io.BufferedReader) -> IO[bytes]:
    """Copy a stream, and stop before it fills the memory: gzip unpacks to a thousand times."""
    copy = io.BytesIO()
    while part := stream.read(_PART):
        check_memory(
            copy.tell() + len(part),
            "Unpacking this file",
            "Unpack it to a file first, and read that.",
        )
        copy.write(part)
    copy.seek(0)
    return copy


def _standard_input() -> Any:
    if sys.stdin is None:
        raise OSError("Standard input is closed, so - cannot be read. Name a file instead.")
    return sys.stdin.buffer


def _file(path: str) -> io.FileIO:
    if not path:
        raise FileNotFoundError("The name of a file to read is empty. Name a file, or - instead.")
    where = Path(path)
    if where.is_dir():
        raise IsADirectoryError(f"{path} is a directory. Name the files in it, as in {path}/*.csv.")
    try:
        return where.open("rb", buffering=0)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"There is no file {path}. Check the name and the folder."
        ) from None
    except PermissionError:
        raise PermissionError(f"{path} may not be read by this user.") from None
