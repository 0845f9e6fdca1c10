"""A column of a text file that may hold features: numbers as soon as it can be, else texts."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.files._cells import is_empty

if TYPE_CHECKING:
    from numpy.typing import NDArray


_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")


class TextColumn:
    """The cells of a column, in blocks. Texts are kept where they are wanted, or no numbers."""

    def __init__(self, *, keep_texts: bool) -> None:
        self.n_rows = 0
        self._keep_texts = keep_texts
        self._numbers: list[NDArray[np.float64] | None] = []
        self._texts: list[tuple[str, ...]] = []

    def add(self, cells: tuple[str, ...], place: int | None = None) -> None:
        """Take in the next block of cells, or one at another place."""
        place = len(self._numbers) if place is None else place
        numbers = _numbers(cells)
        kept = self._keep_texts or numbers is None
        self._numbers.insert(place, numbers)
        self._texts.insert(place, cells if kept else ())
        self.n_rows += len(cells)

    def prepend(self, cell: str) -> None:
        """Put a cell before all others: the first row turned out to hold no names."""
        self.add((cell,), 0)

    def is_numeric(self) -> bool:
        """Tell whether the column holds numbers, and not empty cells only."""
        return bool(self._numbers) and not any(
            part is None or np.isnan(part).all() for part in self._numbers
        )

    def holds(self, cell: str) -> bool:
        """Tell whether a cell occurs in the column, as far as its texts are known."""
        return any(cell in part for part in self._texts)

    def texts(self) -> list[str]:
        """Return all cells in order, of a column whose texts were kept."""
        return list(chain.from_iterable(self._texts))

    def can_be_ids(self) -> bool:
        """Tell whether all cells are different names, or count the rows from 0 or 1 on."""
        texts = self.texts()
        if any(map(has_decimal_comma, texts)):
            return False
        if len(texts) != self.n_rows or len(set(texts)) != self.n_rows:
            return False
        if all(part is None for part in self._numbers):
            return True
        start = texts[0] if texts else ""
        if start not in ("0", "1"):
            return False
        return texts == [str(int(start) + place) for place in range(self.n_rows)]

    def values(self) -> NDArray[Any]:
        """Return the numbers, NaN for an empty cell; or texts, None for an empty cell."""
        parts = [part for part in self._numbers if part is not None]
        if len(parts) == len(self._numbers):
            return np.concatenate(parts) if parts else np.zeros(0)
        found = np.empty(self.n_rows, dtype=object)
        done = 0
        for numbers, texts in zip(self._numbers, self._texts, strict=True):
            if numbers is not None and not texts:  # their texts were not kept
                texts = tuple(f"{number:g}" for number in numbers.tolist())
            part = slice(done, done + len(texts))
            found[part] = [None if is_empty(text) else text.strip() for text in texts]
            done += len(texts)
        return found


def has_decimal_comma(cell: str) -> bool:
    """Tell whether a cell is a number with a comma for the point.

    Examples
    --------
    >>> has_decimal_comma("-1,71"), has_decimal_comma("1.71"), has_decimal_comma("a,b")
    (True, False, False)
    """
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def _numbers(cells: tuple[str, ...]) -> NDArray[np.float64] | None:
    """Return cells as numbers, or None where one of them is neither a number nor empty."""
    try:
        return np.array(cells).astype(np.float64)
    except ValueError:
        pass
    try:
        return np.array(["nan" if is_empty(cell) else cell for cell in cells], dtype=np.float64)
    except ValueError:
        return None
