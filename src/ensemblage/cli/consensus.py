"""``ensemblage consensus``: a file of votes in, a file of labels out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage._messages import counted
from ensemblage.cli import options  # noqa: TC001 - typer reads annotations
from ensemblage.cli.engines import LabelSession, Outcome, chosen_engine, write_columns
from ensemblage.cli.errors import UsageError
from ensemblage.cli.inputs import check_apart
from ensemblage.cli.output import format_choice, format_objects
from ensemblage.cli.session import FitSession, output_format, verb

if TYPE_CHECKING:
    from ensemblage._progress import Elapsed

EXAMPLES = """\b
Examples:
  ensemblage consensus votes.csv -k 10 -o labels.csv
  ensemblage consensus pool.mat -k 7 --method pta --truth gt --confidence
  ensemblage consensus votes.csv -k auto -o labels.csv
  ensemblage consensus part-*.parquet --k-range 2:20 -o labels.parquet
  ensemblage consensus votes/*.parquet -k 23 -o out/
  ensemblage consensus votes/ -k 23 -o out/ --engine dask --jobs 8
  ensemblage consensus votes.csv -k 10 -o labels.csv --save model.ensemblage
  ensemblage consensus votes/ -k 23 --dry-run
  zcat votes.csv.gz | ensemblage consensus - -k 10 > labels.csv

\b
Missing votes are empty cells, NA, NaN or -1.
Exit codes: 0 success, 1 failure, 2 invalid usage.
"""

#: The number of clusters that costs are estimated for where it is not known.
_USUAL_K = 10


@dataclass(kw_only=True)
class ConsensusSession(FitSession, LabelSession):
    """A call of consensus."""

    k: options.AutoK = None
    k_range: options.LabelRange = None
    output: options.LabelFile = "-"
    keep: options.Keep = None
    confidence: options.Confidence = False
    by_size: options.BySize = False
    align_to: options.AlignTo = None
    member_table: options.MemberTable = None
    cluster_table: options.ClusterTable = None
    save: options.Save = None
    engine: options.Engine = "auto"
    scheduler: options.Scheduler = None
    dry_run: options.DryRun = False


@verb
def consensus(session: ConsensusSession) -> None:
    """Find the consensus of many clusterings.

    Reads a table of votes (a row for each object, a column for each clustering) and writes a
    label for each object. The columns of the output are the ids (row numbers if there are none),
    label, and confidence if requested; with --k-range k2, k3, ... instead of label. With a named
    method, -k or --k-range is required.
    """
    k, ks = _asked_k(session), session.k_range
    if session.scheduler is not None and session.engine != "dask":
        raise UsageError("--scheduler needs --engine dask.")
    session.called = session.title
    session.largest_k = ks[-1] if k is None else k if isinstance(k, int) else 1
    in_memory = (session.member_table, session.cluster_table, session.align_to)
    session.needs_memory = any(path is not None for path in in_memory)
    _check_align(session)
    _check_beside(session, session.check(session.align_to))
    session.model = session.estimator(k or session.largest_k)
    if session.dry_run:
        return _show_expected(session, session.largest_k if k != "auto" else _USUAL_K)
    outcome = session.run(session.engine)
    _save(session.save, outcome.fitted)
    if session.member_table is not None:
        write_columns(session.member_table, _members(outcome.fitted, session.table.names))
    if session.cluster_table is not None:
        write_columns(session.cluster_table, _clusters(outcome.fitted))
    elapsed = session.clock.elapsed()
    choice = getattr(outcome.fitted, "k_choice_", None)
    ks = range(k, k + 1) if isinstance(k, int) else ks
    taken = getattr(outcome.fitted, "method_", None)
    reasons = getattr(outcome.fitted, "reasons_", None) or []
    facts = {
        "method": session.method,
        "method_taken": taken or session.method,
        "reasons": reasons,
        "ks": ks if ks is not None else None if choice is None else [choice.k],
        **outcome.facts(session.output, elapsed),
        "choice": None if choice is None else choice.to_dict(),
    }
    lines = [_summary(outcome, ks, session.title, elapsed)]
    lines += reasons if getattr(outcome.fitted, "_took_second_choice", False) else []
    lines += [] if choice is None else [format_choice(choice)]
    outcome.show_scores(session)
    return session.finish("consensus", facts, "\n".join(lines))


def _asked_k(session: ConsensusSession) -> int | str | None:
    """Return the number of clusters; the default method may choose it. None for a range."""
    k: int | str | None = session.k
    if k is None and session.k_range is None and session.is_default:
        return "auto"
    if (k is None) == (session.k_range is None):
        both = "both were given" if k is not None else "neither was given"
        raise UsageError(
            "Say how many clusters you want: -k 10, -k auto, or --k-range 2:20 for one column of"
            f" labels for each k; {both}."
        )
    return k


def _check_align(session: ConsensusSession) -> None:
    """Reject --align-to beside outputs that number clusters in their own way."""
    for name in ("by_size", "save", "cluster_table"):
        if session.align_to is not None and getattr(session, name):
            raise UsageError(
                "--align-to renumbers the labels of -o only, so it cannot be used with"
                f" --{name.replace('_', '-')}. Leave one of them out."
            )


def _summary(outcome: Outcome, ks: range | None, title: str, elapsed: Elapsed) -> str:
    choice = getattr(outcome.fitted, "k_choice_", None)
    if ks is not None:
        k = f"k = {ks[0]}" if len(ks) == 1 else f"k = {ks[0]} to {ks[-1]}"
    else:
        k = "k chosen before" if choice is None else f"k = {choice.k} (chosen)"
    return (
        f"{format_objects(outcome.n_objects, outcome.id_name)},"
        f" {counted(outcome.n_clusterings, 'clustering')},"
        f" {counted(outcome.n_microclusters, 'microcluster')}, {k}, {title}: {elapsed}"
    )


def _label_files(session: ConsensusSession) -> list[str]:
    """Return the output that was named, or the files that the folder gets."""
    if not session.to_folder:
        return [session.output]
    from ensemblage.scale import stream

    files = (stream.label_file(session.output, path, session.format) for path in session.paths)
    return [str(path) for path, _ in files]


def _check_beside(session: ConsensusSession, inputs: list[str | None]) -> None:
    """Check the outputs beside the labels: tables and the model."""
    from ensemblage import tables
    from ensemblage.scale import stream

    written = {tables.identity(path): f"-o {path}" for path in _label_files(session)}
    if session.to_folder:  # new folders cannot be files as well
        folders = (Path(session.output), *Path(session.output).parents)
        written |= {tables.identity(str(path)): f"-o {session.output}" for path in folders}
    beside = {"--member-table": session.member_table, "--cluster-table": session.cluster_table}
    for option, path in {**beside, "--save": session.save}.items():
        if path is None:
            continue
        if session.k_range is not None:
            raise UsageError(f"{option} needs one consensus: give -k instead of --k-range.")
        if option == "--save" and path == "-":
            raise UsageError("--save -: a model is not text. Name a file: model.ensemblage.")
        if option in beside and (path == "-" or output_format(path) == "npy"):
            raise UsageError(f"{option} {path}: name a .csv, .tsv, .parquet or .npz file.")
        check_apart(path, inputs)
        parts = stream.parts_folder(session.output)
        if tables.identity(str(Path(path).parent)) == tables.identity(str(parts)):
            raise UsageError(
                f"{option} {path} is in the folder of finished work, which is deleted after the"
                " run. Name another."
            )
        other = written.setdefault(tables.identity(path), f"{option} {path}")
        if other != f"{option} {path}":
            raise UsageError(f"{option} {path} and {other} are the same file. Name another.")
        if option in beside:
            tables.check_writable(path)
        else:
            tables.check_target(path)


def _save(path: str | None, fitted: Any) -> None:
    """Save the fitted estimator, if that was asked for; labels of objects are in the output."""
    if path is None:
        return
    if fitted is None:
        raise ValueError(
            "The labels are written, but an earlier run had computed them, so there is no model to"
            f" save as {path}. Run the same command again."
        )
    fitted.save(path, objects=False)


def _members(fitted: Any, names: list[str]) -> dict[str, Any]:
    import numpy as np

    from ensemblage import metrics

    members = metrics.members(fitted, names=names)
    columns = ("n_clusters", "turnout", "agreement", "agreement_with_others", "diversity")
    return {
        "member": np.array(members.names, dtype=object),
        **{name: getattr(members, name) for name in columns},
        "look_at": np.where(members.look_at, "yes", "no").astype(object),
        "reasons": np.array(members.reasons, dtype=object),
    }


def _clusters(fitted: Any) -> dict[str, Any]:
    import numpy as np

    from ensemblage import metrics

    clusters = metrics.clusters(fitted)
    columns = ("consensus", "confidence", "nearest", "nearest_similarity")
    return {
        "label": np.arange(len(clusters.sizes)),
        "size": clusters.sizes,
        **{name: getattr(clusters, name) for name in columns},
    }


def _show_expected(session: ConsensusSession, k: int) -> None:
    """Print what a consensus is expected to take. Nothing is written."""
    engine = chosen_engine(session, session.engine)
    from ensemblage.methods import estimating

    with session.stage("Reading votes"):
        if engine == "memory":
            sample = session.read()
            n_objects = sample.n_objects
        else:
            sample, n_objects = _sampled(session)
    expected = estimating.of_ensemble(sample, n_objects, session.method, k)
    facts = {
        "method": session.method,
        "ks": [k],
        "n_objects": expected.shape.n_objects,
        "n_clusterings": expected.shape.n_clusterings,
        "n_microclusters": expected.shape.n_microclusters,
        "n_sampled": expected.n_sampled,
        "expected_cpu_seconds": round(expected.seconds, 3),
        "expected_bytes": expected.bytes,
        "engine": engine,
    }
    lines = f"{expected}.\nNothing was computed or written; the engine would be {engine}."
    session.finish("consensus", facts, lines, err=False, asked=True)


def _sampled(session: ConsensusSession) -> tuple[Any, int]:
    """Return every second, fourth, ... row of files that do not fit in memory, and their number."""
    import numpy as np

    import ensemblage as en
    from ensemblage import tables
    from ensemblage.methods.estimating import MOST_SAMPLED, stride

    reading = session.reading()
    options = {name: reading[name] for name in ("format", "columns", "header")}
    id_column = None if session.id_column == "none" else session.id_column
    sources = tables.scan(session.paths, id_column=id_column, truth=session.truth, **options)
    codes = [tables.Codes(name) for name in sources[0].names]
    rows, step, n_objects = np.empty((0, len(codes)), dtype=np.int64), 1, 0
    for source in sources:
        for batch in source.batches():
            votes = np.column_stack(source.votes(batch, codes))
            rows = np.concatenate([rows, votes[-n_objects % step :: step]])
            n_objects += batch.n_rows
            while len(rows) > 2 * MOST_SAMPLED:
                rows, step = rows[::2], 2 * step
    rows = rows[:: max(1, stride(n_objects) // step)]
    return en.Ensemble(rows), n_objects
