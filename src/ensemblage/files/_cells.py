"""What a cell of a text file says: nothing, a whole number, a fraction or a name.

A column is read as integers or as names, never as a mixture: where whole numbers make up at least
half of it, a cell that is not one is a mistake, and the complaint names its row and column.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.files._errors import FileFormatError
from ensemblage.files._values import FEATURES, MISSING, smallest

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_VOTE = frozenset({"", "NA", "NaN", "nan"})
_WHOLE = re.compile(r"[+-]?[0-9]+(\.0*)?")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INT64 = np.iinfo(np.int64)
_LARGEST_WHOLE = 2.0**53  # beyond it floats no longer tell neighbours apart


class Kind(Enum):
    """The four things a cell can be."""

    MISSING = auto()
    WHOLE = auto()
    FRACTION = auto()
    NAME = auto()


class Cell(NamedTuple):
    """A cell and what it was understood as; the value of a missing vote is -1."""

    kind: Kind
    value: int | float | str


def understand(text: str) -> Cell:
    """Return what a cell says.

    Examples
    --------
    >>> [understand(text).kind.name for text in ("7", "3.0", "2.5", "T cell", "NA", "-1")]
    ['WHOLE', 'WHOLE', 'FRACTION', 'NAME', 'MISSING', 'MISSING']
    """
    text = text.strip()
    if text in _NO_VOTE:
        return Cell(Kind.MISSING, MISSING)
    if _WHOLE.fullmatch(text):
        number = _int64(text)
        if number is None:
            return Cell(Kind.NAME, text)
        return Cell(Kind.MISSING if number == MISSING else Kind.WHOLE, number)
    if _NUMBER.fullmatch(text):
        value = float(text)
        whole = value.is_integer() and abs(value) < _LARGEST_WHOLE
        return Cell(Kind.WHOLE, int(value)) if whole else Cell(Kind.FRACTION, value)
    return Cell(Kind.NAME, text)


def is_empty(text: str) -> bool:
    """Tell whether a cell says nothing: it is empty, NA, NaN or nan."""
    return text.strip() in _NO_VOTE


def _int64(text: str) -> int | None:
    """Return the whole number that a text spells, or None where 64 bits do not hold it."""
    digits = text.lstrip("+-").partition(".")[0].lstrip("0") or "0"
    if len(digits) > 19:  # also because int() refuses very long texts
        return None
    number = -int(digits) if text.startswith("-") else int(digits)
    return number if _INT64.min <= number <= _INT64.max else None


def mostly(kinds: Counter[Kind]) -> Kind:
    """Return what a column holds, by its counts: NAME where names are more than half.

    FRACTION stands for any column of numbers that has a fraction; a column without votes is WHOLE.
    """
    numbers = kinds[Kind.WHOLE] + kinds[Kind.FRACTION]
    if kinds[Kind.NAME] > numbers:
        return Kind.NAME
    return Kind.FRACTION if kinds[Kind.FRACTION] else Kind.WHOLE


def count_kinds(cells: list[Cell], counts: NDArray[np.integer[Any]]) -> Counter[Kind]:
    """Return how many cells are of each kind, from distinct cells and how often each occurs."""
    kinds: Counter[Kind] = Counter()
    for cell, count in zip(cells, counts.tolist(), strict=True):
        kinds[cell.kind] += count
    return kinds


def column_of_votes(
    texts: list[str], codes: NDArray[np.integer[Any]], *, column: str, path: str, first_row: int
) -> NDArray[Any]:
    """Return a column as integers or as names, or name the cell that is neither.

    Parameters
    ----------
    texts : list of str
        The distinct cells.
    codes : ndarray of int
        For each row of the file, which of the texts it holds.
    column, path : str
        What the complaint calls the column and the file.
    first_row : int
        The number of the first row of votes in the file, counted from 1.
    """
    cells = [understand(text) for text in texts]
    kinds = count_kinds(cells, np.bincount(codes, minlength=len(cells)))
    if mostly(kinds) is Kind.NAME:
        names = np.empty(len(cells), dtype=object)
        for place, (cell, text) in enumerate(zip(cells, texts, strict=True)):
            names[place] = None if cell.kind is Kind.MISSING else text.strip()
        return np.take(names, codes)

    wrong = np.array([cell.kind in (Kind.FRACTION, Kind.NAME) for cell in cells])[codes]
    if wrong.any():
        row = int(wrong.argmax())
        raise bad_cell(
            texts[codes[row]], kinds, f"{path}, row {row + first_row}, column {column!r}"
        )
    values = np.array([cell.value for cell in cells], dtype=np.int64)
    return np.take(smallest(values), codes)


def bad_cell(text: str, kinds: Counter[Kind], where: str) -> FileFormatError:
    """Return the complaint about a cell that is no label of its column."""
    voted = sum(kinds.values()) - kinds[Kind.MISSING]
    if _is_too_large(text.strip()):
        return FileFormatError(
            f"{where}: {_shortened(text.strip())} is too large for a label: numbers go up to"
            f" {_INT64.max} (64 bits). Number the clusters from 0, or give them names."
        )
    if kinds[Kind.FRACTION] > kinds[Kind.WHOLE]:
        return FileFormatError(
            f"{where}: {text.strip()} is not a cluster label, and {kinds[Kind.FRACTION]} of {voted}"
            f" values in this column are no whole numbers. {FEATURES}"
        )
    return FileFormatError(
        f"{where}: {text.strip()!r} is not a whole number, but {kinds[Kind.WHOLE]} of {voted}"
        " labels in this column are. Correct the cell, or leave it empty if the vote is missing."
    )


def _is_too_large(text: str) -> bool:
    """Tell whether a cell that is no label is a number that is none for its size only."""
    if _WHOLE.fullmatch(text):
        return True
    return bool(_NUMBER.fullmatch(text)) and abs(float(text)) >= _LARGEST_WHOLE


def _shortened(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
