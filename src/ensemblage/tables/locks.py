"""Locks on files: of a folder that one run has, and of files that are being written."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from ensemblage._messages import printable_path as shown

_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
#: Seconds after which a file is stale that locks tell nothing about.
_STALE = 24 * 3600.0


def locked_file(folder: Path, prefix: str, suffix: str = "", mode: int = 0o666) -> IO[bytes]:
    """Open a new file to be written; its lock tells other runs that it is not stale."""

    def create(path: str, flags: int) -> int:
        return os.open(path, flags, mode)

    while True:
        path = folder / f"{prefix}{_host()}-{secrets.token_hex(6)}{suffix}"
        file = open(path, "x+b", opener=create)  # noqa: SIM115 - Path.open has no opener
        if sys.platform == "win32":  # where locks would keep even its own process from reading it
            return file
        if _take(file) is not False and os.fstat(file.fileno()).st_nlink:
            return file
        discard(file)  # another run was faster, and took it for stale


def discard(file: IO[bytes]) -> None:
    """Close a file of `locked_file`, and remove it if it still has its first name."""
    if sys.platform == "win32":  # where no open file can be removed
        file.close()
    try:
        Path(file.name).unlink(missing_ok=True)
    finally:
        with suppress(OSError):  # a full disk, which was reported before
            file.close()


def remove_stale(folder: Path, prefix: str) -> None:
    """Remove files of `locked_file` that runs have left which were killed."""
    for path in folder.glob(f"{prefix}*"):
        with suppress(OSError):  # another run may be faster
            if _is_stale(path, prefix):
                path.unlink()


def _is_stale(path: Path, prefix: str) -> bool:
    """Return whether nobody writes a file: by its lock, or by its age without a lock."""
    if not re.match(rf"{re.escape(prefix)}[0-9a-f]{{8}}-[0-9a-f]{{12}}", path.name):
        return False  # a file of somebody else
    if not path.is_file():
        return False
    free = _is_free(path)
    # Some file systems lock for each host alone: there a free file may be locked on another.
    if free is False or (free and path.name.startswith(f"{prefix}{_host()}-")):
        return bool(free)
    return path.stat().st_mtime < time.time() - _STALE


def _is_free(path: Path) -> bool | None:
    """Return whether no run has locked a file; None where there are no locks."""
    if sys.platform == "win32":  # where such files have no locks
        return None
    try:
        with path.open("rb") as file:
            return _take(file)
    except PermissionError:
        return None


def _host() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def lock(path: Path) -> IO[bytes] | None:
    """Return a file that holds the lock while it is open, or None where another run has it.

    The folder is made if it is not there. Where a file system has no locks, all get one.
    """
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("ab")
        except FileNotFoundError:
            if path.is_symlink():
                raise FileNotFoundError(
                    f"{shown(str(path))} is a link to nothing. Remove it."
                ) from None
            continue  # the folder was removed, by a run that has just ended
        if _take(file) is False:
            file.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # it was removed meanwhile: what others would lock is another file


def release(held: IO[bytes], path: Path) -> None:
    """Remove a file that `lock` has given, and let others have the folder."""
    if sys.platform == "win32":  # where no open file can be removed
        held.close()
    with suppress(OSError):  # the folder may be gone, or another run may have the file
        path.unlink()
    held.close()


def _take(file: IO[bytes]) -> bool | None:
    """Lock a file; False where another has it, None where there are no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _TAKEN else None
    return True
