"""A table of votes as it came from a file, and the few things done with it before the method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quorate._types import Columns
from quorate.files._errors import FileFormatError
from quorate.files._values import smallest_type

Array = NDArray[Any]


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
    """

    names: list[str]
    matrix: Array | None
    columns: list[Array] | None
    ids: Array | None
    id_name: str | None
    extra: dict[str, Array]


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
        return columns[place].copy(), rest._replace(extra=table.extra)
    others = {other: values for other, values in table.extra.items() if other != name}
    return table.extra[name], table._replace(extra=others)


def stack_tables(tables: list[VoteTable], paths: list[str]) -> VoteTable:
    """Return the rows of several tables one after another, as one table.

    Every table must have the columns of the first, in the same order and of the same kind.
    """
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    for table, path in zip(tables[1:], paths[1:], strict=True):
        _complain_of_difference(first, table, paths[0], path)
    columns = [
        np.concatenate(parts) for parts in zip(*(columns_of(t) for t in tables), strict=True)
    ]
    ids = (
        None if first.ids is None else np.concatenate([t.ids for t in tables if t.ids is not None])
    )
    shared = [name for name in first.extra if all(name in table.extra for table in tables)]
    extra = {name: np.concatenate([table.extra[name] for table in tables]) for name in shared}
    return table_of(first.names, columns, ids=ids, id_name=first.id_name)._replace(extra=extra)


def _complain_of_difference(first: VoteTable, table: VoteTable, path: str, other: str) -> None:
    """Raise where a table cannot go under the first."""
    if table.id_name != first.id_name:
        raise FileFormatError(
            f"{other} has {_id_in_words(table)}, but {path} has {_id_in_words(first)}. Files given"
            " together must have the same columns; id_column says which one holds the ids."
        )
    if table.names != first.names:
        odd = [name for name in table.names if name not in first.names]
        lacking = [name for name in first.names if name not in table.names]
        how = (
            (f" it has {_listed(odd)} too;" if odd else "")
            + (f" it lacks {_listed(lacking)};" if lacking else "")
        ) or " they stand in another order;"
        raise FileFormatError(
            f"The columns of {other} are not those of {path}:{how[:-1]}."
            " Files given together must have the same columns."
        )
    pairs = zip(first.names, columns_of(first), columns_of(table), strict=True)
    for name, above, below in pairs:
        if (above.dtype.kind == "O") != (below.dtype.kind == "O"):
            raise FileFormatError(
                f"Column {name!r} holds {_kind(below)} in {other}, but {_kind(above)} in {path}."
                " Use one kind of label for it in all files."
            )


def _id_in_words(table: VoteTable) -> str:
    return "no id column" if table.id_name is None else f"the id column {table.id_name!r}"


def _kind(column: Array) -> str:
    return "names" if column.dtype.kind == "O" else "numbers"


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
