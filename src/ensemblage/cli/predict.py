"""``ensemblage predict``: a saved model and new votes in, a file of labels out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer

from ensemblage.cli import _arguments as arguments
from ensemblage.cli import _words
from ensemblage.cli._clock import Clock, Took
from ensemblage.cli._engines import check_engine, choose
from ensemblage.cli._errors import WrongCall, reported
from ensemblage.cli._json import check_json, print_json
from ensemblage.cli._tables import counted
from ensemblage.cli._task import Done, Task, facts_of
from ensemblage.cli._truth import scores_as_text
from ensemblage.cli._votes import check_apart, check_call, expanded
from ensemblage.cli._warnings import warnings_as_lines
from ensemblage.cli.consensus import Confidence, Output, check_output, is_folder

EXAMPLES = """\b
Examples:
  ensemblage consensus votes.csv -k 10 -o labels.csv --save model.ensemblage
  ensemblage predict model.ensemblage new.csv -o new_labels.csv
  ensemblage predict model.ensemblage votes/*.parquet -o out/ --confidence

\b
An object whose votes occurred before gets the label of those; any other the
label of the objects that it agrees with most. Clusterings are found by their
names where both files have them, else by their order.
"""

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A file that consensus --save has written.", show_default=False
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="auto|memory|stream",
        autocompletion=_words.completes("auto", "memory", "stream"),
        help="Where the work is done: in memory, or in batches of votes that need not fit there.",
    ),
]


def predict(
    *,
    model: Model,
    votes: arguments.Votes,
    output: Output = "-",
    confidence: Confidence = False,
    truth: arguments.Truth = None,
    engine: Engine = "auto",
    jobs: arguments.Jobs = -1,
    id_column: arguments.IdColumn = "auto",
    header: arguments.Header = None,
    format: arguments.Format = None,  # noqa: A002 - typer makes the option's name of it
    key: arguments.Key = None,
    as_json: arguments.Json = False,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Label new objects by a saved model.

    Reads votes of the clusterings that the model was fitted on, and writes a label for each
    object: the id column as given (the row number where there is none), then label, and
    confidence if asked for.
    """
    with reported(debug=debug), warnings_as_lines():
        clock = Clock()
        engine = check_engine(engine, None)
        if engine == "dask":
            raise WrongCall("--engine dask is for consensus. For predict it is memory or stream.")
        check_call(votes, input_format=format, jobs=jobs)
        folder = is_folder(output)
        check_output(output, range(1, 2), confidence=confidence, is_folder=folder)
        check_json(output, as_json=as_json)
        paths = expanded(votes)
        if not folder:
            check_apart(output, [model, *paths, truth])
        loaded = _load(model)
        from ensemblage.cli._engines import ENGINES
        from ensemblage.cli._placement import Placement

        digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
        task = Task(
            votes=paths,
            output=output,
            output_is_folder=folder,
            ks=range(1, 2),
            one_k=True,
            estimator=Placement(model, digest, confidence=confidence),
            method=type(loaded).__name__,
            confidence=confidence,
            truth=truth,
            id_column=id_column,
            header=header,
            format=format,
            key=key,
            jobs=jobs,
            scheduler=None,
            quiet=quiet,
        )
        engine = choose(engine, task)
        done = ENGINES[engine](task)
        took = clock.took()
        if as_json:
            facts = {"method": task.method.lower(), "ks": [loaded.n_clusters_], "model": model}
            print_json("predict", facts | facts_of(done, task, engine, took))
            return
        if done.scores is not None:
            typer.echo(scores_as_text(done.scores), err=True)
        if not quiet:
            typer.echo(_summary(done, loaded, took), err=True)


def _load(path: str) -> Any:
    """Return the model, if it is one of votes."""
    import ensemblage as en

    if path == "-":
        raise WrongCall("A model is read from a file, not from standard input. Name the file.")
    model = en.load(path)
    if hasattr(model, "members_"):
        raise WrongCall(
            f"{path} is a model of features (EnsembleClustering), and this command takes votes. In"
            " Python: ensemblage.load(path).predict(features)."
        )
    return model


def _summary(done: Done, model: Any, took: Took) -> str:
    named = "" if done.id_name is None else f" (ids from {done.id_name!r})"
    return (
        f"{counted(done.n_objects, 'object')}{named},"
        f" {counted(model.n_features_in_, 'clustering')},"
        f" k = {model.n_clusters_}, {type(model).__name__}: {took}"
    )
