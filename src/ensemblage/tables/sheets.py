"""Spreadsheets: the first sheet of an XLSX file, as text."""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any

from ensemblage._validate import check_memory
from ensemblage.tables.files import File, arrow_errors
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.labels import LARGEST_WHOLE
from ensemblage.tables.text import TextSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage.tables.choice import Choice

_PART = 1 << 22
_BYTES_OF_CELL = 64  # in the reader, as an object and as text
_FIRST_SHEET = re.compile(rb"""<(?:\w+:)?sheet\s[^<>]*?:id\s*=\s*["']([^"']+)""")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^<>]*>")
_TARGET = re.compile(rb"""\sTarget\s*=\s*["']/?(?:xl/)?([^"']+)""")
_ROW = re.compile(rb"<(?:\w+:)?row(?=[\s/>])")
_ROW_NUMBER = re.compile(rb"""<(?:\w+:)?row\s(?:[^<>]*?\s)?r\s*=\s*["']([0-9]+)""")
_CELL = re.compile(rb"<(?:\w+:)?c(?=[\s/>])")
_PLACED = re.compile(rb"""<(?:\w+:)?c\s(?:[^<>]*?\s)?r\s*=\s*["']([A-Z]+)([0-9]+)["'][^<>]*>""")
_FILLED = re.compile(_PLACED.pattern + rb"(?<!/>)(?!</)")


def read_xlsx(file: File, choice: Choice, chosen: str) -> TextSource:  # noqa: ARG001
    """Return the first sheet of a spreadsheet: its cells as text."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise FileFormatError(
            f"{file.name} is a spreadsheet, which python-calamine reads, and it is not installed."
            ' Install it with: pip install "ensemblage[xlsx]". Or save the sheet as CSV.'
        ) from None
    with file.seekable() as stream, arrow_errors(f"{file.name} cannot be read as XLSX"):
        _check_fits(stream, file.name)
        try:
            sheet = CalamineWorkbook.from_filelike(stream).get_sheet_by_index(0)
            rows, start = sheet.to_python(), getattr(sheet, "start", None)
        except (CalamineError, ValueError) as error:
            raise FileFormatError(
                f"{file.name} cannot be read as XLSX: it is damaged, truncated or in another format"
                f" ({error}). Make or fetch the file again."
            ) from error
    text = io.StringIO(newline="")
    # In quotes, no semicolon or tab of a cell is taken for a separator.
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([_cell(value) for value in row] for row in rows)
    content = File.of_bytes(text.getvalue().encode(), file.name)
    return SheetSource(content, choice, _rounded(rows), n_above=start[0] if start else 0)


class SheetSource(TextSource):
    """The cells of a spreadsheet as text, of which some columns have numbers that are `rounded`."""

    def __init__(
        self, content: File, choice: Choice, rounded: dict[int, float], *, n_above: int
    ) -> None:
        self._rounded = rounded
        super().__init__(content, choice, n_above=n_above)
        for name in [*self.carried_names, *([] if choice.features else self.label_names)]:
            self._check_exact(name)

    def _check_different(self) -> None:
        self._check_exact(self.id_name)  # rounded ids may be equal
        super()._check_different()

    def _check_exact(self, name: str) -> None:
        """Raise where a column has numbers that are too large for a spreadsheet."""
        number = self._rounded.get(self._at[name])
        if number is not None:
            raise FileFormatError(
                f"{self.place(name)}: {number:g} is too large for a number of a spreadsheet: some"
                " of its digits would be lost. Enter these values as text."
            )


def _rounded(rows: list[list[Any]]) -> dict[int, float]:
    """Return a number of each column that has one so large that its neighbours are equal to it."""
    return {
        place: value
        for row in reversed(rows)
        for place, value in enumerate(row)
        if isinstance(value, int | float) and LARGEST_WHOLE <= abs(value) < math.inf
    }


def _cell(value: Any) -> str:
    """Return what a cell shows: numbers of spreadsheets are floats, also whole ones."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


# -- sizes -----------------------------------------------------------------------------------------


def _check_fits(stream: IO[bytes], path: str) -> None:
    """Raise where the cells of the first sheet do not fit in memory: empty ones take room too."""
    try:
        with zipfile.ZipFile(stream) as archive, archive.open(_first_sheet(archive)) as sheet:
            n_rows, n_columns = _extent(_parts(sheet))
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError):
        return  # which the reader reports
    finally:
        stream.seek(0)
    check_memory(
        _BYTES_OF_CELL * n_rows * n_columns,
        f"The first sheet of {path}, {n_rows} by {n_columns} cells,",
        "Delete cells far from the table, or save the table as CSV.",
    )


def _first_sheet(archive: zipfile.ZipFile) -> str:
    """Return the name of the first sheet in the archive; raise KeyError where there is none."""
    book, relations = (
        archive.open(f"xl/{name}").read(_PART)
        for name in ("workbook.xml", "_rels/workbook.xml.rels")
    )
    first = _FIRST_SHEET.search(book)
    for relation in _RELATION.findall(relations):
        target = _TARGET.search(relation)
        if first and target and first[1] in re.findall(rb"""\sId\s*=\s*["']([^"']+)""", relation):
            return f"xl/{target[1].decode('utf-8', 'replace')}"
    raise KeyError("sheet")


def _parts(sheet: IO[bytes]) -> Iterator[bytes]:
    """Yield the text of a sheet in parts that begin with a row, or at least with a tag."""
    held = b""
    while part := sheet.read(_PART):
        held += part
        rows = [match.start() for match in _ROW.finditer(held)]
        end = rows[-1] if rows and rows[-1] else held.rfind(b"<")
        if end > 0:
            yield held[:end]
            held = held[end:]
    yield held


def _extent(parts: Iterator[bytes]) -> tuple[int, int]:
    """Return up to which row and column a sheet has cells; those without a place are counted."""
    height = width = n_rows = widest = 0
    for part in parts:
        for letters, digits in set(_FILLED.findall(part)):
            height, width = max(height, int(digits)), max(width, _column(letters))
        rows = _ROW.split(part)
        n_rows += len(rows) - 1
        if len(_CELL.findall(part)) > len(_PLACED.findall(part)):
            widest = max(widest, *(len(_CELL.findall(row)) for row in rows))
            height = max(height, *map(int, _ROW_NUMBER.findall(part)), 0)
    return (height + n_rows, width + widest) if widest else (height, width)


def _column(letters: bytes) -> int:
    """Return the number of a column: 1 for A, 27 for AA."""
    number = 0
    for letter in letters[:8]:
        number = 26 * number + letter - 64
    return number
