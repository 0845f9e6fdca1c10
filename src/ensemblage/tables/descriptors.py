"""Names of files that are open already: /dev/stderr, /dev/fd/3, /proc/self/fd/3."""

from __future__ import annotations

import os
import re

_FOLDER = re.compile(r"/dev/fd|/proc/(?:self|thread-self|[0-9]+(?:/task/[0-9]+)?)/fd")
_MOST_LINKS = 40


def is_open_file(path: str) -> bool:
    """Return whether a path names what a process has open, this one or another."""
    return _place(path) is not None


def descriptor(path: str) -> int | None:
    """Return the number of the open file of this process that a path names, or None."""
    folder, name = _place(path) or ("", "")
    own = (os.path.realpath(f"/proc/{self}") for self in ("self", "thread-self"))
    is_own = folder == "/dev/fd" or any(folder.startswith(f"{one}/") for one in own)
    return int(name) if is_own else None


def _place(path: str) -> tuple[str, str] | None:
    """Return the folder of descriptors that a name or a link leads to, and the name there."""
    try:
        for _ in range(_MOST_LINKS):
            folder, name = os.path.split(path)
            folder = os.path.realpath(folder or os.curdir)
            if _FOLDER.fullmatch(folder):
                return (folder, name) if re.fullmatch(r"[0-9]{1,9}", name) else None
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))  # noqa: PTH115, PTH118
    except (OSError, ValueError):  # not a link, or not a path
        pass
    return None
