"""Text files by pyarrow: columns of the types asked for, in batches or whole.

Where pyarrow rejects a file or might misread it, `ensemblage.tables.rows` checks the rows, names
the wrong one, or rewrites them in a form that pyarrow reads.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from contextlib import ExitStack, closing
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from ensemblage._validate import check_memory
from ensemblage.tables.cells import row_writer
from ensemblage.tables.feed import Feed
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.labels import NO_VOTE, Kind, count_kinds, distinct, is_empty
from ensemblage.tables.marks import Marks, OtherwiseError
from ensemblage.tables.rows import Lines, all_rows, check_width, first_row, has_decimal_comma

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ensemblage.tables.files import File

INTEGERS, FLOATS, TEXTS, DISTINCT = "int64", "float64", "string", "distinct"
_AS_TEXT = {INTEGERS: DISTINCT, FLOATS: TEXTS}
_HEAD = 1 << 20
_SAMPLE = 1 << 16
_BLOCK, _LARGE_BLOCK = 1 << 20, 1 << 22
_BYTES_OF_CELL = 16  # integers twice: in chunks, and in one piece
_HEXADECIMAL = re.compile(rb"0[xX]")
_INTEGER = re.compile(r"\s*-?[0-9]{1,18}\s*")
_FLOAT = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?inf(inity)?|nan", re.IGNORECASE
)


class HeadColumn:
    """The first cells of a column: the distinct ones by first appearance, and how often each."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.n_rows = 0
        self._kinds: Counter[Kind] | None = None

    def add(self, column: Any, most: int) -> None:
        """Take in the next cells, a dictionary array of Arrow, up to `most` in all."""
        column = column.slice(0, most - self.n_rows)
        for text, count in zip(*distinct(column), strict=True):
            if count:
                self.counts[text] += count
        self.n_rows += len(column)

    def prepend(self, cell: str) -> None:
        """Put a cell before all others: the first row is not a header."""
        self.counts = Counter({cell: 1}) + self.counts
        self.n_rows += 1
        self._kinds = None

    def can_be_ids(self, *, features: bool, nearly: bool = False) -> bool:
        """Return whether all cells differ, at least `nearly`, and no number is a measurement.

        Of features, these are all numbers that do not count the rows from 0 or 1 on.
        """
        if len(self.counts) < self.n_rows and not nearly:
            return False
        if not features:
            return not self.kinds()[Kind.FRACTION]
        if not self.is_numeric():
            return not any(map(has_decimal_comma, self.counts))
        start = next(iter(self.counts), "")
        return start in ("0", "1") and list(self.counts) == [
            str(int(start) + place) for place in range(self.n_rows)
        ]

    def is_numeric(self) -> bool:
        """Return whether all cells are numbers or empty."""
        return all(is_empty(cell) or _FLOAT.fullmatch(cell.strip()) for cell in self.counts)

    def kinds(self) -> Counter[Kind]:
        """Return how many cells are numbers, names or missing."""
        if self._kinds is None:
            self._kinds = count_kinds(self.counts, self.counts.values())
        return self._kinds

    def are_integers(self) -> bool:
        """Return whether pyarrow reads all cells as integers."""
        return all(_INTEGER.fullmatch(cell) or cell in NO_VOTE for cell in self.counts)


class Text:
    """A text file: its first row, its first rows by column, and its columns by pyarrow."""

    def __init__(self, file: File, preferred: str, *, judged: int, wanted: str) -> None:
        self._file, self.path, self._preferred = file, file.name, preferred
        head, self._whole_in_head = _head(file)
        row = first_row(head, file.name, preferred, wanted)
        self.first, self.delimiter, self._n_first = row
        check_width(len(self.first), self.path)
        self._rewritten = b' "' in head
        self._checked = False
        self._longest = max(map(len, head[:_SAMPLE].splitlines()), default=0)
        self.head = self._judge(head, judged)

    def _judge(self, head: bytes, judged: int) -> list[HeadColumn]:
        """Return the cells of the first rows below the first, by column."""
        rows = head[self._n_first :]
        if not self._whole_in_head:
            end = max(rows.rfind(b"\n"), rows.rfind(b"\r")) + 1
            rows = rows[:end]
        types = [DISTINCT] * len(self.first)
        columns = [HeadColumn() for _ in types]
        if self._rewritten or rows.count(b'"') % 2:  # a cell may continue below the head
            batches = self.batches(types, n_before=1)
        else:
            batches = self.batches(types, n_before=1, head=rows)
        with closing(batches):
            for _, batch in batches:
                for column, cells in zip(columns, batch.columns, strict=True):
                    column.add(cells, judged)
                if columns[0].n_rows >= judged:
                    break
        return columns

    # -- rows ----------------------------------------------------------------------------------

    def batches(
        self,
        types: list[str | None] | list[str],
        *,
        n_before: int,
        start: int = 0,
        whole: bool = False,
        head: bytes | None = None,
    ) -> Generator[tuple[int, Any]]:
        """Yield record batches with the row each begins at; columns are called by their places.

        Columns of type None are left out. Where a cell is not a number, all columns of integers
        and floats come as text from there on. `n_before` rows stand before the first one, and
        `whole` reads all batches at once, by several threads. `head` is read instead of the file.
        """
        import pyarrow as pa

        done, types = start, list(types)
        while True:
            row = 0
            try:
                for batch in self._attempt(types, n_before, head, whole=whole):
                    batch, first = batch.slice(max(0, done - row)), max(done, row)
                    row += batch.num_rows + max(0, done - row)
                    if batch.num_rows:
                        self._check_blank(batch)
                        yield first, batch
                        done = row
            except OtherwiseError:
                self.check_rows()
                self._rewritten, head = True, None
            except pa.ArrowInvalid as error:
                if set(types) & set(_AS_TEXT):
                    types = [_AS_TEXT.get(kind or "", kind) for kind in types]
                elif not self._rewritten:
                    self.check_rows()
                    self._rewritten, head = True, None
                else:
                    raise FileFormatError(
                        f"{self.path} cannot be read as CSV ({error}). Save it again."
                    ) from error
            else:
                return

    def _attempt(
        self, types: Sequence[str | None], n_before: int, head: bytes | None, *, whole: bool
    ) -> Generator[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        distinct = pa.dictionary(pa.int32(), pa.string())
        kinds = {INTEGERS: pa.int64(), FLOATS: pa.float64(), TEXTS: pa.string(), DISTINCT: distinct}
        places = {str(i): kinds[kind] for i, kind in enumerate(types) if kind is not None}
        options = {
            "read_options": arrow_csv.ReadOptions(
                column_names=[str(place) for place in range(len(types))],
                block_size=max(_LARGE_BLOCK if whole else _BLOCK, 4 * self._longest),
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, ignore_empty_lines=False
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=places, include_columns=list(places), null_values=list(NO_VOTE)
            ),
        }
        with ExitStack() as opened:
            if head is not None:
                parts = _inspected(io.BytesIO(head), self.path, _BLOCK, self.delimiter)
            else:
                stream = opened.enter_context(self._file.opened())
                parts = self._parts(stream, n_before, integers=INTEGERS in types)
            if whole:
                parts = _within_memory(parts, len(places), self.path)
            feed = opened.enter_context(closing(Feed(parts)))
            if feed.is_empty():
                return
            if whole:
                table = arrow_csv.read_csv(feed.file(), **options)
                yield from table.combine_chunks().to_batches()
                return
            reader = arrow_csv.open_csv(feed.file(), **options)
            try:
                yield from reader
            finally:
                reader.close()
                del reader

    def _parts(
        self, stream: io.BufferedReader, n_before: int, *, integers: bool
    ) -> Generator[bytes]:
        """Yield the text below the first rows."""
        if self._rewritten:
            rows = islice(self._all_rows(stream), n_before, None)
            return _rewritten(rows, self.delimiter, _BLOCK)
        stream.read(self._n_first if n_before else 0)
        return _inspected(stream, self.path, _BLOCK, self.delimiter, integers=integers)

    def _all_rows(self, stream: io.BufferedReader) -> Generator[list[str]]:
        return all_rows(stream, self.path, self._preferred)

    def _check_blank(self, batch: Any) -> None:
        """Check the rows by hand where one may be blank: pyarrow takes its cells for empty."""
        import pyarrow.compute as pc

        if len(self.first) == 1 or self._checked:
            return
        blank = None
        for place in range(batch.num_columns):
            empty = _empty(batch.column(place))
            if empty is None:
                return
            blank = empty if blank is None else pc.and_(blank, empty)
        if pc.any(blank).as_py():
            self.check_rows()

    def repeats_first(self) -> int | None:
        """Return the number of the next row that equals the first one, if any."""
        with self._file.opened() as stream, closing(self._all_rows(stream)) as rows:
            later = (number for number, row in enumerate(rows, 1) if row == self.first)
            return next(islice(later, 1, None), None)

    def check_rows(self) -> None:
        """Go through all rows by hand, and raise what is wrong with one of them."""
        with self._file.opened() as stream:
            for row in self._all_rows(stream):
                self._longest = max(self._longest, 2 * sum(map(len, row)) + 4 * len(row))
        self._checked = True


def _inspected(
    stream: IO[bytes], path: str, size: int, delimiter: str, *, integers: bool = False
) -> Generator[bytes]:
    """Yield text without blank lines at its end; raise where pyarrow would read it otherwise."""
    import pyarrow as pa

    lines, held, marks = Lines(stream, path), b"", Marks(delimiter)
    while part := lines.seen(stream.read(size)):
        body = part.rstrip(b"\r\n")  # ends of lines are held back until something follows them
        if not body:
            held += part
            continue
        text, held = held + body, part[len(body) :]
        marks.check(text)
        if integers and (b"x" in text or b"X" in text) and _HEXADECIMAL.search(text):
            raise pa.ArrowInvalid("a hexadecimal number, which is a name here")
        yield text
    marks.close()


def _rewritten(rows: Iterator[list[str]], delimiter: str, size: int) -> Generator[bytes]:
    """Yield rows as text in the one way that pyarrow knows too."""
    while True:
        text = io.StringIO(newline="")
        writer = row_writer(text, delimiter)
        for row in rows:
            writer.writerow(row)
            if text.tell() >= size:
                break
        if not text.tell():
            return
        yield text.getvalue().encode()


def _within_memory(parts: Generator[bytes], n_columns: int, path: str) -> Generator[bytes]:
    """Yield text, and stop before its rows fill the memory: gzip may hide very many rows."""
    n_rows = 0
    with closing(parts):
        for part in parts:
            n_rows += part.count(b"\n") or part.count(b"\r")
            check_memory(
                _BYTES_OF_CELL * n_columns * n_rows,
                f"The rows of {path}, {n_rows} so far,",
                "The command ensemblage consensus --engine stream reads them in batches.",
            )
            yield part


def _head(file: File) -> tuple[bytes, bool]:
    """Return the first bytes of a file, with its first line in them, and whether that is all."""
    with file.opened() as stream:
        lines = Lines(stream, file.name)
        head = lines.seen(stream.read(_HEAD))
        while part := stream.read(1 if b"\n" in head or b"\r" in head else _HEAD):
            if len(part) == 1:
                return head + part, False
            head += lines.seen(part)
        return head, True


def _empty(column: Any) -> Any:
    """Return which cells of a column are empty, or None where none can be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        if "" not in column.dictionary.to_pylist():
            return None
        column = column.cast(pa.string())
    if pa.types.is_string(column.type):
        return pc.equal(column, "")
    return pc.is_null(column) if column.null_count else None
