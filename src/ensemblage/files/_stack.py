"""Several files as one table: their rows one after another."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ensemblage._messages import Message, Parameter
from ensemblage.files._errors import FileFormatError
from ensemblage.files._ids import joined_ids
from ensemblage.files._table import Array, VoteTable, columns_of, is_missing, table_of
from ensemblage.files._values import MISSING, smallest_type


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
        _joined(name, list(parts), paths)
        for name, *parts in zip(first.names, *map(columns_of, tables), strict=True)
    ]
    ids = None if first.ids is None else joined_ids([t.ids for t in tables if t.ids is not None])
    extra = {}
    for name in first.extra:
        with suppress(FileFormatError, KeyError):  # not asked for, and not the same in every file
            extra[name] = _joined(name, [table.extra[name] for table in tables], paths)
    table = table_of(first.names, columns, ids=ids, id_name=first.id_name)
    return table._replace(extra=extra, origin=sum((table.origin for table in tables), ()))


def _complain_of_difference(first: VoteTable, table: VoteTable, path: str, other: str) -> None:
    """Raise where a table has other columns than the first."""
    if table.id_name != first.id_name:
        message = Message(
            "{other} has {its}, but {path} has {ids}. Files given together must have the same"
            " columns; {id_column} says which one holds the ids.",
            other=other,
            its=_id_in_words(table),
            path=path,
            ids=_id_in_words(first),
            id_column=Parameter("id_column"),
        )
        raise FileFormatError(message)
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


def _joined(name: str, parts: list[Array], paths: list[str]) -> Array:
    """Return the parts of a column as one; a part without any vote fits numbers and names."""
    voted = [place for place, part in enumerate(parts) if not is_missing(part).all()]
    named = [place for place in voted if parts[place].dtype == object]
    if named and named != voted:
        number = next(place for place in voted if place not in named)
        one, other = sorted([named[0], number])
        raise FileFormatError(
            f"Column {name!r} holds {_kind(parts[other])} in {paths[other]}, but"
            f" {_kind(parts[one])} in {paths[one]}. Use one kind of label for it in all files."
        )
    if named:
        return np.concatenate(
            [part if part.dtype == object else np.full(len(part), None) for part in parts]
        )
    numbers = [np.full(len(part), MISSING) if part.dtype == object else part for part in parts]
    common = smallest_type(numbers)
    if common is None:
        raise FileFormatError(
            f"Column {name!r} holds numbers above {np.iinfo(np.int64).max} in one of the files, and"
            " missing votes or negative numbers in another: no 64-bit integer holds both. Number"
            " the clusters from 0."
        )
    return np.concatenate(numbers, dtype=common, casting="unsafe")


def _id_in_words(table: VoteTable) -> str:
    return "no id column" if table.id_name is None else f"the id column {table.id_name!r}"


def _kind(column: Array) -> str:
    return "names" if column.dtype == object else "numbers"


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
