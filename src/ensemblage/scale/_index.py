"""Microclusters of the rows read so far: found batch by batch, kept, sent and merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import flow
from ensemblage.flow.codes import MISSING
from ensemblage.tables import Codes, FileFormatError, RereadError, smallest, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.scale._checkpoint import Folder
    from ensemblage.tables import Batch, Source

_SHOWN = 5
_TYPES = [np.dtype(name) for name in ("uint8", "int8", "int16", "int32", "int64")]
_ROWS_AT_ONCE = 1 << 14  # of which all votes stay in the cache


@dataclass(frozen=True)
class Index:
    """The microclusters of the rows read so far, and the labels that their votes stand for.

    True labels are the last column where there are any, so that one index counts everything.
    """

    groups: flow.MicroclusterIndex
    labels: list[Codes]

    def __reduce__(self) -> tuple[Any, ...]:
        return unpacked, (packed(self),)


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
    names = sources[0].label_names
    labels = [Codes.restored(*known) for known in zip(names, state["labels"], strict=True)]
    for source, learned in zip(sources, state["learned"], strict=True):
        source.recall(learned)
    return Index(index.groups, labels), (state["source"], state["row"])


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


def reads_ids(source: Source) -> bool:
    """Return whether the first pass reads ids: to compare them, or to learn which kind they are."""
    return source.ids_differ or source.n_rows is None


def index_of(
    source: Source,
    start: int = 0,
    stop: int | None = None,
    see: Callable[[Batch], None] = lambda _: None,
) -> Index:
    """Return the index of some rows of a source, alone; `see` gets each batch."""
    index = empty_index(source)
    try:
        for batch in source.batches(start, stop, truth=True, carried=reads_ids(source)):
            add_votes(index, votes_of(source, batch, index), source, batch, 1)
            see(batch)
    except RereadError:
        return index_of(source, start, stop, see)
    source.check_unchanged()
    return index


def add_votes(index: Index, votes: IntArray, source: Source, batch: Batch, threads: int) -> None:
    """Add the votes of a batch; raise where an object has none in any clustering."""
    numbers = index.groups.add(votes, n_jobs=threads)
    if votes.dtype.kind == "u":
        return
    if source.truth is None:
        absent = np.full((1, votes.shape[1]), MISSING, np.int64)
        silent = int(index.groups.lookup(absent)[0])
        rows = np.flatnonzero((numbers == silent) & (silent >= 0))
    else:
        rows = np.flatnonzero((votes[:, :-1] == MISSING).all(axis=1))
    if not len(rows):
        return
    shown = [_named(source, batch, int(row)) for row in rows[:_SHOWN]]
    more = [f"and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    raise FileFormatError(
        f"At least {len(rows)} object(s) have no vote in any clustering: {'; '.join(shown + more)}."
        " Nothing can be said about them, and later rows were not read: leave out all rows without"
        " votes."
    )


def _named(source: Source, batch: Batch, row: int) -> str:
    """Return where an object of a batch stands, after its id if that was read."""
    where = source.where(batch.first + row)
    if source.id_name is None or not batch.carried:
        return where
    (name,) = texts_of(batch.carried[0][row : row + 1], source.place(source.id_name))
    return where if name is None else f"{name!r} ({where})"


def numbers_of(source: Source, batch: Batch, index: Index) -> NDArray[np.int32]:
    """Return the microcluster of each row of a batch."""
    numbers = index.groups.lookup(votes_of(source, batch, index))
    if len(numbers) and int(numbers.min()) < 0:
        raise source.changed()
    return numbers


# -- indices that travel between machines ----------------------------------------------------------


class Packed(NamedTuple):
    """The index of some rows without its hash table, and what was learned of each piece of them."""

    table: Any
    sizes: NDArray[np.int64]
    labels: list[Codes]
    learned: list[dict[str, Any]]


def packed(index: Index, learned: list[dict[str, Any]] | None = None) -> Packed:
    """Return an index ready to travel; `learned` is what reading has shown of its pieces."""
    table, sizes = index.groups.finish()
    facts = [{"n_rows": int(sizes.sum())}] if learned is None else learned
    return Packed(smallest(table), sizes, index.labels, facts)


def unpacked(kept: Packed) -> Index:
    """Return the index that was packed: microclusters keep their numbers."""
    groups = flow.MicroclusterIndex(kept.table.shape[1], room=max(1024, len(kept.sizes)))
    groups.add_groups(rows_of(list(kept.table.T)), kept.sizes)
    return Index(groups, kept.labels)


def merged(parts: list[Packed]) -> Packed:
    """Return the index of all rows, from parts in the order of their rows.

    Microclusters are numbered by first appearance, as if all rows had been read one by one.
    """
    groups = flow.MicroclusterIndex(parts[0].table.shape[1])
    labels = [Codes(known.name) for known in parts[0].labels]
    for part in parts:
        columns: list[IntArray] = [
            here.translated(there, part.table[:, m].astype(np.int64))
            for m, (here, there) in enumerate(zip(labels, part.labels, strict=True))
        ]
        groups.add_groups(rows_of(columns), part.sizes)
    return packed(Index(groups, labels), [facts for part in parts for facts in part.learned])
