"""``ensemblage consensus``: a file of votes in, a file of labels out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ensemblage.cli import _arguments as arguments
from ensemblage.cli import _words
from ensemblage.cli._choices import choice_in_words
from ensemblage.cli._clock import Clock, Took
from ensemblage.cli._engines import ENGINES, check_engine, choose
from ensemblage.cli._errors import WrongCall, reported
from ensemblage.cli._json import check_json, print_json
from ensemblage.cli._models import check_save
from ensemblage.cli._options import asked_k, find_method, method_title, parameters, wanted_k
from ensemblage.cli._summaries import check_summaries
from ensemblage.cli._tables import counted
from ensemblage.cli._task import Done, Task, facts_of
from ensemblage.cli._truth import scores_as_text
from ensemblage.cli._votes import check_apart, check_call, check_format_to_write, expanded
from ensemblage.cli._warnings import warnings_as_lines

EXAMPLES = """\b
Examples:
  ensemblage consensus votes.csv -k 10 -o labels.csv
  ensemblage consensus pool.mat -k 7 --method pta --truth gt --confidence
  ensemblage consensus votes.csv -k auto -o labels.csv
  ensemblage consensus part-*.parquet --k-range 2:20 -o labels.parquet
  ensemblage consensus votes/*.parquet -k 23 -o out/
  ensemblage consensus votes/ -k 23 -o out/ --engine dask --scheduler tcp://host:8786
  ensemblage consensus votes.csv -k 10 -o labels.csv --save model.ensemblage
  zcat votes.csv.gz | ensemblage consensus - -k 10 > labels.csv

\b
Missing votes are empty cells, NA, NaN or -1. Exit codes: 0 done, 1 the work
failed, 2 a wrong call.
"""

K = Annotated[
    str | None,
    typer.Option(
        "-k",
        "--clusters",
        metavar="INT|auto",
        help="How many clusters; auto chooses, and says why. Required with a named method.",
        show_default="auto",
    ),
]
KRange = Annotated[
    str | None,
    typer.Option(
        metavar="LOW:HIGH",
        help="Instead of -k: a column of labels for each k, from one fit.",
        show_default=False,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE|DIR/",
        help="Where the labels go: .csv, .tsv (also .gz), .parquet, .npy, .npz; - is standard"
        " output; a folder, with a slash, gets a file for each input.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="auto|memory|stream|dask",
        help="Where the work is done: in memory, in batches of votes that need not fit there, or"
        " on the workers of a Dask cluster.",
        autocompletion=_words.completes(*_words.ENGINES),
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="With --engine dask: the scheduler of a cluster, as tcp://host:8786. Without it,"
        " processes of this machine.",
        show_default=False,
    ),
]
Confidence = Annotated[
    bool, typer.Option("--confidence", help="Add how sure each label is, from 0 to 1.")
]
MemberTable = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Also write a table of the clusterings: agreement, diversity, which to look at.",
        show_default=False,
    ),
]
ClusterTable = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Also write a table of the consensus clusters: size, consensus, nearest other.",
        show_default=False,
    ),
]
Save = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Also save the model, for ensemblage predict: model.ensemblage.",
        show_default=False,
    ),
]


def consensus(
    *,
    votes: arguments.Votes,
    k: K = None,
    k_range: KRange = None,
    method: arguments.Method = "auto",
    output: Output = "-",
    confidence: Confidence = False,
    by_size: arguments.BySize = False,
    member_table: MemberTable = None,
    cluster_table: ClusterTable = None,
    save: Save = None,
    truth: arguments.Truth = None,
    linkage: arguments.Linkage = None,
    neighbors: arguments.Neighbors = None,
    steps: arguments.Steps = None,
    device: arguments.Device = None,
    engine: Engine = "auto",
    scheduler: Scheduler = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    id_column: arguments.IdColumn = "auto",
    header: arguments.Header = None,
    format: arguments.Format = None,  # noqa: A002 - typer makes the option's name of it
    key: arguments.Key = None,
    as_json: arguments.Json = False,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Find the consensus of many clusterings.

    Reads a table of votes (one row an object, one column a clustering) and writes a label for
    each object: the id column as given (the row number where there is none), then label, and
    confidence if asked for; with --k-range the columns k2, k3, ... instead.
    """
    with reported(debug=debug), warnings_as_lines():
        clock = Clock()
        asked = asked_k(k, k_range, method)
        ks = wanted_k(asked, k_range)
        engine = check_engine(engine, scheduler)
        check_call(votes, input_format=format, jobs=jobs)
        folder = is_folder(output)
        check_output(output, ks, confidence=confidence, is_folder=folder)
        check_json(output, as_json=as_json)
        paths = expanded(votes)
        if not folder:  # files in a folder are compared one by one, once their names are known
            check_apart(output, [*paths, truth])
        tables = {"--member-table": member_table, "--cluster-table": cluster_table}
        check_summaries(tables, output, [*paths, truth], one_k=k_range is None)
        outputs = [output, member_table, cluster_table]
        check_save(save, outputs, [*paths, truth], one_k=k_range is None)
        import ensemblage as en

        found = find_method(method, en.METHODS)
        options = parameters(
            method.lower(),
            found._get_param_names(),
            linkage=linkage,
            neighbors=neighbors,
            steps=steps,
            device=device,
            seed=seed,
            jobs=jobs,
        )
        task = Task(
            votes=paths,
            output=output,
            output_is_folder=folder,
            ks=ks,
            one_k=k_range is None,
            estimator=found(n_clusters=ks[-1] if asked is None else asked, **options),
            method=method,
            confidence=confidence,
            truth=truth,
            id_column=id_column,
            header=header,
            format=format,
            key=key,
            jobs=jobs,
            scheduler=scheduler,
            quiet=quiet,
            member_table=member_table,
            cluster_table=cluster_table,
            save=save,
            by_size=by_size,
        )
        engine = choose(engine, task)
        done = ENGINES[engine](task)
        took = clock.took()
        if as_json:
            print_json("consensus", _facts(done, task, asked, engine, took))
            return
        if done.scores is not None:
            typer.echo(scores_as_text(done.scores), err=True)
        if not quiet:
            typer.echo(_summary(done, ks, asked, method, took), err=True)
            if done.method == "lwgp" and method_title(method) == "Consensus":
                typer.echo("\n".join(done.reasons or ()), err=True)
            if done.choice is not None:
                typer.echo(choice_in_words(done.choice), err=True)


def is_folder(output: str) -> bool:
    """Tell whether an output is a folder: it exists as one, or has a slash at its end."""
    return output.endswith(("/", os.sep)) or (output != "" and Path(output).is_dir())


def check_output(output: str, ks: range, *, confidence: bool, is_folder: bool) -> None:
    """Refuse an output that cannot hold what was asked for."""
    if confidence and ks[0] != ks[-1]:
        raise WrongCall("--confidence belongs to one k: give -k, or leave --confidence out.")
    if not is_folder and check_format_to_write(output) == "npy" and confidence:
        raise WrongCall(
            "An NPY file holds labels only. For --confidence use .npz, .csv or .parquet."
        )


def _summary(done: Done, ks: range, asked: int | str | None, method: str, took: Took) -> str:
    named = "" if done.id_name is None else f" (ids from {done.id_name!r})"
    k = f"k = {ks[0]}" if ks[0] == ks[-1] else f"k = {ks[0]} to {ks[-1]}"
    if asked == "auto":
        k = "k chosen before" if done.choice is None else f"k = {done.choice.k} (chosen)"
    return (
        f"{counted(done.n_objects, 'object')}{named}, {counted(done.n_clusterings, 'clustering')},"
        f" {counted(done.n_microclusters, 'microcluster')}, {k}, {method_title(method)}: {took}"
    )


def _facts(
    done: Done, task: Task, asked: int | str | None, engine: str, took: Took
) -> dict[str, Any]:
    """Return what the summary tells, and what led to it, for machines."""
    ks: list[int] | None = list(task.ks)
    if asked == "auto":  # an earlier run may have chosen, whose labels are used again
        ks = None if done.choice is None else [done.choice.k]
    return {
        "method": task.method.lower(),
        "method_taken": done.method or task.method.lower(),
        "reasons": done.reasons or [],
        "ks": ks,
        **facts_of(done, task, engine, took),
        "choice": None if done.choice is None else done.choice.to_dict(),
    }
