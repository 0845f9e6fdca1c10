"""Threads of this process that go through votes in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage._progress import counting, working
from ensemblage.scale import _passes
from ensemblage.scale._output import Answer, ParquetTarget, Part, TextTarget
from ensemblage.scale._passes import (
    Index,
    pieces_of,
    read_votes,
    restored_index,
    write_parts,
)
from ensemblage.tables import replacing

if TYPE_CHECKING:
    from ensemblage.scale._targets import Target
    from ensemblage.scale._work import Job
    from ensemblage.tables import Source


class Threads:
    """The runtime of a stream."""

    resumes = True

    def __init__(self, threads: int) -> None:
        self.part_rows = _passes.PIECE_ROWS
        self._threads = threads

    def first_pass(self, job: Job) -> Index:
        """Return the index of all votes."""
        return _first_pass(job, self._threads)

    def second_pass(self, job: Job, index: Index, answer: Answer) -> None:
        """Label all objects in parts, then make the files of them."""
        _second_pass(job, index, answer, self._threads)


def _first_pass(job: Job, threads: int) -> Index:
    files, _, folder, show = job
    index, begin = restored_index(files, folder)
    if begin[0] < len(files):
        known = [source.n_rows for source in files if source.n_rows is not None]
        n_rows = sum(known) if len(known) == len(files) else None
        done = int(index.groups.sizes().sum())
        with counting("Reading votes", n_rows, done=done, show=show, rows=True) as tell:
            index = read_votes(files, index, begin, folder, threads=threads, tell=tell)
    return index


def _second_pass(job: Job, index: Index, answer: Answer, threads: int) -> None:
    files, targets, folder, show = job
    n_rows = [source.n_rows or 0 for source in files]
    first_rows = first_rows_of(files, targets)
    for chosen in dict.fromkeys(target.format for target in targets):
        same = [target for target in targets if target.format == chosen]
        wanted = [place for target in same for place in target.sources]
        sheet = sheet_of(chosen, answer, files)
        with counting(
            "Writing labels", sum(n_rows[i] for i in wanted), show=show, rows=True
        ) as tell:
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
