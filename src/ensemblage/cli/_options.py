"""Arguments as the library's words: which k, which method, with which parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage.cli._errors import WrongCall
from ensemblage.cli._words import DEVICES, LINKAGES, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_MOST_DIGITS = 100
_CALLED = {
    "linkage": "--linkage",
    "n_neighbors": "--neighbors",
    "n_steps": "--steps",
    "device": "--device",
}


def whole(option: str, lowest: int | None = None) -> Callable[[str | int], int]:
    """Return what reads the whole number of an option, and complains in its name.

    Examples
    --------
    >>> whole("--seed", 0)("7")
    7
    """

    def read(text: str | int) -> int:
        sign, digits = (1, str(text).strip())
        if lowest is None and digits.startswith("-"):
            sign, digits = -1, digits[1:]
        number = _number(digits)
        if number is None or (lowest is not None and number < lowest):
            start = "" if lowest is None else f" from {lowest} on"
            raise WrongCall(f"{option} is a whole number{start}. Found {str(text)!r}.")
        return sign * number

    return read


def k_or_auto(k: str) -> int | str:
    """Return the number of clusters that -k names, or "auto".

    Examples
    --------
    >>> k_or_auto("10"), k_or_auto("Auto")
    (10, 'auto')
    """
    number = _number(k)
    if number is not None and number >= 1:
        return number
    if k.strip().lower() == "auto":
        return "auto"
    raise WrongCall(f"-k is a whole number from 1 on, or auto. Found {k!r}.")


def asked_k(k: str | None, k_range: str | None, method: str) -> int | str | None:
    """Return what -k says; without it "auto" where the default method may choose.

    Examples
    --------
    >>> asked_k("3", None, "ptgp"), asked_k(None, None, "auto"), asked_k(None, "2:5", "auto")
    (3, 'auto', None)
    """
    if k is None:
        chooses = k_range is None and method.lower() in ("auto", "consensus")
        return "auto" if chooses else None
    return k_or_auto(k)


def wanted_k(k: int | str | None, k_range: str | None) -> range:
    """Return the numbers of clusters that were asked for, in growing order.

    Where "auto" will choose one, all that is known is that there is at least one cluster.

    Examples
    --------
    >>> list(wanted_k(10, None)), list(wanted_k(None, "2:5")), list(wanted_k("auto", None))
    ([10], [2, 3, 4, 5], [1])
    """
    if (k is None) == (k_range is None):
        both = "both were given" if k is not None else "neither was given"
        raise WrongCall(
            "Say how many clusters you want: -k 10, -k auto, or --k-range 2:20 for one column of"
            f" labels for each k; {both}."
        )
    if isinstance(k, str):
        return range(1, 2)
    if k is not None:
        return range(k, k + 1)
    low, high = ends_of_range(str(k_range))
    return range(low, high + 1)


def ends_of_range(k_range: str) -> tuple[int, int]:
    """Return both ends of a range of numbers of clusters.

    Examples
    --------
    >>> ends_of_range("2:20")
    (2, 20)
    """
    ends = [_number(text) for text in k_range.split(":")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise WrongCall(f"--k-range is two numbers with a colon, as in 2:20. Found {k_range!r}.")
    low, high = ends[0], ends[1]
    if not 1 <= low <= high:
        raise WrongCall(
            f"--k-range goes from a smaller to a larger number, the smaller at least 1, as in 2:20."
            f" Found {k_range!r}."
        )
    return low, high


def find_method(name: str, methods: Mapping[str, Any]) -> Any:
    """Return the class of a method, or say which names come close."""
    if name.lower() in methods:
        return methods[name.lower()]
    hint = did_you_mean(name, methods)
    raise WrongCall(f"There is no method {name!r}.{hint} Known: {', '.join(methods)}.")


def method_title(name: str) -> str:
    """Return a method as texts name it.

    Examples
    --------
    >>> method_title("ptgp"), method_title("auto")
    ('PTGP', 'Consensus')
    """
    return "Consensus" if name.lower() in ("auto", "consensus") else name.upper()


def parameters(
    method: str,
    accepted: Iterable[str],
    *,
    linkage: str | None,
    neighbors: str | None,
    steps: str | None,
    device: str | None,
    seed: int,
    jobs: int,
) -> dict[str, Any]:
    """Return the parameters for a method's constructor.

    What says how it works (linkage, neighbors, steps, device) must be known to the method where it
    was given; a seed and a number of jobs are left out where the method has no use for them.
    """
    given: dict[str, Any] = {
        "linkage": one_of("--linkage", linkage, LINKAGES),
        "n_neighbors": _count("--neighbors", neighbors, words=("auto", "all")),
        "n_steps": _count("--steps", steps, words=("auto",)),
        "device": one_of("--device", device, DEVICES),
    }
    given = {name: value for name, value in given.items() if value is not None}
    accepted = set(accepted)
    for name in given:
        if name not in accepted:
            has = [option for word, option in _CALLED.items() if word in accepted]
            others = f"Of these options it has {', '.join(has)}." if has else "Leave it out."
            if method_title(method) == "Consensus":
                others = "Name a method that has it, as in --method pta, or leave it out."
            raise WrongCall(f"Method {method} has no {_CALLED[name]}. {others}")
    always = {"random_state": seed, "n_jobs": jobs}
    return given | {name: value for name, value in always.items() if name in accepted}


def one_of(option: str, value: str | None, known: tuple[str, ...]) -> str | None:
    """Return a word that is known, in lower case; None where none was given."""
    if value is None or value.lower() in known:
        return value and value.lower()
    raise WrongCall(f"{option} is one of {', '.join(known)}. Found {value!r}.")


def _count(option: str, value: str | None, *, words: tuple[str, ...]) -> int | str | None:
    if value is None or value.lower() in words:
        return value and value.lower()
    number = _number(value)
    if number is not None and number >= 1:
        return number
    raise WrongCall(f"{option} is {', '.join(words)} or a whole number from 1 on. Found {value!r}.")


def _number(text: str) -> int | None:
    """Return the number that digits spell; None for anything else, and for very many digits."""
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None
