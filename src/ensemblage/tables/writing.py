"""Writing labels so that an existing file is either replaced whole or left alone."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.tables.formats import FORMATS, TEXT, format_to_write, load, packing
from ensemblage.tables.target import STANDARD_STREAM, check_target, replacing
from ensemblage.tables.writers import Forward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def write(
    path: str | PathLike[str],
    columns: Mapping[str, NDArray[Any]],
    *,
    format: str | None = None,  # noqa: A002 - what the command calls it too
    decimals: Mapping[str, int] | None = None,
) -> None:
    """Write columns of equal length, whole or not at all.

    The content goes to a new file beside the target and takes its name at the very end, so that
    an error on the way leaves an existing file as it was.

    Parameters
    ----------
    path : str or path-like
        A file, or ``-`` for standard output. Names that end in ``.gz`` or ``.zst`` are compressed.
    columns : mapping of str to ndarray
        The columns by name, in order. NPY has no place for names: it holds a vector for
        one column and a 2-D array for several, so give it labels only.
    format : {"csv", "tsv", "parquet", "arrow", "orc", "json", "npy", "npz"}, optional
        By default inferred from the name; CSV where it has no suffix.
    decimals : mapping of str to int, optional
        How many decimals these columns get in CSV and TSV. All other numbers, and the other
        formats, keep every digit.

    Examples
    --------
    >>> import numpy as np
    >>> columns = {"id": np.array(["a", "b"]), "confidence": np.array([1, 2]) / 3}
    >>> write("-", columns, decimals={"confidence": 3})
    id,confidence
    a,0.333
    b,0.667
    """
    path = _stream_or_path(path)
    chosen = format_to_write(path, format)
    if chosen in TEXT:
        shorter = {
            name: np.round(columns[name], places) for name, places in (decimals or {}).items()
        }
        columns = {**columns, **shorter}
    with replacing(path) as target, _packed(target, packing(path)) as stream:
        load(str(FORMATS[chosen].write))(Forward(stream), columns)


def _packed(target: Any, how: str | None) -> Any:
    """Return a stream that compresses what is written to it, or the target itself."""
    if how == "gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0)
    if how == "zst":
        import pyarrow as pa

        return pa.CompressedOutputStream(pa.PythonFile(Forward(target), "w"), "zstd")
    return nullcontext(target)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all; see `write`."""
    with replacing(_stream_or_path(path)) as target:
        target.write(text.encode() + b"\n")


def check_writable(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Raise now what `write` would raise after the work, and leave everything as it was.

    Parameters
    ----------
    path : str or path-like
        Where the labels shall go.
    format : str, optional
        As for `write`.

    Raises
    ------
    OSError
        Where there is no such folder, or nothing may be written there.
    FileFormatError
        Where the name tells a format that cannot be written.
    """
    path = _stream_or_path(path)
    format_to_write(path, format)
    check_target(path)


def _stream_or_path(path: str | PathLike[str]) -> str:
    """Return the path as a string; /dev/stdout as the stream, which knows how far it has got."""
    path = fspath(path)
    return STANDARD_STREAM if path == "/dev/stdout" else path
