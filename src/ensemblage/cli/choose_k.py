"""``ensemblage choose-k``: how many clusters, with the scores of each number and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ensemblage.cli import _arguments as arguments
from ensemblage.cli import _words
from ensemblage.cli._choices import choice_in_words, score_table
from ensemblage.cli._clock import Clock
from ensemblage.cli._errors import WrongCall, reported
from ensemblage.cli._json import check_json, print_json
from ensemblage.cli._options import ends_of_range, find_method, method_title, parameters, whole
from ensemblage.cli._progress import stage
from ensemblage.cli._votes import (
    check_apart,
    check_call,
    check_format_to_write,
    check_k,
    expanded,
    read_votes,
)
from ensemblage.cli._warnings import warnings_as_lines

if TYPE_CHECKING:
    from ensemblage.metrics import KChoice

EXAMPLES = """\b
Examples:
  ensemblage choose-k votes.csv
  ensemblage choose-k votes.csv -m pta --k-range 2:30 --criteria all
  ensemblage choose-k pool.mat --truth gt --criteria lifetime,eigengap,pac -o scores.csv
  ensemblage choose-k votes.parquet --json

\b
Criteria: support, recurrence, balance, ensemble_nmi, confidence, lifetime,
eigengap (cheap, the default); subset_stability, pac, delta_area,
seed_stability (refits); all.
"""

KRange = Annotated[
    str | None,
    typer.Option(
        metavar="LOW:HIGH",
        help="Which numbers of clusters to look at.",
        show_default="2:20, or further",
    ),
]
Criteria = Annotated[
    str,
    typer.Option(
        metavar="cheap|all|NAME,NAME,...",
        help="Which scores to compute.",
        autocompletion=_words.completes_list("cheap", "all", *_words.CRITERIA),
    ),
]
Criterion = Annotated[
    str,
    typer.Option(
        metavar="auto|NAME",
        help="Which score decides; auto is support.",
        autocompletion=_words.completes("auto", *_words.CRITERIA),
    ),
]
Refits = Annotated[
    int,
    typer.Option(
        metavar="INT",
        parser=whole("--refits", 2),
        help="How many random halves of the members are refitted.",
    ),
]
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
    method: arguments.Method = "auto",
    k_range: KRange = None,
    criteria: Criteria = "cheap",
    criterion: Criterion = "auto",
    refits: Refits = 10,
    output: Output = None,
    truth: arguments.Truth = None,
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
    """Recommend a number of clusters, with the evidence for it.

    Fits a method once and scores its cuts at many k. Prints a table of the scores (a star marks
    what each would choose; higher is better but for PAC), the recommendation, how strong the
    evidence is and why, and the alternatives. One cluster is recommended where the clusterings
    agree no more than permuted votes. With --truth that column is no vote, and the number of its
    classes is printed.
    """
    with reported(debug=debug), warnings_as_lines():
        clock = Clock()
        ends = None if k_range is None else _ends(k_range)
        check_call(votes, input_format=format, jobs=jobs)
        paths = expanded(votes)
        check_json(output, as_json=as_json)
        _check_output(output, [*paths, truth])
        import ensemblage as en
        from ensemblage import files

        found = find_method(method, en.METHODS)
        names, decisive = _criteria(criteria, criterion)
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
        with stage(f"Cuts of {method_title(method)}", quiet=quiet):
            ensemble = en.Ensemble(files.votes_of(table), n_jobs=jobs)
            ensemble.names = table.names
            check_k(1 if ends is None else ends[1], ensemble)
            choice = en.metrics.choose_k(
                found(n_clusters=1, **options).fit(ensemble),
                None if ends is None else range(ends[0], ends[1] + 1),
                decisive,
                criteria=names,
                n_refits=refits,
                random_state=seed,
            )
        if output is not None:
            _write(output, choice)
        n_classes = None
        if true_labels is not None:
            n_classes = len(set(true_labels[~files.is_missing(true_labels)].tolist()))
        if as_json:
            facts: dict[str, Any] = {
                "method": method.lower(),
                "n_objects": files.n_objects(table),
                "n_clusterings": len(table.names),
                "n_microclusters": len(ensemble.microclusters.sizes),
                "id_column": table.id_name,
                "output": output,
                **clock.took().facts(),
                "n_classes": n_classes,
            }
            print_json("choose-k", facts | choice.to_dict())
        elif not quiet or output is None:
            _tell(choice, n_classes, aside=output == "-")


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
    from ensemblage.metrics.choosing import CRITERIA

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
    hint = _words.did_you_mean(word, known)
    raise WrongCall(f"{option} knows no {name.strip()!r}.{hint} Known: {', '.join(known)}.")


def _check_output(output: str | None, inputs: list[str | None]) -> None:
    from ensemblage import files

    if output is None:
        files.check_writable("-")
        return
    if check_format_to_write(output) in ("npy", "npz"):
        raise WrongCall("Scores are a table: write them to .csv, .tsv or .parquet.")
    check_apart(output, inputs)
    files.check_writable(output)


def _write(output: str, choice: KChoice) -> None:
    from ensemblage import files

    files.write_table(
        output, {"k": choice.ks, **choice.scores}, decimals=dict.fromkeys(choice.scores, 6)
    )


def _tell(choice: KChoice, n_classes: int | None, *, aside: bool) -> None:
    if choice.scores:
        typer.echo(score_table(choice) + "\n", err=aside)
    typer.echo(choice_in_words(choice), err=aside)
    if n_classes is not None:
        typer.echo(f"The true labels have {n_classes} classes.", err=aside)
