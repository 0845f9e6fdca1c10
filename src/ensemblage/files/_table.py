"""A table of votes as it came from files, and the few things done with it before the method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._types import Columns
from ensemblage.files._errors import FileFormatError
from ensemblage.files._ids import as_texts
from ensemblage.files._values import MISSING, smallest_type

Array = NDArray[Any]


class Origin(NamedTuple):
    """Where rows of a table came from: so many of a file, from this row on, counted from 1."""

    path: str
    first_row: int
    n_rows: int


class VoteTable(NamedTuple):
    """Votes of a file: one column a clustering, one row an object.

    Attributes
    ----------
    names : list of str
        The names of the clusterings; ``c1``, ``c2``, ... by place in the file where it has none.
    matrix : ndarray of shape (n_objects, n_clusterings) or None
        The votes where all of them are integers, in the smallest type that holds them, -1 for a
        missing vote.
    columns : list of ndarray or None
        The votes one array a clustering, where `matrix` is None: integers as above, or
        objects that are str, None for a missing vote.
    ids : ndarray of shape (n_objects,) or None
        What the objects are called.
    id_name : str or None
        The name of the id column.
    extra : dict of str to ndarray
        Other arrays with a value for each object that came along, such as ``gt`` of a MAT pool.
    origin : tuple of Origin
        The files that the rows came from, in order.
    """

    names: list[str]
    matrix: Array | None
    columns: list[Array] | None
    ids: Array | None
    id_name: str | None
    extra: dict[str, Array]
    origin: tuple[Origin, ...] = ()


def table_of(
    names: list[str],
    columns: list[Array],
    *,
    ids: Array | None = None,
    id_name: str | None = None,
) -> VoteTable:
    """Return the table of these columns, as a matrix if one integer type holds all of them."""
    numbers = all(column.dtype.kind in "iu" for column in columns)
    common = smallest_type(columns) if numbers else None
    if common is not None:
        matrix = np.empty((len(columns[0]), len(columns)), common)
        for place, column in enumerate(columns):
            matrix[:, place] = column
        return VoteTable(names, matrix, None, ids, id_name, {})
    return VoteTable(names, None, columns, ids, id_name, {})


def columns_of(table: VoteTable) -> list[Array]:
    """Return the votes one array a clustering."""
    if table.matrix is not None:
        return list(table.matrix.T)
    return table.columns or []


def votes_of(table: VoteTable) -> Array | Columns:
    """Return what ``fit`` takes: the matrix of integers, or columns of different types."""
    return Columns(table.names, columns_of(table)) if table.matrix is None else table.matrix


def n_objects(table: VoteTable) -> int:
    """Return the number of rows."""
    return len(columns_of(table)[0])


def take_column(table: VoteTable, name: str) -> tuple[Array, VoteTable]:
    """Return a column (or an extra array) by its name, and the table without it."""
    if name in table.names:
        columns = columns_of(table)
        place = table.names.index(name)
        kept = [*columns[:place], *columns[place + 1 :]]
        if not kept:
            raise FileFormatError(f"Without column {name!r} no votes are left.")
        names = [other for other in table.names if other != name]
        rest = table_of(names, kept, ids=table.ids, id_name=table.id_name)
        rest = rest._replace(extra=table.extra, origin=table.origin)
        return columns[place].copy(), rest
    others = {other: values for other, values in table.extra.items() if other != name}
    return table.extra[name], table._replace(extra=others)


def is_missing(column: Array) -> NDArray[np.bool_]:
    """Tell where a column of votes, or of labels, has none."""
    found: NDArray[np.bool_] = column == (None if column.dtype == object else MISSING)
    return found


def silent_objects(table: VoteTable) -> NDArray[np.intp]:
    """Return the rows of the objects that no clustering voted on."""
    silent = np.ones(n_objects(table), dtype=bool)
    for column in columns_of(table):
        silent &= is_missing(column)
        if not silent.any():
            break
    return np.flatnonzero(silent)


def object_in_words(table: VoteTable, row: int) -> str:
    """Return what an object is called, and where it stands: ``'c3' (votes.csv, row 4)``."""
    below, where = row, f"row {row + 1}"
    for part in table.origin:
        if below < part.n_rows:
            where = f"{part.path}, row {below + part.first_row}"
            break
        below -= part.n_rows
    return where if table.ids is None else f"{as_texts(table.ids[[row]])[0]!r} ({where})"
