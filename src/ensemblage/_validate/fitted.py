"""Estimators that something is to be told about: they must have been fitted."""

from __future__ import annotations

from typing import Any

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
        f" {article(type(estimator).__name__)}."
    )


def check_has_votes(owner: str, fitted: Any) -> None:
    """Refuse to tell of votes where there were none: what was fitted was a similarity."""
    if getattr(fitted, "_from_similarity", False):
        raise ValueError(
            f"{owner} tells of votes, and this {type(fitted).__name__} was fitted on a similarity"
            f" (affinity='precomputed'), which has none. Fit it on votes."
        )


def article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
