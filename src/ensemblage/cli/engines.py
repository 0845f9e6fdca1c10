"""Where labels are computed: in memory, in a stream of batches, or on a Dask cluster.

An engine is a function of a `Job` that writes the labels and returns an `Outcome`.
"""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage.cli.errors import UsageError, warn
from ensemblage.cli.output import Scores, format_scores, say, score_facts
from ensemblage.cli.session import (
    VoteSession,
    check_apart,
    check_k,
    output_format,
    warn_of_truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ensemblage._progress import Elapsed

#: Votes that would take more than this share of the available memory are streamed.
_SHARE = 0.5


@dataclass(kw_only=True)
class Job:
    """Labels to compute and write; `ks` is None if there is one column of labels."""

    session: VoteSession
    title: str
    output: str
    estimator: Any = None
    ks: range | None = None
    largest_k: int = 1
    confidence: bool = False
    by_size: bool = False
    align_to: str | None = None
    scheduler: str | None = None
    needs_memory: bool = False
    keep: Sequence[str] = ()

    @property
    def to_folder(self) -> bool:
        """Whether the output is a folder."""
        from ensemblage import tables

        return tables.is_folder(self.output)

    def check(self, *inputs: str | None) -> list[str | None]:
        """Check the output before anything is read; return all inputs."""
        if self.confidence and self.ks is not None and len(self.ks) > 1:
            raise UsageError("--confidence needs one k: give -k, or leave --confidence out.")
        if not self.to_folder and output_format(self.output) == "npy" and self.confidence:
            raise UsageError(
                "An NPY file holds labels only. For --confidence use .npz, .csv or .parquet."
            )
        self.session.check_json(self.output)
        self.session.resolve()
        read = [*inputs, *self.session.paths, self.session.truth]
        if not self.to_folder:  # files in a folder are compared when their names are known
            check_apart(self.output, read)
        return read

    def run(self, engine: str) -> Outcome:
        """Write the labels."""
        chosen = chosen_engine(self, engine)
        return ENGINES[chosen](self)._replace(engine=chosen)


class Outcome(NamedTuple):
    """The result of a job; `scores` by column of the output, if there is a truth."""

    n_objects: int
    n_clusterings: int
    n_microclusters: int
    id_name: str | None
    scores: Scores | None
    fitted: Any  # None if an earlier run had computed the labels
    engine: str = ""

    def facts(self, job: Job, elapsed: Elapsed) -> dict[str, Any]:
        """Return what JSON says about it."""
        return {
            "n_objects": self.n_objects,
            "n_clusterings": self.n_clusterings,
            "n_microclusters": self.n_microclusters,
            "id_column": self.id_name,
            "engine": self.engine,
            "output": job.output,
            **elapsed.facts(),
            "scores": score_facts(self.scores),
        }

    def show_scores(self, session: VoteSession) -> None:
        """Print the scores, if there are any, as text."""
        if self.scores is not None and not session.as_json:
            say(format_scores(self.scores), err=True)


def chosen_engine(job: Job, engine: str) -> str:
    """Return the engine that is named, or for "auto" the one that suits a job."""
    from ensemblage import tables

    if engine != "auto":
        return engine
    if job.to_folder:
        return "stream"
    if _why_not_streamed(job) is not None:
        return "memory"
    from ensemblage._validate import available_memory

    needed = tables.bytes_in_memory(job.session.paths, format=job.session.format)
    return "stream" if needed > _SHARE * available_memory() else "memory"


def _in_memory(job: Job) -> Outcome:
    """Read all votes, find their consensus, write the labels."""
    from ensemblage import tables

    if job.to_folder:
        raise UsageError(
            f"-o {job.output}: a folder gets a file for each input, which --engine stream writes."
            " Name a file, or leave --engine out."
        )
    tables.check_writable(job.output)
    session = job.session
    ensemble = session.read(job.keep)
    check_k(job.largest_k, ensemble)
    ids, kept = _carried(job)
    earlier = _earlier(job, ensemble.n_objects)
    with session.stage(f"Consensus by {job.title}"):
        fitted = job.estimator.fit(ensemble)
        if job.by_size:
            fitted._number_by_size()
        labels = _labels(fitted, job, earlier)
    columns = {**ids, **labels}
    if job.confidence:
        columns["confidence"] = fitted.confidence_
    write_columns(job.output, columns | kept)
    truth = session.true_labels
    return Outcome(
        ensemble.n_objects,
        len(ensemble.names),
        fitted.n_microclusters_,
        session.table.id_name,
        None if truth is None else _scores(labels, truth, ensemble),
        fitted,
    )


def _carried(job: Job) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the ids and the kept columns; their names must differ from those of the labels."""
    import numpy as np

    from ensemblage import tables

    table = job.session.table
    if output_format(job.output) == "npy":
        return {}, {}
    written = {"label"} if job.ks is None else {f"k{k}" for k in job.ks}
    written |= {"confidence"} if job.confidence else set()
    tables.check_carried([table.id_name, *table.kept], written)
    if table.ids is None or table.id_name is None:
        return {"row": np.arange(tables.n_objects(table))}, dict(table.kept)
    return {table.id_name: table.ids}, dict(table.kept)


def _labels(fitted: Any, job: Job, earlier: Any) -> dict[str, NDArray[Any]]:
    from ensemblage import metrics
    from ensemblage.metrics.aligning import aligned

    if job.ks is None:
        return {"label": aligned("consensus", fitted.labels_, earlier)}
    cuts = {f"k{k}": aligned("consensus", fitted.cut(k), earlier) for k in job.ks}
    return {name: metrics.by_size(cut) for name, cut in cuts.items()} if job.by_size else cuts


def _earlier(job: Job, n_objects: int) -> Any:
    """Return the labels of --align-to in the order of the objects, if it was given."""
    import numpy as np

    from ensemblage import tables
    from ensemblage.metrics.aligning import aligned

    if job.align_to is None:
        return None
    given, ids, path = tables.read_labels(job.align_to), job.session.table.ids, job.align_to
    earlier = tables.in_order(given, ids, n_objects, path, "earlier label", complete=False)
    aligned("consensus", np.zeros(n_objects, dtype=np.int64), earlier)  # refused before the work
    if tables.is_missing(earlier).all():
        warn(f"no object has a label in --align-to {path}: ids must be equal.")
    return earlier


def _scores(labels: dict[str, NDArray[Any]], truth: NDArray[Any], ensemble: Any) -> Scores:
    """Return how each column of labels agrees with the truth (NMI, ARI), and with the votes."""
    from ensemblage import metrics

    return {
        name: (
            metrics.nmi(truth, column, average="max"),
            metrics.ari(truth, column),
            metrics.ensemble_nmi(column, ensemble),
        )
        for name, column in labels.items()
    }


def write_columns(path: str, columns: dict[str, Any]) -> None:
    """Write a table; fractions have six decimals."""
    from ensemblage import tables

    floats = [name for name, column in columns.items() if column.dtype.kind == "f"]
    tables.write(path, columns, decimals=dict.fromkeys(floats, 6))


def _why_not_streamed(job: Job) -> str | None:
    """Return why a job cannot be streamed, or None if it can."""
    from ensemblage import tables
    from ensemblage.scale import stream

    session = job.session
    if session.layout != "wide":
        return f"--layout {session.layout} is read in memory"
    for path in session.paths:
        reason = tables.why_not_streamed(path, session.format)
        if reason is not None:
            return f"votes are streamed in two passes, but {reason}"
    if session.key is not None:
        return "--key is for NPZ and MAT, which are not read in batches"
    if session.truth is not None and Path(session.truth).is_file():
        return (
            "true labels of another file are matched in memory. Name a column of the votes"
            " (--truth COLUMN), or compare afterwards"
        )
    if job.needs_memory:
        options = "--member-table, --cluster-table and --align-to"
        return f"{options} need the votes in memory (--engine memory)"
    if not job.to_folder:
        packed = job.output.lower().endswith(".gz")
        standard = job.output in ("-", "/dev/stdout")
        if standard or packed or output_format(job.output) not in stream.WRITTEN:
            return "labels are streamed to .parquet, .csv or .tsv files: name one with -o"
    return None


def _in_stream(job: Job) -> Outcome:
    """Read the votes twice, in batches."""
    from ensemblage.scale import stream

    return _streamed(job, "stream", partial(stream.consensus, n_jobs=job.session.jobs))


def _on_dask(job: Job) -> Outcome:
    """Read the votes twice and write the labels on the workers of a Dask cluster."""
    for name in ("distributed", "pyarrow"):
        if importlib.util.find_spec(name) is None:
            raise UsageError(
                f"--engine dask needs {name}, which is not installed. Run: pip install"
                ' "ensemblage[dask]"'
            )
    _check_streamed(job, "dask")
    from ensemblage.scale import dask

    with _scheduler(job) as address:
        return _streamed(job, "dask", partial(dask.consensus, client=address))


def _check_streamed(job: Job, engine: str) -> None:
    reason = _why_not_streamed(job)
    if reason is not None:
        raise UsageError(f"--engine {engine}: {reason}.")


@contextmanager
def _scheduler(job: Job) -> Iterator[str]:
    """Yield the address of the scheduler: the one named, or one of local processes."""
    if job.scheduler is not None:
        yield job.scheduler
        return
    from ensemblage.flow import n_threads
    from ensemblage.scale import dask

    with job.session.stage("Starting workers"):
        cluster = dask.local_cluster(n_threads(job.session.jobs))
    with cluster:
        yield cluster.scheduler_address


def _streamed(job: Job, engine: str, consensus: Callable[..., Any]) -> Outcome:
    """Run a job by `consensus`, the function of a runtime; keep what is finished until all is."""
    from ensemblage.scale import stream

    _check_streamed(job, engine)
    session, parts = job.session, stream.parts_folder(job.output)
    if (parts / "index.npz").exists() and not session.quiet:
        say(f"Resuming: finished work is in {parts}.", err=True)
    reading = session.reading()
    try:
        result = consensus(
            session.paths,
            job.estimator,
            job.output,
            id_column=None if session.id_column == "none" else session.id_column,
            confidence=job.confidence,
            cuts=job.ks,
            columns=reading["columns"],
            keep=job.keep,
            by_size=job.by_size,
            truth=session.truth,
            progress=not session.quiet,
            header=reading["header"],
            format=session.format,
        )
    except KeyboardInterrupt:
        if parts.is_dir():
            warn(f"Finished work is kept in {parts}. The same command resumes from there.")
        raise
    if session.truth is None:
        warn_of_truth(result.names)
    return Outcome(
        result.n_objects,
        len(result.names),
        result.n_microclusters,
        result.id_name,
        None if session.truth is None else dict(result.scores),
        result.estimator,
    )


ENGINES: dict[str, Callable[[Job], Outcome]] = {
    "memory": _in_memory,
    "stream": _in_stream,
    "dask": _on_dask,
}
