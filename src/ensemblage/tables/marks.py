"""Quotation marks in text files, checked without splitting rows into cells."""

from __future__ import annotations

import numpy as np


class OtherwiseError(Exception):
    """The file has something in it that pyarrow would understand otherwise."""


class Marks:
    """Quotation marks in parts of a text; pyarrow ignores some that are not around whole cells."""

    def __init__(self, delimiter: str) -> None:
        self._borders = np.isin(np.arange(256), list(f'{delimiter}\r\n"'.encode()))
        self._before = b"\n"  # the last bytes; the mark of the last one is not checked yet
        self._is_inside = False

    def check(self, text: bytes) -> None:
        """Raise where a mark opens or closes something within a cell."""
        text = self._before + text
        self._before = text[-2:]
        if b'"' not in text:
            return
        codes = np.frombuffer(text, np.uint8)
        places = 1 + np.flatnonzero(codes[1:-1] == ord('"'))
        opening, closing = places[self._is_inside :: 2], places[not self._is_inside :: 2]
        around = codes[np.concatenate([opening - 1, closing + 1])]
        if not self._borders[around].all():
            raise OtherwiseError
        self._is_inside ^= bool(len(places) % 2)

    def close(self) -> None:
        """Check the last mark; raise where a cell is not closed at the end."""
        self.check(b"\n")
        if self._is_inside:
            raise OtherwiseError
