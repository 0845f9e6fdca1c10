"""``quorate choose-k``: how many clusters, with the scores of each number and reasons."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Annotated

import typer

from quorate.cli import _arguments as arguments  # noqa: TC001 - typer reads annotations
from quorate.cli._choices import choice_in_words, score_table
from quorate.cli._errors import WrongCall, reported
from quorate.cli._options import ends_of_range, find_method, parameters
from quorate.cli._progress import stage
from quorate.cli._truth import take_truth
from quorate.cli._votes import (
    check_apart,
    check_call,
    check_format_to_write,
    check_k,
    check_turnout,
    expanded,
    read_votes,
)
from quorate.cli._warnings import warnings_as_lines

if TYPE_CHECKING:
    from quorate.metrics import KChoice

EXAMPLES = """\b
Examples:
  quorate choose-k votes.csv
  quorate choose-k votes.csv -m pta --k-range 2:30 --criteria all
  quorate choose-k pool.mat --truth gt --criteria lifetime,eigengap,pac -o scores.csv
  quorate choose-k votes.parquet --json

\b
Criteria: balance, ensemble_nmi, confidence, lifetime, eigengap (cheap, the
default); subset_stability, pac, delta_area, seed_stability (refits); all.
"""

Method = Annotated[str, typer.Option("--method", "-m", help="The consensus function.")]
KRange = Annotated[
    str | None,
    typer.Option(
        metavar="LOW:HIGH", help="Which numbers of clusters to look at.", show_default="2:20"
    ),
]
Criteria = Annotated[
    str,
    typer.Option(metavar="cheap|all|NAME,NAME,...", help="Which scores to compute."),
]
Criterion = Annotated[
    str, typer.Option(metavar="auto|NAME", help="Which score decides; auto is balance.")
]
Refits = Annotated[
    int, typer.Option(min=2, help="How many random halves of the members are refitted.")
]
Json = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the scores, a row for each k, to a .csv, .tsv or .parquet file.",
        show_default=False,
    ),
]


def choose_k(
    *,
    votes: arguments.Votes,
    method: Method = "ptgp",
    k_range: KRange = None,
    criteria: Criteria = "cheap",
    criterion: Criterion = "auto",
    refits: Refits = 10,
    as_json: Json = False,
    output: Output = None,
    truth: arguments.Truth = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    id_column: arguments.IdColumn = "auto",
    header: arguments.Header = None,
    format: arguments.Format = None,  # noqa: A002 - typer makes the option's name of it
    key: arguments.Key = None,
    quiet: arguments.Quiet = False,
    debug: arguments.Debug = False,
) -> None:
    """Recommend a number of clusters, with reasons.

    Fits a method once and scores its cuts at many k. Prints a table of the scores (a star marks
    what each would choose; higher is better but for PAC), the recommendation with its reasons, and
    the runners-up. With --truth that column is no vote, and the number of its classes is printed.
    """
    with reported(debug=debug), warnings_as_lines():
        ends = None if k_range is None else _ends(k_range)
        check_call(votes, input_format=format, jobs=jobs)
        paths = expanded(votes)
        _check_output(output, [*paths, truth], as_json=as_json)
        import quorate as qr
        from quorate import files

        found = find_method(method, qr.METHODS)
        names, decisive = _criteria(criteria, criterion)
        options = parameters(
            method.lower(),
            found._get_param_names(),
            linkage=None,
            neighbors=None,
            steps=None,
            seed=seed,
            jobs=jobs,
        )
        with stage("Reading votes", quiet=quiet):
            table = read_votes(
                paths, input_format=format, id_column=id_column, header=header, key=key
            )
        table, true_labels = take_truth(table, truth)
        check_turnout(table)
        with stage(f"Cuts of {method.upper()}", quiet=quiet):
            ensemble = qr.Ensemble(files.votes_of(table), n_jobs=jobs)
            check_k(1 if ends is None else ends[1], ensemble)
            choice = qr.metrics.choose_k(
                found(n_clusters=1, **options).fit(ensemble),
                None if ends is None else range(ends[0], ends[1] + 1),
                decisive,
                criteria=names,
                n_refits=refits,
                random_state=seed,
            )
        if output is not None:
            _write(output, choice)
        _tell(choice, as_json=as_json, aside=output == "-")
        if true_labels is not None and not as_json:
            n_classes = len(set(true_labels[~files.is_missing(true_labels)].tolist()))
            typer.echo(f"The true labels have {n_classes} classes.", err=output == "-")


def _ends(k_range: str) -> tuple[int, int]:
    low, high = ends_of_range(k_range)
    if low < 2:
        raise WrongCall(
            "--k-range begins at 2 or later: a single cluster cannot be compared. Found"
            f" {k_range!r}."
        )
    return low, high


def _criteria(criteria: str, criterion: str) -> tuple[str | list[str], str]:
    """Return what to compute, and what decides, by names that are known."""
    from quorate.metrics.choosing import CRITERIA

    decisive = _known("--criterion", criterion, ("auto", *CRITERIA))
    if criteria.strip().lower() in ("cheap", "all"):
        return criteria.strip().lower(), decisive
    listed = [name for name in criteria.split(",") if name.strip()]
    if not listed:
        raise WrongCall("--criteria needs names with commas between them, or cheap, or all.")
    return [_known("--criteria", name, CRITERIA) for name in listed], decisive


def _known(option: str, name: str, known: tuple[str, ...]) -> str:
    word = name.strip().lower().replace("-", "_")
    if word in known:
        return word
    near = difflib.get_close_matches(word, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise WrongCall(f"{option} knows no {name.strip()!r}.{hint} Known: {', '.join(known)}.")


def _check_output(output: str | None, inputs: list[str | None], *, as_json: bool) -> None:
    from quorate import files

    if output is None:
        files.check_writable("-")
        return
    if output == "-" and as_json:
        raise WrongCall("--json and -o - both want standard output. Name a file, or drop one.")
    if check_format_to_write(output) in ("npy", "npz"):
        raise WrongCall("Scores are a table: write them to .csv, .tsv or .parquet.")
    check_apart(output, inputs)
    files.check_writable(output)


def _write(output: str, choice: KChoice) -> None:
    from quorate import files

    files.write_table(
        output, {"k": choice.ks, **choice.scores}, decimals=dict.fromkeys(choice.scores, 6)
    )


def _tell(choice: KChoice, *, as_json: bool, aside: bool) -> None:
    if as_json:
        typer.echo(json.dumps(choice.to_dict(), indent=1))
        return
    if choice.scores:
        typer.echo(score_table(choice) + "\n", err=aside)
    typer.echo(choice_in_words(choice), err=aside)
