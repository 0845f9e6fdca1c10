"""Paths of local files: what they lead to, and why one cannot be opened."""

from __future__ import annotations

import stat
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage._messages import printable_path as shown

if TYPE_CHECKING:
    import io


def path_of(source: Any) -> str:
    """Return the path of one file as a text."""
    path = fspath(source) if isinstance(source, str | PathLike) else None
    if not isinstance(path, str):
        raise TypeError(not_files(source))
    if "\0" in path:
        raise OSError(f"{path!r} cannot be opened: it has a NUL character in it. Check the name.")
    return path


def not_files(source: Any) -> str:
    """Return the message about a source that is not a path."""
    return (
        f"Votes are files: a path, or a list of paths in order. Got {type(source).__name__}; the"
        " fit of an estimator takes votes in memory."
    )


def named(path: str) -> Path:
    """Return a path; raise where it is empty."""
    if not path:
        raise FileNotFoundError("The name of a file to read is empty. Name a file, or - instead.")
    return Path(path)


def kind_of(path: str) -> str:
    """Return what a path leads to: "file", "folder", "pipe", or "" where there is nothing."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return ""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "pipe"


def open_file(path: str) -> io.FileIO:
    """Open a local file to read, or raise why that is not possible."""
    where = named(path)
    if kind_of(path) == "folder":
        raise IsADirectoryError(
            f"{shown(path)} is a directory. Name the files in it, as in {shown(path)}/*.csv."
        )
    try:
        return where.open("rb", buffering=0)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"There is no file {shown(path)}. Check the name and the folder."
        ) from None
    except PermissionError:
        raise PermissionError(f"{shown(path)} may not be read by this user.") from None
    except (OSError, ValueError) as error:  # a name with a NUL, too long, or a link to itself
        name, reason = path if len(path) < 100 else f"{path[:100]}...", error.args[-1]
        raise OSError(f"{name!r} cannot be opened ({reason}). Check the name.") from None
