"""Votes in the partitions of a Dask DataFrame, or in the chunks of a Dask Array."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate.tables import is_pandas, series_array
from ensemblage._validate.votes import as_array, check_names, column_codes
from ensemblage.flow.codes import MISSING
from ensemblage.tables import (
    NAMES,
    NUMBERS,
    Batch,
    FileFormatError,
    Source,
    arrow_votes,
    is_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ensemblage._types import IntArray
    from ensemblage.tables import Codes


class PartitionSource(Source):
    """A partition. On the client it has no data; a task gives it those of its own.

    `id_name` is a column, or the name of the index.
    """

    def __init__(
        self, place: int, names: list[Any], id_name: Any, truth: Any, keep: dict[Any, Any]
    ) -> None:
        """Make the source of a partition; `keep` has the types of carried columns by name."""
        self.path = f"partition-{place:05d}"
        self.names, self.truth = names, truth
        # The output has names that are texts; ids are the first of the carried columns.
        self.id_name = None if id_name is None else str(id_name)
        self.kept = [str(name) for name in keep if name != id_name]
        self.n_rows = None
        self._place = place
        self._column_of = {str(name): name for name in keep}
        self._types = {str(name): kind for name, kind in keep.items()}
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
        start: int = 0,
        stop: int | None = None,
        *,
        carried: bool = False,
        truth: bool = False,
        threads: int = 1,  # noqa: ARG002 - it is in memory
    ) -> Iterator[Batch]:
        """Yield the rows from `start` to `stop`; what is not asked for is left out."""
        stop = self.n_rows if stop is None else stop
        names = self.label_names if truth else self.names
        is_frame = is_pandas(self._data)
        rows = (self._data.iloc if is_frame else self._data)[start:stop]
        if not len(rows):
            return
        if is_frame:
            columns = [rows[name] for name in names]
            found = [self._column_of[name] for name in (self.carried_names if carried else [])]
            others = [_carried(rows[n] if n in rows.columns else rows.index) for n in found]
        else:
            columns, others = list(as_array(rows).T), []
        yield Batch(start, len(rows), columns, others)

    def coded(self, batch: Batch, codes: list[Codes]) -> list[IntArray]:
        """Return the columns of a batch as codes of signed integers, -1 for a missing vote."""
        columns = []
        for place, (column, known) in enumerate(zip(batch.columns, codes, strict=True)):
            votes, kind = _votes(column, known, place)
            known.check_kind(votes, kind, self.path)
            columns.append(votes)
        return columns

    def _type(self, name: Any) -> Any:
        """Return one type for all partitions; columns of mixed and of other types are texts."""
        import pyarrow as pa

        kind = self._types[name]
        if hasattr(kind, "pyarrow_dtype"):
            return kind.pyarrow_dtype
        kind = getattr(kind, "numpy_dtype", kind)  # of integers with gaps
        plain = isinstance(kind, np.dtype) and kind.kind in "iufbM"
        return pa.from_numpy_dtype(kind) if plain else pa.string()


def _carried(column: Any) -> Any:
    """Return ids, or a column to keep, as an Arrow array; objects as texts."""
    import pyarrow as pa

    array = None if column.dtype == object else _arrow_array(column)
    if array is not None and not isinstance(array.type, pa.BaseExtensionType):
        return array
    values = zip(column.isna().tolist(), column.tolist(), strict=True)
    return pa.array([None if missing else _text(value) for missing, value in values], pa.string())


def _text(value: Any) -> str:
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


def _arrow_array(column: Any) -> Any:
    """Return a column of pandas as an Arrow array, None where Arrow has no such values."""
    import pyarrow as pa

    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _votes(column: Any, known: Codes, place: int) -> tuple[IntArray, str]:
    """Return a column as codes, as an estimator would understand it, and which kind it holds."""
    array = column
    if not isinstance(column, np.ndarray):
        by_arrow = _by_arrow(column, known)
        if by_arrow is not None:
            return by_arrow
        array = series_array(column)
    codes, labels = column_codes(array, place)
    if labels is None:
        if not codes.dtype.isnative:
            codes = codes.astype(codes.dtype.newbyteorder("="))
        return known.of_integers(codes), NUMBERS
    if array.dtype.kind in "fu":
        return np.append(known.of_numbers(labels), MISSING)[codes], NUMBERS
    return np.append(known.of_names(labels), MISSING)[codes], NAMES


def _by_arrow(column: Any, known: Codes) -> tuple[IntArray, str] | None:
    """Return a column of names, categories or nullable integers; None for other kinds."""
    if isinstance(column.dtype, np.dtype):
        return None
    import pyarrow as pa

    array = _arrow_array(column)
    if array is None:
        return None
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if not (is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return None
    votes, called = arrow_votes(array, known.of_names, known.name)
    return known.of_integers(votes), called


# -- collections -----------------------------------------------------------------------------------


def taken_apart(
    votes: Any, columns: Sequence[Any] | None, keep: Sequence[Any], id_column: Any, truth: Any
) -> tuple[Any, list[Any], list[PartitionSource]]:
    """Return a collection with whole rows in its partitions, these delayed, and a source each."""
    types: dict[Any, Any] = {}
    if getattr(votes, "ndim", 0) != 2:
        raise ValueError(
            "Votes must be a table of objects × clusterings: a Dask DataFrame, or a Dask Array of"
            f" two dimensions. Found {type(votes).__name__}."
        )
    if is_frame(votes):
        names = _clusterings(votes, columns, keep, id_column, truth)
        known = list(votes.columns)
        for name in (*([] if id_column is None else [id_column]), *keep):
            types[name] = (votes._meta[name] if name in known else votes._meta.index).dtype
        if len(set(map(str, types))) < len(types):
            raise ValueError(
                f"Ids and columns to keep have names in the output that are texts, and two of"
                f" {list(types)} are written alike. Rename one."
            )
        others = (name for name in (truth, id_column, *keep) if name in known)
        votes = votes[list(dict.fromkeys([*names, *others]))]
        delayed = list(votes.to_delayed())
    else:
        given = {"columns": columns, "id_column": id_column, "truth": truth, "keep": keep or None}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"An Array has no names for {name!r}. Use a Dask DataFrame.")
        if votes.shape[1] == 0:
            raise ValueError("Votes have no clusterings: the array has no columns.")
        if len(votes.chunks[1]) > 1:
            votes = votes.rechunk({1: -1})
        names = [f"c{place}" for place in range(1, votes.shape[1] + 1)]
        delayed = votes.to_delayed()[:, 0].tolist()
    sources = [
        PartitionSource(place, names, id_column, truth, types) for place in range(len(delayed))
    ]
    return votes, delayed, sources


def _clusterings(
    votes: Any, columns: Sequence[Any] | None, keep: Sequence[Any], id_column: Any, truth: Any
) -> list[Any]:
    """Return the columns of a DataFrame that are votes, or say which one is not there."""
    known = list(votes.columns)
    check_names(known)
    if id_column is not None and id_column not in (*known, votes.index.name):
        raise ValueError(f"Votes have no column or index {id_column!r} for the ids.")
    if isinstance(columns, str):
        raise TypeError(f"'columns' is a list of names, such as [{columns!r}]. Got {columns!r}.")
    if columns is None:
        names = [name for name in known if name not in (id_column, truth, *keep)]
    else:
        names = list(columns)
        for name in names:
            if names.count(name) > 1 or name in (id_column, truth):
                raise ValueError(
                    f"Column {name!r} was named twice: as a clustering, and as another clustering,"
                    " as ids or as true labels. Name each column once."
                )
    wanted = [*names, *([] if truth is None else [truth]), *keep]
    missing = [name for name in wanted if name not in known]
    if missing or not names:
        what = f"no column {missing[0]!r}" if missing else "no clusterings"
        raise ValueError(f"Votes have {what}. Their columns: {', '.join(map(repr, known[:8]))}.")
    return names


def is_frame(collection: Any) -> bool:
    """Return whether a collection is a DataFrame."""
    return hasattr(collection, "divisions")
