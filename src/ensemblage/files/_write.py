"""Writing labels so that an existing file is either replaced whole or left alone."""

from __future__ import annotations

import gzip
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.files._formats import STANDARD_STREAM, TEXT, format_to_write, need_pyarrow
from ensemblage.files._target import check_target, replacing
from ensemblage.files._writers import WRITERS, Forward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def write_table(
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
        A file, or ``-`` for standard output. A name that ends in ``.gz`` is compressed.
    columns : mapping of str to ndarray
        The columns by name, in order. NPY has no place for names: it holds a vector for
        one column and a 2-D array for several, so give it labels only.
    format : {"csv", "tsv", "parquet", "npy", "npz"}, optional
        By default told from the name; CSV where it has no suffix.
    decimals : mapping of str to int, optional
        How many decimals these columns get in CSV and TSV. All other numbers, and the other
        formats, keep every digit.

    Examples
    --------
    >>> import numpy as np
    >>> columns = {"id": np.array(["a", "b"]), "confidence": np.array([1, 2]) / 3}
    >>> write_table("-", columns, decimals={"confidence": 3})
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
    with replacing(path) as target:
        if path.lower().endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0) as packed:
                WRITERS[chosen](Forward(packed), columns)
        else:
            WRITERS[chosen](Forward(target), columns)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all; see `write_table`."""
    with replacing(_stream_or_path(path)) as target:
        target.write(text.encode() + b"\n")


def check_writable(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Raise now what `write_table` would raise after the work, and leave everything as it was.

    Parameters
    ----------
    path : str or path-like
        Where the labels shall go.
    format : str, optional
        As for `write_table`.

    Raises
    ------
    OSError
        Where there is no such folder, or nothing may be written there.
    FileFormatError
        Where the name tells a format that cannot be written.
    """
    path = _stream_or_path(path)
    if format_to_write(path, format) == "parquet":
        need_pyarrow(path)
    check_target(path)


def _stream_or_path(path: str | PathLike[str]) -> str:
    """Return the path as a string; /dev/stdout as the stream, which knows how far it has got."""
    path = fspath(path)
    return STANDARD_STREAM if path == "/dev/stdout" else path
