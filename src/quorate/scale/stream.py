"""Consensus of votes larger than memory, on one machine.

Votes are read twice, in batches: first to find their microclusters, of which there are few, and,
after the estimator was fitted on these, to give every object the label of its own.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from quorate import _validate
from quorate._ensemble import Ensemble
from quorate.files import FileFormatError
from quorate.files._target import replacing
from quorate.flow._threads import n_threads
from quorate.scale import _passes
from quorate.scale._checkpoint import Folder, estimator_in_words, file_facts
from quorate.scale._output import Answer, ParquetTarget, Part, TextTarget, answer_of
from quorate.scale._passes import (
    Index,
    learn_text,
    pieces_of,
    read_votes,
    restored_index,
    write_parts,
)
from quorate.scale._progress import counting, working
from quorate.scale._scores import Scores, scores_of, without_truth
from quorate.scale._sources import (
    bytes_in_memory,
    only_streamed,
    open_sources,
    resolve,
    why_not,
)
from quorate.scale._targets import WRITTEN, Target, is_folder, parts_folder, targets_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from quorate import flow
    from quorate.scale._source import Source

__all__ = [
    "WRITTEN",
    "Scores",
    "StreamResult",
    "bytes_in_memory",
    "consensus",
    "is_folder",
    "only_streamed",
    "parts_folder",
    "resolve",
    "why_not",
]

#: More than these only wait for the reader, and each holds a batch.
_MOST_THREADS = 8


@dataclass(frozen=True)
class StreamResult:
    """What a streamed consensus has done.

    Attributes
    ----------
    n_objects, n_microclusters : int
        What was read.
    names : list of str
        The clusterings.
    id_name : str or None
        The column that ids were taken from.
    scores : dict of str to Scores
        With `truth`: NMI and ARI with it, and the mean NMI with the votes, of each column.
    estimator : estimator or None
        A fitted clone of the one given. Its ``labels_`` and ``confidence_`` have a value for each
        microcluster; ``predict`` takes new votes. None where labels came from a checkpoint.
    output : Path
        The file, or the folder, with the labels.
    seconds : float
        How long it took.
    """

    n_objects: int
    n_microclusters: int
    names: list[str]
    id_name: str | None
    scores: dict[str, Scores]
    estimator: Any
    output: Path
    seconds: float


def consensus(
    sources: Any,
    estimator: Any,
    output: str | PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    id_column: str | int | None = None,
    confidence: bool = False,
    cuts: Iterable[int] | None = None,
    truth: str | None = None,
    batch_rows: int = 1 << 20,
    n_jobs: int | None = None,
    progress: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    header: bool | str = "auto",
    format: str | None = None,  # noqa: A002 - what read_table calls it
) -> StreamResult:
    r"""Find the consensus of votes in files that need not fit in memory.

    Labels are those that the estimator gives for the same votes in memory.

    Parameters
    ----------
    sources : str, path-like or list of these
        Files of votes: Parquet, Arrow IPC (``.arrow``, ``.feather``), CSV or TSV. A folder stands
        for the files in it, a pattern (``votes/*.parquet``) for those that it matches. Several
        are one table, in the order given, and must have the same columns.
    estimator : estimator
        Any consensus method, such as ``PTGP(10)``, with ``level="microclusters"`` if it has levels.
    output : str or path-like
        Where labels go: a file (``.parquet``, ``.csv`` or ``.tsv``), or a folder, named with a
        slash at the end unless it exists, which gets a file for each of the sources.
    columns : list of str, optional
        The clusterings; by default all columns but the ids.
    id_column : str, int or None, default=None
        The column that names the objects. None writes row numbers; "auto" looks for it as
        `quorate.files.read_table` does, judging by the first rows.
    confidence : bool, default=False
        Add how sure each label is.
    cuts : iterable of int, optional
        Instead of ``label``, a column ``k2``, ``k3``, ... for each of these numbers of clusters.
    truth : str, optional
        A column of true labels, which is no clustering; the result then has scores.
    batch_rows : int, default=2**20
        How many rows are read at once, at most: fewer where rows are long.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; labels do not depend on it.
    progress : bool, default=False
        Show how far it is, on standard error if that is a terminal.
    checkpoint : path-like, optional
        The folder for what is finished, removed in the end. By default OUTPUT.parts, beside the
        output. If the folder is there, the run goes on from what it holds.
    header, format
        As for `quorate.files.read_table`.

    Returns
    -------
    StreamResult
        The fitted estimator, and what was read.

    Raises
    ------
    FileFormatError
        Where a file is no table of votes, or not like the others.
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
    >>> import quorate as qr
    >>> from quorate.scale import stream
    >>> with TemporaryDirectory() as folder:
    ...     votes, labels = Path(folder, "votes.csv"), Path(folder, "labels.csv")
    ...     _ = votes.write_text("id,a,b\nx,1,1\ny,1,1\nz,2,2\n")
    ...     result = stream.consensus(votes, qr.EAC(2), labels, id_column="id")
    ...     print(labels.read_text())
    id,label
    x,0
    y,0
    z,1
    >>> result.n_objects, result.n_microclusters
    (3, 2)
    """
    _validate.check_n_jobs("consensus", n_jobs)
    return of_files(
        sources,
        estimator,
        output,
        _Threads(min(_MOST_THREADS, n_threads(n_jobs))),
        columns=columns,
        id_column=id_column,
        confidence=confidence,
        cuts=cuts,
        truth=truth,
        batch_rows=batch_rows,
        progress=progress,
        checkpoint=checkpoint,
        header=header,
        format=format,
    )


class Runtime(Protocol):
    """Who goes through the votes: threads of this process, or the workers of a cluster."""

    #: Rows of a part of the output: parts of other sizes do not fit together.
    part_rows: int
    #: Whether a later run may go on from what this one leaves.
    resumes: bool

    def first_pass(self, files: list[Any], folder: Folder, *, show: bool) -> Index:
        """Return the index of all votes."""

    def second_pass(
        self,
        files: list[Any],
        targets: list[Target],
        index: Index,
        answer: Answer,
        folder: Folder,
        *,
        show: bool,
    ) -> None:
        """Label all objects in parts, then make the files of them."""


class _Threads:
    """The threads of this process."""

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


def of_files(
    sources: Any,
    estimator: Any,
    output: str | PathLike[str],
    runtime: Runtime,
    *,
    columns: Sequence[str] | None,
    id_column: str | int | None,
    truth: str | None,
    batch_rows: int,
    cuts: Iterable[int] | None,
    confidence: bool,
    progress: bool,
    checkpoint: str | PathLike[str] | None,
    header: bool | str,
    format: str | None,  # noqa: A002 - what read_table calls it
) -> StreamResult:
    """Find the consensus of votes in files; `runtime` goes through them."""
    _validate.check_whole("consensus", "batch_rows", batch_rows, 1)
    ks = wanted_cuts(estimator, cuts, confidence=confidence)
    paths = resolve(sources)
    files = open_sources(
        paths,
        columns=None if columns is None else list(columns),
        id_column=id_column,
        truth=truth,
        batch_rows=batch_rows,
        header=header,
        format=format,
    )
    votes = {"files": [file_facts(path) for path in paths], "header": header, "format": format}
    return of_sources(
        files,
        votes,
        estimator,
        output,
        runtime,
        ks=ks,
        confidence=confidence,
        progress=progress,
        checkpoint=checkpoint,
        format=format,
    )


def of_sources(
    files: list[Any],
    votes: dict[str, Any],
    estimator: Any,
    output: str | PathLike[str],
    runtime: Runtime,
    *,
    ks: list[int] | None,
    confidence: bool,
    progress: bool,
    checkpoint: str | PathLike[str] | None,
    format: str | None,  # noqa: A002 - what read_table calls it
) -> StreamResult:
    """Find the consensus of sources that were looked at, known again by what `votes` says."""
    start = time.perf_counter()
    _check_id_name(files[0].id_name, ks, confidence=confidence)
    targets = targets_of(fspath(output), files, format, each=is_folder(output))
    folder = Folder(
        parts_folder(output) if checkpoint is None else Path(checkpoint),
        votes={**votes, "columns": files[0].names, "truth": files[0].truth},
        consensus={
            "estimator": estimator_in_words(estimator),
            "cuts": ks,
            "confidence": confidence,
            "id column": files[0].id_name,
            "rows of a part": runtime.part_rows,
            "output": [fspath(target.path) for target in targets],
        },
    )
    try:
        fitted, groups, scores = _run(
            files, targets, estimator, folder, ks, runtime, confidence=confidence, show=progress
        )
    except BaseException:
        if not (runtime.resumes and folder.holds_work()):
            folder.remove()
        raise
    folder.remove()
    return StreamResult(
        n_objects=int(groups.sizes().sum()),
        n_microclusters=len(groups),
        names=files[0].names,
        id_name=files[0].id_name,
        scores=scores,
        estimator=fitted,
        output=Path(output),
        seconds=time.perf_counter() - start,
    )


def wanted_cuts(
    estimator: Any, cuts: Iterable[int] | None, *, confidence: bool
) -> list[int] | None:
    """Return the numbers of clusters in order; refuse what cannot work before anything is read."""
    ks = None if cuts is None else sorted({int(k) for k in cuts})
    _check_estimator(estimator, ks, confidence=confidence)
    return ks


def _check_estimator(estimator: Any, ks: list[int] | None, *, confidence: bool) -> None:
    owner = type(estimator).__name__
    if not (hasattr(estimator, "cut") and hasattr(estimator, "get_params")):
        raise TypeError(f"A consensus method belongs here, such as PTGP(10), not {estimator!r}.")
    if getattr(estimator, "level", None) == "objects":
        raise ValueError(
            f"The 'level' parameter of {owner} is 'objects', which needs all objects in memory,"
            f" and a stream keeps microclusters only. Use level='microclusters'."
        )
    if ks is not None:
        if not ks:
            raise ValueError("cuts names no number of clusters. Give at least one, or leave it.")
        for k in ks:
            _validate.check_n_clusters(owner, k)
        if confidence:
            raise ValueError("Confidence belongs to one number of clusters: leave out 'cuts'.")


def _check_id_name(name: str | None, ks: list[int] | None, *, confidence: bool) -> None:
    taken = ["label"] if ks is None else [f"k{k}" for k in ks]
    if name is not None and name in [*taken, *(["confidence"] if confidence else [])]:
        raise FileFormatError(
            f"The id column is called {name!r}, which is the name of a column of the output."
            " Rename it."
        )


def _run(
    files: list[Source],
    targets: list[Target],
    estimator: Any,
    folder: Folder,
    ks: list[int] | None,
    runtime: Runtime,
    *,
    confidence: bool,
    show: bool,
) -> tuple[Any, flow.MicroclusterIndex, dict[str, Scores]]:
    """Do what the folder does not say is done; return what the result tells."""
    names = files[0].names
    index = runtime.first_pass(files, folder, show=show)
    if len(index.groups) == 0:
        raise FileFormatError(f"{files[0].path} holds no rows. A table has a row for each object.")
    groups, of_row = index.groups, None
    if files[0].truth is not None:
        groups, of_row = without_truth(groups)
    voted = Index(groups, index.labels[: len(names)])
    fitted, kept = None, folder.read_labels()
    if kept is None:
        with working(f"Consensus by {type(estimator).__name__}", show=show):
            fitted, answer = fit(estimator, voted, names, ks, confidence=confidence)
        folder.write_labels(answer.columns)
    else:
        answer = Answer(kept)
    runtime.second_pass(files, targets, voted, answer, folder, show=show)
    scores = {} if of_row is None else scores_of(index.groups, of_row, answer.columns)
    return fitted, groups, scores


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


def fit(
    estimator: Any, index: Index, names: list[str], ks: list[int] | None, *, confidence: bool
) -> tuple[Any, Answer]:
    """Return the estimator fitted on the microclusters, and the columns of labels of these."""
    from sklearn.base import clone

    codes, meanings = index.groups.codes()
    labels = [known.meaning(found) for known, found in zip(index.labels, meanings, strict=True)]
    ensemble = Ensemble.of_groups(codes, index.groups.sizes(), labels, names)
    fitted = clone(estimator).fit(ensemble)
    found: dict[str, NDArray[np.int64]] = (
        {"label": fitted.labels_} if ks is None else {f"k{k}": fitted.cut(k) for k in ks}
    )
    return fitted, answer_of(found, fitted.confidence_ if confidence else None)


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
