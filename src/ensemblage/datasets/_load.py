"""Loading of a dataset by name: from the data folder, the cache, or its publisher."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import tables
from ensemblage.datasets._catalogue import Entry, RawFile, every_name, find
from ensemblage.datasets._convert import CONVERTERS, tenth
from ensemblage.datasets._dataset import Dataset, locked, numbered
from ensemblage.datasets._fetch import DownloadError, alone, checksum, fetch
from ensemblage.datasets._places import cache_folder, data_folder

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]


def load(
    name: str,
    *,
    folder: str | PathLike[str] | None = None,
    download: bool = True,
    unverified: bool = False,
) -> Dataset:
    """Return one of the paper's datasets.

    It is looked up as ``data/NAME.npz`` (arrays ``X`` and ``y``) in `folder`, then in the cache.
    Otherwise it is fetched from its publisher, once, and accepted only if the result equals the
    arrays with which the paper's tables were checked.

    Parameters
    ----------
    name : str
        One of `ensemblage.datasets.NAMES`; case does not matter, and ``KDD99_10P`` is
        ``KDD99-10P``. ``Pollen`` and ``PBMC68k_reduced`` are available in `folder` only.
    folder : str or path-like, optional
        The folder that contains ``data/``, or that one itself; by default ``$ENSEMBLAGE_DATA``,
        else ``../shared``.
    download : bool, default=True
        Whether the network may be used.
    unverified : bool, default=False
        Whether original files without a known checksum may be fetched (MF, IS, LS, PD, USPS). The
        resulting arrays are compared with those of the paper in any case.

    Returns
    -------
    Dataset

    Raises
    ------
    DownloadError
        If it is not available and cannot be fetched; the message names the missing file.

    Examples
    --------
    >>> from ensemblage import datasets
    >>> datasets.load("PD")  # doctest: +SKIP
    Dataset(PD: 10992 objects, 16 features, 10 classes)
    """
    entry = _entry(name)
    arrays = _arrays(entry, data_folder(folder), download=download, unverified=unverified)
    return _dataset(entry, *arrays)


def _entry(name: str) -> Entry:
    entry = find(name) if isinstance(name, str) else None
    if entry is None:
        raise ValueError(f"Unknown dataset {name!r}. Use one of {', '.join(every_name())}.")
    return entry


def _arrays(entry: Entry, folder: Path, *, download: bool, unverified: bool) -> tuple[Arrays, str]:
    """Return the arrays of a dataset, and the file that they came from."""
    for path in _local_files(entry, folder):
        if path.is_file():
            return tables.read_arrays(path), str(path)
    cached = cache_folder() / f"{entry.file}.npz"  # which may have no place
    if cached.is_file():
        return tables.read_arrays(cached), str(cached)
    if entry.name == "KDD99-10P":
        whole, origin = _arrays(_entry("KDD99"), folder, download=download, unverified=unverified)
        arrays = tenth(whole)
        _verify(arrays, entry, f"A tenth of {origin}")
        return arrays, origin
    published = _published(entry, folder, cached, download=download, unverified=unverified)
    return published, str(cached)


def _local_files(entry: Entry, folder: Path) -> tuple[Path, Path]:
    return folder / "data" / f"{entry.file}.npz", folder / f"{entry.file}.npz"


def _published(
    entry: Entry, folder: Path, cached: Path, *, download: bool, unverified: bool
) -> Arrays:
    """Fetch the original files, convert them, check the result, and cache it; one run at a time."""
    raw = cached.parent / "raw" / entry.file
    why = _why_not(entry, _lacking(entry, raw), download=download, unverified=unverified)
    if why is not None:
        raise DownloadError(_what_to_do(entry, folder, raw, why))
    with alone(cached.with_name(f"{entry.file}.lock")):
        if cached.is_file():  # another run has made it
            return tables.read_arrays(cached)
        return _made(entry, folder, cached, raw)


def _lacking(entry: Entry, raw: Path) -> list[RawFile]:
    return [file for file in entry.raw if not (raw / file.name).is_file()]


def _made(entry: Entry, folder: Path, cached: Path, raw: Path) -> Arrays:
    """Return the arrays of the original files, and cache them."""
    lacking = _lacking(entry, raw)
    for file in lacking:
        try:
            fetch(file.urls, raw / file.name, sha256=file.sha256)
        except DownloadError as error:
            raise DownloadError(_what_to_do(entry, folder, raw, str(error))) from error
    for file in entry.raw:
        _check_sum(raw / file.name, file.sha256)
    try:
        arrays = _converted(entry, raw)
    except tables.FileFormatError:
        for file in lacking:  # keep files placed by the user
            (raw / file.name).unlink(missing_ok=True)
        raise
    tables.write(cached, arrays, format="npz")
    _tidy(raw, lacking)
    return arrays


def _why_not(
    entry: Entry, lacking: list[RawFile], *, download: bool, unverified: bool
) -> str | None:
    """Return why the missing files must not be fetched; None if they may."""
    if not entry.raw:
        return "it has no known public file"
    if lacking and not download:
        return "download=False"
    unknown = ", ".join(file.name for file in lacking if file.sha256 is None)
    if unknown and not unverified:
        return (
            f"the checksum of {unknown} is unknown, so that it cannot be verified before it is"
            f" read; unverified=True fetches it anyway"
        )
    return None


def _check_sum(path: Path, sha256: str | None) -> None:
    """Reject an original file that differs from the published one."""
    if sha256 is not None and (found := checksum(path)) != sha256:
        raise tables.FileFormatError(
            f"{path} is not the published file: its checksum is {found}, not {sha256}."
            " Remove it to fetch it again."
        )


def _tidy(raw: Path, fetched: list[RawFile]) -> None:
    """Remove fetched files after conversion, but not those placed by the user."""
    for path in (*(raw / file.name for file in fetched), *raw.glob("*.zip"), *raw.glob("*.part")):
        path.unlink(missing_ok=True)
    if not any(raw.iterdir()):
        raw.rmdir()


def _converted(entry: Entry, raw: Path) -> Arrays:
    where = f"{entry.name} made of {', '.join(file.name for file in entry.raw)} in {raw}"
    try:
        arrays = CONVERTERS[entry.name](raw)
    except MemoryError:
        raise
    except Exception as error:  # damaged files may raise any exception
        raise tables.FileFormatError(
            f"{where} failed: a file is damaged or of another layout ({error}). Remove it to"
            " fetch it again."
        ) from error
    _verify(arrays, entry, where)
    return arrays


def _verify(arrays: Arrays, entry: Entry, where: str) -> None:
    """Reject arrays that differ, in any bit, from those with which the paper was checked."""
    expected = entry.fingerprint
    if expected is None:
        return
    features, classes = arrays["X"], arrays["y"]
    actual = {
        "shape": (features.shape, expected.shape),
        "features": (_digest(features, expected.dtype), expected.features),
        "classes": (_digest(classes, "int64"), expected.classes),
    }
    for what, (got, wanted) in actual.items():
        if got != wanted:
            raise tables.FileFormatError(
                f"{where} is not the dataset with which the paper's tables were checked: its {what}"
                f" differ (got {got}, expected {wanted}). Remove the files to fetch them again; if"
                " that does not help, their publisher has changed them."
            )


def _digest(array: NDArray[Any], dtype: str) -> str:
    plain = np.ascontiguousarray(array, dtype=np.dtype(dtype).newbyteorder("<"))
    return hashlib.sha256(plain.data).hexdigest()


def _what_to_do(entry: Entry, folder: Path, raw: Path, why: str) -> str:
    local = _local_files(entry, folder)[0]
    message = (
        f"The dataset {entry.name} is not available: there is no {local}, and none in the cache"
        f" {raw.parent.parent}. It was not fetched: {why}. Place {entry.file}.npz, with"
        f" arrays X and y, in {local.parent}"
    )
    if not entry.raw:
        return f"{message}."
    sources = ", ".join(f"{file.name} (from {file.urls[0]})" for file in entry.raw)
    return f"{message}; or the original files in {raw}: {sources}."


def _dataset(entry: Entry, arrays: Arrays, path: str) -> Dataset:
    _check(arrays, path)
    truth, labels = numbered(arrays["y"].reshape(-1))
    features = arrays["X"]
    kind = features.dtype if features.dtype.kind == "f" else np.float64
    features = np.ascontiguousarray(features, dtype=kind)
    categories = _categories(arrays)
    words = categories.pop("label", None)
    return Dataset(
        name=entry.name,
        features=locked(features),
        truth=locked(truth),
        feature_names=_texts(arrays.get("columns", arrays.get("genes"))),
        class_names=_class_names(entry, arrays, labels, words),
        scale=entry.scale,
        categories=categories or None,
    )


def _check(arrays: Arrays, path: str) -> None:
    if missing := [name for name in ("X", "y") if name not in arrays]:
        raise tables.FileFormatError(
            f"{path} has no array {missing[0]!r}. A dataset is an NPZ file with X, a row for each"
            f" object, and y, the classes. It holds: {', '.join(arrays)}."
        )
    features, classes = arrays["X"], arrays["y"]
    if features.ndim != 2 or features.dtype.kind not in "fiub" or not features.size:
        raise tables.FileFormatError(
            f"{path}: X must be a table of numbers, got type {features.dtype} and shape"
            f" {features.shape}."
        )
    if classes.size != len(features) or classes.dtype.kind not in "iu":
        raise tables.FileFormatError(
            f"{path}: y must be {len(features)} integers, one for each row of X, got type"
            f" {classes.dtype} and shape {classes.shape}."
        )


def _categories(arrays: Arrays) -> dict[str, tuple[str, ...]]:
    """Return the strings of codes; under "label" those of the classes."""
    if "categories" not in arrays:
        return {}
    categories = json.loads(str(arrays["categories"]))
    return {name: tuple(words) for name, words in categories.items()}


def _class_names(
    entry: Entry, arrays: Arrays, labels: list[int], words: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return the names of the classes that occur, in the order of their numbers."""
    if entry.class_names is not None:
        return tuple(entry.class_names.get(label, str(label)) for label in labels)
    if words is not None:
        return tuple(words[label] for label in labels)
    names = _texts(arrays.get("class_names"))
    return names if names is not None and len(names) == len(labels) else None


def _texts(array: NDArray[Any] | None) -> tuple[str, ...] | None:
    return None if array is None else tuple(map(str, array.tolist()))
