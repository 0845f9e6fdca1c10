"""Names that were passed, of columns, methods and parameters, and what may have been meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SHOWN = 12


def check_name(what: str, name: Any, known: Iterable[str]) -> str:
    """Return a name if it is known, or say which comes near.

    `what` is what it names, with {!r} for the name itself, as in "column {!r} of the votes".
    """
    known = list(known)
    if isinstance(name, str) and name in known:
        return name
    by_letters = {one.lower(): one for one in known}
    near = difflib.get_close_matches(str(name).lower(), by_letters, n=1)
    hint = f" Did you mean {by_letters[near[0]]!r}?" if near else ""
    raise ValueError(f"There is no {what.format(name)}.{hint} Known: {shown(known)}.")


def places_of(wanted: list[Any] | None, names: list[Any] | None) -> list[int] | None:
    """Return where the wanted names are, if the names are these in another order; else None.

    Examples
    --------
    >>> places_of(["a", "b", "c"], ["c", "a", "b"]), places_of(["a", "b"], ["a", "c"])
    ([1, 2, 0], None)
    """
    if wanted is None or names is None or names == wanted or len(names) != len(wanted):
        return None
    place_of = {name: place for place, name in enumerate(names)}
    return [place_of[name] for name in wanted] if place_of.keys() == set(wanted) else None


def shown(names: list[Any], most: int = _SHOWN) -> str:
    """Return names for a message, the first of them where there are many."""
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")


def check_method(owner: str, value: Any, known: Mapping[str, Any]) -> str:
    """Return the name of a consensus method in lower case."""
    name = value.lower() if isinstance(value, str) else ""
    if name not in known:
        near = difflib.get_close_matches(name, list(known), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(known)}."
        raise ValueError(f"Unknown method {value!r} in {owner}. {hint}")
    return name
