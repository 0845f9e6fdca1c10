"""Both passes over the votes as tasks of Dask: pure, and written once however often they run."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from ensemblage._progress import counting, working
from ensemblage._validate.votes import warn_of_features
from ensemblage.scale._index import (
    Index,
    Packed,
    Table,
    index_of,
    keep,
    merged,
    packed,
    restored_index,
    unpacked,
)
from ensemblage.scale._output import Part, first_rows_of, sheet_of
from ensemblage.scale._partitions import PartitionSource
from ensemblage.scale._passes import write_part
from ensemblage.tables import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ensemblage.scale._checkpoint import Folder
    from ensemblage.scale._output import Answer
    from ensemblage.scale._work import Job
    from ensemblage.tables import Source

_MERGED_AT_ONCE = 8


class _Piece(NamedTuple):
    """Some rows of a source, which one task goes through."""

    source: int
    number: int
    span: tuple[int, int | None]

    @property
    def n_rows(self) -> int | None:
        start, stop = self.span
        return None if stop is None else stop - start


class Tasks:
    """The workers of a Dask cluster.

    `partitions` are the delayed data of a collection, one for each source; files have none, since
    workers read these themselves.
    """

    def __init__(self, client: Any, task_rows: int, partitions: list[Any] | None = None) -> None:
        self._client = client
        self._partitions = partitions
        self._run = uuid4().hex[:12]
        self.part_rows = task_rows
        self.resumes = partitions is None

    # -- the first pass ------------------------------------------------------------------------

    def first_pass(self, job: Job) -> Index:
        """Return the index of all votes: one for each piece, merged in order on the workers."""
        files, _, folder, show = job
        if self._partitions is not None:
            return unpacked(self.index_partitions(files, show=show))
        index, begin = restored_index(files, folder)
        if begin[0] < len(files):
            pieces = self._pieces(files)
            leaves = [
                self._task(_index_rows, "index", i)(files[piece.source], piece.span)
                for i, piece in enumerate(pieces)
            ]
            if not leaves:
                return index
            found = self._merge(leaves, [piece.n_rows for piece in pieces], show=show)
            for piece, learned in zip(pieces, found.learned, strict=True):
                if files[piece.source].n_rows is None:  # text, which one task has read
                    files[piece.source].recall(learned)
            index = unpacked(found)
            keep(index, folder, files, len(files), 0)
        return index

    def index_partitions(self, files: list[Source], *, show: bool) -> Packed:
        """Return the index of a collection, and tell each of its sources how many rows it has."""
        leaves = [
            self._task(_index_partition, "index", i)(source, data)
            for i, (source, data) in enumerate(zip(files, self._partitions or [], strict=True))
        ]
        found = self._merge(leaves, [None] * len(leaves), show=show)
        for source, learned in zip(files, found.learned, strict=True):
            source.recall(learned)
        warn_of_features([known.labels() for known in found.labels])
        return found

    def _merge(self, leaves: list[Any], n_rows: list[int | None], *, show: bool) -> Packed:
        """Return the merged index; the workers merge, in a tree."""
        level = leaves
        while len(level) > 1:
            level = [
                self._task(merged, "merge")(level[i : i + _MERGED_AT_ONCE])
                for i in range(0, len(level), _MERGED_AT_ONCE)
            ]
        known = [n for n in n_rows if n is not None]
        if len(known) < len(n_rows):  # of partitions and text it is not known before
            with working("Reading votes", show=show):
                (found,) = self._compute(level)
        else:
            with counting("Reading votes", sum(known), show=show, rows=True) as tell:
                (found,) = self._compute(level, leaves, known, tell)
        index: Packed = found
        return index

    # -- the second ----------------------------------------------------------------------------

    def second_pass(self, job: Job, index: Index, answer: Answer) -> None:
        """Label all objects in parts, then make the files of them, both on the workers."""
        files, targets, folder, show = job
        first_rows = first_rows_of(files, targets)
        formats = dict.fromkeys(target.format for target in targets)
        sheets = {chosen: sheet_of(chosen, answer, files) for chosen in formats}
        table = self.share(Table(index, answer, sheets))
        format_of = {place: target.format for target in targets for place in target.sources}
        pieces = self._pieces(files)
        parts: dict[_Piece, Any] = {}
        for piece in pieces:
            path = folder.part(piece.source, piece.number)
            if not folder.has_part(piece.source, piece.number, piece.n_rows or 0):
                parts[piece] = self._task(_write_rows, "label")(
                    files[piece.source],
                    piece.span,
                    first_rows[piece.source],
                    table,
                    format_of[piece.source],
                    folder,
                    path.name,
                    self._partitions and self._partitions[piece.source],
                )
        wholes = []
        for number, target in enumerate(targets):
            own = [piece for piece in pieces if piece.source in target.sources]
            found = [
                Part(folder.part(piece.source, piece.number), row)
                for piece in own
                for row in [first_rows[piece.source] + piece.span[0]]
            ]
            wait_for = [parts[piece] for piece in own if piece in parts]
            assemble = partial(_assemble, folder, f"whole-{number:06d}", target.format, found)
            wholes.append(self._task(assemble, "assemble")(table, wait_for))
        n_rows = [piece.n_rows or 0 for piece in parts]
        with counting("Writing labels", sum(n_rows), show=show, rows=True) as tell:
            self._compute(wholes, list(parts.values()), n_rows, tell)
        for number, target in enumerate(targets):
            whole = folder.path / f"whole-{number:06d}"
            with replacing(str(target.path)) as stream, whole.open("rb") as content:
                shutil.copyfileobj(content, stream, 1 << 20)

    def share(self, table: Table) -> Any:
        """Return a table as part of the graph, so that it outlives any worker."""
        from dask import delayed

        return delayed(table, name=f"ensemblage-table-{self._run}", traverse=False)

    # -- Dask ----------------------------------------------------------------------------------

    def _pieces(self, files: list[Source]) -> list[_Piece]:
        return [
            _Piece(place, number, span)
            for place, source in enumerate(files)
            for number, span in enumerate(source.spans(self.part_rows))
        ]

    def _task(self, function: Any, name: str, number: int | None = None) -> Callable[..., Any]:
        """Return what makes a task: named here, so that Dask does not have to hash its input."""
        from dask import delayed

        last = uuid4().hex if number is None else f"{number:06d}"

        def make(*arguments: Any) -> Any:
            key = f"ensemblage-{name}-{self._run}-{last}"
            return delayed(function)(*arguments, dask_key_name=key)

        return make

    def _compute(
        self,
        wanted: list[Any],
        steps: Sequence[Any] = (),
        n_rows: Sequence[int] = (),
        tell: Callable[[int], None] = lambda _: None,
    ) -> list[Any]:
        """Return what the tasks wanted give, telling of each step that is done on the way."""
        import dask
        from distributed import as_completed

        # The table is meant to be in the graph, from where it is had again if a worker dies.
        quiet = {"distributed.admin.large-graph-warning-threshold": "4GB"}
        with _dask_errors(), dask.config.set(quiet):
            futures = self._client.compute([*wanted, *steps])
            rows_of = dict(zip((step.key for step in futures[len(wanted) :]), n_rows, strict=True))
            completed = as_completed(futures[len(wanted) :], loop=self._client.loop)
            del futures[len(wanted) :]  # what has been merged need not be kept
            for step in completed:
                if step.status != "finished":
                    break  # what was wanted fails for the same reason
                tell(rows_of[step.key])
            found: list[Any] = self._client.gather(futures)
        return found


@contextmanager
def _dask_errors() -> Iterator[None]:
    """Say what has happened where Dask gives up."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise ConnectionError(
            f"Workers died several times at the same task ({error.task}), as they do without enough"
            " memory. Give them more, or make tasks smaller with 'task_rows'."
        ) from error
    except (ImportError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "deserialization" not in str(error):
            raise
        raise ConnectionError(
            "The cluster does not understand what it is sent: ensemblage, and what the votes are"
            " made with, must be installed at the scheduler and at every worker, in the same"
            " versions."
        ) from error
    except CancelledError as error:
        raise ConnectionError(
            "The scheduler has dropped the work, or has gone away. See what its log says."
        ) from error


# -- tasks ---------------------------------------------------------------------------------------


@contextmanager
def _worker_errors(path: str | Path) -> Iterator[None]:
    """Name the worker that does not find a file."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"The worker at {_address()} finds no {path}. Every worker must see the votes, and the"
            " folder of the output, under the same path: on a file system that all share."
        ) from error


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return "this machine"


def _index_rows(source: Source, span: tuple[int, int | None]) -> Packed:
    with _worker_errors(source.path):
        index = index_of(source, *span)
        start, stop = span
        learned = {"n_rows": None if stop is None else stop - start}
        return packed(index, [source.learned() if stop is None else learned])


def _index_partition(source: PartitionSource, data: Any) -> Packed:
    return packed(index_of(source.holding(data)))


def _write_rows(
    source: Any,
    span: tuple[int, int],
    first_row: int,
    table: Table,
    chosen: str,
    folder: Folder,
    name: str,
    data: Any,
) -> None:
    if isinstance(source, PartitionSource):
        source = source.holding(data)
    with _worker_errors(source.path if folder.path.exists() else folder.path):
        write_part(source, span, first_row, table.index, table.sheets[chosen], folder, name)


def _assemble(
    folder: Folder, name: str, chosen: str, parts: list[Part], table: Table, wait_for: list[None]
) -> None:
    del wait_for  # which write the parts
    with _worker_errors(folder.path):
        folder.replace(name, lambda file: table.sheets[chosen].assemble(file, parts))
