"""Both passes over the votes as tasks of Dask: pure, and written once however often they run."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from ensemblage._progress import counting, working
from ensemblage._validate.votes import warn_of_features
from ensemblage.scale import _passes
from ensemblage.scale._ids import KeyFiles, keys_of
from ensemblage.scale._index import (
    Index,
    Packed,
    index_of,
    keep,
    merged,
    packed,
    restored_index,
    unpacked,
)
from ensemblage.scale._output import Sheet
from ensemblage.scale._partitions import PartitionSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ensemblage.scale._checkpoint import Folder
    from ensemblage.scale._work import Job
    from ensemblage.tables import Batch, Source

_MERGED_AT_ONCE = 8


class _Piece(NamedTuple):
    """Some rows of a source, for one task."""

    source: int
    number: int
    span: tuple[int, Any]

    @property
    def n_rows(self) -> int | None:
        start, stop = self.span
        return None if stop is None else stop - start


class Tasks:
    """The workers of a Dask cluster.

    `partitions` are the delayed data of a collection, one for each source; files have none.
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
        pieces = self._pieces(files)
        if begin[0] < len(files) and pieces:
            folder.forget_keys((0, 0))
            leaves = [
                self._task(_index_rows, "index")(files[piece.source], piece, folder)
                for piece in pieces
            ]
            whole = self._merge(leaves, [piece.n_rows for piece in pieces], show=show)
            for piece, learned in zip(pieces, whole.learned, strict=True):
                if files[piece.source].n_rows is None:  # text, which one task has read
                    files[piece.source].recall(learned)
            index = unpacked(whole)
            keep(index, folder, files, len(files), 0)
        return index

    def index_partitions(self, files: list[Source], *, show: bool) -> Packed:
        """Return the index of a collection, and set the number of rows of each of its sources."""
        leaves = [
            self._task(_index_partition, "index")(source, data)
            for source, data in zip(files, self._partitions or [], strict=True)
        ]
        whole = self._merge(leaves, [None] * len(leaves), show=show)
        for source, learned in zip(files, whole.learned, strict=True):
            source.recall(learned)
        warn_of_features([known.labels() for known in whole.labels])
        return whole

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
                (whole,) = self._compute(level)
        else:
            with counting("Reading votes", sum(known), show=show, rows=True) as advance:
                (whole,) = self._compute(level, leaves, known, advance)
        index: Packed = whole
        return index

    # -- the second ----------------------------------------------------------------------------

    def second_pass(self, job: Job, index: Index, answer: dict[str, NDArray[Any]]) -> None:
        """Label all objects in parts, on the workers; then make the files of them, here."""
        files, folder = job.files, job.folder
        sheet = Sheet(answer, files)
        shared = self.share((index, sheet))
        pieces = self._pieces(files)
        tasks, n_rows = [], []
        for place, number, span in pieces:
            rows = span[1] - span[0]
            if not folder.has_part(place, number, rows):
                data = self._partitions and self._partitions[place]
                name = folder.part(place, number).name
                tasks.append(
                    self._task(_write_rows, "label")(files[place], span, shared, folder, name, data)
                )
                n_rows.append(rows)
        with counting("Writing labels", sum(n_rows), show=job.show, rows=True) as advance:
            self._compute(tasks, tasks, n_rows, advance)
        _passes.assemble(job, sheet, [(place, number, span[0]) for place, number, span in pieces])

    def share(self, value: Any) -> Any:
        """Return a value as part of the graph, so that it outlives any worker."""
        from dask import delayed

        return delayed(_Shared(value), name=f"ensemblage-table-{self._run}", traverse=False)

    # -- Dask ----------------------------------------------------------------------------------

    def _pieces(self, files: list[Source]) -> list[_Piece]:
        return [
            _Piece(place, number, span)
            for place, source in enumerate(files)
            for number, span in enumerate(source.spans(self.part_rows))
        ]

    def _task(self, function: Any, name: str) -> Callable[..., Any]:
        """Return a function that makes a task, named here: Dask need not hash its input."""
        from dask import delayed

        key = f"ensemblage-{name}-{self._run}-{uuid4().hex}"
        return lambda *arguments: delayed(function)(*arguments, dask_key_name=key)

    def _compute(
        self,
        wanted: list[Any],
        steps: Sequence[Any] = (),
        n_rows: Sequence[int] = (),
        advance: Callable[[int], None] = lambda _: None,
    ) -> list[Any]:
        """Return the results of the tasks wanted, advancing with each step that is done."""
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
                advance(rows_of[step.key])
            results: list[Any] = self._client.gather(futures)
        return results


@contextmanager
def _dask_errors() -> Iterator[None]:
    """Explain the errors that Dask raises when it gives up."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise ConnectionError(
            f"Workers died several times at the same task ({error.task}), probably for lack of"
            " memory. Give them more memory, or make tasks smaller with 'task_rows'."
        ) from error
    except (ImportError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "deserialization" not in str(error):
            raise
        raise ConnectionError(
            "The cluster cannot read the tasks. Install the same versions of ensemblage, and of the"
            " packages that the votes are made with, on the scheduler and on every worker."
        ) from error
    except CancelledError as error:
        raise ConnectionError(
            "The scheduler cancelled the tasks, or it stopped. See its log."
        ) from error


# -- tasks ---------------------------------------------------------------------------------------


class _Shared:
    """A value that Dask does not look into."""

    def __init__(self, value: Any) -> None:
        self.value = value


@contextmanager
def _worker_errors(path: str | Path) -> Iterator[None]:
    """Name the worker that does not find a file."""
    from distributed import get_worker

    try:
        yield
    except FileNotFoundError as error:
        address = get_worker().address
        raise FileNotFoundError(
            f"The worker at {address} does not find {path}. Every worker must see the votes and"
            " the output folder under the same path. Use a file system that all of them share."
        ) from error


def _index_rows(source: Source, piece: _Piece, folder: Folder) -> Packed:
    key_files = KeyFiles(folder)

    def see(batch: Batch) -> None:
        key_files.add(piece.source, batch.first, keys_of(source, batch))

    with _worker_errors(source.path):
        start, stop = piece.span
        index = index_of(source, start, stop, see)
        key_files.write()
        learned = {"n_rows": None if stop is None else stop - start}
        return packed(index, [source.learned() if stop is None else learned])


def _index_partition(source: PartitionSource, data: Any) -> Packed:
    return packed(index_of(source.holding(data)))


def _write_rows(
    source: Any, span: tuple[int, int], shared: _Shared, folder: Folder, name: str, data: Any
) -> None:
    if isinstance(source, PartitionSource):
        source = source.holding(data)
    with _worker_errors(source.path if folder.path.exists() else folder.path):
        index, sheet = shared.value
        _passes.write_part(source, span, index, sheet, folder, name)
