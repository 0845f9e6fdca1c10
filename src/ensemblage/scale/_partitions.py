"""Votes in the partitions of a Dask DataFrame, or in the chunks of a Dask Array."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate.tables import is_pandas, series_array
from ensemblage._validate.votes import _column_codes, as_array
from ensemblage.files import FileFormatError, as_texts
from ensemblage.scale._arrow import _integers, date_texts
from ensemblage.scale._labels import MISSING, NAMES, NUMBERS
from ensemblage.scale._source import Batch, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ensemblage._types import IntArray
    from ensemblage.scale._labels import Labels


class PartitionSource(Source):
    """A partition. On the client it has no data; a task gives it those of its own.

    `id_name` is a column, or the name of the index.
    """

    def __init__(
        self, place: int, names: list[Any], id_name: Any, truth: Any, id_dtype: Any = None
    ) -> None:
        self.path = f"partition-{place:05d}"
        self.names, self.id_name, self.truth = names, id_name, truth
        self.n_rows = None
        self._place = place
        self._id_dtype = id_dtype
        self._data: Any = None

    def holding(self, data: Any) -> PartitionSource:
        """Return the same partition with its data, a DataFrame or an array."""
        source = copy.copy(self)
        source._data, source.n_rows = data, len(data)
        return source

    def changed(self) -> FileFormatError:
        """Return the error to raise where a partition has other rows the second time."""
        return FileFormatError(
            f"Partition {self._place} was computed twice, with different votes, so its labels"
            " would not belong to them. Make what computes it repeat itself (a seed), or keep the"
            " votes with persist() first."
        )

    def where(self, row: int) -> str:
        """Return where an object stands, for messages; as Python counts."""
        return f"row {row} of partition {self._place}, counted from 0"

    def batches(
        self,
        start: int,
        stop: int | None = None,
        *,
        ids: bool = False,
        truth: bool = False,
        threads: int = 1,  # noqa: ARG002 - it is in memory
    ) -> Iterator[Batch]:
        """Yield the rows from `start` to `stop`: votes, then `truth`, and the ids, if asked for."""
        stop = self.n_rows if stop is None else stop
        names = [*self.names, *([self.truth] if truth and self.truth is not None else [])]
        is_frame = is_pandas(self._data)
        rows = (self._data.iloc if is_frame else self._data)[start:stop]
        if not len(rows):
            return
        if is_frame:
            columns = [rows[name] for name in names]
            the_ids = self._ids(rows) if ids and self.id_name is not None else None
        else:
            columns, the_ids = list(as_array(rows).T), None
        yield Batch(start, len(rows), columns, the_ids)

    def _ids(self, rows: Any) -> Any:
        return (rows[self.id_name] if self.id_name in rows.columns else rows.index).to_numpy()

    def votes(self, batch: Batch, labels: list[Labels]) -> list[IntArray]:
        """Return the columns of a batch as integers, -1 for a missing vote."""
        columns = []
        for place, (column, known) in enumerate(zip(batch.columns, labels, strict=True)):
            votes, kind = _votes(column, known, place)
            known.check_kind(votes, kind, self.path)
            columns.append(votes)
        return columns

    def id_type(self) -> Any:
        """Return the Arrow type that ids have in the output."""
        import pyarrow as pa

        kind = self._id_dtype
        if isinstance(kind, np.dtype) and kind.kind in "iuM":
            return pa.from_numpy_dtype(kind)
        return pa.string()

    def arrow_ids(self, ids: Any, kind: Any) -> Any:
        """Return ids as an Arrow array."""
        import pyarrow as pa

        if pa.types.is_string(kind):
            return pa.array(list(map(str, as_texts(ids))), pa.string())
        return pa.array(ids).cast(kind)

    def text_ids(self, ids: Any) -> list[Any]:
        """Return ids as the cells of a text file."""
        if ids.dtype.kind == "M":
            return date_texts(ids)
        return list(ids.tolist())


def _votes(column: Any, known: Labels, place: int) -> tuple[IntArray, str]:
    """Return a column as integers, as an estimator would understand it, and which kind it holds."""
    array = column
    if not isinstance(column, np.ndarray):
        found = _by_arrow(column, known)
        if found is not None:
            return found
        array = series_array(column)
    codes, labels = _column_codes(array, place)
    if labels is None:
        if not codes.dtype.isnative:
            codes = codes.astype(codes.dtype.newbyteorder("="))
        return known.numbers(codes), NUMBERS
    if array.dtype.kind in "fu":
        return np.append(known.any_numbers(labels), MISSING)[codes], NUMBERS
    return np.append(known.codes(labels), MISSING)[codes], NAMES


def _by_arrow(column: Any, known: Labels) -> tuple[IntArray, str] | None:
    """Return a column of names, categories or nullable integers; None for other kinds."""
    if isinstance(column.dtype, np.dtype):
        return None
    import pyarrow as pa

    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        return None
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    kind = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
    names = str(kind) in ("string", "large_string", "string_view")
    if not (names or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return None
    return _integers(found, known, known.name, 0)
