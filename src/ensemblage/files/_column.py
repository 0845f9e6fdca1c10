"""A column of text while it is read: its distinct cells, and a code for each row."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.files._cells import Kind, count_kinds, understand

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class _Codes(dict[str, int]):
    """Codes of texts by first appearance."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code


class Column:
    """The cells of a column: codes of distinct texts, or the texts while no two are equal."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._codes = _Codes()
        self._coded: list[NDArray[Any]] = []
        self._texts: list[tuple[str, ...]] | None = None

    def add(self, cells: tuple[str, ...]) -> None:
        """Take in the next block of cells."""
        if self.n_rows == 0 and len(set(cells)) == len(cells):
            self._texts = []
        self.n_rows += len(cells)
        if self._texts is None:
            self._coded.append(self._encode(cells))
        else:
            self._texts.append(cells)

    def prepend(self, cell: str) -> None:
        """Put a cell before all others: the first row turned out to hold votes."""
        self.n_rows += 1
        if self._texts is None:
            self._coded.insert(0, self._encode((cell,)))
        else:
            self._texts.insert(0, (cell,))

    def texts(self) -> list[str]:
        """Return all cells in order."""
        if self._texts is not None:
            return list(chain.from_iterable(self._texts))
        distinct = list(self._codes)
        return [distinct[code] for part in self._coded for code in part.tolist()]

    def coded(self) -> tuple[list[str], NDArray[Any]]:
        """Return the distinct cells and the code of each row."""
        if self._texts is not None:
            self._coded = [self._encode(cells) for cells in self._texts]
            self._texts = None
        parts = self._coded or [np.zeros(0, dtype=np.uint8)]
        return list(self._codes), np.concatenate(parts)

    def is_unique(self) -> bool:
        """Tell whether all cells differ."""
        if self._texts is None:
            return self.n_rows == len(self._codes)
        return len(set(chain.from_iterable(self._texts))) == self.n_rows

    def holds(self, cell: str) -> bool:
        """Tell whether a cell occurs in the column."""
        if self._texts is None:
            return cell in self._codes
        return any(cell in part for part in self._texts)

    def kinds(self) -> Counter[Kind]:
        """Return how many cells are numbers, names or missing; of texts, in the first block."""
        if self._texts is not None:
            return Counter(understand(text).kind for text in chain(*self._texts[:1]))
        texts, codes = self.coded()
        counts = np.bincount(codes, minlength=len(texts))
        return count_kinds([understand(text) for text in texts], counts)

    def has_fractions(self) -> bool:
        """Tell whether the column holds measurements, which are no ids though they may differ."""
        return self.kinds()[Kind.FRACTION] > 0

    def _encode(self, cells: Iterable[str]) -> NDArray[Any]:
        codes = np.fromiter(map(self._codes.__getitem__, cells), dtype=np.int64)
        return codes.astype(np.min_scalar_type(len(self._codes)))
