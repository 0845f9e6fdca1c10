"""Votes in Parquet and Arrow IPC files, a batch at a time."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.files import FileFormatError
from ensemblage.files._layout import find_id
from ensemblage.files._parquet import _index_of_pandas, _is_unique, only_level, told
from ensemblage.files._parquet import arrow_ids as ids_as_read
from ensemblage.files._values import as_votes
from ensemblage.scale._labels import MISSING, NAMES, NUMBERS
from ensemblage.scale._source import Batch, Source, rows_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.scale._labels import Labels

_ROWS_TO_JUDGE_IDS = 1 << 20
_BYTES_OF_NAME = 16
_LARGE_ROW_GROUP = 1 << 26
_READ_AT_ONCE = 1 << 20
_ROOM_FOR_MISSING = {"uint8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "int64"}


class ArrowSource(Source):
    """A file whose columns are Arrow's; Parquet and IPC say how its batches are read."""

    def __init__(
        self,
        path: str,
        *,
        columns: list[str] | None,
        id_column: Any,
        truth: str | None,
        batch_rows: int,
    ) -> None:
        self.path, self.truth = path, truth
        self.remember()
        with told(f"{path} cannot be read as {self.called}"):
            schema, self.n_rows = self._look()
        names = list(schema.names)
        if len(set(names)) < len(names):
            raise FileFormatError(f"{path} has several columns of one name. Give each its own.")
        index = _index_of_pandas(schema.metadata, names)
        self.id_name = self._find_id(names, index, id_column)
        apart = {self.id_name, truth, *index}
        self.names = [name for name in names if name not in apart] if columns is None else columns
        self._check_columns(names)
        self._types = {name: schema.field(name).type for name in names}
        widths = [bytes_of_vote(self._types[name]) for name in self.names]
        self._batch_rows = rows_at_once(batch_rows, sum(widths))

    called: str
    #: Rows before each row group or record batch, and all of them.
    _ends: NDArray[np.int64]

    @abstractmethod
    def _look(self) -> tuple[Any, int]:
        """Return the schema of the file and how many rows it has."""

    @abstractmethod
    def _read(
        self, start: int, stop: int, columns: list[str], threads: int
    ) -> Iterator[tuple[int, Any]]:
        """Yield record batches with the row each begins at.

        The first may begin before `start`, and the last may end after `stop`.
        """

    def spans(self, n_rows: int) -> list[tuple[int, int]]:
        """Return ranges of about so many rows that can be read without those before them."""
        ends, found, start = self._ends.tolist(), [], 0
        for place, end in enumerate(ends[1:], 1):
            # Whole row groups: as many as fit, and at least one.
            is_last = end == ends[-1]
            if end > start and (is_last or ends[place + 1] - start > n_rows):
                found.append((start, end))
                start = end
        return found

    def batches(
        self,
        start: int,
        stop: int | None = None,
        *,
        ids: bool = False,
        truth: bool = False,
        threads: int = 1,
    ) -> Iterator[Batch]:
        """Yield the rows from `start` to `stop`: votes, then `truth`, and the ids, if asked for."""
        stop = (self.n_rows or 0) if stop is None else stop
        names = [*self.names, *([self.truth] if truth and self.truth else [])]
        with_ids = [self.id_name] if ids and self.id_name is not None else []
        wanted = list(dict.fromkeys([*names, *with_ids]))
        for first, found in self._read(start, stop, wanted, threads):
            if not set(wanted) <= set(found.schema.names):
                raise self.changed()
            columns = [found.column(name) for name in names]
            the_ids = found.column(self.id_name) if with_ids else None
            batch = Batch(first, found.num_rows, columns, the_ids)
            if first + found.num_rows > start and first < stop:
                yield batch.cut(start, stop)

    def votes(self, batch: Batch, labels: list[Labels]) -> list[IntArray]:
        """Return the columns of a batch as integers, -1 for a missing vote."""
        return [
            self._column(column, known, batch.first)
            for column, known in zip(batch.columns, labels, strict=True)
        ]

    def _column(self, column: Any, labels: Labels, first: int) -> IntArray:
        where = f"{self.path}, column {labels.name!r}"
        with told(f"{where} cannot be read"):
            votes, kind = _integers(column, labels, where, first)
        labels.check_kind(votes, kind, self.path)
        return votes

    def _find_id(self, names: list[str], index: list[str], asked: Any) -> str | None:
        """Return the column of ids; where all must differ, the first batch is asked."""
        if asked == "auto" and index:
            asked = only_level(index, self.path)

        def is_unique(place: int) -> bool:
            self._batch_rows = _ROWS_TO_JUDGE_IDS
            for _, found in self._read(0, _ROWS_TO_JUDGE_IDS, [names[place]], 1):
                return _is_unique(self._decoded(found.column(0), names[place]), self.path)
            raise FileFormatError(
                f"{self.path} says that it has {self.n_rows} rows, but they cannot be read. Make or"
                " fetch the file again."
            )

        place = find_id(
            names,
            asked,
            path=self.path,
            n_rows=self.n_rows or 0,
            is_unique=is_unique if self.n_rows else lambda _: False,
            named=True,
        )
        return None if place is None else names[place]

    # -- ids -----------------------------------------------------------------------------------

    def id_type(self) -> Any:
        """Return the Arrow type that ids have in the output."""
        import pyarrow as pa

        kind = self._types[str(self.id_name)]
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        naive = pa.types.is_timestamp(kind) and kind.tz is None
        if pa.types.is_integer(kind) or pa.types.is_date(kind) or naive:
            return kind
        return pa.string()

    def arrow_ids(self, ids: Any, kind: Any) -> Any:
        """Return ids as an Arrow array of a type that holds those of every file."""
        import pyarrow as pa

        ids = self._decoded(ids, self.id_name)
        if ids.type == kind:
            return ids
        is_text = str(ids.type) in ("string", "large_string", "string_view")
        if is_text or pa.types.is_integer(ids.type):
            with told(f"{self.path}, column {self.id_name!r} cannot be read"):
                return ids.cast(kind)
        return pa.array(self._texts(ids), pa.string())

    def text_ids(self, ids: Any) -> list[Any]:
        """Return ids as the cells of a text file."""
        return self._texts(self._decoded(ids, self.id_name))

    def _decoded(self, column: Any, name: str | None) -> Any:
        """Return a column without a dictionary."""
        if not _is_dictionary(column):
            return column
        with told(f"{self.path}, column {name!r} cannot be read"):
            return column.dictionary_decode()

    def _texts(self, ids: Any) -> list[Any]:
        """Return ids as texts, which are the same in every batch; None where there is none."""
        found = ids_as_read(ids, self.path)
        if found.dtype.kind != "M":
            return [None if value is None else str(value) for value in found.tolist()]
        return date_texts(found)


class ParquetSource(ArrowSource):
    """A Parquet file, by row groups."""

    called = "Parquet"

    def _look(self) -> tuple[Any, int]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            metadata = file.metadata
            self._ends = np.cumsum(
                [0, *(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))]
            )
            self._large = any(
                metadata.row_group(i).total_byte_size > _LARGE_ROW_GROUP
                for i in range(metadata.num_row_groups)
            )
            return file.schema_arrow, metadata.num_rows

    def _read(
        self, start: int, stop: int, columns: list[str], threads: int
    ) -> Iterator[tuple[int, Any]]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # Names come as codes of a dictionary: it is what the file holds, mostly.
        named = [
            name
            for name in columns
            if name in getattr(self, "names", ()) and pa.types.is_string(self._types[name])
        ]
        # A whole row group of a column is in memory otherwise.
        buffer = _READ_AT_ONCE if self._large else 0
        with (
            told(f"{self.path} cannot be read as Parquet"),
            pq.ParquetFile(self.path, read_dictionary=named, buffer_size=buffer) as file,
        ):
            for low, high in self._together(start, stop):
                row = int(self._ends[low])
                called = f"{low + 1}" if high == low + 1 else f"{low + 1} to {high}"
                with told(f"{self.path}, row group {called} cannot be read"):
                    for batch in file.iter_batches(
                        self._batch_rows, range(low, high), columns, use_threads=threads > 1
                    ):
                        yield row, batch
                        row += batch.num_rows

    def _together(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of row groups from the one with row `start` on; small ones together."""
        low = int(np.searchsorted(self._ends, start, side="right")) - 1
        last = int(np.searchsorted(self._ends, stop, side="left"))
        while low < min(last, len(self._ends) - 1):
            high = int(np.searchsorted(self._ends, self._ends[low] + self._batch_rows, "right")) - 1
            high = max(min(high, last), low + 1)
            yield low, high
            low = high


class IpcSource(ArrowSource):
    """An Arrow IPC file (Feather), by its record batches."""

    called = "an Arrow IPC file"

    def _look(self) -> tuple[Any, int]:
        import pyarrow as pa

        with pa.memory_map(self.path) as mapped, pa.ipc.open_file(mapped) as file:
            schema = file.schema
        counted = []
        with pa.memory_map(self.path) as mapped:
            options = pa.ipc.IpcReadOptions(included_fields=[0] if len(schema) else [])
            with pa.ipc.open_file(mapped, options=options) as file:
                counted = [file.get_batch(i).num_rows for i in range(file.num_record_batches)]
        self._ends = np.cumsum([0, *counted])
        self._fields = {name: place for place, name in enumerate(schema.names)}
        return schema, int(self._ends[-1])

    def _read(
        self,
        start: int,
        stop: int,
        columns: list[str],
        threads: int,  # noqa: ARG002
    ) -> Iterator[tuple[int, Any]]:
        import pyarrow as pa

        fields = sorted(self._fields[name] for name in columns)
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        with (
            told(f"{self.path} cannot be read as an Arrow IPC file"),
            pa.memory_map(self.path) as mapped,
            pa.ipc.open_file(mapped, options=options) as file,
        ):
            low = max(0, int(np.searchsorted(self._ends, start, "right")) - 1)
            high = min(int(np.searchsorted(self._ends, stop, "left")), len(self._ends) - 1)
            for place in range(low, high):
                with told(f"{self.path}, record batch {place + 1} cannot be read"):
                    batch = file.get_batch(place)
                    batch.validate(full=True)  # Arrow trusts offsets and indices of IPC files
                    for first in range(0, batch.num_rows, self._batch_rows):
                        part = batch.slice(first, self._batch_rows)
                        yield int(self._ends[place]) + first, part


def date_texts(dates: NDArray[Any]) -> list[Any]:
    """Return dates as ISO 8601; as fine as their type, since no batch knows what others need."""
    texts = np.datetime_as_string(dates).astype(object)
    texts[np.isnat(dates)] = None
    return list(texts)


def _is_dictionary(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(column.type))


def bytes_of_vote(kind: Any) -> int:
    """Return about how many bytes a vote of this type takes."""
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:
        return _BYTES_OF_NAME


def _integers(column: Any, labels: Labels, where: str, first: int) -> tuple[IntArray, str]:
    """Return an Arrow column as integers, -1 for a missing vote, and which kind it holds."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        values, called = _integers(column.dictionary, labels, where, first)
        _check_codes(column.indices, len(values), where)
        return _taken(values, column.indices), called
    if pa.types.is_null(kind):
        return np.full(len(column), MISSING, dtype=np.int8), NUMBERS
    if str(kind) in ("string", "large_string", "string_view"):
        if str(kind) == "string_view":
            column = column.cast(pa.large_string())
        encoded = column.dictionary_encode()
        codes = labels.codes(encoded.dictionary.to_pylist())
        return _taken(codes, encoded.indices), NAMES
    if pa.types.is_boolean(kind):
        column, kind = column.cast(pa.uint8()), pa.uint8()
    if pa.types.is_integer(kind):
        if column.null_count:
            roomier = _ROOM_FOR_MISSING.get(str(kind), str(kind))
            column = column.cast(getattr(pa, roomier)()).fill_null(MISSING)
        return labels.numbers(column.to_numpy(zero_copy_only=False)), NUMBERS
    if pa.types.is_floating(kind):
        values = column.to_numpy(zero_copy_only=False)
        return as_votes(values, lambda index: f"{where}, row {first + index[0] + 1}"), NUMBERS
    raise FileFormatError(
        f"{where}: values of type {kind} are no cluster labels. Votes are whole numbers or names."
    )


def _check_codes(indices: Any, count: int, where: str) -> None:
    """Refuse a damaged file whose codes point past the end of their dictionary."""
    import pyarrow.compute as pc

    bounds = pc.min_max(indices).as_py()
    if bounds["min"] is not None and not 0 <= bounds["min"] <= bounds["max"] < count:
        raise FileFormatError(
            f"{where} cannot be read (codes up to {bounds['max']} of {count} names). Make or fetch"
            " the file again."
        )


def _taken(values: IntArray, indices: Any) -> NDArray[Any]:
    """Return the values of a dictionary at the indices; a missing index is a missing vote."""
    if len(values) == 0:
        return np.full(len(indices), MISSING, dtype=np.int8)
    if int(values.max()) < 1 << 31 and int(values.min()) >= -(1 << 31):
        values = values.astype(np.int32)
    if indices.null_count:
        values = np.append(values, np.array(MISSING, dtype=values.dtype))
        import pyarrow as pa

        indices = indices.cast(pa.int64()).fill_null(len(values) - 1)
    return np.take(values, indices.to_numpy(zero_copy_only=False))
