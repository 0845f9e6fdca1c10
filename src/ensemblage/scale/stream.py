"""Consensus of votes larger than memory, on one machine.

Votes are read twice, in batches: first to find their microclusters, of which there are few, and,
after the estimator was fitted on these, to give every object the label of its own.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ensemblage import _validate
from ensemblage._progress import counting
from ensemblage.flow import n_threads
from ensemblage.scale import _passes
from ensemblage.scale._index import restored_index
from ensemblage.scale._output import WRITTEN, Sheet, label_file, parts_folder
from ensemblage.scale._work import Ask, Scores, StreamResult, consensus_of, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from ensemblage.scale._index import Index
    from ensemblage.scale._work import Job

__all__ = ["WRITTEN", "Scores", "StreamResult", "consensus", "label_file", "parts_folder"]

#: More than these only wait for the reader, and each holds a batch.
_MOST_THREADS = 8


def consensus(
    sources: Any,
    estimator: Any,
    output: str | PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    id_column: str | int | None = None,
    confidence: bool = False,
    cuts: Iterable[int] | None = None,
    by_size: bool = False,
    truth: str | None = None,
    batch_rows: int = 1 << 20,
    n_jobs: int | None = None,
    progress: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    header: bool | str = "auto",
    format: str | None = None,  # noqa: A002 - what tables.read calls it
) -> StreamResult:
    r"""Find the consensus of votes in files that need not fit in memory.

    Labels are those that the estimator gives for the same votes in memory.

    Parameters
    ----------
    sources : str, path-like or list of these
        Files of votes: Parquet, Arrow IPC (``.arrow``, ``.feather``), ORC, CSV or TSV. A folder
        stands for the files in it, a pattern (``votes/*.parquet``) for those that it matches, and
        URIs such as ``s3://bucket/votes.parquet`` are read too. Several are one table, in the
        order given, and must have the same columns.
    estimator : estimator
        Any consensus method, such as ``PTGP(10)``, with ``level="microclusters"`` if it has levels.
    output : str or path-like
        Where labels go: a file (``.parquet``, ``.csv`` or ``.tsv``), or a folder, named with a
        slash at the end unless it exists, which gets a file for each of the sources.
    columns : list of str, optional
        The clusterings, by name or by patterns such as ``leiden_*``; by default all columns but
        the ids, `truth` and those to `keep`.
    keep : list of str, optional
        Columns that are passed through to the output, by name or pattern.
    id_column : str, int or None, default=None
        The column that names the objects. None writes row numbers; "auto" looks for it as
        `ensemblage.tables.read` does, judging by the first rows.
    confidence : bool, default=False
        Add how sure each label is.
    cuts : iterable of int, optional
        Instead of ``label``, a column ``k2``, ``k3``, ... for each of these numbers of clusters.
    by_size : bool, default=False
        Number the clusters by size, the largest 0, and not in order of first appearance.
    truth : str, optional
        A column of true labels, which is not a clustering; the result then has scores.
    batch_rows : int, default=1048576
        How many rows are read at once, at most: fewer where rows are long.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; labels do not depend on it.
    progress : bool, default=False
        Show how far it is, on standard error if that is a terminal.
    checkpoint : path-like, optional
        The folder of unfinished results, deleted after the run. By default OUTPUT.parts, beside the
        output. If the folder is there, the run is resumed from what it holds.
    header, format
        As for `ensemblage.tables.read`.

    Returns
    -------
    StreamResult
        The fitted estimator, and what was read.

    Raises
    ------
    FileFormatError
        Where a file is not a table of votes, or not like the others.
    ValueError
        Where the votes do not allow what was asked, or the checkpoint belongs to other votes.
    OSError
        Where a file cannot be read or written.

    Notes
    -----
    Memory: some batches for each thread (about 0.3 GB with the interpreter), and for each
    microcluster about 100 bytes and what the estimator takes; nothing for each object.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import ensemblage as en
    >>> from ensemblage.scale import stream
    >>> with TemporaryDirectory() as folder:
    ...     votes, labels = Path(folder, "votes.csv"), Path(folder, "labels.csv")
    ...     _ = votes.write_text("id,a,b\nx,1,1\ny,1,1\nz,2,2\n")
    ...     result = stream.consensus(votes, en.EAC(2), labels, id_column="id")
    ...     print(labels.read_text())
    id,label
    x,0
    y,0
    z,1
    >>> result.n_objects, result.n_microclusters
    (3, 2)
    """
    _validate.check_n_jobs("consensus", n_jobs)
    ask = Ask(estimator, output, cuts, confidence, by_size, progress, checkpoint, format).checked()
    cramped = _validate.is_cramped()
    threads = 1 if cramped else min(_MOST_THREADS, n_threads(n_jobs))
    with _arrow_threads(1 if cramped else None):
        files, votes = opened(
            sources,
            estimator,
            format=format,
            columns=columns,
            id_column=id_column,
            truth=truth,
            keep=keep,
            header=header,
            batch_rows=batch_rows,
        )
        return consensus_of(files, votes, ask, Threads(threads))


@contextmanager
def _arrow_threads(count: int | None) -> Iterator[None]:
    """Limit the threads of Arrow; None leaves them as they are."""
    if count is None:
        yield
        return
    import pyarrow as pa

    before = pa.cpu_count(), pa.io_thread_count()
    pa.set_cpu_count(count)
    pa.set_io_thread_count(count)
    try:
        yield
    finally:
        pa.set_cpu_count(before[0])
        pa.set_io_thread_count(before[1])


class Threads:
    """The runtime of a stream."""

    #: Whether a later run may resume from what this one leaves.
    resumes = True

    def __init__(self, threads: int) -> None:
        self.part_rows = _passes.PIECE_ROWS
        self._threads = threads

    def first_pass(self, job: Job) -> Index:
        """Return the index of all votes."""
        files, _, folder, show = job
        index, begin = restored_index(files, folder)
        if begin[0] < len(files):
            known = [source.n_rows for source in files if source.n_rows is not None]
            n_rows = sum(known) if len(known) == len(files) else None
            done = int(index.groups.sizes().sum())
            with counting("Reading votes", n_rows, done=done, show=show, rows=True) as advance:
                index = _passes.read_votes(
                    files, index, begin, folder, threads=self._threads, advance=advance
                )
        return index

    def second_pass(self, job: Job, index: Index, answer: dict[str, NDArray[Any]]) -> None:
        """Label all objects in parts, then make the files of them."""
        sheet, total = Sheet(answer, job.files), sum(source.n_rows or 0 for source in job.files)
        with counting("Writing labels", total, show=job.show, rows=True) as advance:
            _passes.write_parts(
                job.files, index, sheet, job.folder, threads=self._threads, advance=advance
            )
        _passes.assemble(job, sheet, _passes.pieces_of(job.files))
