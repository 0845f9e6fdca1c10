"""Splitting text into rows of cells, whatever separates them."""

from __future__ import annotations

import csv
import io
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from ensemblage._validate import check_memory
from ensemblage.files._errors import FileFormatError
from ensemblage.files._formats import format_of_bytes
from ensemblage.files._separators import KNOWN, delimiter

if TYPE_CHECKING:
    from collections.abc import Generator

_LONGEST_HEADER = 100  # lines, where names have line ends in them
_LONGEST_LINE = 1 << 27  # bytes; the longest that a person has written are tables of genes
_USUAL_WIDTH = 1000
_COLUMN = 2000  # bytes, of an empty column while a file is read


def split_rows(stream: io.BufferedReader, path: str, *, preferred: str) -> Generator[list[str]]:
    """Yield the rows of a text file, split into cells; blank lines at its end are no rows."""
    head = stream.peek(4096)[:4096]
    if b"\0" in head or format_of_bytes(head):
        found = format_of_bytes(head)
        hint = f"it looks like {found}" if found else "it is binary, or text in UTF-16"
        raise FileFormatError(
            f"{path} cannot be read as CSV: {hint}. Give the format it is in, or save it as UTF-8"
            " text."
        )
    lines = _Lines(stream, path)
    text = io.TextIOWrapper(cast("Any", lines), encoding="utf-8-sig", newline="")
    try:
        first = _first_row(text)
        reader = csv.reader(
            chain(first, text),
            delimiter=delimiter("".join(first), preferred),
            skipinitialspace=True,
            strict=True,
        )
        blank, width = 0, _USUAL_WIDTH
        for row in reader:
            if not row:
                blank += 1
                continue
            yield from ([] for _ in range(blank))
            blank = 0
            if len(row) > width:
                width = len(row)
                check_memory(
                    _COLUMN * width, f"The {width} columns of {path}", "Read fewer of them."
                )
            yield row
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} is not UTF-8 text: byte {error.object[error.start]:#04x} is met in it."
            " Save it again as UTF-8."
        ) from error
    except csv.Error as error:
        raise FileFormatError(
            f"{path}, line {reader.line_num}: {error}. Look for a quotation mark that is not"
            f" closed. {KNOWN}."
        ) from error
    finally:
        text.detach()


class _Lines(io.RawIOBase):
    """Bytes of text as they come, as long as they have ends of lines now and then.

    A line is in memory as a whole, and a small gzip file may hold an endless one.
    """

    def __init__(self, stream: io.BufferedReader, path: str) -> None:
        self._stream, self._path, self._since = stream, path, 0

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        part = self._stream.read1(size)
        end = max(part.rfind(b"\n"), part.rfind(b"\r"))
        self._since = len(part) - end - 1 + (self._since if end < 0 else 0)
        if self._since > _LONGEST_LINE:
            raise FileFormatError(
                f"{self._path} has a line of more than {_LONGEST_LINE >> 20} MB, which is no row of"
                " a table. Save it with an end of line after each object."
            )
        return part


def _first_row(text: io.TextIOWrapper) -> list[str]:
    """Return the lines of the first row: more than one where a quoted name has a line end."""
    lines: list[str] = []
    while line := text.readline():
        lines.append(line)
        if sum(line.count('"') for line in lines) % 2 == 0 or len(lines) >= _LONGEST_HEADER:
            break
    return lines
