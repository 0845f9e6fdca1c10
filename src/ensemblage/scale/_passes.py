"""The two passes over the votes: to find their microclusters, and to label the objects."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ensemblage.scale._index import Index, add_votes, empty_index, keep, numbers_of, votes_of
from ensemblage.tables import RereadError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from ensemblage._types import IntArray
    from ensemblage.scale._checkpoint import Folder
    from ensemblage.scale._output import ParquetTarget, TextTarget
    from ensemblage.tables import Batch, Source

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Rows after which what was done is kept.
PIECE_ROWS = 1 << 24


class _Read(NamedTuple):
    """A batch on its way through the threads."""

    source: int
    batch: Batch


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Generator[Result]:
    """Yield ``work(item)`` for each item, in order; errors come where their item would.

    Items are read in one thread while others work, and what is under way at one time is bounded,
    so that a fast reader does not fill the memory.
    """
    if threads <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(threads) as workers:
        started = (workers.submit(work, item) for item in items)

        def read() -> Future[Result] | None:
            return next(started, None)

        # One more than the workers hold: enough that none of them waits.
        under_way = deque(reader.submit(read) for _ in range(threads + 1))
        try:
            while (result := under_way.popleft().result()) is not None:
                yield result.result()
                under_way.append(reader.submit(read))
        finally:
            for waiting in under_way:
                waiting.cancel()


# -- the first pass ------------------------------------------------------------------------------


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
            add_votes(index, votes, sources[read.source], read.batch.first, threads)
            since += len(votes)
            tell(len(votes))
            if since >= PIECE_ROWS:
                keep(index, folder, sources, read.source, read.batch.first + read.batch.n_rows)
                since = 0
    for source in sources:
        source.check_unchanged()
    keep(index, folder, sources, len(sources), 0)


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
            n_rows = min(PIECE_ROWS, (sources[place].n_rows or 0) - row)
            if place not in first_piece and folder.has_part(place, piece, n_rows):
                tell(n_rows)
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
            folder.write_part(name, n_rows, partial(_write_part, target, rows))
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
    n_rows = span[1] - span[0]
    rows = _rows_until(found, n_rows, source, lambda _: None)
    folder.write_part(name, n_rows, partial(_write_part, target, rows))
    source.check_unchanged()


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
