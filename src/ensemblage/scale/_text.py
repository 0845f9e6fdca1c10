"""Votes in CSV and TSV, a block of rows at a time.

Whether a column holds numbers or names shows at its end only: names are what more than half of its
cells are. So a file of text is read once to learn that, before its votes are read.
"""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.files._cells import Kind, bad_cell, count_kinds, mostly, understand
from ensemblage.files._column import Column
from ensemblage.files._csv import checked_first, name_columns, whole_row
from ensemblage.files._layout import find_id
from ensemblage.files._rows import split_rows
from ensemblage.files._source import opened
from ensemblage.scale._labels import MISSING, NAMES, NUMBERS
from ensemblage.scale._source import Batch, Source, rows_at_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ensemblage._types import IntArray
    from ensemblage.scale._labels import Labels

_ROWS_TO_JUDGE = 1 << 16
_BLOCK = 1 << 14
_BYTES_OF_CELL = 64


class TextSource(Source):
    """A CSV or TSV file, plain or gzip. Its header and ids are told by its first rows."""

    def __init__(
        self,
        path: str,
        *,
        columns: list[str] | None,
        id_column: Any,
        truth: str | None,
        batch_rows: int,
        header: bool | str = "auto",
        separator: str = ",",
    ) -> None:
        self.path, self.truth, self._separator = path, truth, separator
        self.remember()
        self.n_rows = None
        self.kinds: list[str] = []
        self.whole_ids = True
        with opened(path) as stream, closing(self._split(stream)) as rows:
            head = list(islice(rows, _ROWS_TO_JUDGE + 1))
        first, body = checked_first(head[0] if head else None, path), head[1:]
        self._width = len(first)
        judged = [Column() for _ in first]
        whole = [whole_row(row, len(first), i, path) for i, row in enumerate(body, 2)]
        if whole:
            for column, cells in zip(judged, zip(*whole, strict=True), strict=True):
                column.add(cells)
        names, named = name_columns(first, judged, path, header=header)
        self.n_before = int(named)
        self._choose(names, judged, columns, id_column, named=named)
        self._batch_rows = min(_BLOCK, rows_at_once(batch_rows, _BYTES_OF_CELL * self._width))

    def _choose(
        self,
        names: list[str],
        judged: list[Column],
        columns: list[str] | None,
        id_column: Any,
        *,
        named: bool,
    ) -> None:
        """Settle which column holds ids, and which ones votes."""
        place = find_id(
            names,
            id_column,
            path=self.path,
            n_rows=judged[0].n_rows,
            is_unique=lambda at: judged[at].is_unique() and not judged[at].has_fractions(),
            named=named,
        )
        self._id_place = place
        self.id_name = None if place is None else names[place]
        apart = {self.id_name, self.truth}
        self.names = [name for name in names if name not in apart] if columns is None else columns
        self._check_columns(names)
        self._places = [names.index(name) for name in self.names]
        self._truth_places = [] if self.truth is None else [names.index(self.truth)]

    def _split(self, stream: Any) -> Any:
        return split_rows(stream, self.path, preferred=self._separator)

    # -- what is learned once ------------------------------------------------------------------

    def learn(self, tell: Callable[[int], None] = lambda _: None) -> None:
        """Read the file to find how many rows it has, and the kind of each column."""
        names = [*self.names, *([] if self.truth is None else [self.truth])]
        columns = [_Seen() for _ in names]
        done = 0
        for batch in self.batches(0, ids=True, truth=True):
            for seen, cells in zip(columns, batch.columns, strict=True):
                seen.add(cells, batch.first)
            if self.whole_ids and batch.ids is not None:
                self.whole_ids = all(map(_is_whole_id, batch.ids))
            done += batch.n_rows
            tell(batch.n_rows)
        self.check_unchanged()
        self.n_rows = done
        self.kinds = [
            seen.kind(self.where, name) for seen, name in zip(columns, names, strict=True)
        ]

    def learned(self) -> dict[str, Any]:
        """Return what was learned, to be kept."""
        return {"n_rows": self.n_rows, "kinds": self.kinds, "whole_ids": self.whole_ids}

    def recall(self, learned: dict[str, Any]) -> None:
        """Take what was learned by an earlier run."""
        self.n_rows, self.kinds = learned["n_rows"], learned["kinds"]
        self.whole_ids = learned["whole_ids"]

    # -- rows ----------------------------------------------------------------------------------

    def batches(
        self,
        start: int,
        stop: int | None = None,
        *,
        ids: bool = False,
        truth: bool = False,
        threads: int = 1,  # noqa: ARG002 - text is read by one
    ) -> Iterator[Batch]:
        """Yield the rows from `start` to `stop`: votes, then `truth`, and the ids, if asked for."""
        places = [*self._places, *(self._truth_places if truth else [])]
        with opened(self.path) as stream, closing(self._split(stream)) as rows:
            done = start
            body = islice(
                rows, start + self.n_before, None if stop is None else stop + self.n_before
            )
            while block := list(islice(body, self._batch_rows)):
                if set(map(len, block)) != {self._width}:
                    before = done + self.n_before
                    block = [
                        whole_row(row, self._width, before + i, self.path)
                        for i, row in enumerate(block, 1)
                    ]
                cells = list(zip(*block, strict=True))
                found = [cells[place] for place in places]
                with_ids = ids and self._id_place is not None
                yield Batch(
                    done, len(block), found, cells[self._id_place or 0] if with_ids else None
                )
                done += len(block)

    def votes(self, batch: Batch, labels: list[Labels]) -> list[IntArray]:
        """Return the columns of a batch as integers, -1 for a missing vote."""
        columns: list[IntArray] = []
        kinds = self.kinds[: len(batch.columns)]  # the last is that of true labels
        for cells, kind, known in zip(batch.columns, kinds, labels, strict=True):
            code_of = dict.fromkeys(cells, 0)
            texts = [understand(text) for text in code_of]
            if kind == NAMES:
                # A number in a column of names is a name, as it is written.
                codes: IntArray = known.codes(
                    [
                        None if cell.kind is Kind.MISSING else text.strip()
                        for cell, text in zip(texts, code_of, strict=True)
                    ]
                )
            else:
                values = [cell.value if cell.kind is Kind.WHOLE else MISSING for cell in texts]
                codes = known.numbers(np.array(values, dtype=np.int64))
            code_of = dict(zip(code_of, codes.tolist(), strict=True))
            column = np.fromiter(map(code_of.__getitem__, cells), np.int64, len(cells))
            known.check_kind(column, kind, self.path)
            columns.append(column)
        return columns

    # -- ids -----------------------------------------------------------------------------------

    def id_type(self) -> Any:
        """Return the Arrow type that ids have in the output."""
        import pyarrow as pa

        return pa.int64() if self.whole_ids else pa.string()

    def arrow_ids(self, ids: Any, kind: Any) -> Any:
        """Return ids as an Arrow array."""
        import pyarrow as pa

        if not self.whole_ids or not pa.types.is_integer(kind):
            return pa.array(ids, pa.string()).cast(kind)
        return pa.array(np.fromiter(map(int, ids), np.int64, len(ids))).cast(kind)

    def text_ids(self, ids: Any) -> list[Any]:
        """Return ids as the cells of a text file."""
        return list(ids)


class _Seen:
    """The distinct cells of a column: how often, and where each was met first."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._counts = np.zeros(0, dtype=np.int64)
        self._first: list[int] = []

    def add(self, cells: tuple[str, ...], row: int) -> None:
        code_of, n_known = self._code_of, len(self._code_of)
        for text in dict.fromkeys(cells):
            code_of.setdefault(text, len(code_of))
        codes = np.fromiter(map(code_of.__getitem__, cells), np.int64, len(cells))
        counts = np.bincount(codes, minlength=len(code_of))
        counts[:n_known] += self._counts
        self._counts = counts
        if len(code_of) > n_known:
            _, first = np.unique(codes[codes >= n_known], return_index=True)
            self._first += (row + np.flatnonzero(codes >= n_known)[first]).tolist()

    def kind(self, where: Callable[[int], str], name: str) -> str:
        """Return whether these are numbers or names, or name the cell that is neither."""
        cells = [understand(text) for text in self._code_of]
        kinds = count_kinds(cells, self._counts)
        if mostly(kinds) is Kind.NAME:
            return NAMES
        for (text, cell), row in zip(
            zip(self._code_of, cells, strict=True), self._first, strict=True
        ):
            if cell.kind in (Kind.FRACTION, Kind.NAME):
                raise bad_cell(text, kinds, f"{where(row)}, column {name!r}")
        return NUMBERS


def _is_whole_id(text: str) -> bool:
    """Tell whether a text is what writing its number gives, and 64 bits hold that."""
    try:
        number = int(text)
    except ValueError:
        return False
    return str(number) == text and -(1 << 63) <= number < 1 << 63
