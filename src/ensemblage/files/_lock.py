"""One run at a time in a folder: a lock that its process gives back however it ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from errno import EACCES, EAGAIN, EDEADLK
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TAKEN = (EACCES, EAGAIN, EDEADLK)


def lock(path: Path) -> IO[bytes] | None:
    """Return a file that holds the lock while it is open, or None where another run has it.

    The folder is made if it is not there. Where a file system knows no locks, all get one.
    """
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("ab")
        except FileNotFoundError:  # the folder was removed, by a run that has just ended
            continue
        if not _take(file):
            file.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # it was removed meanwhile: what others would lock is another file


def _take(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _TAKEN
    return True
