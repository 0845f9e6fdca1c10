"""Votes as arrays: NPY, NPZ and MATLAB's MAT."""

from __future__ import annotations

import math
import os
import zipfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import Advice, Message, Parameter
from ensemblage._validate import check_memory
from ensemblage._validate.memory import MemorySettingError
from ensemblage.tables.arrow import ArrowSource
from ensemblage.tables.formats import MODEL, FileFormatError
from ensemblage.tables.labels import as_votes
from ensemblage.tables.mat import NewMatError, read_mat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ensemblage.tables.choice import Choice
    from ensemblage.tables.files import File

    Arrays = dict[str, NDArray[Any]]

_VOTES = ("votes", "members", "labels")
_FEATURES = ("X", "features", "data", "fea")
_NAMES = ("columns", "feature_names", "genes")
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def load_arrays(source: IO[bytes], *, format: str, path: str) -> Arrays:  # noqa: A002
    """Return the arrays by name; arrays of Python objects are not unpickled and come back empty."""
    load = {"npy": _load_npy, "npz": _load_npz, "mat": read_mat}[format]
    try:
        arrays = load(source, path)
    except (MemoryError, MemorySettingError):
        raise
    except NewMatError as error:
        raise FileFormatError(
            f"{path} is a MAT file of version 7.3, which is not read here. In MATLAB, save it"
            " with the option '-v7'."
        ) from error
    except _SavedModelError:
        advice = Advice(
            "Label votes with it: ensemblage.load(path).predict(votes).",
            "Label votes with it: ensemblage predict MODEL VOTES.",
        )
        message = "{path} is a saved model, and not a table of votes. {advice}"
        raise FileFormatError(Message(message, path=path, advice=advice)) from None
    except Exception as error:  # damaged bytes raise anything in a parser
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise FileFormatError(
            f"{path} cannot be read as {format.upper()}: it is damaged, truncated, in another"
            f" format, or holds Python objects ({reason}). Make or fetch it again."
        ) from error
    if not arrays:
        raise FileFormatError(
            f"{path} holds no arrays, so there are no votes in it. Save them as a 2-D array, with"
            " numpy.savez or MATLAB's save."
        )
    return arrays


class _SavedModelError(Exception):
    """An archive that is a saved model."""


class ArraySource(ArrowSource):
    """The array of votes of a file; vectors as long as it has rows come along as extra."""

    def __init__(
        self,
        file: File,
        choice: Choice,
        chosen: str,
        key: str | None,
        arrays: Arrays | None = None,
    ) -> None:
        self.called = chosen.upper()
        if arrays is None:
            with file.seekable() as stream:
                arrays = load_arrays(stream, format=chosen, path=file.name)
        usual = _FEATURES if choice.features else _VOTES
        name = choose_array(
            arrays, key, file.name, usual=usual, fits=lambda a: a.ndim == 2 and min(a.shape) > 1
        )
        if choice.features:
            _check_features(arrays[name], file.name, name)
        else:
            _check_shape(arrays[name], file.name)
        self._array = _for_arrow(arrays[name], file.name)
        names, self.named = _names_of(arrays, self._array.shape[1], features=choice.features)
        self._place_of = {column: place for place, column in enumerate(names)}
        if choice.truth in arrays and choice.truth not in names:
            choice = choice._replace(truth=None)  # a vector: it comes along as extra
        super().__init__(file, choice)
        if self._array.dtype != object and self.names == names:
            # All at once: columns of a matrix in rows are slow to go through.
            is_votes = not choice.features
            self.matrix = as_votes(self._array, _cells_of(file.name)) if is_votes else self._array
        others = {other: arrays[other] for other in arrays if other != name}
        self.extra = _label_vectors(others, len(self._array))

    def _look(self) -> Any:
        import pyarrow as pa

        self._ends = [0, len(self._array)]
        kind = pa.array(self._array[:1, 0]).type
        return pa.schema([(name, kind) for name in self._place_of])

    @contextmanager
    def _parts_of(self, columns: list[str], threads: int) -> Iterator[Callable[[int], Any]]:  # noqa: ARG002
        import pyarrow as pa

        arrays = [pa.array(self._array[:, self._place_of[name]]) for name in columns]
        yield lambda _: pa.record_batch(arrays, names=columns)


def _for_arrow(array: NDArray[Any], path: str) -> NDArray[Any]:
    """Return an array in a type that Arrow has: numbers as they are, all else as names."""
    if array.dtype == np.longdouble:
        return array.astype(np.float64)
    if array.dtype.kind in "iubf":
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    names = as_votes(array, _cells_of(path))
    try:
        "".join(names.ravel().tolist()).encode()
    except UnicodeEncodeError as error:  # half of a pair of surrogates
        raise FileFormatError(
            f"{path} holds names that are not valid Unicode text. Save them again as UTF-8, or"
            " number the clusters."
        ) from error
    return names


def _cells_of(path: str) -> Callable[[tuple[int, ...]], str]:
    return lambda at: f"{path}, row {at[0] + 1}, column {at[1] + 1}"


def labels_from_arrays(
    arrays: Arrays, *, path: str, key: str | None, usual: tuple[str, ...]
) -> NDArray[Any]:
    """Return the one array that has a label for each object."""
    name = choose_array(arrays, key, path, usual=usual, fits=_is_vector)
    array = arrays[name]
    if not _is_vector(array):
        raise FileFormatError(
            f"{path}: {name} has shape {_shape(array)}, but labels are one column of values."
        )
    return as_votes(array.ravel(), lambda at: f"{path}, {name}, value {at[0] + 1}")


class PickledError(ValueError):
    """An array of Python objects, which only running code of the file could bring back."""


def read_npy(stream: IO[bytes], n_bytes: int, name: str) -> NDArray[Any]:
    """Return the array in the next `n_bytes` of a stream that can seek; `name` is for messages.

    NumPy would take the memory that a header asks for before it looks whether the file has so much.
    """
    start = stream.tell()
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"a header of version {version}, which plain arrays do not have")
    shape, _, dtype = _HEADERS[version](stream)
    if dtype.hasobject:
        raise PickledError("an array of Python objects, which is not a type that is saved")
    left = n_bytes - (stream.tell() - start)
    count: int = math.prod(shape)
    claimed = count * dtype.itemsize
    endless = dtype.itemsize == 0 and count > 0  # empty texts, as many as the header likes
    if min(shape, default=0) < 0 or claimed != left or endless:
        raise ValueError(f"an array of shape {shape} and type {dtype} in {left} bytes")
    check_memory(claimed, name, "Read it on a larger machine, or save fewer of its columns.")
    stream.seek(start)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _load_npy(source: IO[bytes], path: str) -> Arrays:
    n_bytes = source.seek(0, os.SEEK_END)
    source.seek(0)
    return {"array": read_npy(source, n_bytes, f"The array in {path}")}


def _load_npz(source: IO[bytes], path: str) -> Arrays:
    """Read the arrays of a zip archive; its other members are ignored."""
    arrays = {}
    with zipfile.ZipFile(source) as archive:
        if MODEL in archive.namelist():
            raise _SavedModelError
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        check_memory(
            sum(entry.file_size for entry in entries),
            f"The {len(entries)} array(s) in {path}",
            "Save the votes alone, in a file of their own.",
        )
        for entry in entries:
            name = entry.filename.removesuffix(".npy")
            try:
                with archive.open(entry) as member:
                    arrays[name] = read_npy(member, entry.file_size, f"{path}, {name}")
            except PickledError:
                arrays[name] = np.empty(0, dtype=object)
    return arrays


def choose_array(
    arrays: Arrays, key: str | None, path: str, *, usual: tuple[str, ...], fits: Any
) -> str:
    """Return the name of the array that is meant: as asked, by a usual name, or the only one."""
    shown = ", ".join(f"{name} {_shape(value)}" for name, value in arrays.items())
    if key is not None:
        if key in arrays:
            return key
        raise FileFormatError(f"{path} has no array {key!r}. It holds: {shown}.")
    if len(arrays) == 1:
        return next(iter(arrays))
    fitting = [name for name, value in arrays.items() if fits(value)]
    known = [name for name in usual if name in fitting or (name in arrays and not fitting)]
    if known:
        return known[0]
    if len(fitting) == 1:
        return fitting[0]
    message = (
        "{path} has {n} arrays, {n_fitting} of a shape that fits, and none called {usual}. It"
        " holds: {shown}. Choose one with {key}."
    )
    raise FileFormatError(
        Message(
            message,
            path=path,
            n=len(arrays),
            n_fitting=len(fitting),
            usual=" or ".join(usual),
            shown=shown,
            key=Parameter("key"),
        )
    )


def _is_vector(array: NDArray[Any]) -> bool:
    return array.size > 0 and array.size == max(array.shape, default=0)


def _names_of(arrays: Arrays, width: int, *, features: bool) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the file has them."""
    called = [arrays[name] for name in _NAMES if name in arrays and features]
    for names in (list(map(str, array.tolist())) for array in called if array.shape == (width,)):
        if len(set(names)) == width:
            return names, True
    return [f"c{place}" for place in range(1, width + 1)], False


def _check_features(array: NDArray[Any], path: str, name: str) -> None:
    if array.dtype.kind not in "fiub" or array.ndim != 2 or array.size == 0:
        raise FileFormatError(
            f"{path}: features are a 2-D array of numbers, a row for each object, but {name} has"
            f" the shape {array.shape} and the type {array.dtype}."
        )


def _check_shape(array: NDArray[Any], path: str) -> None:
    if array.dtype.kind in "OV":
        raise FileFormatError(
            f"{path} holds cells, structures, sparse matrices or Python objects where votes belong."
            " Save the votes as a plain 2-D array of integers."
        )
    if array.ndim != 2:
        raise FileFormatError(
            f"{path} has an array of shape {_shape(array)}, but votes are a 2-D array: a row for"
            " each object, a column for each clustering."
        )
    if array.size == 0:
        raise FileFormatError(f"{path} holds an empty array of shape {_shape(array)}: no votes.")


def _label_vectors(others: Arrays, length: int) -> Arrays:
    """Return those arrays that have one label for each object."""
    vectors = {}
    for name, value in others.items():
        if _is_vector(value) and value.size == length:
            try:
                vectors[name] = as_votes(value.ravel(), str)
            except FileFormatError:  # measurements, say: not asked for, and no labels
                continue
    return vectors


def _shape(array: NDArray[Any]) -> str:
    return "of objects" if array.dtype == object else " by ".join(map(str, array.shape)) or "scalar"
