"""``ensemblage report``: a consensus to look at, as one HTML file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ensemblage.cli import _arguments as arguments  # noqa: TC001 - typer reads annotations
from ensemblage.cli._clock import Clock, Took
from ensemblage.cli._errors import WrongCall, reported
from ensemblage.cli._json import check_json, print_json
from ensemblage.cli._models import check_only_report, is_model
from ensemblage.cli._options import find_method, k_or_auto, method_title, parameters
from ensemblage.cli._progress import stage
from ensemblage.cli._tables import counted
from ensemblage.cli._truth import in_order
from ensemblage.cli._votes import (
    check_apart,
    check_call,
    check_k,
    expanded,
    read_votes,
)
from ensemblage.cli._warnings import warnings_as_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.files import VoteTable

EXAMPLES = """\b
Examples:
  ensemblage report votes.csv -k 10 -o report.html
  ensemblage report votes.parquet -k auto -m pta -o report.html
  ensemblage report votes.csv -k 7 --features cells.csv --truth kind -o report.html
  ensemblage report model.ensemblage votes.csv -o report.html
"""

Votes = Annotated[
    list[str],
    typer.Argument(
        metavar="[MODEL] [VOTES]",
        help="Files with a row for each object and a column for each clustering, as for consensus;"
        " or a saved model (.ensemblage), alone or followed by the votes that it was fitted on.",
        show_default=False,
    ),
]

FeatureFile = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="FILE",
        help="Measurements of the same objects, for a map by features.",
        show_default=False,
    ),
]
Title = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="The heading of the report.", show_default="the name of the file"
    ),
]
Output = Annotated[
    str,
    typer.Option("-o", "--output", metavar="FILE", help="The HTML file; - is standard output."),
]

#: Options that say how to fit, and options that do not change the report.
_OF_A_FIT = {"k", "method", "by_size", "linkage", "neighbors", "steps", "device", "seed"}
_OF_THE_CALL = {"jobs", "as_json", "quiet", "debug", "help"}


def report(
    context: typer.Context,
    *,
    votes: Votes,
    k: arguments.KOrAuto = "auto",
    method: arguments.Method = "auto",
    by_size: arguments.BySize = False,
    features: FeatureFile = None,
    truth: arguments.Truth = None,
    title: Title = None,
    output: Output = "report.html",
    linkage: arguments.Linkage = None,
    neighbors: arguments.Neighbors = None,
    steps: arguments.Steps = None,
    device: arguments.Device = None,
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
    """Write a report on a consensus, one HTML file.

    It holds a summary, pictures that can be pointed at and zoomed, tables that sort and download,
    and explains all of them. It works offline and on phones, and sends nothing anywhere. Of many
    objects it shows some, and says so. A saved model (consensus --save) may stand in place of the
    votes, or before them.
    """
    with reported(debug=debug), warnings_as_lines():
        clock = Clock()
        wanted = k_or_auto(k)
        check_call(votes, input_format=format, jobs=jobs)
        saved = votes[0] if is_model(votes[0]) else None
        if saved is not None:
            check_only_report(votes, _given_for_a_fit(context))
        named = votes if saved is None else votes[1:]
        paths = expanded(named) if named else []
        check_apart(output, [saved, *paths, truth, features])
        check_json(output, as_json=as_json)
        import ensemblage as en
        from ensemblage import files
        from ensemblage.report._report import need_jinja

        files.check_writable(output, format="csv")
        need_jinja()
        if saved is None:
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
            model = found(n_clusters=wanted, **options)
        else:
            model = en.load(saved)
        beside: dict[str, Any] = {}
        table = None
        if paths:
            table, true_labels = read_votes(
                paths,
                truth,
                input_format=format,
                id_column=id_column,
                header=header,
                key=key,
                quiet=quiet,
            )
            ensemble = en.Ensemble(files.votes_of(table), n_jobs=jobs)
            ensemble.names = table.names
            beside = {
                "features": None if features is None else _features(features, table),
                "truth": true_labels,
                "ids": table.ids,
            }
        elif truth is not None or features is not None:
            raise WrongCall(
                f"--truth and --features are matched with votes. Name these after {saved}."
            )
        if saved is None:
            with stage(f"Consensus by {method_title(method)}", quiet=quiet):
                if isinstance(wanted, int):
                    check_k(wanted, ensemble)
                model.fit(ensemble)
                if by_size:
                    model._number_by_size()
        elif table is not None:
            beside["votes"] = _votes_of_model(model, ensemble)
        with stage("Writing the report", quiet=quiet):
            en.report.write(
                model,
                output,
                title=_title(votes) if title is None else title,
                command=_command(votes, _given(context, of_model=saved is not None)),
                **beside,
            )
        took = clock.took()
        fitted = getattr(model, "consensus_", model)
        if as_json:
            choice = getattr(fitted, "k_choice_", None)
            facts = {
                "method": method.lower() if saved is None else type(fitted).__name__.lower(),
                "ks": [fitted.n_clusters_],
                "n_objects": fitted._ensemble.n_objects,
                "n_clusterings": fitted.n_features_in_,
                "n_microclusters": fitted.n_microclusters_,
                "id_column": None if table is None else table.id_name,
                "model": saved,
                "output": output,
                **took.facts(),
                "choice": None if choice is None else choice.to_dict(),
            }
            print_json("report", facts)
        elif not quiet:
            typer.echo(_summary(fitted, output, took), err=True)


def _votes_of_model(model: Any, ensemble: Any) -> Any:
    """Return the votes by the clusterings of a model, object by object."""
    from ensemblage.cli._placement import votes_for

    found = votes_for(getattr(model, "consensus_", model), ensemble)
    of_object = ensemble.microclusters.of_object
    found.microclusters = found.microclusters._replace(of_object=of_object)
    return found


def _features(path: str, table: VoteTable) -> NDArray[Any]:
    """Return the features in the order of the votes: by id where both files have ids."""
    import numpy as np

    from ensemblage import files
    from ensemblage.cli._features import read_features

    found = read_features(
        [path],
        truth=None,
        drop=(),
        input_format=None,
        id_column="auto",
        header=None,
        key=None,
        classes_apart=False,
        can_drop=False,
    )
    n = files.n_objects(table)
    ids = None if found.id_name is None else found.ids.values
    rows = files.Labels(np.arange(len(found.matrix)), ids)
    order = in_order(rows, table.ids, n, path, what="row")
    return found.matrix[order]


def _title(paths: list[str]) -> str:
    paths = paths[1:] if len(paths) > 1 and is_model(paths[0]) else paths
    if paths == ["-"]:
        return "Votes from standard input"
    return Path(paths[0]).name + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _command(votes: list[str], given: dict[str, Any]) -> str:
    """Return the command that makes this report, as a shell reads it.

    Examples
    --------
    >>> _command(["my votes.csv"], {"-k": "3", "--truth": None, "--no-header": True})
    "ensemblage report 'my votes.csv' -k 3 --no-header"
    """
    words = ["ensemblage", "report", *votes]
    for option, value in given.items():
        if value is True:
            words.append(option)
        elif value is not None:
            words += [option, str(value)]
    return shlex.join(words)


def _given(context: typer.Context, *, of_model: bool) -> dict[str, Any]:
    """Return the options of this call that matter for the report, by their shortest names.

    What decides the labels is always there, also where it has its default.
    """
    always = {"output"} if of_model else {"k", "method", "seed", "output"}
    found: dict[str, Any] = {}
    for parameter in sorted(context.command.params, key=lambda one: one.name == "output"):
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        if parameter.param_type_name != "option" or name in _OF_THE_CALL or value is None:
            continue
        if name not in always and value == parameter.default:
            continue
        spelt = parameter.secondary_opts if value is False else parameter.opts
        found[min(spelt, key=len)] = value if not isinstance(value, bool) else True
    return found


def _given_for_a_fit(context: typer.Context) -> list[str]:
    """Return the options of this call that say how to fit."""
    found = []
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.name in _OF_A_FIT and source is not None and source.name == "COMMANDLINE":
            found.append(min(parameter.opts, key=len))
    return found


def _summary(fitted: Any, output: str, took: Took) -> str:
    where = "standard output" if output == "-" else output
    return (
        f"{counted(fitted._ensemble.n_objects, 'object')},"
        f" {counted(fitted.n_features_in_, 'clustering')},"
        f" {counted(fitted.n_microclusters_, 'microcluster')}, k = {fitted.n_clusters_},"
        f" {type(fitted).__name__}: {took}\nThe report is in {where}."
    )
