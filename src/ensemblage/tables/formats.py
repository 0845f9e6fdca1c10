"""The formats of tables: one row for each. Adding one adds its row and what the row names."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import PurePath
from typing import Any, NamedTuple

from ensemblage._messages import Message, Parameter, printable


class FileFormatError(ValueError):
    """The content of a file is not what its format, or a table of votes, requires.

    Names of columns and files are part of its message, so control characters are escaped.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class OptionError(FileFormatError):
    """An option that does not apply to the format of the file, or names a missing column."""


class Format(NamedTuple):
    """How a format is recognised, what reads it, what writes it.

    `source` and `write` name a function or class of this package, imported when it is first used.
    """

    name: str
    suffixes: tuple[str, ...]
    marks: tuple[bytes, ...] = ()
    source: str | None = None
    write: str | None = None
    streamed: bool = False


_ROWS = (
    Format("csv", (".csv",), (), "text.TextSource", "writing.write_csv", streamed=True),
    Format("tsv", (".tsv", ".tab"), (), "text.TextSource", "writing.write_tsv", streamed=True),
    Format("parquet", (".parquet", ".pq"), (b"PAR1",), "arrow.ParquetSource",
           "writing.write_parquet", streamed=True),
    Format("arrow", (".arrow", ".feather", ".ipc"), (b"ARROW1",), "arrow.IpcSource",
           "writing.write_arrow", streamed=True),
    Format("orc", (".orc",), (b"ORC",), "orc.OrcSource", "writing.write_orc", streamed=True),
    Format("json", (".jsonl", ".ndjson", ".json"), (), "jsonl.JsonSource", "writing.write_json"),
    Format("npy", (".npy",), (b"\x93NUMPY",), None, "writing.write_npy"),
    Format("npz", (".npz",), (b"PK\x03\x04",), None, "writing.write_npz"),
    Format("mat", (".mat",), (b"MATLAB",)),
    Format("xlsx", (".xlsx",), (), "sheets.read_xlsx"),
)  # fmt: skip
BY_NAME = {row.name: row for row in _ROWS}
#: The names of the formats that are read, and those that are written.
FORMATS = tuple(BY_NAME)
WRITABLE = tuple(row.name for row in _ROWS if row.write)
TEXT = ("csv", "tsv")
ARRAYS = tuple(row.name for row in _ROWS if row.source is None)
STREAMED = tuple(row.name for row in _ROWS if row.streamed)
_BY_SUFFIX = {suffix: row.name for row in _ROWS for suffix in row.suffixes}
_PACKED = (".gz", ".zst")
_UNPACK = "Unpack it, or compress it with gzip or zstd."
#: How files begin that are not read, what they are, and what to do.
_UNREAD = {
    re.compile(rb"BZh[1-9]1AY&SY"): ("compressed with bzip2", _UNPACK),
    re.compile(rb"\xfd7zXZ\0"): ("compressed with xz", _UNPACK),
    re.compile(rb"\xd0\xcf\x11\xe0"): ("an old Excel file (.xls)", "Save it as .xlsx, or as CSV."),
    re.compile(rb"\x89HDF"): (
        "an HDF5 file",
        "For AnnData (.h5ad) use ensemblage.sc in Python; in MATLAB, save with the option '-v7'.",
    ),
}
#: The first file in the archive of a saved model; its name follows 30 bytes.
MODEL = "model.json"


def load(name: str) -> Any:
    """Return the function or class of this package that a row names."""
    module, _, attribute = name.partition(".")
    return getattr(import_module(f"ensemblage.tables.{module}"), attribute)


def packing(path: str) -> str | None:
    """Return how a file name is compressed: "gz", "zst" or None."""
    suffix = PurePath(path).suffix.lower()
    return suffix[1:] if suffix in _PACKED else None


def format_of_name(path: str) -> str | None:
    """Return the format that a file name stands for, or None."""
    name = PurePath(path)
    if packing(path):
        name = name.with_suffix("")
    return _BY_SUFFIX.get(name.suffix.lower())


def format_of_bytes(head: bytes) -> str | None:
    """Return the format whose mark opens the file, or None: text has no mark."""
    return next((row.name for row in _ROWS if head.startswith(row.marks or (b"\0" * 99,))), None)


def unread_format(head: bytes) -> tuple[str, str] | None:
    """Return what a file is that begins so and is not read, and what to do; None for others."""
    return next((known for mark, known in _UNREAD.items() if mark.match(head)), None)


def format_to_read(path: str, head: bytes, asked: str | None) -> str:
    """Return the format to read: the one asked for, else by name, else by first bytes, else CSV."""
    if asked is not None:
        return _known(asked, FORMATS)
    by_name = format_of_name(path)
    if by_name is not None:
        return by_name
    by_bytes = format_of_bytes(head)
    if by_bytes == "npz" and path != "-" and not head.startswith(MODEL.encode(), 30):
        message = Message(
            "{path} is a zip archive, and its name does not give the format. If it is a"
            " spreadsheet, rename it to end in .xlsx; if it holds arrays, use {format}; else unpack"
            " it.",
            path=path,
            format=Parameter("format", "npz"),
        )
        raise FileFormatError(message)
    return by_bytes or "csv"


def format_to_write(path: str, asked: str | None) -> str:
    """Return the format to write: the one asked for, else by name; CSV where there is no suffix."""
    if asked is not None:
        return _known(asked, WRITABLE)
    by_name = format_of_name(path)
    if by_name in WRITABLE:
        return by_name
    if by_name is None and not PurePath(path).suffix:
        return "csv"
    raise FileFormatError(
        f"Labels cannot be written as {PurePath(path).suffix!r} ({path}). Use a name that ends in"
        " .csv, .tsv, .parquet, .arrow, .orc, .jsonl, .npy or .npz; .gz and .zst after it compress."
    )


def _known(name: str, known: tuple[str, ...]) -> str:
    if isinstance(name, str) and name.lower() in known:
        return name.lower()
    raise FileFormatError(f"Unknown format {name!r}. Known: {', '.join(known)}.")
