"""Tables whose columns have types: Parquet and Arrow IPC (Feather) files, a batch at a time."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate import check_memory, looks_like_ids
from ensemblage.flow.codes import whole_numbers
from ensemblage.tables.columns import decoded_bytes
from ensemblage.tables.files import arrow_errors
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.ids import index_of_pandas, numbers_of_pandas
from ensemblage.tables.ipc import batch_sizes
from ensemblage.tables.labels import is_text
from ensemblage.tables.parquet_sizes import bytes_of_vote, sizes_of_texts, table_bytes
from ensemblage.tables.source import JUDGED_ROWS, Source, rows_at_once
from ensemblage.tables.times import values_of
from ensemblage.tables.views import without_coded_views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from ensemblage.tables.files import File
    from ensemblage.tables.layout import Choice

_LARGE_ROW_GROUP = 1 << 26
_DECODED_AT_ONCE = 1 << 26
_BYTES_OF_REPEATED = 16  # an encoded column with fewer in a row mostly repeats names
_READ_AT_ONCE = 1 << 20


class ArrowSource(Source):
    """A file whose columns have types; formats say how its record batches are read."""

    #: What a message calls the format, and a part of the file that is read as one.
    called: str
    called_part = "part"
    #: Rows before each part, and all of them.
    _ends: list[int]
    #: How many bytes the file says that its values take.
    _claimed = 0

    def __init__(self, file: File, choice: Choice, chosen: str = "") -> None:  # noqa: ARG002
        super().__init__(file, choice)
        damaged = f"{self.path} cannot be read as {self.called}: it is damaged, truncated or in"
        with arrow_errors(f"{damaged} another format"):
            self.schema = self._look()
            names = list(self.schema.names)
        self.n_rows = self._ends[-1]
        if len(set(names)) < len(names):
            raise FileFormatError(
                f"{self.path} has several columns with the same name. Rename them."
            )
        if not names:
            raise FileFormatError(f"{self.path} holds no rows. A table has a row for each object.")
        self.index = index_of_pandas(self.schema.metadata, names)
        self.numbers = numbers_of_pandas(self.schema.metadata)
        if choice.id_column == "auto" and self.index:
            if len(self.index) > 1:
                raise FileFormatError(
                    f"{self.path} has a pandas index of {len(self.index)} levels"
                    f" ({', '.join(map(repr, self.index))}), but an object has one id. Name the"
                    " level to take as id column; the others then are left out."
                )
            self._choice = choice.with_ids(self.index[0])
        self._batch_rows = JUDGED_ROWS
        self._labels: set[str] = set(names)  # all others are decoded
        self._choose(names, n_rows=self.n_rows, index=tuple(self.index))
        self._labels = set(self.label_names)
        widths = [max(bytes_of_vote(self._type(n)), self._bytes_of(n)) for n in self.names]
        width = sum(widths) + sum(map(self._bytes_of, self.carried_names))
        self._batch_rows = rows_at_once(choice.batch_rows, width)

    def _look(self) -> Any:
        """Return the schema of the file, and set `_ends`."""
        raise NotImplementedError

    def _parts_of(
        self, columns: list[str], threads: int
    ) -> AbstractContextManager[Callable[[int], Any]]:
        """Open the file, and give a function that reads a part as a record batch."""
        raise NotImplementedError

    def rows(
        self, start: int, stop: int | None, columns: list[str], threads: int
    ) -> Iterator[tuple[int, Any]]:
        """Yield record batches with the row each begins at: short ones where names are long."""
        total = 0
        for row, batch in self._read_rows(start, stop, columns, threads):
            with arrow_errors(f"{self.path} cannot be read as {self.called}"):
                batch = without_coded_views(batch, self.path)
                carried = [name for name in batch.schema.names if name not in self._labels]
                decoded = sum(decoded_bytes(batch.column(name)) for name in carried)
            total += decoded
            if self._choice.whole:
                self._check_decoded(total)
            n_rows = batch.num_rows * _DECODED_AT_ONCE // max(1, decoded)
            n_rows = max(1, min(self._batch_rows, n_rows))
            for first in range(0, batch.num_rows, n_rows):
                yield row + first, batch.slice(first, n_rows)
            if stop is not None and row + batch.num_rows >= stop:
                return

    def _check_decoded(self, n_bytes: int) -> None:
        advice = "Use shorter ids, or leave out columns to keep."
        check_memory(2 * n_bytes, f"The ids and kept columns of {self.path}", advice)

    def _read_rows(
        self, start: int, stop: int | None, columns: list[str], threads: int
    ) -> Iterator[tuple[int, Any]]:
        with (
            arrow_errors(f"{self.path} cannot be read as {self.called}"),
            self._parts_of(columns, threads) as read,
        ):
            for place in self._parts(start, stop):
                called = f"{self.path}, {self.called_part} {place + 1}"
                with arrow_errors(f"{called} cannot be read"):
                    batch = read(place)
                yield self._ends[place], batch

    def _bytes_of(self, name: str) -> int:  # noqa: ARG002 - formats may know
        """Return how many bytes of a column the file has for each row, as far as it tells."""
        return 0

    def _type(self, name: Any) -> Any:
        return self.schema.field(name).type

    def check_fits(self) -> None:
        """Raise where all rows do not fit in memory, by the larger size that the file claims."""
        n_rows = self.n_rows or 0
        check_memory(
            max(n_rows * len(self.schema.names), self._claimed),
            f"The {n_rows} rows of {self.path}",
            "The command ensemblage consensus --engine stream reads them in batches.",
        )

    def bytes_in_memory(self) -> int:
        """Return about how many bytes the votes or long texts take in memory."""
        return table_bytes(self.schema.types, self._ends[-1], self._claimed)

    def spans(self, n_rows: int) -> list[tuple[int, int | None]]:
        """Return ranges of about so many rows that can be read without those before them."""
        ends = self._ends
        ranges: list[tuple[int, int | None]] = []
        start = 0
        for place, end in enumerate(ends[1:], 1):
            # Whole row groups: as many as fit, and at least one.
            is_last = end == ends[-1]
            if end > start and (is_last or ends[place + 1] - start > n_rows):
                ranges.append((start, end))
                start = end
        return ranges

    def _parts(self, start: int, stop: int | None) -> range:
        """Return the parts of the file that rows from `start` to `stop` are in."""
        stop = self._ends[-1] if stop is None else stop
        low = int(np.searchsorted(self._ends, start, side="right")) - 1
        high = int(np.searchsorted(self._ends, stop, side="left"))
        return range(max(0, low), min(high, len(self._ends) - 1))

    def _first_values(self, name: str) -> Iterator[Any]:
        """Yield the values of a column in the rows judged."""
        with arrow_errors(f"{self.place(name)} cannot be read"):
            read = self.rows(0, JUDGED_ROWS, [name], 1)
            parts = (values_of(batch.column(0)) for _, batch in read)
            yield from islice(chain.from_iterable(parts), JUDGED_ROWS)

    def _can_be_ids(self, name: str) -> bool:
        """Return whether the first values of a column all differ but for a few, as ids do.

        A missing value is a value, and floats can be ids if they are whole. Of features all must
        differ, and numbers must count the rows from 0 or 1 on.
        """
        import pyarrow as pa

        with arrow_errors(f"{self.place(name)} cannot be read"):
            parts = [rows.column(0) for _, rows in self.rows(0, JUDGED_ROWS, [name], 1)]
            if not parts and self.n_rows:
                raise FileFormatError(
                    f"{self.path} says that it has {self.n_rows} rows, but they cannot be read."
                    " Make or fetch the file again."
                )
            if not parts:
                return False
            column = pa.chunked_array(parts).slice(0, JUDGED_ROWS)  # whatever the row groups
            features, kind = self._choice.features, column.type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if pa.types.is_nested(kind):
                return False
            if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
                numbers = column.cast(kind).cast(pa.float64(), safe=False).to_numpy()
                if features or whole_numbers(numbers) is None:
                    return False
            n_distinct = _n_distinct(column)
        if features and pa.types.is_integer(kind):
            places = column.cast(pa.float64(), safe=False).to_numpy() - np.arange(len(column))
            return bool(n_distinct and (places == places[0]).all() and places[0] in (0, 1))
        if not features and looks_like_ids(name, n_distinct, len(column)):
            return True
        return n_distinct == len(column)


def _n_distinct(column: Any) -> int:
    """Return how many values a chunked column has, null too; repeated names are not decoded."""
    import pyarrow as pa

    parts = []
    for part in column.chunks:
        coded = pa.types.is_dictionary(part.type)
        values = part.dictionary.take(part.indices.unique()) if coded else part
        parts.append(values.cast(pa.large_string()) if is_text(values.type) else values)
    try:
        return len(pa.concat_arrays(parts).unique())
    except pa.ArrowNotImplementedError:
        return len(set(column.to_pylist()))


class ParquetSource(ArrowSource):
    """A Parquet file, by row groups."""

    called, called_part = "Parquet", "row group"

    def _look(self) -> Any:
        import pyarrow.parquet as pq

        with (
            self.file.for_arrow() as content,
            pq.ParquetFile(content, buffer_size=_READ_AT_ONCE) as file,
        ):
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            self._ends = [0, *accumulate(group.num_rows for group in groups)]
            self._claimed = sum(group.total_byte_size for group in groups)
            self._large = any(group.total_byte_size > _LARGE_ROW_GROUP for group in groups)
            self._sizes = sizes_of_texts(file, groups)
            return file.schema_arrow

    def _bytes_of(self, name: str) -> int:
        return self._sizes[name] // max(1, self._ends[-1])

    def _read_rows(
        self, start: int, stop: int | None, columns: list[str], threads: int
    ) -> Iterator[tuple[int, Any]]:
        import pyarrow.parquet as pq

        # Names come as codes of a dictionary: it is what the file holds, mostly. Ids of which the
        # file has many bytes are not repeated, and to look for that takes time.
        coded = [
            name
            for name in columns
            if is_text(self._type(name))
            and (name in self._labels or self._bytes_of(name) < _BYTES_OF_REPEATED)
        ]
        advice = "Save the file with shorter names, or with fewer columns."
        n_rows = min(self._batch_rows, int(self._ends[-1]))
        n_bytes = n_rows * sum(map(self._bytes_of, columns))
        check_memory(n_bytes, f"{n_rows} rows of {self.path}", advice)
        # A whole row group of a column is in memory otherwise.
        buffer = _READ_AT_ONCE if self._large else 0
        with (
            arrow_errors(f"{self.path} cannot be read as Parquet"),
            self.file.for_arrow() as content,
            pq.ParquetFile(content, read_dictionary=coded, buffer_size=buffer) as file,
        ):
            for group in self._together(self._parts(start, stop)):
                row = self._ends[group.start]
                last = f" to {group.stop}" if len(group) > 1 else ""
                called = f"{group.start + 1}{last}"
                with arrow_errors(f"{self.path}, row group {called} cannot be read"):
                    for batch in file.iter_batches(
                        self._batch_rows, group, columns, use_threads=threads > 1
                    ):
                        yield row, batch
                        row += batch.num_rows

    def _together(self, parts: range) -> Iterator[range]:
        """Yield ranges of row groups: small ones together."""
        low = parts.start
        while low < parts.stop:
            most = self._ends[low] + self._batch_rows
            high = int(np.searchsorted(self._ends, most, side="right")) - 1
            high = max(min(high, parts.stop), low + 1)
            yield range(low, high)
            low = high


class IpcSource(ArrowSource):
    """An Arrow IPC file (Feather), by its record batches."""

    called, called_part = "an Arrow IPC file", "record batch"

    def _look(self) -> Any:
        import pyarrow as pa

        with self.file.for_arrow(mapped=True) as content, pa.ipc.open_file(content) as file:
            schema, n_batches = file.schema, file.num_record_batches
        with self.file.for_arrow(mapped=True) as content:
            batches, in_dictionaries = batch_sizes(content, n_batches)
        sizes = [in_dictionaries + size.n_bytes for size in batches]
        advice = "Save the file with fewer rows in a batch."
        check_memory(2 * max(sizes, default=0), f"A record batch of {self.path}", advice)
        self._claimed = sum(sizes)
        self._ends = [0, *accumulate(size.n_rows for size in batches)]
        return schema

    @contextmanager
    def _parts_of(self, columns: list[str], threads: int) -> Iterator[Callable[[int], Any]]:
        import pyarrow as pa

        fields = sorted(self.schema.get_field_index(name) for name in columns)
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=threads > 1)
        with (
            self.file.for_arrow(mapped=True) as content,
            pa.ipc.open_file(content, options=options) as file,
        ):

            def read(place: int) -> Any:
                batch = file.get_batch(place)
                batch.validate(full=True)  # Arrow trusts offsets and indices of IPC files
                return batch

            yield read
