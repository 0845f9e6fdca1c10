"""Where labels are computed: in memory, in a stream of batches, or on a Dask cluster.

An engine is a function of a session that writes the labels and returns an `Outcome`.
"""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage._messages import Parameter
from ensemblage.cli import options  # noqa: TC001 - typer reads annotations
from ensemblage.cli.errors import UsageError, warn
from ensemblage.cli.inputs import check_apart
from ensemblage.cli.output import Scores, format_scores, say, score_facts
from ensemblage.cli.session import (
    VoteSession,
    check_k,
    output_format,
    split_names,
    warn_of_truth,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ensemblage._progress import Elapsed

#: Votes that would take more than this share of the available memory are streamed.
_SHARE = 0.5


@dataclass(kw_only=True)
class LabelSession(VoteSession):
    """A call of a verb that computes labels and writes them."""

    output: options.LabelFile = "-"
    keep: options.Keep = None
    confidence: options.Confidence = False

    # Options of consensus only.
    k_range: Any = None
    by_size: bool = False
    align_to: str | None = None
    scheduler: str | None = None
    # The estimator, what messages call it, and what it is asked for; set by verbs.
    model: Any = None
    called: str = ""
    largest_k: int = 1
    needs_memory: bool = False

    @property
    def to_folder(self) -> bool:
        """Whether the output is a folder."""
        from ensemblage import tables

        return tables.is_folder(self.output)

    def check(self, *inputs: str | None) -> list[str | None]:
        """Check the output before anything is read; return all inputs."""
        if self.confidence and self.k_range is not None and len(self.k_range) > 1:
            raise UsageError("--confidence needs one k: give -k, or leave --confidence out.")
        if not self.to_folder and output_format(self.output) == "npy" and self.confidence:
            raise UsageError(
                "An NPY file holds labels only. For --confidence use .npz, .csv or .parquet."
            )
        self.check_json(self.output)
        self.resolve()
        read = [*inputs, *self.paths, self.truth]
        if not self.to_folder:  # files in a folder are compared when their names are known
            check_apart(self.output, read)
        return read

    def run(self, engine: str) -> Outcome:
        """Write the labels."""
        chosen = chosen_engine(self, engine)
        return ENGINES[chosen](self)._replace(engine=chosen)


class Outcome(NamedTuple):
    """The result of an engine; `scores` by column of the output, if there is a truth."""

    n_objects: int
    n_clusterings: int
    n_microclusters: int
    id_name: str | None
    scores: Scores | None
    fitted: Any  # None if an earlier run had computed the labels
    engine: str = ""

    def facts(self, output: str, elapsed: Elapsed) -> dict[str, Any]:
        """Return what JSON says about it."""
        return {
            "n_objects": self.n_objects,
            "n_clusterings": self.n_clusterings,
            "n_microclusters": self.n_microclusters,
            "id_column": self.id_name,
            "engine": self.engine,
            "output": output,
            **elapsed.facts(),
            "scores": score_facts(self.scores),
        }

    def show_scores(self, session: VoteSession) -> None:
        """Print the scores, if there are any, as text."""
        if self.scores is not None and not session.as_json:
            say(format_scores(self.scores), err=True)


def chosen_engine(session: LabelSession, engine: str) -> str:
    """Return the engine that is named, or for "auto" the one that suits a session."""
    from ensemblage import tables

    if engine != "auto":
        return engine
    if session.to_folder:
        return "stream"
    if _why_not_streamed(session) is not None:
        return "memory"
    from ensemblage._validate import available_memory

    needed = tables.bytes_in_memory(session.paths, format=session.format)
    return "stream" if needed > _SHARE * available_memory() else "memory"


def _in_memory(session: LabelSession) -> Outcome:
    """Read all votes, find their consensus, write the labels."""
    from ensemblage import tables

    if session.to_folder:
        raise UsageError(
            f"-o {session.output}: a folder gets a file for each input, which --engine stream"
            " writes. Name a file, or leave --engine out."
        )
    tables.check_writable(session.output)
    ensemble = session.read(split_names(session.keep, "--keep"))
    check_k(session.largest_k, ensemble)
    ids, kept = _carried(session)
    earlier = _earlier(session, ensemble.n_objects)
    with session.stage(f"Consensus by {session.called}"):
        fitted = session.model.fit(ensemble)
        if session.by_size:
            fitted._number_by_size()
        labels = _labels(fitted, session, earlier)
    columns = {**ids, **labels}
    if session.confidence:
        columns["confidence"] = fitted.confidence_
    decimals = {"confidence": 6} if session.confidence else None
    tables.write_typed(session.output, columns | kept, session.table.types, decimals=decimals)
    truth = session.true_labels
    return Outcome(
        ensemble.n_objects,
        len(ensemble.names),
        fitted.n_microclusters_,
        session.table.id_name,
        None if truth is None else _scores(labels, truth, ensemble),
        fitted,
    )


def _carried(session: LabelSession) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the ids and the kept columns; their names must differ from those of the labels."""
    import numpy as np

    from ensemblage import tables

    table = session.table
    if output_format(session.output) == "npy":
        return {}, {}
    written = {"label"} if session.k_range is None else {f"k{k}" for k in session.k_range}
    written |= {"confidence"} if session.confidence else set()
    tables.check_carried(table.id_name, table.kept, written)
    if table.ids is None or table.id_name is None:
        return {tables.ROW: np.arange(tables.n_objects(table))}, dict(table.kept)
    return {table.id_name: table.ids}, dict(table.kept)


def _labels(fitted: Any, session: LabelSession, earlier: Any) -> dict[str, NDArray[Any]]:
    from ensemblage import metrics
    from ensemblage.metrics.aligning import aligned

    if session.k_range is None:
        return {"label": aligned("consensus", fitted.labels_, earlier)}
    cuts = {f"k{k}": aligned("consensus", fitted.cut(k), earlier) for k in session.k_range}
    return {name: metrics.by_size(cut) for name, cut in cuts.items()} if session.by_size else cuts


def _earlier(session: LabelSession, n_objects: int) -> Any:
    """Return the labels of --align-to in the order of the objects, if it was given."""
    import numpy as np

    from ensemblage import tables
    from ensemblage.metrics.aligning import aligned

    if session.align_to is None:
        return None
    path, table = session.align_to, session.table
    tables.check_beside(Parameter("align_to", path), session.paths)
    given = tables.read_labels(path, id_name=table.id_name, names=tables.LABEL_NAMES)
    earlier = tables.in_order(given, table.ids, n_objects, path, "earlier label", complete=False)
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


def _why_not_streamed(session: LabelSession) -> str | None:
    """Return why labels cannot be streamed, or None if they can."""
    from ensemblage import tables
    from ensemblage.scale import stream

    if session.layout != "wide":
        return f"--layout {session.layout} is read in memory"
    for path in session.paths:
        reason = tables.why_not_streamed(path, session.format)
        if reason is not None:
            return f"votes are streamed in two passes, but {reason}"
    if session.key is not None:
        return "--key is for NPZ and MAT, which are not read in batches"
    if session.has_truth_file():
        return (
            "true labels of another file are matched in memory. Name a column of the votes"
            " (--truth COLUMN), or compare afterwards"
        )
    if session.needs_memory:
        options = "--member-table, --cluster-table and --align-to"
        return f"{options} need the votes in memory (--engine memory)"
    if not session.to_folder:
        packed = session.output.lower().endswith(".gz")
        standard = session.output in ("-", "/dev/stdout") or tables.is_special(session.output)
        if standard or packed or output_format(session.output) not in stream.WRITTEN:
            return "labels are streamed to .parquet, .csv or .tsv files: name one with -o"
    return None


def _in_stream(session: LabelSession) -> Outcome:
    """Read the votes twice, in batches."""
    from ensemblage.scale import stream

    return _streamed(session, "stream", partial(stream.consensus, n_jobs=session.jobs))


def _on_dask(session: LabelSession) -> Outcome:
    """Read the votes twice and write the labels on the workers of a Dask cluster."""
    for name in ("distributed", "pyarrow"):
        if importlib.util.find_spec(name) is None:
            raise UsageError(
                f"--engine dask needs {name}, which is not installed. Run: pip install"
                ' "ensemblage[dask]"'
            )
    _check_streamed(session, "dask")
    from ensemblage.scale import dask

    with _scheduler(session) as client:
        return _streamed(session, "dask", partial(dask.consensus, client=client))


def _check_streamed(session: LabelSession, engine: str) -> None:
    if (reason := _why_not_streamed(session)) is not None:
        raise UsageError(f"--engine {engine}: {reason}.")


@contextmanager
def _scheduler(session: LabelSession) -> Iterator[Any]:
    """Yield the address of the scheduler that was named, or a client of local processes."""
    if session.scheduler is not None:
        yield session.scheduler
        return
    from ensemblage.flow import n_threads
    from ensemblage.scale import dask

    with session.stage("Starting workers"):
        cluster = dask.local_cluster(n_threads(session.jobs))
    with cluster, cluster.get_client() as client:
        yield client


def _streamed(session: LabelSession, engine: str, consensus: Callable[..., Any]) -> Outcome:
    """Write the labels by `consensus`, the function of a runtime."""
    from ensemblage.scale import stream

    _check_streamed(session, engine)
    parts = stream.parts_folder(session.output)
    if (parts / "index.npz").exists() and not session.quiet:
        say(f"Resuming: finished work is in {parts}.", err=True)
    reading = session.reading()
    try:
        result = consensus(
            session.paths,
            session.model,
            session.output,
            id_column=None if session.id_column == "none" else session.id_column,
            confidence=session.confidence,
            cuts=session.k_range,
            columns=reading["columns"],
            keep=split_names(session.keep, "--keep"),
            by_size=session.by_size,
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


ENGINES: dict[str, Callable[[LabelSession], Outcome]] = {
    "memory": _in_memory,
    "stream": _in_stream,
    "dask": _on_dask,
}
