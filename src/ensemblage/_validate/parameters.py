"""Parameters, names and estimators: each checked value comes back as what is needed."""

from __future__ import annotations

from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ensemblage._messages import (
    Message,
    Parameter,
    ParameterError,
    UnknownNameError,
    did_you_mean,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Losses of partitions with costs of their own for parting and for joining.
_WITH_COSTS = ("binder", "vi")
#: The share of the mean size of a cluster that min_cluster_size="auto" stands for.
_AUTO_SIZE = 0.1
#: What a fitted consensus method has.
_FITTED = ("labels_", "n_clusters_", "microclusters_")


def is_whole(value: Any) -> TypeGuard[int]:
    """Return whether `value` is an integer of Python or NumPy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _real(value: Any) -> float:
    """Return a number as a float, infinite beyond the range of floats; NaN for what is none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf if bool(value > 0) else -np.inf  # type: ignore[operator]


def check_n_clusters(owner: str, value: Any, expected: str | None = None) -> int:
    """Return the number of clusters asked for."""
    return check_whole(owner, "n_clusters", value, 1, expected)


def check_n_clusters_or_auto(owner: str, value: Any) -> int | None:
    """Return the number of clusters asked for, None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    return check_n_clusters(owner, value, "'auto' or a whole number from 1 up")


def check_enough_groups(owner: str, n_clusters: int, n_groups: int, default: Any = None) -> None:
    """Raise where there are fewer groups than clusters; `default` is the default of the latter."""
    if n_clusters > n_groups:
        message = Message(
            "{owner} was asked for {asked}{source} but the ensemble tells only {n} group(s) of"
            " objects apart. Ask for at most {n} cluster(s), or add clusterings that split the data"
            " further.",
            owner=owner,
            asked=Parameter("n_clusters", n_clusters),
            source=", which is the default," if n_clusters == default else ",",
            n=n_groups,
        )
        raise ValueError(message)


def check_reach(owner: str, name: str, value: Any, *, words: tuple[str, ...] = ("auto",)) -> None:
    """Check n_neighbors or n_steps: a number, or one of the words that stand for one."""
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(map(repr, words))
        check_whole(owner, name, value, 1, f"{listed} or a whole number from 1 up")


def check_choice(
    owner: str, name: str, value: Any, choices: tuple[str, ...], *, optional: bool = False
) -> str:
    """Return `value` if it is one of `choices`; `optional` tells that None is valid as well."""
    if not isinstance(value, str) or value not in choices:
        expected = f"one of {', '.join(map(repr, choices))}"
        raise ParameterError(owner, name, expected, value, optional=optional)
    return value


def check_cost(owner: str, loss: str, a: Any, *, auto_allowed: bool = False) -> float | None:
    """Return the cost of parting of a loss of partitions, None for "auto"; few losses have it."""
    if auto_allowed and isinstance(a, str) and a == "auto" and loss in _WITH_COSTS:
        return None
    cost = _real(a)
    if loss not in _WITH_COSTS and cost != 1.0:
        hint = f"Only the losses {' and '.join(map(repr, _WITH_COSTS))} have other costs."
        raise ParameterError(owner, "a", f"1.0 with loss={loss!r}", a, hint)
    if not 0.0 <= cost <= 2.0:
        words = "'auto' or " if auto_allowed else ""
        raise ParameterError(owner, "a", f"{words}a number from 0 to 2", a)
    return cost


def check_number(owner: str, name: str, value: Any, *, zero_allowed: bool = False) -> float:
    """Return `value` if it is a finite number above 0, or 0 where that is allowed."""
    number = _real(value)
    if not np.isfinite(number) or number < 0 or (number == 0 and not zero_allowed):
        words = "from 0 up" if zero_allowed else "above 0"
        raise ParameterError(owner, name, f"a number {words}", value)
    return number


def check_share(owner: str, name: str, value: Any) -> float:
    """Return `value` if it is a number from 0 to 1."""
    number = _real(value)
    if not 0 <= number <= 1:
        raise ParameterError(owner, name, "a number from 0 to 1", value)
    return number


def check_whole(
    owner: str,
    name: str,
    value: Any,
    lowest: int,
    expected: str | None = None,
    *,
    highest: int | None = None,
) -> int:
    """Return `value` if it is a whole number from `lowest` up, and at most `highest`."""
    if not is_whole(value) or value < lowest or (highest is not None and value > highest):
        until = "up" if highest is None else f"to {highest:,}"
        expected = expected or f"a whole number from {lowest} {until}"
        raise ParameterError(owner, name, expected, value)
    return int(value)


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Return True or False, of Python or NumPy."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(owner, name, "True or False", value)
    return bool(value)


def check_folder(owner: str, name: str, value: Any) -> Path:
    """Return the path of a folder."""
    if not isinstance(value, str | PathLike):
        raise ParameterError(owner, name, "the path of a folder", value, optional=True)
    return Path(value)


def check_min_cluster_size(owner: str, value: Any) -> None:
    """Check the least size of a cluster: objects, a share of their mean size, or "auto"."""
    whole = is_whole(value) and value >= 1
    share = not isinstance(value, Integral) and 0 < _real(value) <= 1
    if not (whole or share or (isinstance(value, str) and value == "auto")):
        expected = (
            "'auto', a whole number of objects from 1 up, or a share of n_objects / n_clusters"
            " above 0 and up to 1.0"
        )
        raise ParameterError(owner, "min_cluster_size", expected, value)


def least_size(min_cluster_size: Any, n_objects: int, n_clusters: int) -> int:
    """Return the least size of a cluster in objects."""
    if is_whole(min_cluster_size):
        return int(min_cluster_size)
    share = _AUTO_SIZE if min_cluster_size == "auto" else float(min_cluster_size)
    return max(1, int(share * n_objects / n_clusters + 1e-9))


def check_n_jobs(owner: str, value: Any) -> int | None:
    """Return the number of threads asked for, None for all of them."""
    if value is None:
        return None
    if not is_whole(value) or value == 0:
        expected = "a whole number other than 0"
        raise ParameterError(owner, "n_jobs", expected, value, optional=True)
    return int(value)


class DrawnSeed(int):
    """A seed that `check_random_state` has returned: used as it is, not drawn from."""


def check_random_state(owner: str, value: Any) -> int:
    """Return a seed: the same for the same integer, a fresh one otherwise."""
    if isinstance(value, DrawnSeed):
        return int(value)
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31))
    seed_or_source = value is None or isinstance(value, np.random.Generator)
    if not seed_or_source and not (is_whole(value) and value >= 0):
        expected = "a whole number from 0 up, or a NumPy random generator"
        raise ParameterError(owner, "random_state", expected, value, optional=True)
    source: Any = value if seed_or_source else int(value)
    return int(np.random.default_rng(source).integers(2**63))


# -- names -----------------------------------------------------------------------------------------


def check_name(what: str, name: Any, known: Iterable[str]) -> str:
    """Return a name if it is known; `what` has {!r} for it, as in "column {!r} of the votes"."""
    known = list(known)
    if isinstance(name, str) and name in known:
        return name
    hint = did_you_mean(name, known)
    raise ValueError(f"There is no {what.format(name)}.{hint} Known: {shown(known)}.")


def check_n_names(owner: str, names: Any, count: int, expected: str) -> list[Any]:
    """Return `names` as a list, if there are `count` of them."""
    listed = [names] if isinstance(names, str) else list(names) if np.iterable(names) else []
    if len(listed) != count:
        raise ParameterError(owner, "names", expected, names)
    return listed


def check_method(owner: str, value: Any, known: Mapping[str, Any]) -> str:
    """Return the name of a consensus method in lower case."""
    name = value.lower() if isinstance(value, str) else ""
    if name not in known:
        raise UnknownNameError(owner, "method", value, list(known))
    return name


def places_of(wanted: list[Any] | None, names: list[Any] | None) -> list[int] | None:
    """Return where the wanted names are, if the names are these in another order; else None."""
    if wanted is None or names is None or names == wanted or len(names) != len(wanted):
        return None
    place_of = {name: place for place, name in enumerate(names)}
    return [place_of[name] for name in wanted] if place_of.keys() == set(wanted) else None


# -- estimators ------------------------------------------------------------------------------------


def check_fitted(owner: str, estimator: Any) -> Any:
    """Return a fitted consensus method; of a clusterer of features the method inside it."""
    inside = getattr(estimator, "consensus_", estimator)
    if all(hasattr(inside, name) for name in _FITTED):
        return inside
    if isinstance(estimator, type) and hasattr(estimator, "fit"):
        raise TypeError(
            f"{owner} needs a fitted estimator, but got the class {estimator.__name__}. Make one"
            f" and fit it first: {estimator.__name__}(n_clusters=...).fit(votes)."
        )
    if hasattr(estimator, "fit"):
        from sklearn.exceptions import NotFittedError

        name = type(estimator).__name__
        raise NotFittedError(
            f"{owner} needs a fitted consensus method, but this {name} has no"
            f" {' and '.join(n for n in _FITTED if not hasattr(inside, n))}. Call its fit(votes)"
            f" first; a method of this library or EnsembleClustering is what it must be."
        )
    raise TypeError(
        f"{owner} needs a fitted consensus method, such as PTGP(n_clusters=3).fit(votes), but got"
        f" {article(type(estimator).__name__)}."
    )


def check_has_votes(owner: str, fitted: Any) -> None:
    """Raise where the method was fitted on a similarity, so that there are no votes."""
    if getattr(fitted, "_from_similarity", False):
        raise ValueError(
            f"{owner} needs votes, and this {type(fitted).__name__} was fitted on a similarity"
            f" (affinity='precomputed'), which has none. Fit it on votes."
        )


def article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
