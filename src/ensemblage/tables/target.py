"""Where output goes: files that appear complete or not at all, pipes, standard output."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shutil
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from ensemblage._messages import printable
from ensemblage._messages import printable_path as shown
from ensemblage.tables.descriptors import descriptor, is_open_file
from ensemblage.tables.locks import discard, locked_file, remove_stale

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD_STREAM = "-"
_INPUT, _OUTPUT, _ERRORS = 0, 1, 2
#: How the names of files begin that are not finished.
UNFINISHED = ".unfinished-"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
_SHUT = (errno.EROFS, errno.EACCES, errno.EPERM)
#: How the names of files begin that become an output.
_BESIDE = ".ensemblage-"


def check_target(path: str) -> None:
    """Raise now what `replacing` would raise, and leave everything as it was."""
    number = descriptor(path)
    if path == STANDARD_STREAM or number == _OUTPUT:
        _check_output_open()
        return
    if "://" in path:
        raise OSError(
            f"The output {shown(path)} is an address. Labels are written to local files: name"
            " one, and copy it afterwards."
        )
    if not path:
        raise FileNotFoundError(
            "The name of the output is empty. Name a file, or - for standard output."
        )
    mode = _mode(path)
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(
            f"The output {shown(path)} exists and may not be changed by this user."
        )
    if number is not None:
        _check_descriptor(path, number)
    if is_special(path):
        return
    target = _target(path)
    if path.endswith(("/", os.sep)) or target.is_dir():
        raise IsADirectoryError(f"The output {shown(path)} names a directory. Name a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"The output {shown(path)} cannot be written: there is no folder"
            f" {shown(str(target.parent))}. Make it first."
        )
    discard(_new_file_beside(path, target))


def identity(path: str, *, read: bool = False) -> tuple[Any, ...]:
    """Return a key that is equal for all names of one file, also of one that is not there yet.

    Links and spellings do not matter, nor do capitals where the file system ignores them. ``-`` is
    the file that standard output, or with `read` standard input, is redirected to.
    """
    if descriptor(path) == (_INPUT if read else _OUTPUT):
        path = STANDARD_STREAM
    if path == STANDARD_STREAM:
        with suppress(OSError, ValueError, AttributeError):  # closed, or a stand-in
            status = os.fstat((sys.stdin if read else sys.stdout).fileno())
            if stat.S_ISREG(status.st_mode):
                return status.st_dev, status.st_ino
        return path, read
    target = _target(path)
    with suppress(OSError):
        status = Path(path).stat() if is_open_file(path) else target.stat()
        return status.st_dev, status.st_ino
    try:
        folder = target.parent.stat()
    except OSError:
        return (str(target),)
    name = target.name.casefold() if _ignores_capitals(target.parent) else target.name
    return folder.st_dev, folder.st_ino, name


def _ignores_capitals(folder: Path) -> bool:
    """Return whether names in a folder that differ in capitals are names of one file."""
    names: list[str] = []
    with suppress(OSError):  # a folder that may be written to, not read
        names = os.listdir(folder)  # noqa: PTH208
    for name in (name for name in names if name.swapcase() != name):
        with suppress(OSError):
            return (folder / name).samefile(folder / name.swapcase())
        return False
    return sys.platform in ("win32", "darwin")


def is_folder(path: str) -> bool:
    """Return whether an output is a folder: it exists as one, or has a slash at its end."""
    return bool(path) and (path.endswith(("/", "\\")) or Path(path).is_dir())


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """Give a stream to write to; what was written appears under `path` if all went well."""
    number = descriptor(path)
    if path == STANDARD_STREAM or number == _OUTPUT:
        with _standard_output() as stream:
            yield stream
        return
    check_target(path)
    if is_special(path):
        with _full_errors(path), _opened(path, number) as special, _safe(special) as stream:
            yield stream
        return
    target = _target(path)
    stream = _new_file_beside(path, target)
    try:
        with _full_errors(path):
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, stream.name)
        try:
            _rename(stream, target)
        except PermissionError as error:  # Windows replaces no file that is open
            raise PermissionError(
                f"The output {shown(path)} cannot be replaced: {error.strerror}. Close the programs"
                " that have it open, and run it again."
            ) from error
    finally:
        discard(stream)


def _opened(path: str, number: int | None) -> IO[bytes]:
    """Open a device, pipe or descriptor for writing; a descriptor keeps its position."""
    if number is None:
        return Path(path).open("ab")  # the name itself: a pipe may have no other
    if number == _ERRORS and sys.stderr is not None:
        sys.stderr.flush()
    return os.fdopen(os.dup(number), "wb")


@contextmanager
def finished(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to, which gets its name when it is complete."""
    with lost_errors(str(path)):
        file = locked_file(path.parent, UNFINISHED)
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())  # a name must not be there before its content
            _rename(file, path)
        finally:
            with suppress(OSError):  # the folder may be gone or shut; what has failed was raised
                discard(file)


def _rename(file: IO[bytes], path: Path) -> None:
    """Give a complete file its name; it is locked until it has it."""
    if sys.platform == "win32":  # where no open file can be renamed
        file.close()
    Path(file.name).replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, where the system supports it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):  # some file systems cannot
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def _full_errors(path: str) -> Iterator[None]:
    """Name the file in errors about a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise OSError(
            f"{shown(path)} cannot be written: {error.strerror}. Make room, or write elsewhere."
        ) from error


@contextmanager
def lost_errors(path: str) -> Iterator[None]:
    """Raise errors that say what to do where finished work cannot be written to `path`."""
    try:
        with _full_errors(path):
            yield
    except OSError as error:
        if error.errno in _GONE:
            raise FileNotFoundError(
                f"{shown(path)} cannot be written: its folder was removed meanwhile. Start again;"
                " what was in it is made anew."
            ) from error
        if error.errno in _SHUT:
            raise PermissionError(
                f"{shown(path)} cannot be written: {error.strerror}. Make its folder writable and"
                " start again; what is finished is kept."
            ) from error
        raise


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    _check_output_open()
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # a stand-in of text only, as a notebook or a doctest has
        collected = io.BytesIO()
        yield collected
        sys.stdout.write(collected.getvalue().decode())
    else:
        with _full_errors("Standard output"):
            with _safe(binary) as stream:
                yield stream
            binary.flush()


@contextmanager
def _safe(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    """Give a stream that escapes control characters if it is a terminal."""
    if not stream.isatty():
        yield cast("IO[bytes]", _Onward(stream))
        return
    terminal = _Terminal(stream)
    yield cast("IO[bytes]", terminal)
    terminal.write(b"", final=True)


class _Onward(io.RawIOBase):
    """A stream without seek and tell: earlier content may belong to other writers."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._stream.write(data)


class _Terminal(_Onward):
    """A terminal, to which ids in a file must not send commands."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: Any, *, final: bool = False) -> int:
        text = printable(self._decoder.decode(bytes(data), final))
        self._stream.write(text.encode())
        return len(data)


def _check_output_open() -> None:
    if sys.stdout is None:
        raise OSError(
            "Standard output is closed, so nothing can be written to it. Leave it open, or name a"
            " file (-o)."
        )


def _check_descriptor(path: str, number: int) -> None:
    """Raise an error if a descriptor is not open for writing."""
    import fcntl  # descriptors have names on POSIX only

    try:
        access = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError as error:
        raise OSError(
            f"The output {shown(path)} is not open. Open it ({number}> FILE), or name a file."
        ) from error
    if access == os.O_RDONLY:
        raise PermissionError(
            f"The output {shown(path)} is open for reading only. Open it for writing"
            f" ({number}> FILE), or name a file."
        )


def _mode(path: str) -> int | None:
    """Return what a path leads to, as a mode; None where there is nothing yet."""
    try:
        return Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:  # links in a circle, a name that is too long, a folder that is shut
        raise type(error)(
            f"The output {shown(path)} cannot be written: {error.strerror}."
        ) from error


def _target(path: str) -> Path:
    """Return the file that a name leads to, so that a link stays a link."""
    return Path(os.path.realpath(path))  # which leaves a loop of links to whoever opens it


def is_special(path: str) -> bool:
    """Return whether this is written to, not replaced: a device, a pipe, what is open already."""
    mode = _mode(path)
    if mode is None or stat.S_ISDIR(mode):
        return False
    return not stat.S_ISREG(mode) or is_open_file(path)


def _new_file_beside(path: str, target: Path) -> IO[bytes]:
    """Open a new file in the folder of the target; remove those of runs that were killed."""
    remove_stale(target.parent, _BESIDE)
    try:
        # While it is written, nobody reads it who may not read what it replaces.
        return locked_file(target.parent, _BESIDE, ".tmp", 0o600 if target.exists() else 0o666)
    except OSError as error:
        raise type(error)(
            f"The output {shown(path)} cannot be written: {error.strerror} in"
            f" {shown(str(target.parent))}."
        ) from error
