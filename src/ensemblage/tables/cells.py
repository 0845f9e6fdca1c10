"""Rows of cells on their way into CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_CELLS_AT_ONCE = 1 << 20


class _Rows:
    """A text stream for one row at a time, which ends them by a line feed alone."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, row: str) -> int:
        """Write a row."""
        return int(self._stream.write(f"{row[:-2]}\n"))


def row_writer(stream: Any, delimiter: str = ",") -> Any:
    r"""Return a writer of the csv module whose rows end by a line feed.

    It puts a cell with a carriage return in quotation marks, as that ends a row for most readers.
    Python before 3.13 does so only if rows end by one.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO()
    >>> row_writer(text).writerows([["a\rb", 1], ["c", None]])
    >>> text.getvalue()
    '"a\rb",1\nc,\n'
    """
    return csv.writer(_Rows(stream), delimiter=delimiter, lineterminator="\r\n")


def csv_text(rows: Iterable[Any], delimiter: str = ",") -> str:
    """Return rows as `row_writer` writes them; faster where no cell has a carriage return."""
    rows = list(rows)
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    written = text.getvalue()
    if written.count("\r") == len(rows):
        return written.replace("\r\n", "\n")
    text = io.StringIO(newline="")
    row_writer(text, delimiter).writerows(rows)
    return text.getvalue()


def rows_of_text(n_columns: int) -> int:
    """Return the number of rows that are made text at once, so that wide tables fit in memory."""
    return max(1, _CELLS_AT_ONCE // max(1, n_columns))
