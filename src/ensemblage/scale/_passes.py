"""The two passes over the votes: to find their microclusters, and to label the objects."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import flow
from ensemblage.flow.codes import MISSING
from ensemblage.scale._pipeline import in_order
from ensemblage.tables import Codes, FileFormatError, RereadError, smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.scale._checkpoint import Folder
    from ensemblage.scale._output import ParquetTarget, TextTarget
    from ensemblage.tables import Batch, Source

#: Rows after which what was done is kept.
PIECE_ROWS = 1 << 24
_SHOWN = 5
_TYPES = [np.dtype(name) for name in ("uint8", "int8", "int16", "int32", "int64")]
_ROWS_AT_ONCE = 1 << 14  # of which all votes stay in the cache


class Index(NamedTuple):
    """The microclusters of the rows read so far, and the labels that their votes stand for.

    True labels are the last column where there are any, so that one index counts everything.
    """

    groups: flow.MicroclusterIndex
    labels: list[Codes]


class _Read(NamedTuple):
    """A batch on its way through the threads."""

    source: int
    batch: Batch


# -- the first pass ------------------------------------------------------------------------------


def rows_of(columns: list[IntArray]) -> IntArray:
    """Return columns as rows, in the smallest of few types (for each, kernels are compiled)."""
    others = [column for column in columns if column.dtype != np.uint8]
    low = min((int(column.min(initial=0)) for column in others), default=0)
    high = max((int(column.max(initial=0)) for column in others), default=0)
    if len(others) < len(columns):
        high = max(high, 255)
    wanted = (t for t in _TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
    rows = np.empty((len(columns[0]), len(columns)), dtype=next(wanted))
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        for place, column in enumerate(columns):
            rows[part, place] = column[part]
    return rows


def votes_of(source: Source, batch: Batch, index: Index) -> IntArray:
    """Return the votes of a batch as rows of codes."""
    return rows_of(source.coded(batch, index.labels))


def empty_index(source: Source) -> Index:
    """Return the index of no rows."""
    names = source.label_names
    return Index(flow.MicroclusterIndex(len(names)), [Codes(name) for name in names])


def restored_index(sources: list[Source], folder: Folder) -> tuple[Index, tuple[int, int]]:
    """Return the index as an earlier run has left it, and where that stopped."""
    index, kept = empty_index(sources[0]), folder.read_index()
    if kept is None:
        return index, (0, 0)
    table, sizes, state = kept
    index.groups.add_groups(table, sizes)
    labels = [
        Codes.restored(name, known)
        for name, known in zip(sources[0].label_names, state["labels"], strict=True)
    ]
    for source, learned in zip(sources, state["learned"], strict=True):
        source.recall(learned)
    return Index(index.groups, labels), (state["source"], state["row"])


def read_votes(
    sources: list[Source],
    index: Index,
    start: tuple[int, int],
    folder: Folder,
    *,
    threads: int,
    tell: Callable[[int], None],
) -> Index:
    """Add the rows from `start` on to the index; keep it now and then, and in the end."""
    try:
        _read_votes(sources, index, start, folder, threads=threads, tell=tell)
    except RereadError:  # what was read as numbers are names
        index = empty_index(sources[0])
        return read_votes(sources, index, (0, 0), folder, threads=threads, tell=tell)
    return index


def _read_votes(
    sources: list[Source],
    index: Index,
    start: tuple[int, int],
    folder: Folder,
    *,
    threads: int,
    tell: Callable[[int], None],
) -> None:
    def batches() -> Iterator[_Read]:
        for place in range(start[0], len(sources)):
            first, source = start[1] if place == start[0] else 0, sources[place]
            learns = source.n_rows is None  # of text, also what the ids are
            for batch in source.batches(first, truth=True, carried=learns, threads=threads):
                yield _Read(place, batch)

    def rows(read: _Read) -> tuple[_Read, IntArray]:
        return read, votes_of(sources[read.source], read.batch, index)

    since = 0
    with closing(in_order(rows, batches(), threads)) as found:
        for read, votes in found:
            _add(index, votes, sources[read.source], read.batch.first, threads)
            since += len(votes)
            tell(len(votes))
            if since >= PIECE_ROWS:
                keep(index, folder, sources, read.source, read.batch.first + read.batch.n_rows)
                since = 0
    for source in sources:
        source.check_unchanged()
    keep(index, folder, sources, len(sources), 0)


def index_of(source: Source, start: int = 0, stop: int | None = None) -> Index:
    """Return the index of some rows of a source, alone."""
    index = empty_index(source)
    try:
        for batch in source.batches(start, stop, truth=True, carried=source.n_rows is None):
            _add(index, votes_of(source, batch, index), source, batch.first, 1)
    except RereadError:
        return index_of(source, start, stop)
    source.check_unchanged()
    return index


def _add(index: Index, votes: IntArray, source: Source, first: int, threads: int) -> None:
    numbers = index.groups.add(votes, n_jobs=threads)
    _check_turnout(index.groups, votes, numbers, source, first)


def keep(index: Index, folder: Folder, sources: list[Source], source: int, row: int) -> None:
    """Keep the index in the folder, and how far it has come."""
    table, sizes = index.groups.finish()
    state = {
        "source": source,
        "row": row,
        "labels": [known.state() for known in index.labels],
        "learned": [each.learned() for each in sources],
    }
    folder.write_index(smallest(table), sizes, state)


def _check_turnout(
    groups: flow.MicroclusterIndex, votes: IntArray, numbers: Any, source: Source, first: int
) -> None:
    """Refuse objects that no clustering voted on, as soon as one is met."""
    if votes.dtype.kind == "u":
        return
    if source.truth is None:
        silent = int(groups.lookup(np.full((1, votes.shape[1]), MISSING, np.int64))[0])
        if silent < 0:
            return
        rows = np.flatnonzero(numbers == silent)
    else:
        rows = np.flatnonzero((votes[:, :-1] == MISSING).all(axis=1))
        if not len(rows):
            return
    shown = [source.where(first + int(row)) for row in rows[:_SHOWN]]
    more = ["and others"] if len(rows) > _SHOWN else []
    raise FileFormatError(
        f"Object(s) without a vote in any clustering: {'; '.join(shown + more)}. Nothing can be"
        " said about them; leave these rows out."
    )


# -- the second pass -----------------------------------------------------------------------------


def pieces_of(source: Source) -> list[tuple[int, int]]:
    """Return the pieces that a file is labelled in, each with its first row."""
    return list(enumerate(range(0, source.n_rows or 0, PIECE_ROWS)))


def write_parts(
    sources: list[Source],
    wanted: list[int],
    first_rows: list[int],
    index: Index,
    target: ParquetTarget | TextTarget,
    folder: Folder,
    *,
    threads: int,
    tell: Callable[[int], None],
) -> None:
    """Write a part for each piece of the sources wanted that has none yet."""
    # Parts are written in order: from the first piece that has none, all of a file are missing.
    first_piece: dict[int, int] = {}
    missing = []
    for place in wanted:
        for piece, row in pieces_of(sources[place]):
            if place not in first_piece and folder.part(place, piece).exists():
                tell(min(PIECE_ROWS, (sources[place].n_rows or 0) - row))
            else:
                first_piece.setdefault(place, piece)
                missing.append((place, piece))

    def batches() -> Iterator[_Read]:
        for place, piece in first_piece.items():
            source = sources[place]
            for batch in source.batches(piece * PIECE_ROWS, carried=True, threads=threads):
                yield from (_Read(place, part) for part in _cut_at_pieces(batch))

    def encode(read: _Read) -> tuple[_Read, Any]:
        source, first_row = sources[read.source], first_rows[read.source]
        return read, _encoded(source, read.batch, first_row, index, target)

    with closing(in_order(encode, batches(), threads)) as encoded:
        for place, piece in missing:
            start = piece * PIECE_ROWS
            n_rows = min(PIECE_ROWS, (sources[place].n_rows or 0) - start)
            rows = _rows_until(encoded, n_rows, sources[place], tell)
            name = folder.part(place, piece).name
            folder.replace(name, partial(_write_part, target, rows))
        for place in wanted:
            sources[place].check_unchanged()
        if (more := next(encoded, None)) is not None:
            raise sources[more[0].source].changed()


def write_part(
    source: Source,
    span: tuple[int, int],
    first_row: int,
    index: Index,
    target: ParquetTarget | TextTarget,
    folder: Folder,
    name: str,
) -> None:
    """Write the part for some rows of a source, alone."""
    found = (
        (_Read(0, batch), _encoded(source, batch, first_row, index, target))
        for batch in source.batches(*span, carried=True)
    )
    rows = _rows_until(found, span[1] - span[0], source, lambda _: None)
    folder.replace(name, partial(_write_part, target, rows))
    source.check_unchanged()


def numbers_of(source: Source, batch: Batch, index: Index) -> NDArray[np.int32]:
    """Return the microcluster of each row of a batch."""
    numbers = index.groups.lookup(votes_of(source, batch, index))
    if len(numbers) and int(numbers.min()) < 0:
        raise source.changed()
    return numbers


def _encoded(
    source: Source, batch: Batch, first_row: int, index: Index, target: ParquetTarget | TextTarget
) -> Any:
    numbers = numbers_of(source, batch, index)
    return target.encode(source, batch, numbers, first_row + batch.first)


def _write_part(target: ParquetTarget | TextTarget, rows: Iterator[Any], file: Any) -> None:
    target.write_part(file, rows)


def _cut_at_pieces(batch: Batch) -> Iterator[Batch]:
    start, stop = batch.first, batch.first + batch.n_rows
    while start < stop:
        end = min(stop, (start // PIECE_ROWS + 1) * PIECE_ROWS)
        yield batch.cut(start, end)
        start = end


def _rows_until(
    encoded: Iterator[tuple[_Read, Any]], n_rows: int, source: Source, tell: Callable[[int], None]
) -> Iterator[Any]:
    """Yield what is encoded, up to so many rows."""
    while n_rows > 0:
        read, found = next(encoded, (None, None))
        if read is None:
            raise source.changed()
        n_rows -= read.batch.n_rows
        tell(read.batch.n_rows)
        yield found
