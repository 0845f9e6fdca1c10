"""The two passes over votes in files, whoever makes them, and the fit between."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ensemblage import _validate
from ensemblage._ensemble import Ensemble
from ensemblage._messages import ParameterError
from ensemblage.files import FileFormatError
from ensemblage.metrics.sizes import ranked_by_size
from ensemblage.scale._checkpoint import Folder, estimator_in_words, file_facts
from ensemblage.scale._output import Answer, answer_of
from ensemblage.scale._passes import Index
from ensemblage.scale._progress import working
from ensemblage.scale._scores import Scores, scores_of, without_truth
from ensemblage.scale._sources import open_sources, resolve
from ensemblage.scale._targets import Target, is_folder, parts_folder, targets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ensemblage import flow
    from ensemblage.scale._source import Source


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
    by_size: bool,
    progress: bool,
    checkpoint: str | PathLike[str] | None,
    header: bool | str,
    format: str | None,  # noqa: A002 - what read_table calls it
) -> StreamResult:
    """Find the consensus of votes in files; `runtime` goes through them."""
    _validate.check_whole("consensus", "batch_rows", batch_rows, 1)
    ks = wanted_cuts(estimator, cuts, confidence=confidence)
    if columns is not None and (
        isinstance(columns, str) or not all(isinstance(name, str) for name in columns)
    ):
        raise TypeError(f"'columns' is a list of names, such as ['a', 'b']. Got {columns!r}.")
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
        by_size=by_size,
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
    by_size: bool,
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
            "by size": by_size,
            "id column": files[0].id_name,
            "rows of a part": runtime.part_rows,
            "output": [fspath(target.path) for target in targets],
        },
        resumes=runtime.resumes,
    )
    try:
        fitted, groups, scores = _run(
            files,
            targets,
            estimator,
            folder,
            ks,
            runtime,
            confidence=confidence,
            by_size=by_size,
            show=progress,
        )
        folder.remove()
    except BaseException:
        changed = any(source.has_changed() for source in files)
        if changed or not (runtime.resumes and folder.holds_work()):
            folder.remove()
        raise
    finally:
        folder.close()
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
    if cuts is not None and (isinstance(cuts, str) or not isinstance(cuts, Iterable)):
        raise TypeError(f"'cuts' is a list of numbers of clusters, such as [2, 3]. Got {cuts!r}.")
    ks = None if cuts is None else list(cuts)
    _check_estimator(estimator, ks, confidence=confidence)
    return None if ks is None else sorted({int(k) for k in ks})


def _check_estimator(estimator: Any, ks: list[int] | None, *, confidence: bool) -> None:
    owner = type(estimator).__name__
    if isinstance(estimator, type) or not (
        hasattr(estimator, "cut") and hasattr(estimator, "get_params")
    ):
        raise TypeError(f"A consensus method belongs here, such as PTGP(10), not {estimator!r}.")
    if "consensus" in estimator.get_params(deep=False):
        raise TypeError(
            f"{owner} takes features, but files of votes were named. Pass a consensus method, such"
            f" as PTGP(10)."
        )
    if getattr(estimator, "affinity", "votes") != "votes":
        hint = "The files that were named hold votes."
        raise ParameterError(owner, "affinity", "'votes'", estimator.affinity, hint)
    if getattr(estimator, "level", None) == "objects":
        hint = "A stream keeps microclusters only, and objects would have to be in memory."
        raise ParameterError(owner, "level", "'microclusters'", "objects", hint)
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
    by_size: bool,
    show: bool,
) -> tuple[Any, flow.MicroclusterIndex, dict[str, Scores]]:
    """Do what the folder does not say is done; return what the result tells."""
    names = files[0].names
    try:
        index = runtime.first_pass(files, folder, show=show)
    except FileFormatError as error:
        if not isinstance(error.__cause__, OSError):  # a disk may do better next time
            folder.clear()  # of no use: the files have to be changed
        raise
    if len(index.groups) == 0:
        folder.clear()
        raise FileFormatError(f"{files[0].path} holds no rows. A table has a row for each object.")
    groups, of_row = index.groups, None
    if files[0].truth is not None:
        groups, of_row = without_truth(groups)
    voted = Index(groups, index.labels[: len(names)])
    fitted, kept = None, folder.read_labels()
    if kept is None:
        with working(f"Consensus by {type(estimator).__name__}", show=show):
            fitted, answer = fit(
                estimator, voted, names, ks, confidence=confidence, by_size=by_size
            )
        folder.write_labels(answer.columns)
    else:
        answer = Answer(kept)
    runtime.second_pass(files, targets, voted, answer, folder, show=show)
    scores = {} if of_row is None else scores_of(index.groups, of_row, answer.columns)
    return fitted, groups, scores


def fit(
    estimator: Any,
    index: Index,
    names: list[str],
    ks: list[int] | None,
    *,
    confidence: bool,
    by_size: bool,
) -> tuple[Any, Answer]:
    """Return the estimator fitted on the microclusters, and the columns of labels of these."""
    from sklearn.base import clone

    codes, meanings = index.groups.codes()
    labels = [known.meaning(found) for known, found in zip(index.labels, meanings, strict=True)]
    ensemble = Ensemble.of_groups(codes, index.groups.sizes(), labels, names)
    fitted = clone(estimator).fit(ensemble)
    if by_size:
        fitted._number_by_size()
    found: dict[str, NDArray[np.int64]] = (
        {"label": fitted.labels_} if ks is None else {f"k{k}": fitted.cut(k) for k in ks}
    )
    if by_size:
        sizes = ensemble.microclusters.sizes
        found = {name: ranked_by_size(labels, sizes) for name, labels in found.items()}
    return fitted, answer_of(found, fitted.confidence_ if confidence else None)
