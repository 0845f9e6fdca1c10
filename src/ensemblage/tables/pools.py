"""Writing pools of base clusterings, with the ids and the true classes of the objects."""

from __future__ import annotations

import io
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow.codes import MISSING
from ensemblage.tables.formats import FileFormatError, format_of_name, format_to_write, packing
from ensemblage.tables.labels import is_missing, smallest
from ensemblage.tables.target import check_target, replacing
from ensemblage.tables.writing import check_writable, write

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NamedColumn(NamedTuple):
    """A column and what it is called."""

    name: str
    values: NDArray[Any]


def pool_format(path: str | PathLike[str]) -> str:
    """Return the format that the name of a pool tells: those of `write`, and MAT."""
    path = fspath(path)
    if format_of_name(path) == "mat" and packing(path) is None:
        return "mat"
    try:
        return format_to_write(path, None)
    except FileFormatError:
        raise FileFormatError(
            f"A pool cannot be written under the name {path}. Use one that ends in .parquet, .csv,"
            " .tsv, .npy, .npz or .mat."
        ) from None


def check_pool_writable(path: str | PathLike[str]) -> None:
    """Raise now what `write_pool` would raise after the work."""
    if pool_format(path) == "mat":
        check_target(fspath(path))
    else:
        check_writable(path)


def write_pool(
    path: str | PathLike[str],
    votes: NDArray[np.integer[Any]],
    names: list[str],
    *,
    ids: NamedColumn,
    truth: NamedColumn | None = None,
) -> None:
    """Write base clusterings, whole or not at all; see `write`.

    Parameters
    ----------
    path : str or path-like
        The name gives the format. CSV, TSV and Parquet hold the ids, a column for each clustering,
        and the truth. NPZ holds ``members``, ``id`` and ``gt``. MAT holds ``members`` and ``gt``
        as the paper's authors have them: labels from 1, and -1 for a missing vote. NPY holds the
        votes alone.
    votes : ndarray of shape (n_objects, n_clusterings)
        Labels from 0; -1 for a missing vote.
    names : list of str
        What the clusterings are called.
    ids : NamedColumn
        What the objects are called.
    truth : NamedColumn, optional
        The true classes: whole numbers, -1 where missing, or names, None where missing.
    """
    chosen = pool_format(path)
    votes = smallest(votes)
    if chosen == "npy":
        write(path, {"members": votes})
    elif chosen == "npz":
        gt = {} if truth is None else {"gt": truth.values}
        write(path, {"members": votes, "id": ids.values, **gt})
    elif chosen == "mat":
        _write_mat(fspath(path), votes, truth)
    else:
        columns = dict(zip(names, votes.T, strict=True))
        last = {} if truth is None else {truth.name: truth.values}
        write(path, {ids.name: ids.values, **columns, **last})


def _write_mat(path: str, votes: NDArray[np.integer[Any]], truth: NamedColumn | None) -> None:
    from scipy.io import savemat

    wide = votes.astype(np.int64)  # a missing vote stays -1, which 0 would not mean to our readers
    content: dict[str, Any] = {"members": smallest(np.where(wide == MISSING, MISSING, wide + 1))}
    if truth is not None:
        classes = truth.values
        if classes.dtype == object:  # names: their places, from 1, among the sorted names
            missing = is_missing(classes)
            places = np.unique(classes[~missing].astype(str), return_inverse=True)[1] + 1
            classes = np.full(len(classes), MISSING, dtype=np.int64)
            classes[~missing] = places
        content["gt"] = smallest(classes)[:, None]
    packed = io.BytesIO()
    savemat(packed, content, do_compression=True)
    with replacing(path) as target:
        target.write(packed.getbuffer())
