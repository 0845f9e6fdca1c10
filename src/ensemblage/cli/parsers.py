"""Kinds of options: names, parsers, completion in shells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import typer

from ensemblage import METHODS
from ensemblage.cli.errors import UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Names that options take, where importing the library to ask it would slow down help and
# completion. A test compares them with the library.
CRITERIA = (
    *("support", "recurrence", "balance", "ensemble_nmi", "confidence", "lifetime", "eigengap"),
    *("subset_stability", "pac", "delta_area", "seed_stability"),
)
TABLES = (
    *("link-weights", "datasets", "microclusters", "preserved-links", "pta-parameters"),
    *("ptgp-parameters", "base-clusterings", "comparison", "ensemble-size", "execution-time"),
    "ranking",
)
#: The paper's numbers name them too.
KNOWN_TABLES = (
    *TABLES,
    *("table1", "figure1", "table4", "table5", "table6", "table7", "table8", "figure8"),
    *("table9", "figure9", "figure4", "figure10", "figure11"),
)
if TYPE_CHECKING:
    MethodName = str
else:
    MethodName = Literal[tuple(METHODS)]
DATASETS = ("MF", "IS", "MNIST", "ODR", "LS", "PD", "USPS", "FC", "KDD99-10P", "KDD99")

_MOST_DIGITS = 100


def argument(metavar: str, text: str, **settings: Any) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=text, show_default=False, **settings)


def option(
    metavar: str | None, text: str, *names: str, default: bool | str = True, **more: Any
) -> Any:
    """Return an option; `default` is how help shows the default."""
    return typer.Option(*names, metavar=metavar, help=text, show_default=default, **more)


def flag(text: str, name: str, *others: str) -> Any:
    """Return an option without a value; one that can be turned off is detected by default."""
    return option(None, text, name, *others, default="detected" if "/" in name else True)


def choice(text: str, *names: str, default: bool | str = True) -> Any:
    """Return an option whose words are those of its type, a Literal."""
    return option(None, text, *names, default=default, case_sensitive=False)


def parse_number(text: str) -> int | None:
    """Return the whole number that digits spell; None for other texts and very many digits."""
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def count_or(names: Sequence[str], metavar: str, text: str, *words: str) -> Any:
    """Return an option that takes a whole number from 1 up, or one of some words."""

    def parse(value: str | int) -> int | str:
        text = str(value).strip().lower()
        number = parse_number(text)
        if text in words:
            return text
        if number is None or number < 1:
            expected = f"{', '.join(words)} or a whole number from 1 up"
            raise UsageError(f"{names[0]} must be {expected}, got {str(value)!r}.")
        return number

    more = {"parser": parse, "autocompletion": _completion(words)}
    return option(metavar, text, *names, default=words[0], **more)


def share_or_count(
    name: str, text: str, default: str, *, share_only: bool = False, word: str = ""
) -> Any:
    """Return an option that takes a share (a number with a point, up to 1.0), a count or a word."""

    def parse(value: str | float) -> float | str:
        number = parse_number(str(value))
        if word and str(value).strip().lower() == word:
            return word
        if number and not share_only:
            return number
        try:
            share = float(value)
        except ValueError:
            share = 0.0
        if 0 < share <= 1:
            return share
        expected = "a share" if share_only else "a whole number from 1 up, or a share"
        expected = f"{word}, {expected}" if word else expected
        raise UsageError(
            f"{name} must be {expected} above 0 and up to 1.0, such as 0.5, got {value!r}."
        )

    metavar = "SHARE" if share_only else f"{word}|SHARE|INT" if word else "SHARE|INT"
    more = {"parser": parse, "autocompletion": _completion((word,) if word else ())}
    return option(metavar, text, name, default=default, **more)


def range_of(text: str, default: str = "") -> Any:
    """Return an option that takes a range of numbers of clusters."""
    return option("LOW:HIGH", text, default=default or True, parser=parse_range)


def parse_range(value: str) -> range:
    """Return the numbers of clusters from LOW to HIGH."""
    ends = [parse_number(text) for text in value.split(":")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise UsageError(
            f"--k-range must be two numbers with a colon, such as 2:20, got {value!r}."
        )
    low, high = ends[0], ends[1]
    if not 1 <= low <= high:
        raise UsageError(
            "--k-range must run from a smaller to a larger number, the smaller at least 1, such as"
            f" 2:20, got {value!r}."
        )
    return range(low, high + 1)


def check_jobs(jobs: int) -> int:
    """Check the number of threads or processes."""
    if jobs == 0:
        raise UsageError("--jobs must be a number from 1 up, or -1 for all cores, got 0.")
    return jobs


def name_of(noun: str, *known: str) -> dict[str, Any]:
    """Return the settings of a parameter that takes one of these names, in any spelling."""

    def parse(word: str) -> str:
        return _known(noun, word, known)

    return {"parser": parse, "autocompletion": _completion(known)}


def names_of(option: str, noun: str, *known: str, words: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the settings of an option that takes names with commas between them.

    Instead of names it may take one of `words`, which is returned as it is.
    """

    def parse(value: str) -> list[str] | str:
        if value.strip().lower() in words:
            return value.strip().lower()
        names = [_known(noun, word, known) for word in value.split(",") if word.strip()]
        if not names:
            either = "".join(f", or {word}" for word in words)
            raise UsageError(f"{option} needs names with commas between them{either}.")
        return list(dict.fromkeys(names))

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = before.lower().split(",")
        return [
            before + comma + name
            for name in (*words, *known)
            if name.lower().startswith(last.lower()) and name.lower() not in given
        ]

    return {"parser": parse, "autocompletion": complete}


def _completion(words: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return a function that completes a word in a shell."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.lower().startswith(incomplete.lower())]

    return complete


def _known(noun: str, word: str, known: tuple[str, ...]) -> str:
    """Return a name as it is known, whatever its case and its dashes."""
    by_spelling = {name.lower().replace("_", "-"): name for name in known}
    name = by_spelling.get(word.strip().lower().replace("_", "-"))
    if name is None:
        raise unknown(noun, word.strip(), known)
    return name
