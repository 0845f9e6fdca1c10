"""Which first rows of text files hold the names of the columns."""

from __future__ import annotations

import warnings
from decimal import Decimal
from itertools import pairwise
from operator import and_
from typing import TYPE_CHECKING

from ensemblage._messages import Message, Parameter
from ensemblage._validate import is_id_name, is_likely_id_name, looks_like_ids
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.labels import NUMBERS, Kind, mostly, understand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ensemblage.tables.parse import HeadColumn, Text

_FEWEST_STEPS = 3  # fewer numbers count upwards too easily
_FEWEST_ROWS = 10  # in fewer, labels of the first object may occur nowhere else
_SHOWN = 3

#: What to do where the first row was wrongly taken for an object.
USE_HEADER = Message(
    "If the first row holds the names of the columns, use {names}.", names=Parameter("header", True)
)
#: The same where a row below has the name of a column in it.
JOINED = "It is the name of the column: remove such rows, as of files joined with their headers."


def has_names(text: Text, path: str) -> bool:
    """Return whether the first row of a text file holds names; warn where that is in doubt."""
    first, head = [cell.strip() for cell in text.first], text.head
    kinds = [column.kinds() for column in head]
    numbers = [mostly(k) == NUMBERS and k.total() > k[Kind.MISSING] for k in kinds]
    occurs = [_is_below(cell, column) for cell, column in zip(text.first, head, strict=True)]
    if has_header(first, numbers, occurs, ids_below=_are_ids(head[0])):
        return True
    if all(occurs) and _are_ids(head[0]) and all(understand(c).kind is Kind.NAME for c in first):
        _check_not_joined(text, path)
    after_name = understand(first[0]).kind is Kind.NAME and not occurs[0]
    others = first[1:] if after_name else first  # numbers after a name that is not known for ids
    counts = len(others) >= _FEWEST_STEPS and _is_even(others)
    doubtful = any(map(_is_number, first)) and _names_columns(first, occurs)
    if after_name and head[0].n_rows >= _FEWEST_ROWS and _are_ids(head[0]):
        doubtful = doubtful or (len(others) > 1 and _in_order(others) and not any(occurs))
    if head[0].n_rows and (counts or doubtful):
        shown = ", ".join(cell or '""' for cell in first[: _SHOWN + (first[0] == "")])
        message = Message(
            "The first row of {path} reads {shown}, ...: it was taken for an object. {advice}",
            path=path,
            shown=shown,
            advice=USE_HEADER,
        )
        warnings.warn(message, UserWarning, stacklevel=2)
    return False


def _check_not_joined(text: Text, path: str) -> None:
    """Raise where the first row occurs again: files were joined with their headers."""
    if (row := text.repeats_first()) is not None:
        message = Message(
            "{path}, row {row} repeats the first row, as in files that were joined with their"
            " headers. Name the files one by one, or remove that row; if both rows are objects,"
            " use {no_names}.",
            path=path,
            row=row,
            no_names=Parameter("header", False),
        )
        raise FileFormatError(message)


def has_header(
    first: Sequence[str],
    numbers_below: Sequence[bool],
    occurs_below: Sequence[bool],
    *,
    ids_below: bool,
) -> bool:
    """Return whether the first row of a text file holds names, by what stands below each cell.

    Names stand over numbers, or occur nowhere else in their column; blank cells are ignored, but
    where all others are blank the first name must be one of ids. A row with a number is a header
    only after an empty cell or a name for ids, if all its cells differ. After an empty cell, which
    may be a missing id, there must be ids below, and the names are in order or not met below.
    """
    first = [cell.strip() for cell in first]
    kinds = [understand(cell).kind for cell in first]
    if any(map(_is_number, first)):
        if not _names_columns(first, occurs_below):
            return False
        return first[0] != "" or (ids_below and (_in_order(first[1:]) or not any(occurs_below)))
    over_numbers = (
        kind is Kind.NAME and numbers for kind, numbers in zip(kinds, numbers_below, strict=True)
    )
    if any(over_numbers):
        return True
    counted = [cell != "" for cell in first]
    if counted.count(True) == 1 and counted[0] and not _is_called_id(first[0]):
        counted = [True] * len(first)  # it may be the id of an object without votes
    names = [cell for cell, counts in zip(first, counted, strict=True) if counts]
    occur = any(map(and_, occurs_below, counted))
    return Kind.NAME in kinds and len(set(names)) == len(names) and not occur


def _names_columns(first: Sequence[str], occurs_below: Sequence[bool]) -> bool:
    """Return whether a row may name columns by numbers: different cells after the name of ids."""
    unnamed = first[0] == ""
    may_be_ids = not occurs_below[0] and (unnamed or _is_called_id(first[0]))
    return len(first) > 1 and may_be_ids and len(set(first)) == len(first)


def _is_called_id(name: str) -> bool:
    return is_id_name(name) or is_likely_id_name(name)


def _is_below(cell: str, column: HeadColumn) -> bool:
    """Return whether a cell occurs in a column; of numbers with fractions one is like another."""
    is_fraction = understand(cell).kind is Kind.FRACTION
    return cell in column.counts or (is_fraction and column.kinds()[Kind.FRACTION] > 0)


def _are_ids(column: HeadColumn) -> bool:
    """Return whether the cells of a column differ, but for the few that may be mistakes."""
    n_different = len(column.counts)
    return n_different == column.n_rows or looks_like_ids("id", n_different, column.n_rows)


# -- numbers as names ------------------------------------------------------------------------------


def _in_order(cells: Sequence[str]) -> bool:
    """Return whether cells are numbers that rise or fall; an only one has to be 0, as in pandas."""
    steps = _steps(cells)
    if not steps:
        return list(cells) == ["0"]
    return all(step > 0 for step in steps) or all(step < 0 for step in steps)


def _is_even(cells: Sequence[str]) -> bool:
    """Return whether cells are numbers that rise by equal steps."""
    steps = _steps(cells)
    return bool(steps) and steps[0] > 0 and len(set(steps)) == 1


def _steps(cells: Sequence[str]) -> list[Decimal]:
    """Return the differences of numbers in a row; none if a cell is not a number."""
    if not all(map(_is_number, cells)):
        return []
    try:
        numbers = [Decimal(cell) for cell in cells]
        return [after - before for before, after in pairwise(numbers)]
    except ArithmeticError:  # as of numbers beyond all limits
        return []


def _is_number(cell: str) -> bool:
    return understand(cell).kind in (Kind.WHOLE, Kind.FRACTION)
