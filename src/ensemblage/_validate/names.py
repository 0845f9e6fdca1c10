"""Names that were passed, of columns, methods and parameters, and what may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ensemblage._messages import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def refuse_names(owner: str, names: list[Any], fitted: list[Any]) -> None:
    """Refuse votes by other clusterings than those of the fit, and name what differs."""
    missing = [name for name in fitted if name not in names]
    unknown = [name for name in names if name not in fitted]
    parts = [f"lacks {shown(missing)}"] if missing else []
    parts += [f"has {shown(unknown)}, which the fit did not have"] if unknown else []
    raise ValueError(
        f"The feature names should match those that were passed during fit: {owner} was fitted on"
        f" {shown(fitted)}, but X {' and '.join(parts)}. Pass the same clusterings, in any order."
    )


def check_adata(adata: Any) -> Any:
    """Return what has the parts of an AnnData object, or say that it has not."""
    if not all(hasattr(adata, part) for part in ("obs", "uns", "copy")):
        raise TypeError(
            f"consensus takes an AnnData object, but got {type(adata).__name__}. For a table of"
            f" labels use a method itself, as in ensemblage.PTGP(n_clusters=10).fit_predict(table)."
        )
    return adata


def check_some_match(pattern: str, chosen: list[str], present: list[str]) -> list[str]:
    """Return the columns that match a pattern, if there are any."""
    if not chosen:
        near = difflib.get_close_matches(pattern.rstrip("*"), present, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"No column of adata.obs matches keys={pattern!r}.{hint} There are {shown(present)}."
        )
    return chosen


def check_apart(chosen: list[str], own: set[str]) -> None:
    """Refuse no column, a column that occurs twice, and one that the result would replace."""
    if not chosen:
        raise ValueError("keys names no column of adata.obs. Name the clusterings to combine.")
    twice = [name for place, name in enumerate(chosen) if name in chosen[:place]]
    if twice:
        raise ValueError(f"keys names {twice[0]!r} twice. Name each clustering once.")
    replaced = [name for name in chosen if name in own]
    if replaced:
        raise ValueError(
            f"keys names {replaced[0]!r}, which the result would replace. Use another key_added."
        )


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


def check_method_params(owner: str, value: Any, kind: Any) -> dict[str, Any]:
    """Return the parameters for a method, if they are its own."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        expected = "a dict of parameters by name"
        raise ParameterError(owner, "method_params", expected, value, optional=True)
    own = [name for name in kind._get_param_names() if name != "n_clusters"]
    strange = [name for name in value if name not in own]
    if strange:
        expected = f"a dict of parameters of {kind.__name__} ({', '.join(own)})"
        hint = f"n_clusters is a parameter of {owner} itself."
        raise ParameterError(owner, "method_params", expected, strange[0], hint)
    return dict(value)
