"""Indices of microclusters that travel between machines, and merge in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.scale._passes import Index, rows_of
from ensemblage.tables import Codes, smallest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray
    from ensemblage.scale._output import Answer, ParquetTarget, TextTarget


@dataclass(frozen=True)
class Packed:
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
    """Return the index of all rows, of parts in the order of their rows.

    Microclusters are numbered by first appearance, as if all rows had been read one by one.
    """
    n_columns = parts[0].table.shape[1]
    groups = flow.MicroclusterIndex(n_columns)
    labels = [Codes(known.name) for known in parts[0].labels]
    for part in parts:
        columns: list[IntArray] = [
            here.translated(there, part.table[:, m].astype(np.int64))
            for m, (here, there) in enumerate(zip(labels, part.labels, strict=True))
        ]
        groups.add_groups(rows_of(columns), part.sizes)
    return packed(Index(groups, labels), [facts for part in parts for facts in part.learned])


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
