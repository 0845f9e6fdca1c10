"""Output of the command: summaries, tables, JSON."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

import typer

from ensemblage._messages import counted, printable, printable_json, printable_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ensemblage.metrics import KChoice

#: Column titles of criteria for k, if they are not their names.
_CRITERION_TITLES = {
    "ensemble_nmi": "NMI",
    "subset_stability": "halves",
    "pac": "PAC",
    "seed_stability": "seeds",
}


def say(text: str, *, err: bool = False) -> None:
    """Show a text on standard output or error: all that the command prints but labels."""
    shown = printable(text)
    if not (err or _can_print(shown)):
        shown = shown.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding)
    typer.echo(shown, err=err)


def _can_print(text: str) -> bool:
    """Tell whether standard output has all characters of a text: cp1252 of Windows lacks most."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with its first column aligned left and all others right."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    )


def format_objects(n_objects: int, id_name: str | None) -> str:
    """Return the number of objects, and the column that their ids came from."""
    if id_name is None:
        return counted(n_objects, "object")
    column = repr(id_name) if id_name else "the first column"
    return f"{counted(n_objects, 'object')} (ids from {column})"


def format_target(output: str) -> str:
    """Return the name of an output for a sentence."""
    return "standard output" if output == "-" else printable_path(output)


Scores = dict[str, tuple[float, float, float]]


def format_scores(scores: Scores) -> str:
    """Return NMI and ARI with the truth, and NMI with the votes, of each column of labels."""
    rows = [[name, *(f"{score:.4f}" for score in values)] for name, values in scores.items()]
    return format_table(["", "NMI (max)", "ARI", "NMI with the votes"], rows)


def score_facts(scores: Scores | None) -> dict[str, dict[str, float]] | None:
    """Return the same for JSON, with a name for each score."""
    if scores is None:
        return None
    names = ("nmi", "ari", "nmi_with_votes")
    return {column: dict(zip(names, values, strict=True)) for column, values in scores.items()}


def format_choice(choice: KChoice) -> str:
    """Return the recommended k, the reasons and the alternatives, one a line."""
    lines = [*choice.reasons, choice.alternatives]
    return "\n".join([f"Recommended: k = {choice.k}", *(f"  {line}" for line in lines)])


def format_absent(choice: KChoice) -> list[str]:
    """Return a line for each reason why criteria were not computed."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in choice.absent.items():
        by_reason.setdefault(reason, []).append(_criterion(name))
    return [f"  Not computed: {', '.join(names)}. {reason}" for reason, names in by_reason.items()]


def format_choice_scores(choice: KChoice) -> str:
    """Return the scores by k; a star marks the best of each column."""

    def cell(name: str, place: int) -> str:
        score = float(choice.scores[name][place])
        best = choice.recommended[name] == choice.ks[place]
        return f"{'-' if math.isnan(score) else format(score, '.4f')}{'*' if best else ' '}"

    rows = [
        [str(k), *(cell(name, place) for name in choice.scores)]
        for place, k in enumerate(choice.ks.tolist())
    ]
    return format_table(["k", *map(_criterion, choice.scores)], rows)


def _criterion(name: str) -> str:
    return _CRITERION_TITLES.get(name, name.replace("_", " "))


def print_json(command: str, facts: Mapping[str, Any]) -> None:
    """Print one JSON object in one line: the command, the version, the facts."""
    from ensemblage import __version__

    whole = {"command": command, "version": __version__, **facts}
    plain = to_json(whole)
    text = printable_json(json.dumps(plain, allow_nan=False, ensure_ascii=False))
    typer.echo(text if _can_print(text) else json.dumps(plain, allow_nan=False))


def to_json(value: Any) -> Any:
    """Return a value as one of the types of JSON; NaN and infinity are null."""
    if isinstance(value, dict):
        return {str(name): to_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [to_json(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        return to_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
