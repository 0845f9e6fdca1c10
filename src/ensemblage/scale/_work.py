"""The two passes over votes in files, by any runtime, and the fit between."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import Ensemble
from ensemblage._messages import Message, Parameter, ParameterError
from ensemblage._progress import working
from ensemblage.flow.codes import MISSING
from ensemblage.metrics.agreement import ari_of_groups, nmi_of_groups
from ensemblage.metrics.sizes import ranked_by_size
from ensemblage.scale._checkpoint import Folder, file_facts, format_estimator
from ensemblage.scale._ids import check_ids
from ensemblage.scale._index import Index
from ensemblage.scale._output import (
    Target,
    check_outside,
    new_folder,
    parts_folder,
    targets_of,
)
from ensemblage.tables import FileFormatError, check_carried, is_folder, no_rows, resolve, scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.scale._tasks import Tasks
    from ensemblage.scale.stream import Threads
    from ensemblage.tables import Source


#: The largest batch; pyarrow counts in 32 or 64 bits.
_MOST_ROWS = 2**31 - 1


class Scores(NamedTuple):
    """Agreement of one labelling: with the true labels, and with the votes."""

    nmi: float
    ari: float
    ensemble_nmi: float


@dataclass(frozen=True)
class StreamResult:
    """The result of a streamed consensus.

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


@dataclass(frozen=True)
class Ask:
    """The settings of a consensus, besides the votes."""

    estimator: Any
    output: str | PathLike[str]
    cuts: Any = None
    confidence: bool = False
    by_size: bool = False
    progress: bool = False
    checkpoint: str | PathLike[str] | None = None
    format: str | None = None

    def checked(self) -> Ask:
        """Return the same with the numbers of clusters in order; raise what cannot work."""
        cuts = self.cuts
        if cuts is not None and (isinstance(cuts, str) or not isinstance(cuts, Iterable)):
            raise TypeError(
                f"'cuts' is a list of numbers of clusters, such as [2, 3]. Got {cuts!r}."
            )
        ks = None if cuts is None else list(cuts)
        flags: dict[str, Any] = {
            name: _validate.check_flag("consensus", name, getattr(self, name))
            for name in ("confidence", "by_size", "progress")
        }
        _check_estimator(self.estimator, ks, confidence=flags["confidence"])
        if self.checkpoint is not None:
            _validate.check_folder("consensus", "checkpoint", self.checkpoint)
        return replace(self, cuts=None if ks is None else sorted({int(k) for k in ks}), **flags)

    def columns(self) -> list[str]:
        """Return the names of the columns of labels."""
        labels = ["label"] if self.cuts is None else [f"k{k}" for k in self.cuts]
        return [*labels, *(["confidence"] if self.confidence else [])]


def opened(sources: Any, estimator: Any, **options: Any) -> tuple[list[Source], dict[str, Any]]:
    """Return files that are opened to be read in batches, and what they are known again by."""
    rows = options["batch_rows"]
    options["batch_rows"] = _validate.check_whole(
        "consensus", "batch_rows", rows, 1, highest=_MOST_ROWS
    )
    if isinstance(options["header"], np.bool_):
        options["header"] = bool(options["header"])
    paths = resolve(sources)
    known: dict[str, Any] = {"files": [file_facts(path) for path in paths]}
    known |= {name: options[name] for name in ("header", "format")}
    # An estimator that has labels already knows which clusterings hold names.
    hold_names = getattr(estimator, "hold_names", None)
    files = scan(paths, **options, _hold_names=hold_names)
    known["columns of names"] = None if hold_names is None else sorted(hold_names(files[0].names))
    return files, {**known, "whether ids may repeat": not files[0].ids_differ}


class Job(NamedTuple):
    """Votes in files on their way to files of labels, and the folder of finished work."""

    files: list[Any]
    targets: list[Target]
    folder: Folder
    show: bool


def consensus_of(
    files: list[Any], votes: dict[str, Any], ask: Ask, runtime: Threads | Tasks
) -> StreamResult:
    """Find the consensus of opened sources; `votes` are facts by which they are recognised.

    The `runtime` goes through the votes: threads of this process, or the workers of a cluster.
    """
    check_carried(files[0].id_name, files[0].kept, ask.columns())
    output = fspath(ask.output)
    with new_folder(Path(output)) if is_folder(output) else nullcontext():
        return _consensus_of(files, votes, ask, runtime)


def _consensus_of(
    files: list[Any], votes: dict[str, Any], ask: Ask, runtime: Threads | Tasks
) -> StreamResult:
    start, output = time.perf_counter(), fspath(ask.output)
    targets = targets_of(output, files, ask.format, each=is_folder(output))
    parts = parts_folder(output) if ask.checkpoint is None else Path(ask.checkpoint)
    check_outside(targets, parts)
    folder = Folder(
        parts,
        votes={
            **votes,
            "columns": files[0].names,
            "truth": files[0].truth,
            # the first pass learns the types of their texts
            "id column and columns to keep": [str(name) for name in files[0].carried_names],
        },
        consensus={
            "estimator": format_estimator(ask.estimator),
            "cuts": ask.cuts,
            "confidence": ask.confidence,
            "by size": ask.by_size,
            "rows of a part": runtime.part_rows,
            "output": [fspath(target.path) for target in targets],
        },
        resumes=runtime.resumes,
    )
    try:
        fitted, groups, scores = _run(Job(files, targets, folder, ask.progress), ask, runtime)
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


def _check_estimator(estimator: Any, ks: list[int] | None, *, confidence: bool) -> None:
    owner = type(estimator).__name__
    if isinstance(estimator, type) or not (
        hasattr(estimator, "cut") and hasattr(estimator, "get_params")
    ):
        raise TypeError(
            f"The estimator must be a consensus method, such as PTGP(10), got {estimator!r}."
        )
    if "consensus" in estimator.get_params(deep=False):
        raise TypeError(
            f"{owner} takes features, but files of votes were named. Pass a consensus method, such"
            f" as PTGP(10)."
        )
    if getattr(estimator, "affinity", "votes") != "votes":
        hint = "The files that were named hold votes."
        raise ParameterError(owner, "affinity", "'votes'", estimator.affinity, hint)
    if getattr(estimator, "draws", "columns") != "columns":
        hint = "The rows of a stream are objects."
        raise ParameterError(owner, "draws", "'columns'", estimator.draws, hint)
    if getattr(estimator, "level", None) == "objects":
        hint = "A stream keeps microclusters only, and objects would have to be in memory."
        raise ParameterError(owner, "level", "'microclusters'", "objects", hint)
    if ks is not None:
        if not ks:
            raise ValueError("cuts must have at least one number of clusters, got none.")
        for k in ks:
            _validate.check_n_clusters(owner, k)
        if confidence:
            raise ValueError("Confidence is computed for one number of clusters. Omit 'cuts'.")


def _run(
    job: Job, ask: Ask, runtime: Threads | Tasks
) -> tuple[Any, flow.MicroclusterIndex, dict[str, Scores]]:
    """Do the work that is not finished yet; return the model, the microclusters and the scores."""
    files, _, folder, show = job
    try:
        index = runtime.first_pass(job)
        check_ids(files, folder)
        groups, of_row = _voting(index, files[0])
    except FileFormatError as error:
        if not isinstance(error.__cause__, OSError):  # a disk may do better next time
            folder.clear()  # useless: the files have to be changed
        raise
    names = files[0].names
    voted = Index(groups, index.labels[: len(names)])
    fitted, answer = None, folder.read_labels()
    if answer is None:
        try:
            with working(f"Consensus by {type(ask.estimator).__name__}", show=show):
                fitted, answer = fit(ask, voted, names)
        except (ValueError, TypeError, _validate.MemoryBudgetError):
            folder.clear()  # the same votes would fail again
            raise
        folder.write_labels(answer)
    runtime.second_pass(job, voted, answer)
    scores = {} if of_row is None else scores_of(index.groups, of_row, answer)
    return fitted, groups, scores


def _voting(
    index: Index, source: Source
) -> tuple[flow.MicroclusterIndex, NDArray[np.int32] | None]:
    """Return the microclusters of the votes alone, and with true labels what `without_truth` does.

    Raise an error where there is nothing to work on, or to compare with.
    """
    if len(index.groups) == 0:
        raise no_rows(source.path, header=bool(source.n_before))
    return (index.groups, None) if source.truth is None else without_truth(index.groups)


def fit(ask: Ask, index: Index, names: list[str]) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the estimator fitted on the microclusters, and the columns of labels of these."""
    from sklearn.base import clone

    codes, meanings = index.groups.codes()
    labels = [known.meaning(codes) for known, codes in zip(index.labels, meanings, strict=True)]
    ensemble = Ensemble.of_checked_groups(codes, index.groups.sizes(), labels, names)
    _validate.warn_if_transposed(codes, ensemble.n_objects)
    fitted = clone(ask.estimator).fit(ensemble)
    if ask.by_size:
        fitted._number_by_size()
    cuts = {"label": None} if ask.cuts is None else {f"k{k}": k for k in ask.cuts}
    answer: dict[str, NDArray[Any]] = {}
    for name, k in cuts.items():
        column = fitted.labels_ if k is None else fitted.cut(k)
        if ask.by_size:
            column = ranked_by_size(column, ensemble.microclusters.sizes)
        answer[name] = column.astype(np.min_scalar_type(int(column.max())))
    if ask.confidence:
        answer["confidence"] = fitted.confidence_
    return fitted, answer


# -- agreement with the truth, from counts of votes and true labels that occur together ------------


def without_truth(
    groups: flow.MicroclusterIndex,
) -> tuple[flow.MicroclusterIndex, NDArray[np.int32]]:
    """Return the microclusters of the votes alone, and to which of them each row belongs.

    The last column of `groups` holds true labels. Rows come in order of first appearance, and so
    do those without it.
    """
    table, sizes = groups.finish()
    if (table[:, -1] == MISSING).all():
        message = Message(
            "All of the true labels are missing, so there is nothing to compare with. Leave {truth}"
            " out.",
            truth=Parameter("truth"),
        )
        raise FileFormatError(message)
    votes = flow.MicroclusterIndex(groups.n_clusterings - 1)
    return votes, votes.add_groups(table[:, :-1], sizes)


def scores_of(
    groups: flow.MicroclusterIndex, of_row: NDArray[np.int32], columns: dict[str, NDArray[Any]]
) -> dict[str, Scores]:
    """Return the scores of each column of labels, which has one for each microcluster."""
    codes, _ = groups.codes()
    sizes = groups.sizes()
    votes, truth = codes[:, :-1], codes[:, -1]
    heard = votes[:, (votes >= 0).any(axis=0)]
    scores = {}
    for name, labels in columns.items():
        if labels.dtype.kind != "f":
            predicted = labels[of_row].astype(np.int64)
            with_votes = [nmi_of_groups(predicted, vote, sizes) for vote in heard.T]
            scores[name] = Scores(
                nmi_of_groups(truth, predicted, sizes),
                ari_of_groups(truth, predicted, sizes),
                float(np.mean(with_votes)),
            )
    return scores
