"""A JSON header and some arrays in one file: a zip archive without code.

The archive has ``model.json`` and an NPY entry for each array, which ``unzip`` and ``numpy.load``
can read. Untrusted files are safe to read: no entry is unpickled, none is unpacked past its
declared size, and that size is compared with the available memory.
"""

from __future__ import annotations

import io
import json
import tokenize
import zipfile
import zlib
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import Advice, Message
from ensemblage._validate import check_memory
from ensemblage.tables import File, FileFormatError, read_npy, replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

HEADER = "model.json"
_SUFFIX = ".npy"
_MOST_ENTRIES = 100_000
#: JSON is parsed at once: names and labels of a million clusters take less.
_LARGEST_HEADER = 256 << 20
#: Bytes that each byte of JSON takes when it is parsed, at most: a pair of brackets is a list.
_PARSED = 30
#: Deflate compresses at most 1032 to 1; a larger ratio is a bomb or another method.
_LARGEST_RATIO = 1100
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    OverflowError,
    NotImplementedError,  # a compression that zipfile does not support
    RuntimeError,  # an encrypted entry
    RecursionError,  # JSON nested without end
    SyntaxError,  # raised by NumPy's header parser, like the next two
    tokenize.TokenError,
    TypeError,
)


def write_archive(
    path: str | PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and arrays as one file that appears only when it is complete."""
    with (
        replacing(fspath(path)) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
    ):
        text = json.dumps(header, allow_nan=False)  # ASCII: safe for any str, also lone surrogates
        archive.writestr(_entry(HEADER), text.encode("ascii"))
        for name, array in arrays.items():
            with archive.open(_entry(name + _SUFFIX), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def read_archive(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file written by `write_archive`.

    Raises
    ------
    FileFormatError
        If the file is of another format or damaged.
    MemoryBudgetError
        If its content would not fit in memory.
    """
    name = fspath(path)
    with File(name).seekable() as stream:
        if not b"PK".startswith(stream.read(2)):
            advice = Advice(
                "Pass a file written by save().",
                "Name a file written by consensus --save; the votes come after it.",
            )
            message = "{path} is not a saved model. {advice}"
            raise FileFormatError(Message(message, path=name, advice=advice))
        stream.seek(0)
        try:
            with zipfile.ZipFile(stream) as archive:
                return _read(archive, name)
        except FileFormatError:
            raise
        except _DAMAGED as error:
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise FileFormatError(
                f"{name} is not a saved model, or it is damaged or truncated ({reason}). Save the"
                " model again."
            ) from error


def _entry(name: str) -> zipfile.ZipInfo:
    """Return an entry without a date, so that equal models are equal files."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _read(archive: zipfile.ZipFile, path: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if HEADER not in names:
        raise FileFormatError(
            f"{path} is a zip archive without {HEADER}, so it is not a saved model. Pass a file"
            " written by save()."
        )
    if len(entries) > _MOST_ENTRIES or len(set(names)) < len(names):
        raise FileFormatError(f"{path} is not a saved model: its list of entries is invalid.")
    # Entries that are not read are not checked: an array under a damaged name would just be
    # missing.
    strange = [name for name in names if name != HEADER and not name.endswith(_SUFFIX)]
    if strange:
        raise FileFormatError(
            f"{path} is not a saved model, or it is damaged or truncated: unexpected entry"
            f" {strange[0]!r}. Save the model again."
        )
    for entry in entries:
        if entry.file_size > _LARGEST_RATIO * entry.compress_size + 1024:
            raise FileFormatError(
                f"{path} is not a saved model: {entry.filename!r} declares"
                f" {entry.file_size} bytes, unpacked from {entry.compress_size}."
            )
    check_memory(
        2 * sum(entry.file_size for entry in entries) + _PARSED * archive.getinfo(HEADER).file_size,
        f"The content of {path}",
        "Load it on a larger machine, or save the model with objects=False.",
    )
    if archive.getinfo(HEADER).file_size > _LARGEST_HEADER:
        raise FileFormatError(f"{path} is not a saved model: its {HEADER} is too large.")
    header = json.loads(archive.read(HEADER))
    if not isinstance(header, dict):
        raise FileFormatError(f"{path} is not a saved model: its {HEADER} is not a JSON object.")
    arrays = {
        name.removesuffix(_SUFFIX): _array(archive.read(name)) for name in names if name != HEADER
    }
    return header, arrays


def _array(content: bytes) -> NDArray[Any]:
    """Return the array of an NPY entry, if it holds numbers and has the declared length."""
    array = read_npy(io.BytesIO(content), len(content), "An array of the model")
    if array.dtype.kind not in "biuf" or not array.dtype.isnative:
        raise ValueError(f"unexpected array type {array.dtype}")
    return array
