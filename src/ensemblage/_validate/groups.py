"""Microclusters that were grouped elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OWNER = "Ensemble.of_groups"


def check_groups(
    table: Any, sizes: Any, labels: Any, names: Any
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[Any]]:
    """Return codes, sizes and labels of microclusters, or say what is wrong with them."""
    codes = _whole(table, "table", 2)
    counts = _whole(sizes, "sizes", 1)
    n, n_clusterings = codes.shape
    if codes.size == 0:
        raise ValueError(f"{_OWNER}: table must have rows and columns, got shape {codes.shape}.")
    if counts.shape != (n,) or counts.min() < 1:
        raise ValueError(
            f"{_OWNER}: sizes must be {n} numbers from 1 up, one for each row of table, got"
            f" {len(counts)}, the smallest of which is {counts.min() if len(counts) else None}."
        )
    if codes.min() < -1:
        raise ValueError(
            f"{_OWNER}: table must hold codes from 0 up, and -1 for a missing vote, got"
            f" {int(codes.min())}."
        )
    labels = list(labels)
    n_labels = [len(some) for some in labels]
    if len(labels) != n_clusterings or (codes.max(axis=0) >= n_labels).any():
        raise ValueError(
            f"{_OWNER}: labels must be {n_clusterings} lists, each with a label for every code of"
            f" its column of table, got lists of {n_labels} labels for codes up to"
            f" {codes.max(axis=0).tolist()}."
        )
    if names is not None and len(names) != n_clusterings:
        raise ValueError(f"{_OWNER}: names must be {n_clusterings}, got {len(names)}.")
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    groups, _ = flow.microclusters(codes)
    if len(groups.sizes) < n:
        first = int(np.flatnonzero(np.diff(groups.of_object, prepend=-1) < 1)[0])
        raise ValueError(
            f"{_OWNER}: rows of table must differ, got row {first} twice. Add up the sizes of"
            f" equal rows."
        )
    return codes, counts.astype(np.int64), labels


def _whole(value: Any, name: str, n_axes: int) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or array.ndim != n_axes:
        raise ValueError(
            f"{_OWNER}: {name} must be whole numbers in {n_axes} dimension(s), got"
            f" {array.ndim} dimension(s) of type {array.dtype}."
        )
    return array
