"""Which format a file is in: by what was asked for, by its name, by its first bytes."""

from __future__ import annotations

import importlib.util
from pathlib import PurePath

from ensemblage._messages import Message, Parameter
from ensemblage.files._errors import FileFormatError

STANDARD_STREAM = "-"
READABLE = ("csv", "tsv", "parquet", "npy", "npz", "mat")
WRITABLE = ("csv", "tsv", "parquet", "npy", "npz")
TEXT = ("csv", "tsv")
ARRAYS = ("npy", "npz", "mat")

_BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".mat": "mat",
}
_BY_FIRST_BYTES = {
    b"PAR1": "parquet",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"MATLAB": "mat",
    b"\x89HDF": "mat",
}


def called(path: str) -> str:
    """Return the name of a file as messages give it."""
    return "standard input" if path == STANDARD_STREAM else path


def format_of_name(path: str) -> str | None:
    """Return the format that a file name tells, or None.

    Examples
    --------
    >>> format_of_name("votes.csv.gz"), format_of_name("pool.MAT"), format_of_name("votes.txt")
    ('csv', 'mat', None)
    """
    name = PurePath(path)
    if name.suffix.lower() == ".gz":
        name = name.with_suffix("")
    return _BY_SUFFIX.get(name.suffix.lower())


def format_of_bytes(head: bytes) -> str | None:
    """Return the format whose mark opens the file, or None: text has no mark."""
    return next((name for mark, name in _BY_FIRST_BYTES.items() if head.startswith(mark)), None)


def format_to_read(path: str, head: bytes, asked: str | None) -> str:
    """Return the format to read: the one asked for, else by name, else by first bytes, else CSV."""
    if asked is not None:
        return known_format(asked, READABLE)
    by_name = format_of_name(path)
    if by_name is not None:
        return by_name
    by_bytes = format_of_bytes(head)
    if by_bytes == "npz" and path != STANDARD_STREAM:
        message = Message(
            "{path} is a zip archive (a spreadsheet, perhaps), not one of the formats {known}. Save"
            " the votes as CSV, or say {format} if it is one.",
            path=path,
            known=", ".join(READABLE),
            format=Parameter("format", "npz"),
        )
        raise FileFormatError(message)
    return by_bytes or "csv"


def format_to_write(path: str, asked: str | None) -> str:
    """Return the format to write: the one asked for, else by name; CSV where there is no suffix."""
    if asked is not None:
        return known_format(asked, WRITABLE)
    by_name = format_of_name(path)
    if by_name in WRITABLE:
        return by_name
    if by_name is None and not PurePath(path).suffix:
        return "csv"
    raise FileFormatError(
        f"Labels cannot be written as {PurePath(path).suffix!r} ({path}). Use a name that ends in"
        " .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .npy or .npz."
    )


def known_format(name: str, known: tuple[str, ...]) -> str:
    """Return the name of a format in lower case, or complain that there is no such format."""
    if name.lower() in known:
        return name.lower()
    raise FileFormatError(f"There is no format {name!r}. Known: {', '.join(known)}.")


def need_pyarrow(path: str) -> None:
    """Complain where Parquet is asked for and pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise FileFormatError(
            f"Parquet ({called(path)}) needs pyarrow, which is not installed."
            ' Install it with: pip install "ensemblage[io]"'
        )
