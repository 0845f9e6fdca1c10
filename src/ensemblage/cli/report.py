"""``ensemblage report``: a consensus as one HTML file."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ensemblage._messages import counted
from ensemblage.cli import options
from ensemblage.cli.errors import UsageError
from ensemblage.cli.inputs import check_apart
from ensemblage.cli.output import format_choice, format_target
from ensemblage.cli.session import FitSession, check_k, verb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.tables import VoteTable

EXAMPLES = """\b
Examples:
  ensemblage report votes.csv -k 10 -o report.html
  ensemblage report votes.parquet -k auto -m pta -o report.html
  ensemblage report votes.csv -k 7 --features cells.csv --truth kind
  ensemblage report model.ensemblage votes.csv -o report.html
"""

_MODEL_SUFFIXES = (".ensemblage", ".quorate")
#: Options that say how to fit, and options that do not change the report.
_OF_A_FIT = {
    *("k", "method", "by_size", "linkage", "neighbors", "steps", "min_cluster_size", "device"),
    "seed",
}
_OF_THE_CALL = {"jobs", "as_json", "quiet", "debug", "help"}


@dataclass(kw_only=True)
class ReportSession(FitSession):
    """A call of report, which takes a model, votes or both."""

    votes: options.ModelOrVotes


@verb
def report(
    session: ReportSession,
    context: typer.Context,
    *,
    k: options.AutoK = "auto",
    by_size: options.BySize = False,
    features: options.FeatureFile = None,
    title: options.Title = None,
    output: options.ReportFile = "report.html",
) -> None:
    """Write a report on a consensus as one HTML file.

    The report has a summary, interactive pictures, tables to sort and download, and explanations.
    It works offline and on phones, and sends no data. If there are many objects, it shows a
    sample and notes it. A saved model (consensus --save) can replace the votes or precede them.
    """
    votes = session.votes
    saved = votes[0] if is_model(votes[0]) else None
    session.paths = []
    if saved is not None:
        _check_model_call(votes, context)
        session.votes = votes[1:]
    if session.votes:
        session.resolve()
    check_apart(output, [saved, *session.paths, session.truth, features])
    session.check_json(output)
    import ensemblage as en
    from ensemblage import tables
    from ensemblage.report import check_suffix, need_jinja

    check_suffix(output)
    tables.check_writable(output, format="csv")
    need_jinja()
    model = session.estimator(k) if saved is None else en.load(saved)
    beside: dict[str, Any] = {}
    if session.votes:
        session.kinds = None if saved is None else _names_of(model, session.truth)
        ensemble = session.read()
        beside = {
            "features": None if features is None else _features(features, session.table),
            "truth": session.true_labels,
            "ids": session.table.ids,
        }
    elif session.truth is not None or features is not None:
        raise UsageError(f"--truth and --features need votes. Name these after {saved}.")
    if saved is None:
        with session.stage(f"Consensus by {session.title}"):
            check_k(k if isinstance(k, int) else 1, ensemble)
            model.fit(ensemble)
            if by_size:
                model._number_by_size()
    elif session.votes:
        beside["votes"] = _votes_of_model(model, ensemble)
    with session.stage("Writing the report"):
        en.report.write(
            model,
            output,
            title=_title(session.votes or votes) if title is None else title,
            command=_command(votes, _given(context, of_model=saved is not None)),
            **beside,
        )
    elapsed = session.clock.elapsed()
    fitted = getattr(model, "consensus_", model)
    choice = getattr(model, "k_choice_", None)
    counts = {
        "n_objects": fitted._ensemble.n_objects,
        "n_clusterings": fitted.n_features_in_,
        "n_microclusters": fitted.n_microclusters_,
    }
    facts = {
        "method": session.method if saved is None else type(fitted).__name__.lower(),
        "ks": [fitted.n_clusters_],
        **counts,
        "id_column": session.table.id_name if session.votes else None,
        "model": saved,
        "output": output,
        **elapsed.facts(),
        "choice": None if choice is None else choice.to_dict(),
    }
    nouns = ("object", "clustering", "microcluster")
    numbers = ", ".join(map(counted, counts.values(), nouns))
    chosen = "" if choice is None else " (chosen)"
    summary = (
        f"{numbers}, k = {fitted.n_clusters_}{chosen}, {type(fitted).__name__}: {elapsed}\n"
        f"The report is in {format_target(output)}."
    )
    summary += "" if choice is None else f"\n{format_choice(choice)}"
    session.finish("report", facts, summary)


def is_model(path: str) -> bool:
    """Return whether a file is a saved model, by its name or its first entry."""
    named = path.lower().endswith(_MODEL_SUFFIXES)
    if not named and Path(path).is_file():
        with suppress(OSError), Path(path).open("rb") as stream:
            return stream.read(40)[30:] == b"model.json"  # the first name in an archive
    return named


def _check_model_call(paths: list[str], context: typer.Context) -> None:
    """Check that there is one model, and no option that says how to fit."""
    if any(map(is_model, paths[1:])):
        raise UsageError(
            "A report is on one model. Name it first, then its votes if you have them."
        )
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in _OF_A_FIT and source is not None and source.name == "COMMANDLINE":
            option = min(parameter.opts, key=len)
            raise UsageError(
                f"{option} is an option of a fit, and {paths[0]} is fitted already. Leave {option}"
                " out, or give the votes alone."
            )


def _votes_of_model(model: Any, ensemble: Any) -> Any:
    """Return the votes by the clusterings of a model, object by object."""
    from ensemblage.ensembles.placement import votes_for

    votes = votes_for(getattr(model, "consensus_", model), ensemble)
    of_object = ensemble.microclusters.of_object
    votes.microclusters = votes.microclusters._replace(of_object=of_object)
    return votes


def _names_of(model: Any, truth: str | None) -> Any:
    from ensemblage.ensembles.placement import NamesOfFit

    return NamesOfFit.of(getattr(model, "consensus_", model), truth)


def _features(path: str, table: VoteTable) -> NDArray[Any]:
    """Return the features in the order of the votes: by id if both files have ids."""
    import numpy as np

    from ensemblage import tables
    from ensemblage.ensembles.reading import read_features

    features = read_features([path], can_drop=False, id_name=table.id_name)
    ids = None if features.id_name is None else features.ids.values
    rows = tables.Labels(np.arange(len(features.matrix)), ids, features.id_name)
    n_objects = tables.n_objects(table)
    return features.matrix[tables.in_order(rows, table.ids, n_objects, path, noun="row")]


def _title(paths: list[str]) -> str:
    if paths == ["-"]:
        return "Votes from standard input"
    return Path(paths[0]).name + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _command(votes: list[str], given: dict[str, Any]) -> str:
    """Return the command that makes this report, as a shell reads it."""
    words = ["ensemblage", "report", *votes]
    for option, value in given.items():
        if value is True:
            words.append(option)
        elif value is not None:
            values = value if isinstance(value, (list, tuple)) else [value]
            words += [word for one in values for word in (option, str(one))]
    return shlex.join(words)


def _given(context: typer.Context, *, of_model: bool) -> dict[str, Any]:
    """Return the options that matter for the report, by their shortest names; labels' always."""
    always = {"output"} if of_model else {"k", "method", "seed", "output"}
    given: dict[str, Any] = {}
    for parameter in sorted(context.command.params, key=lambda one: one.name == "output"):
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        if parameter.param_type_name != "option" or name in _OF_THE_CALL or value is None:
            continue
        if name not in always and value == parameter.default:
            continue
        spelt = parameter.secondary_opts if value is False else parameter.opts
        given[min(spelt, key=len)] = value if not isinstance(value, bool) else True
    return given
