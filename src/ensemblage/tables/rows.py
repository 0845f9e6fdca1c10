"""Rows of a text file by the csv module: slow, but exact about what is wrong where."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ensemblage._messages import Message, Parameter
from ensemblage._validate import check_memory
from ensemblage.tables.formats import FileFormatError, format_of_bytes, unread_format
from ensemblage.tables.labels import Kind, understand

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

SEPARATORS = "Cells are separated by commas, semicolons or tabs"
LONGEST_LINE = 1 << 27  # bytes; the longest that a person has written are tables of genes
_DELIMITERS = ",;\t"
_QUOTED = re.compile(r'(?:^|(?<=[,;\t]))( *)"(?:[^"]|"")*("|$)')  # a cell; other marks are text
_CLOSES = re.compile(r'(?:[^"]|"")*"(?!")')
_BY_SPACES = re.compile(r'"[^"]*"( +("[^"]*"|[^\s",;]+))+')
_OTHERS = {"|": "bars (|)", " ": "spaces", ":": "colons (:)"}
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,8}")
_FOR_EXCEL = re.compile(r"sep=[,;\t|]?", re.IGNORECASE)
_NEARLY_ALL = 0.9
_LONGEST_HEADER = 100  # lines, where names have line ends in them
_USUAL_WIDTH = 1000
_COLUMN = 2000  # bytes, of an empty column while a file is read


# -- separators ------------------------------------------------------------------------------------


class Suspect(NamedTuple):
    """Something that occurs equally often in the cells of an only column."""

    called: str
    is_sure: bool


def delimiter(line: str, preferred: str, below: str = "") -> str:
    """Return what separates the cells of a line: the usual mark if it is outside of quotes.

    It belongs to names where the line below has more or fewer of it, and as many of another mark;
    and commas do where both lines have as many tabs, and no fewer tabs than commas.
    """
    line, below = _QUOTED.sub("", line), _QUOTED.sub("", below)
    if ";" in line and all(map(has_decimal_comma, line.split(";"))):
        return ";"
    equal = [mark for mark in _DELIMITERS if 0 < line.count(mark) == below.count(mark)]
    if "\t" in equal and line.count("\t") >= line.count(","):
        return "\t"
    if preferred in line:
        return preferred if preferred in equal or not equal else max(equal, key=line.count)
    most = max(_DELIMITERS, key=line.count)
    return most if most in line else preferred


def has_decimal_comma(cell: str) -> bool:
    """Return whether a cell is a number with a comma for the point."""
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def number_parts(cells: Iterable[str]) -> bool:
    """Return whether cells such as "3,0" and "3,1" number the parts of clusters.

    At least half of the numbers from 1 to the largest have to occur: some parts may be lost.
    """
    found: dict[str, set[int]] = {}
    for cell in cells:
        cluster, _, part = cell.strip().partition(",")
        if _WHOLE.fullmatch(part) is None:
            return False
        found.setdefault(cluster, set()).add(int(part))
    return all(max(parts) <= 2 * len(parts) for parts in found.values())


def suspect(cells: Sequence[str]) -> Suspect | None:
    """Return what may separate the cells of a file that was read as one column of names.

    Names may have spaces in them (``T cell``): spaces and colons are surely separators only where
    most of what they separate are numbers.
    """
    cells = [cell.strip() for cell in cells if understand(cell).kind is not Kind.MISSING]
    for mark, called in _OTHERS.items():
        parts = [cell.split(None if mark == " " else mark) for cell in cells]
        width, times = Counter(map(len, parts)).most_common(1)[0] if parts else (1, 0)
        if width > 1 and times >= _NEARLY_ALL * len(cells):
            kinds = [understand(piece).kind for pieces in parts for piece in pieces]
            numbers = sum(kind is not Kind.NAME for kind in kinds)
            return Suspect(called, mark == "|" or 2 * numbers > len(kinds))
    return None


# -- rows ------------------------------------------------------------------------------------------


class FirstRow(NamedTuple):
    """The cells of the first row, what separates them, and how many bytes the row takes."""

    cells: list[str]
    delimiter: str
    n_bytes: int


def first_row(head: bytes, path: str, preferred: str, wanted: str) -> FirstRow:
    """Return the first row of a text file, of which `head` has the first bytes."""
    if (unread := unread_format(head)) is not None:
        what, advice = unread
        raise FileFormatError(f"{path} is {what}, which is not read. {advice}")
    if b"\0" in head[:4096] or format_of_bytes(head):
        known = format_of_bytes(head)
        if known == "npz":
            known = "a zip archive (XLSX, NPZ, or a file to unpack)"
        hint = f"it looks like {known}" if known else "it is binary, or text in UTF-16"
        raise FileFormatError(
            f"{path} cannot be read as CSV: {hint}. Give the format it is in, or save it as UTF-8"
            " text."
        )
    if not head.strip(b"\r\n\xef\xbb\xbf"):
        raise FileFormatError(f"{path} is empty. {wanted} has a row for each object.")
    text = io.TextIOWrapper(io.BytesIO(head), encoding="utf-8-sig", newline="")
    rows = _split(text, path, preferred)
    row = next(rows)
    if _FOR_EXCEL.fullmatch("".join(row.cells)):
        raise FileFormatError(
            f"{path} begins with the line sep=..., which tells Excel the separator. Remove it: the"
            " first row has the names of the columns, or is an object."
        )
    if not row.cells:
        raise FileFormatError(
            f"{path} begins with a blank line. Remove it: the first row has the names of the"
            " columns, or is an object."
        )
    mark = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    return row._replace(n_bytes=row.n_bytes + mark)


def all_rows(stream: io.BufferedReader, path: str, preferred: str) -> Generator[list[str]]:
    """Yield all rows of a text file, split into cells; blank lines at its end are left out."""
    text = io.TextIOWrapper(cast("Any", Lines(stream, path)), encoding="utf-8-sig", newline="")
    width, blank = 0, 0
    try:
        for number, (row, _, _) in enumerate(_split(text, path, preferred), 1):
            if not row:
                blank += 1
                continue
            width = width or len(row)
            for place in range(number - blank, number):
                yield _whole_row([], width, place, path)
            blank = 0
            yield _whole_row(row, width, number, path)
    finally:
        text.detach()


def _split(text: io.TextIOWrapper, path: str, preferred: str) -> Generator[FirstRow]:
    """Yield rows as they are; the first one with its separator and its size in bytes."""
    reader, lines, n_bytes = None, list[str](), 0
    try:
        while line := text.readline():
            lines.append(line)
            if not _is_open("".join(lines)) or len(lines) >= _LONGEST_HEADER:
                break
        below = text.readline()
        mark = delimiter("".join(lines), preferred, below)
        unspaced = _unspaced(chain(lines, [below], text), mark)
        reader = csv.reader(unspaced, delimiter=mark, strict=True)
        for row in reader:
            n_bytes = n_bytes or _size_of(lines, reader.line_num)
            yield FirstRow(row, mark, n_bytes)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} is not UTF-8 text: byte {error.object[error.start]:#04x} occurs in it."
            " Save it again as UTF-8."
        ) from error
    except csv.Error as error:
        line_number = 1 if reader is None else reader.line_num
        if line_number == 1 and _BY_SPACES.fullmatch("".join(lines).rstrip()):
            raise FileFormatError(
                f"{path} separates its cells by spaces, as write.table of R does. {SEPARATORS}:"
                ' write it with write.csv, or with write.table(..., sep = ",", col.names = NA).'
            ) from error
        if "field limit" in str(error):
            raise FileFormatError(
                f"{path}, line {line_number}: a cell has more than {csv.field_size_limit():,}"
                " characters. Shorten it, or close the quotation mark that it begins with."
            ) from error
        raise FileFormatError(
            f"{path}, line {line_number}: {error}. Look for a quotation mark that is not closed."
            f" {SEPARATORS}."
        ) from error


def _size_of(lines: list[str], n_lines: int) -> int:
    """Return how many bytes the first row takes, which has so many lines."""
    if n_lines > len(lines):
        raise csv.Error(f"a cell has more than {_LONGEST_HEADER} lines")
    return len("".join(lines[:n_lines]).encode())


def _is_open(text: str) -> bool:
    """Return whether a cell in quotation marks is not closed at the end of a text."""
    return any(found.group(2) == "" for found in _QUOTED.finditer(text))


def _unspaced(lines: Iterable[str], mark: str) -> Generator[str]:
    """Yield lines without the spaces before cells in quotation marks; other cells stay as they are.

    The option of the csv module takes the spaces from all cells, and pyarrow from none.
    """
    opens, is_inside = re.compile(f'(^|(?<={re.escape(mark)})) *"'), False
    for line in lines:
        parts, place = [], 0
        while found := (_CLOSES.match if is_inside else opens.search)(line, place):
            outside = "" if is_inside else f'{line[place : found.start()]}"'
            parts.append(found.group() if is_inside else outside)
            place, is_inside = found.end(), not is_inside
        yield "".join([*parts, line[place:]])


def check_width(width: int, path: str) -> None:
    """Raise where a table has more columns than fit in memory."""
    if width > _USUAL_WIDTH:
        check_memory(_COLUMN * width, f"The {width} columns of {path}", "Read fewer of them.")


def named_columns(header: Sequence[str]) -> list[str]:
    """Return the names in a header; a blank one becomes c1, c2, ..., or another free name.

    Examples
    --------
    >>> named_columns(["", "c1", ""]), named_columns(["", " a"])
    (['c1_', 'c1', 'c3'], ['c1', 'a'])
    """
    names = [cell.strip() for cell in header]
    taken = set(names)
    for place, name in enumerate(names):
        if not name:
            name = f"c{place + 1}"
            while name in taken:
                name += "_"
            taken.add(name)
            names[place] = name
    return names


def check_names(names: list[str], path: str) -> None:
    """Reject two columns of one name."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        places = [str(place) for place, name in enumerate(names, 1) if name == repeated[0]]
        message = Message(
            "{path} has several columns called {name} (columns {places})."
            " Give each column a name of its own; if the first row holds votes, use {names}.",
            path=path,
            name=repr(repeated[0]),
            places=", ".join(places),
            names=Parameter("header", False),
        )
        raise FileFormatError(message)


def _whole_row(row: list[str], width: int, number: int, path: str) -> list[str]:
    if len(row) == width:
        return row
    if not row and width == 1:
        return [""]
    problem = "is blank" if not row else f"has {_cells(len(row))}"
    unnamed = (
        " If the first column holds row names that R wrote without a header, write the file with"
        " col.names = NA."
    )
    raise FileFormatError(
        f"{path}, row {number} {problem}, but the first row has {_cells(width)}. Every row needs as"
        " many cells as there are columns; a missing vote is an empty cell between two separators."
        f"{unnamed if number == 2 and len(row) == width + 1 else ''}"
    )


def _cells(count: int) -> str:
    return f"{count} cell{'s' if count > 1 else ''}"


class Lines(io.RawIOBase):
    """Bytes of text; raises where a line does not end, since it is in memory as a whole."""

    def __init__(self, stream: Any, path: str) -> None:
        self._stream, self._path, self._since = stream, path, 0

    def readable(self) -> bool:
        """Return True: this is for reading."""
        return True

    def read1(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        return self.seen(self._stream.read1(size))

    def seen(self, part: bytes) -> bytes:
        """Return these bytes, or raise where a line does not end."""
        end = max(part.rfind(b"\n"), part.rfind(b"\r"))
        self._since = len(part) - end - 1 + (self._since if end < 0 else 0)
        if self._since > LONGEST_LINE:
            raise FileFormatError(
                f"{self._path} has a line of more than {LONGEST_LINE >> 20} MB, which is not a row"
                " of a table. Save it with an end of line after each object."
            )
        return part
