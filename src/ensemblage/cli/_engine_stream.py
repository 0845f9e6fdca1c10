"""The consensus of votes that need not fit in memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ensemblage.cli._errors import WrongCall
from ensemblage.cli._models import save_model
from ensemblage.cli._task import Done, Task
from ensemblage.cli._truth import warn_of_truth
from ensemblage.cli._warnings import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from ensemblage.scale.stream import StreamResult


def why_not_streamed(task: Task) -> str | None:
    """Return why a task cannot be streamed, or None where it can."""
    from ensemblage import files
    from ensemblage.scale import stream

    for path in task.votes:
        reason = stream.why_not(path, task.format)
        if reason is not None:
            return f"votes are streamed in two passes, but {reason}"
    if task.key is not None:
        return "--key is for NPZ and MAT, which are not read in batches"
    if task.truth is not None and Path(task.truth).is_file():
        return (
            "true labels of another file are matched in memory. Name a column of the votes"
            " (--truth COLUMN), or compare afterwards"
        )
    if task.member_table is not None or task.cluster_table is not None:
        return "--member-table and --cluster-table need the votes in memory (--engine memory)"
    if not task.output_is_folder:
        chosen = files.format_to_write(task.output, None)
        packed = task.output.lower().endswith(".gz")
        if task.output in ("-", "/dev/stdout") or chosen not in stream.WRITTEN or packed:
            return "labels are streamed to .parquet, .csv or .tsv files: name one with -o"
    return None


def in_stream(task: Task) -> Done:
    """Read the votes twice, in batches; keep what is finished until all is."""
    from ensemblage.scale import stream

    return streamed(task, "stream", partial(stream.consensus, n_jobs=task.jobs))


def check_streamed(task: Task, engine: str) -> None:
    """Refuse a task that cannot be streamed."""
    reason = why_not_streamed(task)
    if reason is not None:
        raise WrongCall(f"--engine {engine}: {reason}.")


def streamed(task: Task, engine: str, consensus: Callable[..., StreamResult]) -> Done:
    """Do a task by `consensus`, that of a stream or one which is called alike."""
    from ensemblage.scale import stream

    check_streamed(task, engine)
    parts = stream.parts_folder(task.output)
    if (parts / "index.npz").exists() and not task.quiet:
        typer.echo(f"Going on: what is finished is in {parts}.", err=True)
    try:
        result = consensus(
            task.votes,
            task.estimator,
            task.output,
            id_column=None if task.id_column == "none" else task.id_column,
            confidence=task.confidence,
            cuts=None if task.one_k else task.ks,
            by_size=task.by_size,
            truth=task.truth,
            progress=not task.quiet,
            header="auto" if task.header is None else task.header,
            format=task.format,
        )
    except KeyboardInterrupt:
        if parts.is_dir():
            warn(f"What is finished is kept in {parts}. The same command goes on from there.")
        raise
    save_model(task, result.estimator)
    if task.truth is None:
        warn_of_truth(result.names)
    return Done(
        result.n_objects,
        len(result.names),
        result.n_microclusters,
        result.id_name,
        getattr(result.estimator, "k_choice_", None),
        None if task.truth is None else dict(result.scores),
        getattr(result.estimator, "method_", None),
        getattr(result.estimator, "reasons_", None),
    )
