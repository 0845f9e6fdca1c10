"""Tables as they come from files, and what is done with them before the fit."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._messages import Message, did_you_mean, shown
from ensemblage._types import Columns, Origin, VoteTable
from ensemblage.tables.columns import as_texts
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.labels import is_missing, smallest_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ensemblage._messages import Parameter

Array = NDArray[Any]

_MIDNIGHT = re.compile(r"[T ]00:00:00(\.0+)?$")


class FeatureTable(NamedTuple):
    """Features of a file, before it is known which of them are wanted.

    Attributes
    ----------
    columns : dict of str to ndarray
        The columns by name: floats, NaN where a cell is empty; or objects that are str, None where
        a cell is empty.
    ids : ndarray of shape (n_objects,) or None
        What the objects are called.
    id_name : str or None
        The name of the id column.
    extra : dict of str to ndarray
        Vectors of labels that came along in an NPZ or MAT file, such as ``y``.
    origin : tuple of Origin
        The files that the rows came from, in order.
    """

    columns: dict[str, Array]
    ids: Array | None
    id_name: str | None
    extra: dict[str, Array]
    origin: tuple[Origin, ...] = ()


class Labels(NamedTuple):
    """One labelling: a label for each object, and the ids where the file has them."""

    labels: Array
    ids: Array | None
    id_name: str | None = None


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
    """Return the votes alone: the matrix of integers, or columns of different types."""
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
        rest = rest._replace(kept=table.kept, types=table.types, named=table.named)
        return columns[place].copy(), rest
    others = {other: values for other, values in table.extra.items() if other != name}
    return table.extra[name], table._replace(extra=others)


def silent_objects(table: VoteTable) -> NDArray[np.intp]:
    """Return the rows of the objects that no clustering voted on."""
    silent = np.ones(n_objects(table), dtype=bool)
    for column in columns_of(table):
        silent &= is_missing(column)
        if not silent.any():
            break
    return np.flatnonzero(silent)


def format_object(table: VoteTable, row: int) -> str:
    """Return the id of an object and where it stands: ``'c3' (votes.csv, row 4)``."""
    below, where = row, f"row {row + 1}"
    for part in table.origin:
        if below < part.n_rows:
            where = f"{part.path}, row {below + part.first_row}"
            break
        below -= part.n_rows
    return where if table.ids is None else f"{as_texts(table.ids[[row]])[0]!r} ({where})"


# -- labels beside a table -------------------------------------------------------------------------


def unknown_column(asked: Parameter, problem: str, known: Sequence[str]) -> Message:
    """Return the message for a parameter that names a column which a table does not have."""
    return Message(
        "{asked}: {problem}.{near} The columns are {columns}.",
        asked=asked,
        problem=problem,
        near=did_you_mean(asked.value[0], known),
        columns=shown(known, 8, str),
    )


def in_order(
    given: Labels,
    ids: Array | None,
    n: int,
    path: str,
    noun: str = "true label",
    *,
    complete: bool = True,
) -> Array:
    """Return the labels of a file in the order of `n` objects: by id if both have ids.

    Unless they must be `complete`, an object whose id is not in the file gets -1.
    """
    if given.ids is None or ids is None:
        if len(given.labels) != n:
            raise FileFormatError(
                f"{path} has {len(given.labels)} {noun}s, but there are {n} objects. Give one for"
                " each, or ids in both files to match them by."
            )
        return given.labels
    if given.ids.dtype == ids.dtype and np.array_equal(given.ids, ids):
        return given.labels
    known, wanted = as_texts(given.ids), as_texts(ids)
    if "M" in (given.ids.dtype.kind, ids.dtype.kind):  # a date is its midnight
        known, wanted = ([_MIDNIGHT.sub("", text) for text in some] for some in (known, wanted))
    times = Counter(known)
    for name in wanted:
        if times[name] > 1 or (complete and not times[name]):
            has = f"several {noun}s" if times[name] else f"no {noun}"
            wanted_number = "one for each" if complete else "one at most"
            column = repr(given.id_name) if given.id_name else "its first column"
            raise FileFormatError(
                f"{path} has {has} for the object {name!r} of the votes, by the ids in {column}. It"
                f" must have {wanted_number}."
            )
    place_of = {name: place for place, name in enumerate(known)}
    places = [place_of.get(name, -1) for name in wanted]
    return given.labels[places] if complete else np.append(given.labels, -1)[places]
