"""Formats that are read whole: JSON lines as an Arrow table, a spreadsheet as text."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from ensemblage.tables.arrow import ArrowSource
from ensemblage.tables.errors import FileFormatError
from ensemblage.tables.files import File, arrow_errors
from ensemblage.tables.text import TextSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.tables.source import Choice


class _JsonSource(ArrowSource):
    """JSON lines: an object in braces on each line, a field for each column."""

    called = "JSON lines"

    def _look(self) -> Any:
        from pyarrow import json

        with self.file.seekable() as stream:
            self._table = json.read_json(stream)
        self._ends = [0, self._table.num_rows]
        return self._table.schema

    def rows(
        self,
        start: int,
        stop: int | None,
        columns: list[str],
        threads: int,  # noqa: ARG002 - it is in memory
    ) -> Iterator[tuple[int, Any]]:
        row = 0
        for batch in self._table.select(columns).to_batches(max_chunksize=self._batch_rows):
            if row + batch.num_rows > start and (stop is None or row < stop):
                yield row, batch
            row += batch.num_rows


def read_json(file: File, choice: Choice, chosen: str) -> ArrowSource:
    """Return a file of JSON lines."""
    return _JsonSource(file, choice, chosen)


def read_xlsx(file: File, choice: Choice, chosen: str) -> TextSource:  # noqa: ARG001
    """Return the first sheet of a spreadsheet: its cells as text."""
    return TextSource(sheet_as_text(file), choice)


def sheet_as_text(file: File) -> File:
    """Return the first sheet of a spreadsheet as a text file in memory."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise FileFormatError(
            f"{file.name} is a spreadsheet, which python-calamine reads, and it is not installed."
            ' Install it with: pip install "ensemblage[xlsx]". Or save the sheet as CSV.'
        ) from None
    with file.seekable() as stream, arrow_errors(f"{file.name} cannot be read as XLSX"):
        try:
            rows = CalamineWorkbook.from_filelike(stream).get_sheet_by_index(0).to_python()
        except (CalamineError, ValueError) as error:
            raise FileFormatError(
                f"{file.name} cannot be read as XLSX: it is damaged, truncated or in another format"
                f" ({error}). Make or fetch the file again."
            ) from error
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return File.of_bytes(text.getvalue().encode(), file.name)


def _cell(value: Any) -> str:
    """Return what a cell shows: numbers of spreadsheets are floats, also whole ones."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
