"""Votes in CSV and TSV: which row has names; columns of numbers or of names.

The first rows decide. A cell of another kind further down is settled by reading that column alone:
it is an error with its row, or the column holds names after all.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ensemblage._validate import looks_like_ids
from ensemblage.tables.columns import whole_ids
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.headers import JOINED, USE_HEADER, has_names
from ensemblage.tables.labels import (
    FEATURES,
    NAMES,
    NO_VOTE,
    NUMBERS,
    Kind,
    arrow_votes,
    bad_cell,
    cell_votes,
    count_kinds,
    distinct,
    mostly,
    take,
    understand,
)
from ensemblage.tables.parse import DISTINCT, FLOATS, INTEGERS, TEXTS, Text
from ensemblage.tables.rows import (
    SEPARATORS,
    Suspect,
    check_names,
    has_decimal_comma,
    named_columns,
    number_parts,
    suspect,
)
from ensemblage.tables.source import JUDGED_ROWS, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage._types import IntArray
    from ensemblage.tables.choice import Choice
    from ensemblage.tables.columns import Codes
    from ensemblage.tables.files import File
    from ensemblage.tables.parse import HeadColumn
    from ensemblage.tables.source import Batch

_FEWEST_MEASUREMENTS = 2048
_SAMPLE = 1000  # cells that are looked at for separators that are not known


class RereadError(Exception):
    """A column holds names, though its first rows do not: read all files again."""


class TextSource(Source):
    """A CSV or TSV file."""

    no_ids = NO_VOTE
    #: Whether the first row was taken for an object, though it may hold names.
    first_is_object: bool

    def __init__(
        self, file: File, choice: Choice, chosen: str = "csv", *, n_above: int = 0
    ) -> None:
        super().__init__(file, choice)
        self.n_rows = None
        separator = "\t" if chosen == "tsv" else ","
        wanted = "A table of features" if choice.features else "A table of votes"
        self._text = Text(file, separator, judged=JUDGED_ROWS, wanted=wanted)
        names, first_name, named = self._name_columns()
        head = self._text.head
        self.named, self.n_before = named, n_above + int(named)
        if not choice.features:
            self.suspect = _suspect(self._text, self.path) if len(head) == 1 else None
            large = len(head) > 1 and head[0].n_rows >= _FEWEST_MEASUREMENTS
            if choice.columns is None and large and all(map(_is_measurement, head[1:])):
                # Raised early: the distinct values of a large file would fill the memory.
                raise FileFormatError(f"The columns of {self.path} hold no labels. {FEATURES}")
        self._at = {name: place for place, name in enumerate(names)}
        self._choose(names, n_rows=head[0].n_rows, named=named)
        if self.id_name != "":  # a first column without a name holds ids, or gets a name
            self._at[first_name], self.names = 0, [name or first_name for name in self.names]
        heads = {name: head[self._at[name]] for name in self.label_names}
        self._whole = dict.fromkeys(self.carried_names, True)
        self._kinds, self._integers = {}, set()
        self._of_names: frozenset[str] = frozenset()
        #: Columns of features whose first cells are numbers.
        self.numeric = set()
        if choice.features:
            self.numeric = {name for name, column in heads.items() if column.is_numeric()}
        else:
            self._of_names = frozenset(choice.of_names(self.names))
            for name, column in heads.items():
                self._kinds[name] = NAMES if name in self._of_names else mostly(column.kinds())
                if name not in self._of_names:
                    self._check_commas(name, column)
            self._integers = {name for name, column in heads.items() if column.are_integers()}

    def _check_commas(self, name: str, column: HeadColumn) -> None:
        """Raise where most cells are numbers with a decimal comma, and some have a fraction.

        Where commas separate cells, those in a cell may separate two labels. Elsewhere too, where
        they number parts of clusters, as Scanpy does.
        """
        numbers = [cell for cell in column.counts if has_decimal_comma(cell)]
        with_fraction = (cell for cell in numbers if cell.rpartition(",")[2].strip().strip("0"))
        odd = next(with_fraction, None)
        often = 2 * sum(column.counts[cell] for cell in numbers) > column.n_rows
        if odd is None or not often or self._text.delimiter == ",":
            return
        if not number_parts(numbers):
            raise FileFormatError(
                f"{self.place(name)}: {odd.strip()!r} is a number with a decimal comma. {FEATURES}"
            )

    def _can_be_ids(self, name: str) -> bool:
        column, features = self._text.head[self._at[name]], self._choice.features
        nearly = not features and looks_like_ids(name, len(column.counts), column.n_rows)
        return column.can_be_ids(features=features, nearly=nearly)

    def _first_values(self, name: str) -> Iterator[Any]:
        """Yield the cells of a column in the rows judged; none where all differ."""
        place, types = self._at[name], [DISTINCT] * len(self._text.first)
        n_rows = self._text.head[place].n_rows
        if len(self._text.head[place].counts) < n_rows:
            first = [] if self.named else [self._text.first[place]]
            with closing(self._text.batches(types, n_before=1)) as batches:
                below = (cell for _, batch in batches for cell in batch.column(place).to_pylist())
                yield from islice(chain(first, below), n_rows)

    def _name_columns(self) -> tuple[list[str], str, bool]:
        """Return the names of the columns, that of the first, and whether the first row has them.

        The first one may be blank in the list: it then may be one of ids.
        """
        first, header = self._text.first, self._choice.header
        named = has_names(self._text, self.path) if header == "auto" else bool(header)
        self.first_is_object = header == "auto" and not named
        if named:
            names = named_columns(first)
            check_names(names, self.path)
            first_name, names[0] = names[0], first[0].strip()
        else:
            names = named_columns([""] * len(first))
            first_name = names[0]
            for column, cell in zip(self._text.head, first, strict=True):
                column.prepend(cell)
        return names, first_name, named

    # -- rows ----------------------------------------------------------------------------------

    def rows(
        self,
        start: int,
        stop: int | None,
        columns: list[str],
        threads: int,  # noqa: ARG002 - pyarrow has threads of its own
    ) -> Iterator[tuple[int, Any]]:
        """Yield record batches with the row each begins at."""
        names = (name for name in columns if self._kinds.get(name) == NAMES)
        tallies = {name: Counter[Kind]() for name in names if name not in self._of_names}
        row, learns = start, self.n_rows is None
        for row, rows in self._batches(columns, start, whole=self._choice.whole):
            if stop is not None and row >= stop:
                return
            for name, tally in tallies.items():
                tally += count_kinds(*distinct(rows.column(name)))
            if learns:
                for name in set(columns) & set(self._whole):
                    self._whole[name] = (
                        self._whole[name] and whole_ids(rows.column(name)) is not None
                    )
            for first in range(0, rows.num_rows, self._choice.batch_rows):
                part = rows.slice(first, self._choice.batch_rows)
                yield row + first, part
            row += rows.num_rows
        if learns:
            self.n_rows = row
        if start == 0:
            for name, tally in tallies.items():
                if mostly(tally) == NUMBERS and tally.total() > tally[Kind.MISSING]:
                    self._settle(name)

    def _batches(
        self, columns: list[str], start: int = 0, *, whole: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """Yield record batches of some columns under their names."""
        types: list[str | None] = [None] * len(self._text.first)
        for name in columns:
            if name in self._whole or self._choice.features:
                kind = FLOATS if name in self.numeric else TEXTS
            else:
                whole_numbers = name in self._integers and self._kinds[name] == NUMBERS
                kind = INTEGERS if whole_numbers else DISTINCT
            types[self._at[name]] = kind
        names = {str(self._at[name]): name for name in columns}
        batches = self._text.batches(types, n_before=int(self.named), start=start, whole=whole)
        for first, batch in batches:
            yield first, batch.rename_columns([names[place] for place in batch.schema.names])

    # -- votes ---------------------------------------------------------------------------------

    def votes(self, batch: Batch, codes: list[Codes]) -> list[IntArray]:
        """Return the columns of a batch as integers, -1 for a missing vote."""
        columns = []
        for name, column, known in zip(self.label_names, batch.columns, codes, strict=False):
            kind = self._kinds[name]
            votes = self._votes(name, column, known, kind)
            known.check_kind(votes, kind, self.path)
            columns.append(votes)
        return columns

    def _votes(self, name: str, column: Any, known: Codes, kind: str) -> IntArray:
        import pyarrow as pa

        if pa.types.is_integer(column.type):
            return arrow_votes(column, known.of_names, self.place(name))[0]
        if pa.types.is_string(column.type):
            column = column.dictionary_encode()
        votes = cell_votes(column.dictionary.to_pylist(), kind, known.of_names)
        if votes is None:
            self._settle(name)
        return take(votes, column.indices, self.place(name))

    def _settle(self, name: str) -> NoReturn:
        """Read a column alone: raise which cell is wrong, or that the column holds names."""
        seen: dict[str, list[int]] = {}  # how often, and where first
        self._integers.discard(name)
        for row, rows in self._batches([name]):
            column = rows.column(name)
            if not hasattr(column, "dictionary"):
                column = column.dictionary_encode()
            texts, indices = column.dictionary.to_pylist(), column.indices.to_numpy()
            codes, firsts, counts = np.unique(indices, return_index=True, return_counts=True)
            for code, first, count in zip(codes, firsts.tolist(), counts.tolist(), strict=True):
                seen.setdefault(texts[code], [0, row + first])[0] += count
        kinds = count_kinds(seen, (count for count, _ in seen.values()))
        if mostly(kinds) == NAMES:
            self._kinds[name] = NAMES
            raise RereadError
        wrong = [
            (first, text)
            for text, (_, first) in seen.items()
            if understand(text).kind in (Kind.NAME, Kind.FRACTION)
        ]
        row, text = min(wrong, default=(0, ""))
        hint: str | None = USE_HEADER if row == 0 and self.first_is_object else None
        if self.named and text.strip() == name:
            hint = JOINED
        raise bad_cell(text, kinds, f"{self.where(row)}, column {name!r}", hint)

    # -- what is learned -----------------------------------------------------------------------

    def learned(self) -> dict[str, Any]:
        """Return what reading has shown, to be kept."""
        return {"n_rows": self.n_rows, "kinds": self._kinds, "whole": self._whole}

    def recall(self, learned: dict[str, Any]) -> None:
        """Take what an earlier run, or a worker, has learned."""
        self.n_rows = learned["n_rows"]
        self._kinds = {
            n: NAMES if kind == NAMES else NUMBERS for n, kind in learned["kinds"].items()
        }
        self._whole = dict(learned["whole"])

    def _type(self, name: Any) -> Any:
        import pyarrow as pa

        return pa.int64() if self._whole[name] else pa.string()


def _is_measurement(column: HeadColumn) -> bool:
    return 2 * column.kinds()[Kind.FRACTION] > column.n_rows


def _suspect(text: Text, path: str) -> Suspect | None:
    """Return what may separate the names of an only column; raise where it surely does."""
    (column,) = text.head
    if column.n_rows and mostly(column.kinds()) == NUMBERS:
        return None
    mark = suspect(list(column.counts)[:_SAMPLE] or text.first)
    if mark is not None and mark.is_sure:
        raise FileFormatError(
            f"{path} was read as one column, but {mark.called} part its rows into equally many"
            f" values. {SEPARATORS}: save the file with one of these."
        )
    return mark
