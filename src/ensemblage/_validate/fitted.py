"""Estimators that something is to be told about: they must have been fitted."""

from __future__ import annotations

from typing import Any

from ensemblage._messages import ParameterError

_NEEDED = ("labels_", "n_clusters_", "microclusters_")


def check_fitted(owner: str, estimator: Any) -> Any:
    """Return a fitted consensus method; of a clusterer of features the method inside it."""
    inside = getattr(estimator, "consensus_", estimator)
    if all(hasattr(inside, name) for name in _NEEDED):
        return inside
    if isinstance(estimator, type):
        raise TypeError(
            f"{owner} needs a fitted estimator, but got the class {estimator.__name__}. Make one"
            f" and fit it first: {estimator.__name__}(n_clusters=...).fit(votes)."
        )
    if hasattr(estimator, "fit"):
        from sklearn.exceptions import NotFittedError

        name = type(estimator).__name__
        raise NotFittedError(
            f"{owner} needs a fitted consensus method, but this {name} has no"
            f" {' and '.join(n for n in _NEEDED if not hasattr(inside, n))}. Call its fit(votes)"
            f" first; a method of this library or EnsembleClustering is what it must be."
        )
    raise TypeError(
        f"{owner} needs a fitted consensus method, such as PTGP(n_clusters=3).fit(votes), but got"
        f" {_article(type(estimator).__name__)}."
    )


def check_has_votes(owner: str, fitted: Any) -> None:
    """Refuse to tell of votes where there were none: what was fitted was a similarity."""
    if getattr(fitted, "_from_similarity", False):
        raise ValueError(
            f"{owner} tells of votes, and this {type(fitted).__name__} was fitted on a similarity"
            f" (affinity='precomputed'), which has none. Fit it on votes."
        )


def check_tree(owner: str, fitted: Any) -> None:
    """Refuse a fitted method that does not merge step by step."""
    if not hasattr(fitted, "linkage_matrix_"):
        raise ValueError(
            f"{owner} draws the tree of merges, and this {type(fitted).__name__} has none:"
            f" {fitted._why_no_tree()}. Methods with a parameter linkage (PTA, EAC, LWEA, ...) have"
            f" a linkage_matrix_."
        )


def check_choice_of_k(owner: str, choice: Any) -> None:
    """Refuse what is not a choice of the number of clusters."""
    if not all(hasattr(choice, name) for name in ("k", "ks", "scores", "runners_up")):
        raise TypeError(
            f"{owner} draws what ensemblage.metrics.choose_k(estimator) returns, but got"
            f" {_article(type(choice).__name__)}."
        )


def check_has_cdf(owner: str, choice: Any) -> None:
    """Refuse a choice of k that was made without looking at pairs of objects."""
    if choice.cdf is None:
        raise ValueError(
            f"{owner} draws the distribution of the consensus index, which this choice of k was"
            f' made without. Ask for it: choose_k(estimator, criteria=["pac"]).'
        )


def check_rows_of(owner: str, n_rows: int, n_objects: int) -> None:
    """Refuse features of other objects than those that were clustered."""
    if n_rows != n_objects:
        raise ValueError(
            f"The features given to {owner} have {n_rows} row(s), but {n_objects} object(s) were"
            f" clustered. Give a row for each of them, in the same order."
        )


def check_names(owner: str, names: Any, n_members: int) -> list[Any]:
    """Return the names of the members, if there is one for each."""
    found = [names] if isinstance(names, str) else list(names)
    if len(found) != n_members:
        raise ParameterError(owner, "names", f"{n_members} names, one a clustering", found)
    return found


def check_two_names(owner: str, names: Any) -> tuple[Any, Any]:
    """Return the names of two clusterings."""
    found = [names] if isinstance(names, str) else list(names)
    if len(found) != 2:
        expected = "two names, of the clustering on the left and of that on the right"
        raise ParameterError(owner, "names", expected, names)
    return found[0], found[1]


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
