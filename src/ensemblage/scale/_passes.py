"""The two passes over the votes: to find their microclusters, and to label the objects."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from ensemblage._progress import working
from ensemblage.scale._ids import KeyFiles, keys_of
from ensemblage.scale._index import (
    Index,
    add_votes,
    empty_index,
    keep,
    numbers_of,
    reads_ids,
    votes_of,
)
from ensemblage.scale._output import Part, first_rows_of
from ensemblage.tables import RereadError, replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from ensemblage._types import IntArray
    from ensemblage.scale._checkpoint import Folder
    from ensemblage.scale._output import Sheet
    from ensemblage.scale._work import Job
    from ensemblage.tables import Batch, Source

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Rows after which finished work is kept.
PIECE_ROWS = 1 << 24


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
    advance: Callable[[int], None],
) -> Index:
    """Add the rows from `start` on to the index; keep it now and then, and in the end."""

    def batches() -> Iterator[tuple[int, Batch]]:
        for place in range(start[0], len(sources)):
            first, source = start[1] if place == start[0] else 0, sources[place]
            for batch in source.batches(
                first, truth=True, carried=reads_ids(source), threads=threads
            ):
                yield place, batch

    def rows(read: tuple[int, Batch]) -> tuple[int, Batch, IntArray, Any]:
        place, batch = read
        source = sources[place]
        return place, batch, votes_of(source, batch, index), keys_of(source, batch)

    since = 0
    folder.forget_keys(start)
    key_files = KeyFiles(folder)
    try:
        with closing(in_order(rows, batches(), threads)) as decoded:
            for place, batch, votes, keys in decoded:
                add_votes(index, votes, sources[place], batch, threads)
                key_files.add(place, batch.first, keys)
                since += len(votes)
                advance(len(votes))
                if since >= PIECE_ROWS:
                    key_files.write()
                    keep(index, folder, sources, place, batch.first + batch.n_rows)
                    since = 0
    except RereadError:  # columns that were read as numbers hold names
        index = empty_index(sources[0])
        return read_votes(sources, index, (0, 0), folder, threads=threads, advance=advance)
    for source in sources:
        source.check_unchanged()
    key_files.write()
    keep(index, folder, sources, len(sources), 0)
    return index


# -- the second pass -----------------------------------------------------------------------------


def pieces_of(sources: list[Source]) -> list[tuple[int, int, int]]:
    """Return the pieces that files are labelled in: place of the file, number, first row."""
    return [
        (place, number, row)
        for place, source in enumerate(sources)
        for number, row in enumerate(range(0, source.n_rows or 0, PIECE_ROWS))
    ]


def write_parts(
    sources: list[Source],
    index: Index,
    sheet: Sheet,
    folder: Folder,
    *,
    threads: int,
    advance: Callable[[int], None],
) -> None:
    """Write a part for each piece of the sources that has none yet."""
    # Parts are written in order: from the first piece that has none, all of a file are missing.
    first_missing: dict[int, int] = {}
    missing = []
    for place, piece, row in pieces_of(sources):
        n_rows = min(PIECE_ROWS, (sources[place].n_rows or 0) - row)
        if place not in first_missing and folder.has_part(place, piece, n_rows):
            advance(n_rows)
        else:
            first_missing.setdefault(place, row)
            missing.append((place, piece, n_rows))

    def batches() -> Iterator[tuple[int, Batch]]:
        for place, row in first_missing.items():
            for batch in sources[place].batches(row, carried=True, threads=threads):
                yield from ((place, part) for part in _cut_at_pieces(batch))

    def encode(read: tuple[int, Batch]) -> tuple[int, Any]:
        place, batch = read
        return place, _encoded(sources[place], batch, index, sheet)

    with closing(in_order(encode, batches(), threads)) as encoded:
        for place, piece, n_rows in missing:
            rows = _rows_until((rows for _, rows in encoded), n_rows, sources[place], advance)
            _write_part(folder, folder.part(place, piece).name, n_rows, sheet, rows)
        for source in sources:
            source.check_unchanged()
        if (more := next(encoded, None)) is not None:
            raise sources[more[0]].changed()


def write_part(
    source: Source, span: tuple[int, int], index: Index, sheet: Sheet, folder: Folder, name: str
) -> None:
    """Write the part for some rows of a source, alone."""
    batches = source.batches(*span, carried=True)
    encoded = (_encoded(source, batch, index, sheet) for batch in batches)
    n_rows = span[1] - span[0]
    rows = _rows_until(encoded, n_rows, source, lambda _: None)
    _write_part(folder, name, n_rows, sheet, rows)
    source.check_unchanged()


def assemble(job: Job, sheet: Sheet, pieces: list[tuple[int, int, int]]) -> None:
    """Write the files of labels from the parts for `pieces`."""
    first_rows = first_rows_of(job.files, job.targets)
    with working("Putting parts together", show=job.show):
        for target in job.targets:
            parts = [
                Part(job.folder.part(place, number), first_rows[place] + row)
                for place, number, row in pieces
                if place in target.sources
            ]
            with replacing(str(target.path)) as stream:
                sheet.assemble(stream, parts, target.format)


def _encoded(source: Source, batch: Batch, index: Index, sheet: Sheet) -> Any:
    return sheet.encode(source, batch, numbers_of(source, batch, index))


def _write_part(folder: Folder, name: str, n_rows: int, sheet: Sheet, rows: Iterator[Any]) -> None:
    folder.write_part(name, n_rows, lambda file: sheet.write_part(file, rows))


def _cut_at_pieces(batch: Batch) -> Iterator[Batch]:
    start, stop = batch.first, batch.first + batch.n_rows
    while start < stop:
        end = min(stop, (start // PIECE_ROWS + 1) * PIECE_ROWS)
        yield batch.cut(start, end)
        start = end


def _rows_until(
    encoded: Iterator[Any], n_rows: int, source: Source, advance: Callable[[int], None]
) -> Iterator[Any]:
    """Yield encoded batches, up to so many rows."""
    while n_rows > 0:
        batch = next(encoded, None)
        if batch is None:
            raise source.changed()
        n_rows -= batch.num_rows
        advance(batch.num_rows)
        yield batch
