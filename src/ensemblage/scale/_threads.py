"""Threads of this process that go through votes in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.files._target import replacing
from ensemblage.scale import _passes
from ensemblage.scale._output import Answer, ParquetTarget, Part, TextTarget
from ensemblage.scale._passes import (
    Index,
    learn_text,
    pieces_of,
    read_votes,
    restored_index,
    write_parts,
)
from ensemblage.scale._progress import counting, working

if TYPE_CHECKING:
    from ensemblage.scale._checkpoint import Folder
    from ensemblage.scale._source import Source
    from ensemblage.scale._targets import Target


class Threads:
    """The runtime of a stream."""

    resumes = True

    def __init__(self, threads: int) -> None:
        self.part_rows = _passes.PIECE_ROWS
        self._threads = threads

    def first_pass(self, files: list[Source], folder: Folder, *, show: bool) -> Index:
        return _first_pass(files, folder, self._threads, show=show)

    def second_pass(
        self,
        files: list[Source],
        targets: list[Target],
        index: Index,
        answer: Answer,
        folder: Folder,
        *,
        show: bool,
    ) -> None:
        _second_pass(files, targets, index, answer, folder, self._threads, show=show)


def _first_pass(files: list[Source], folder: Folder, threads: int, *, show: bool) -> Index:
    """Return the index of all votes."""
    if any(source.n_rows is None for source in files):
        with counting("Looking at text", None, show=show) as tell:
            learn_text(files, folder, tell)
    names = [*files[0].names, *([] if files[0].truth is None else [files[0].truth])]
    index, begin = restored_index(names, folder)
    if begin[0] < len(files):
        n_rows = sum(source.n_rows or 0 for source in files)
        done = int(index.groups.sizes().sum())
        with counting("Reading votes", n_rows, done=done, show=show) as tell:
            read_votes(files, index, begin, folder, threads=threads, tell=tell)
    return index


def _second_pass(
    files: list[Source],
    targets: list[Target],
    index: Index,
    answer: Answer,
    folder: Folder,
    threads: int,
    *,
    show: bool,
) -> None:
    """Label all objects in parts, then make the files of them."""
    n_rows = [source.n_rows or 0 for source in files]
    first_rows = first_rows_of(files, targets)
    for chosen in dict.fromkeys(target.format for target in targets):
        same = [target for target in targets if target.format == chosen]
        wanted = [place for target in same for place in target.sources]
        sheet = sheet_of(chosen, answer, files)
        with counting("Writing labels", sum(n_rows[i] for i in wanted), show=show) as tell:
            write_parts(files, wanted, first_rows, index, sheet, folder, threads=threads, tell=tell)
        with working("Putting parts together", show=show):
            for target in same:
                parts = [
                    Part(folder.part(place, piece), first_rows[place] + row)
                    for place in target.sources
                    for piece, row in pieces_of(files[place])
                    if n_rows[place]
                ]
                with replacing(str(target.path)) as stream:
                    sheet.assemble(stream, parts)


def first_rows_of(files: list[Source], targets: list[Target]) -> list[int]:
    """Return the number that the first row of each file has in the output."""
    if len(targets) > 1:
        return [0] * len(files)  # each of several files counts its own
    return np.cumsum([0, *(source.n_rows or 0 for source in files[:-1])]).tolist()


def sheet_of(chosen: str, answer: Answer, files: list[Source]) -> ParquetTarget | TextTarget:
    """Return what encodes labels in a format."""
    if chosen == "parquet":
        return ParquetTarget(answer, files)
    return TextTarget(answer, files, "\t" if chosen == "tsv" else ",")
