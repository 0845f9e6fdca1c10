"""Writing labels so that an existing file is either replaced whole or left alone."""

from __future__ import annotations

import csv
import gzip
import io
import os
import secrets
import shutil
import stat
import sys
import zipfile
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from quorate.files._formats import STANDARD_STREAM, format_to_write, need_pyarrow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Table = Mapping[str, NDArray[Any]]

_ROWS_AT_ONCE = 1 << 16


def write_table(
    path: str | PathLike[str],
    columns: Table,
    *,
    format: str | None = None,  # noqa: A002 - what the command calls it too
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

    Examples
    --------
    >>> import numpy as np
    >>> write_table("-", {"id": np.array(["a", "b"]), "label": np.array([0, 1])})
    id,label
    a,0
    b,1
    """
    path = _stream_or_path(path)
    chosen = format_to_write(path, format)
    write = _WRITERS[chosen]
    with _replacing(path) as target:
        if path.lower().endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0) as packed:
                write(packed, columns)  # type: ignore[arg-type]
        else:
            write(target, columns)


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all; see `write_table`."""
    with _replacing(_stream_or_path(path)) as target:
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
    if path == STANDARD_STREAM:
        return
    target = _target(path)
    if _is_special(path):
        return
    if path.endswith(("/", os.sep)) or target.is_dir():
        raise IsADirectoryError(f"The output {path} names a directory. Name a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"The output {path} cannot be written: there is no folder {target.parent}. Make it"
            " first."
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"The output {path} exists and may not be changed by this user.")
    beside = _new_file_beside(path, target)
    beside.close()
    Path(beside.name).unlink()


@contextmanager
def _replacing(path: str) -> Iterator[IO[bytes]]:
    """Give a stream to write to; what was written appears under `path` if all went well."""
    if path == STANDARD_STREAM:
        with _standard_output() as stream:
            yield stream
        return
    check_writable(path, format="csv")
    target = _target(path)
    if _is_special(path):
        with target.open("ab") as stream:
            yield stream
        return
    stream = _new_file_beside(path, target)
    beside = Path(stream.name)
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # a stand-in of text only, as a notebook or a doctest has
        collected = io.BytesIO()
        yield collected
        sys.stdout.write(collected.getvalue().decode())
    else:
        yield binary
        binary.flush()


def _stream_or_path(path: str | PathLike[str]) -> str:
    """Return the path as a string; /dev/stdout as the stream, which knows how far it has got."""
    path = fspath(path)
    return STANDARD_STREAM if path == "/dev/stdout" else path


def _target(path: str) -> Path:
    """Return the file that a name leads to, so that a link stays a link."""
    return Path(path).resolve()


def _is_special(path: str) -> bool:
    """Tell whether a path leads to a device or a pipe, which must be written to, not replaced."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _new_file_beside(path: str, target: Path) -> IO[bytes]:
    """Open a new file in the folder of the target, with the permissions of any new file."""
    beside = target.with_name(f".{target.name[:64]}.{secrets.token_hex(4)}.tmp")
    try:
        return beside.open("xb")
    except OSError as error:
        raise type(error)(
            f"The output {path} cannot be written: {error.strerror} in {target.parent}."
        ) from error


def _write_csv(stream: IO[bytes], columns: Table, delimiter: str = ",") -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    try:
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        length = len(next(iter(columns.values()), ()))
        for start in range(0, length, _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            writer.writerows(zip(*(v[part].tolist() for v in columns.values()), strict=True))
    finally:
        text.detach()


def _write_tsv(stream: IO[bytes], columns: Table) -> None:
    _write_csv(stream, columns, delimiter="\t")


def _write_parquet(stream: IO[bytes], columns: Table) -> None:
    need_pyarrow("the output")
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), stream)


def _write_npy(stream: IO[bytes], columns: Table) -> None:
    arrays = [_without_objects(values) for values in columns.values()]
    whole = arrays[0] if len(arrays) == 1 else np.column_stack(arrays)
    np.lib.format.write_array(stream, whole, allow_pickle=False)


def _write_npz(stream: IO[bytes], columns: Table) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in columns.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, _without_objects(values), allow_pickle=False)


def _without_objects(values: NDArray[Any]) -> NDArray[Any]:
    """Return strings as numpy's own, since objects could only be pickled."""
    if values.dtype != object:
        return values
    return np.array(["" if value is None else str(value) for value in values.tolist()])


_WRITERS = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": _write_parquet,
    "npy": _write_npy,
    "npz": _write_npz,
}
