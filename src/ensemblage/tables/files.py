"""Where tables come from: files, folders, patterns, URIs and standard input, plain or packed."""

from __future__ import annotations

import fnmatch
import glob
import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from functools import lru_cache
from os import PathLike
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, cast

from ensemblage._messages import printable_path as shown
from ensemblage._validate import MemoryBudgetError, check_memory
from ensemblage.tables.formats import FileFormatError, format_of_name, format_to_read
from ensemblage.tables.ipc import open_mapped
from ensemblage.tables.paths import kind_of, named, not_files, open_file, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD_STREAM = "-"
_PART = 1 << 26
_PLACES, _SAMPLED = 64, 4096  # samples by which a file is recognised


class File:
    """A file to read: a path, a URI or ``-``; `name` is for messages.

    Standard input and pipes are kept in memory.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = "standard input" if path == STANDARD_STREAM else path
        self.once = path == STANDARD_STREAM or (not is_remote(path) and kind_of(path) == "pipe")
        self._content: bytes | None = None

    @classmethod
    def of_bytes(cls, content: bytes, name: str) -> File:
        """Return what behaves like a file with this content."""
        file = cls("-")
        file.name, file._content = name, content
        return file

    @contextmanager
    def opened(self) -> Iterator[io.BufferedReader]:
        """Open the bytes to read, unpacked where they are gzip or zstd."""
        with self._raw() as stream:
            how = _packing(stream)
            try:
                yield stream if how is None else io.BufferedReader(_unpacked(stream, how))
            except (OSError, EOFError, zlib.error) as error:
                if how is None or getattr(error, "errno", None) is not None:
                    raise
                raise FileFormatError(
                    f"{self.name} is a damaged or truncated {how} file ({error}). Make or fetch it"
                    " again."
                ) from error
            except MemoryError as error:
                if how is None or isinstance(error, MemoryBudgetError):
                    raise
                raise _too_large(self.name, error) from error

    def format(self, asked: str | None = None) -> str:
        """Return the format to read the file in."""
        by_name = format_of_name(self.path)
        if asked is None and by_name is not None:
            self._raw().close()  # there must be a file before anything is said about its format
            return by_name
        with self.opened() as stream:
            return format_to_read(self.path, stream.peek(64)[:64], asked)

    def is_packed(self) -> bool:
        """Return whether the file is compressed."""
        with self._raw() as stream:
            return _packing(stream) is not None

    @contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """Open the bytes as something that can seek: the file itself, or a copy in memory."""
        with self.opened() as stream:
            yield _in_memory(stream) if self.is_packed() else stream

    @contextmanager
    def for_arrow(self, *, mapped: bool = False) -> Iterator[Any]:
        """Open the file for Arrow: a local one by its path or mapped, others as `seekable`."""
        local = not self.once and not is_remote(self.path)
        if local and not self.is_packed():
            if mapped:
                with open_mapped(self.path) as content:
                    yield content
            else:
                yield self.path
        else:
            with self.seekable() as stream:
                yield stream

    def state(self) -> tuple[int, int] | None:
        """Return size and time of change; None if the file is gone."""
        if is_remote(self.path):
            info = _info(self.path)
            return (info.size, info.mtime_ns) if info.is_file else None
        status = Path(self.path).stat() if kind_of(self.path) == "file" else None
        return None if status is None else (status.st_size, status.st_mtime_ns)

    def fingerprint(self) -> tuple[int, int, str] | None:
        """Return size, time of change and a digest of samples; None if the file is gone."""
        state = self.state()
        if state is None or is_remote(self.path):
            return None if state is None else (*state, "")
        digest = hashlib.sha256()
        last = max(0, state[0] - _SAMPLED)
        with Path(self.path).open("rb") as file:
            for place in range(_PLACES):
                file.seek(last * place // (_PLACES - 1))
                digest.update(file.read(_SAMPLED))
        return (*state, digest.hexdigest())

    def _raw(self) -> io.BufferedReader:
        if self._content is not None:
            return io.BufferedReader(cast("Any", io.BytesIO(self._content)))
        if is_remote(self.path):
            system, inner = filesystem(self.path)
            with _remote_errors(self.path):
                return io.BufferedReader(system.open_input_file(inner))
        if self.path == STANDARD_STREAM and sys.stdin is None:
            raise OSError("Standard input is closed, so - cannot be read. Name a file instead.")
        raw: Any = sys.stdin.buffer if self.path == STANDARD_STREAM else open_file(self.path)
        if not self.once:
            return io.BufferedReader(raw)
        self._content = _in_memory(raw).getvalue()
        if self.path != STANDARD_STREAM:  # which stays open
            raw.close()
        return self._raw()


def _packing(stream: io.BufferedReader) -> str | None:
    mark = stream.peek(4)[:4]
    return "gzip" if mark[:2] == b"\x1f\x8b" else "zstd" if mark == b"\x28\xb5\x2f\xfd" else None


def _unpacked(stream: io.BufferedReader, how: str) -> Any:
    if how == "gzip":
        return gzip.GzipFile(fileobj=stream, mode="rb")
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(stream, "r"), how)


def _in_memory(stream: IO[bytes]) -> io.BytesIO:
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


# -- URIs ------------------------------------------------------------------------------------------


def is_remote(path: str) -> bool:
    """Return whether a path is a URI."""
    return "://" in path


@lru_cache(maxsize=64)
def filesystem(uri: str) -> tuple[Any, str]:
    """Return the file system of a URI, and the path in it."""
    import pyarrow as pa
    from pyarrow.fs import FileSystem

    try:
        system, inner = FileSystem.from_uri(uri)
    except (pa.ArrowException, OSError, ImportError) as error:
        scheme = uri.partition("://")[0]
        raise FileFormatError(
            f"{uri} cannot be read: pyarrow cannot open {scheme}:// ({error}). Known are s3://,"
            " gs://, abfs://, hdfs:// and file://, as far as the installed pyarrow has them (pip"
            " install pyarrow has s3, gs and abfs). Or download the file first."
        ) from error
    return system, inner


def _info(uri: str) -> Any:
    system, inner = filesystem(uri)
    with _remote_errors(uri):
        return system.get_file_info(inner)


@contextmanager
def _remote_errors(uri: str) -> Iterator[None]:
    """Name the address where a remote file cannot be opened."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {uri}. Check the address.") from None
    except OSError as error:
        raise OSError(
            f"{uri} cannot be read: {error}. Check the address, the network and the credentials."
        ) from error


# -- files, folders and patterns -------------------------------------------------------------------


def resolve(sources: Any) -> list[str]:
    """Return the files that paths, folders and patterns stand for, in order.

    Files of a folder or a pattern are sorted by name; those of a folder whose names begin with a
    dot or an underscore are left out. A path that exists is not a pattern.
    """
    if isinstance(sources, str | PathLike):
        sources = [sources]
    is_table = isinstance(sources, Mapping) or len(getattr(sources, "shape", ())) > 1
    not_list = isinstance(sources, bytes | set | frozenset | io.IOBase) or not isinstance(
        sources, Iterable
    )
    if is_table or not_list:
        raise TypeError(not_files(sources))
    paths: list[str] = []
    for source in sources:
        path = path_of(source)
        paths += _remote_files(path) if is_remote(path) else _local_files(path)
    if not paths:
        raise FileNotFoundError("No file of votes was named. Name one or several.")
    _check_each_once(paths)
    return paths


def _check_each_once(paths: list[str]) -> None:
    """Raise where a file is named twice, also by a pattern or a link."""
    first: dict[str, str] = {}
    for path in paths:
        place = path if is_remote(path) else os.path.realpath(path)
        if place in first:
            also = "" if first[place] == path else f" (also as {first[place]})"
            raise FileFormatError(
                f"{path} is named twice{also}, so it would count twice. Name it once."
            )
        first[place] = path


def _local_files(path: str) -> list[str]:
    where, kind = named(path), kind_of(path)
    if kind == "folder":
        return _of_folder(path, [str(file) for file in where.iterdir() if _is_to_read(file)])
    if not kind and glob.has_magic(path):
        recursive = "**" in path
        found = glob.glob(path, recursive=recursive)  # noqa: PTH207 - the pattern may be absolute
        return _matching(path, [p for p in found if not (recursive and Path(p).is_dir())])
    return [path]


def _is_to_read(path: Path) -> bool:
    """Tell files, also lost ones: opening a link that leads nowhere is an error."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def _remote_files(uri: str) -> list[str]:
    if uri.startswith("file://"):
        return _local_files(filesystem(uri)[1])
    parent, _, last = uri.rstrip("/").rpartition("/")
    if glob.has_magic(last):
        names = fnmatch.filter(_remote_names(parent), last)
        if not last.startswith("."):  # as glob does for local files
            names = [name for name in names if not name.startswith(".")]
        return _matching(uri, [f"{parent}/{name}" for name in names])
    if not uri.endswith("/") and _info(uri).is_file:
        return [uri]
    folder = uri.rstrip("/")
    return _of_folder(uri, [f"{folder}/{name}" for name in _remote_names(folder)])


def _remote_names(folder: str) -> list[str]:
    from pyarrow.fs import FileSelector

    system, inner = filesystem(folder)
    with _remote_errors(folder):
        inside = system.get_file_info(FileSelector(inner))
    return [PurePosixPath(info.path).name for info in inside if info.is_file]


def _of_folder(path: str, files: list[str]) -> list[str]:
    """Return the files of a folder that are read: as for Arrow, names with . or _ first are not."""
    shown = (file for file in files if not PurePath(file).name.startswith((".", "_")))
    inside = sorted(file for file in shown if format_of_name(file))
    if not inside:
        raise FileFormatError(
            f"The folder {path} holds no file of votes: none whose name ends in .parquet, .arrow,"
            " .csv or .tsv and does not begin with a dot or an underscore."
        )
    return inside


def _matching(pattern: str, matches: list[str]) -> list[str]:
    if not matches:
        raise FileNotFoundError(f"No file matches {shown(pattern)}. Check the name and the folder.")
    return sorted(matches)


# -- errors of Arrow -------------------------------------------------------------------------------


def _too_large(what: str, error: Exception) -> MemoryBudgetError:
    return MemoryBudgetError(
        f"{what}: it asks for more memory than there is ({error}). Either it is damaged, or it"
        " needs a larger machine."
    )


@contextmanager
def arrow_errors(what: str) -> Iterator[None]:
    """Name what cannot be read where Arrow raises an error of its own."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowMemoryError as error:
        raise _too_large(what, error) from error
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{what}: it is not there any more.") from error
    except (MemoryError, PermissionError, FileFormatError):
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")
        if "launch worker thread" in reason:
            raise MemoryError(f"{what}: a thread could not be started.") from error
        raise FileFormatError(f"{what} ({reason}). Make or fetch the file again.") from error
