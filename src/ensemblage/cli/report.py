"""``ensemblage report``: a consensus to look at, as one HTML file."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ensemblage.cli import _arguments as arguments  # noqa: TC001 - typer reads annotations
from ensemblage.cli._errors import reported
from ensemblage.cli._json import check_json, print_json
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
"""

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


def report(
    *,
    votes: arguments.Votes,
    k: arguments.KOrAuto = "auto",
    method: arguments.Method = "auto",
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

    It holds a summary in plain words, pictures that can be pointed at and zoomed, tables that sort
    and download, and explains all of them. It opens offline and on a phone, and sends nothing
    anywhere. Of many objects it shows some, and says so.
    """
    with reported(debug=debug), warnings_as_lines():
        start = time.perf_counter()
        wanted = k_or_auto(k)
        check_call(votes, input_format=format, jobs=jobs)
        paths = expanded(votes)
        check_apart(output, [*paths, truth, features])
        check_json(output, as_json=as_json)
        import ensemblage as en
        from ensemblage import files
        from ensemblage.report._report import need_jinja

        files.check_writable(output, format="csv")
        need_jinja()
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
        table, true_labels = read_votes(
            paths,
            truth,
            input_format=format,
            id_column=id_column,
            header=header,
            key=key,
            quiet=quiet,
        )
        matrix = None if features is None else _features(features, table)
        with stage(f"Consensus by {method_title(method)}", quiet=quiet):
            ensemble = en.Ensemble(files.votes_of(table), n_jobs=jobs)
            ensemble.names = table.names
            if isinstance(wanted, int):
                check_k(wanted, ensemble)
            fitted = found(n_clusters=wanted, **options).fit(ensemble)
        with stage("Writing the report", quiet=quiet):
            en.report.write(
                fitted,
                output,
                features=matrix,
                truth=true_labels,
                ids=table.ids,
                title=_title(paths) if title is None else title,
                command=_command(
                    votes,
                    {
                        "-k": k,
                        "-m": method.lower(),
                        "--features": features,
                        "--truth": truth,
                        "--title": title,
                        "--linkage": linkage,
                        "--neighbors": neighbors,
                        "--steps": steps,
                        "--device": device,
                        "--id-column": None if id_column == "auto" else id_column,
                        "--header": header,
                        "--format": format,
                        "--key": key,
                        "--seed": seed,
                        "-o": output,
                    },
                ),
            )
        seconds = time.perf_counter() - start
        if as_json:
            choice = getattr(fitted, "k_choice_", None)
            facts = {
                "method": method.lower(),
                "ks": [fitted.n_clusters_],
                "n_objects": len(fitted.labels_),
                "n_clusterings": fitted.n_features_in_,
                "n_microclusters": fitted.n_microclusters_,
                "id_column": table.id_name,
                "output": output,
                "seconds": round(seconds, 4),
                "choice": None if choice is None else choice.to_dict(),
            }
            print_json("report", facts)
        elif not quiet:
            typer.echo(_summary(fitted, output, seconds), err=True)


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
    if paths == ["-"]:
        return "Votes from standard input"
    return Path(paths[0]).name + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _command(votes: list[str], given: dict[str, Any]) -> str:
    """Return the command that makes this report, as a shell reads it.

    Examples
    --------
    >>> _command(["my votes.csv"], {"-k": "3", "--truth": None, "--header": False})
    "ensemblage report 'my votes.csv' -k 3 --no-header"
    """
    words = ["ensemblage", "report", *votes]
    for option, value in given.items():
        if isinstance(value, bool):
            words.append(option if value else f"--no-{option[2:]}")
        elif value is not None:
            words += [option, str(value)]
    return shlex.join(words)


def _summary(fitted: Any, output: str, seconds: float) -> str:
    where = "standard output" if output == "-" else output
    return (
        f"{counted(len(fitted.labels_), 'object')}, {counted(fitted.n_features_in_, 'clustering')},"
        f" {counted(fitted.n_microclusters_, 'microcluster')}, k = {fitted.n_clusters_},"
        f" {type(fitted).__name__}: {seconds:.2f} s\nThe report is in {where}."
    )
