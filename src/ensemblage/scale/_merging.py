"""Indices of microclusters that travel between machines, and merge in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.files._values import smallest
from ensemblage.scale._labels import Labels, rows_of
from ensemblage.scale._passes import Index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.scale._output import Answer, ParquetTarget, TextTarget


@dataclass(frozen=True)
class Packed:
    """The index of some rows without its hash table, and how many rows each piece of them had."""

    table: Any
    sizes: NDArray[np.int64]
    labels: list[Labels]
    n_rows: list[int]


def packed(index: Index, n_rows: list[int] | None = None) -> Packed:
    """Return an index ready to travel."""
    table, sizes = index.groups.finish()
    counts = [int(sizes.sum())] if n_rows is None else n_rows
    return Packed(smallest(table), sizes, index.labels, counts)


def unpacked(kept: Packed) -> Index:
    """Return the index that was packed: microclusters keep their numbers."""
    groups = flow.MicroclusterIndex(kept.table.shape[1], room=max(1024, len(kept.sizes)))
    groups.add_groups(rows_of(list(kept.table.T)), kept.sizes)
    return Index(groups, kept.labels)


def merged(parts: list[Packed]) -> Packed:
    """Return the index of all rows, of parts in the order of their rows.

    Microclusters are numbered by first appearance, as if all rows had been read one by one.
    """
    n_columns = parts[0].table.shape[1]
    groups = flow.MicroclusterIndex(n_columns)
    labels = [Labels(known.name) for known in parts[0].labels]
    for part in parts:
        columns: list[IntArray] = [
            here.translated(there, part.table[:, m].astype(np.int64))
            for m, (here, there) in enumerate(zip(labels, part.labels, strict=True))
        ]
        groups.add_groups(rows_of(columns), part.sizes)
    return packed(Index(groups, labels), [n for part in parts for n in part.n_rows])


class Table:
    """What a worker needs to label objects: the index, and the labels of its microclusters."""

    def __init__(
        self, index: Index, answer: Answer, sheets: dict[str, ParquetTarget | TextTarget]
    ) -> None:
        self.index, self.answer, self.sheets = index, answer, sheets

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (packed(self.index), self.answer, self.sheets)


def _open(kept: Packed, answer: Answer, sheets: dict[str, ParquetTarget | TextTarget]) -> Table:
    return Table(unpacked(kept), answer, sheets)
