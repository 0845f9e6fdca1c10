"""Alternatives to a method whose matrix of pairs would not fit in memory."""

from __future__ import annotations

from typing import Any

from ensemblage import _validate
from ensemblage._messages import Message
from ensemblage.methods import METHODS

#: Methods without a matrix of all pairs of microclusters, by increasing memory.
_WITHOUT_PAIRS = ("lwgp", "ptgp")


def check_pairs(estimator: Any, n_bytes: int, what: str, instead: str = "") -> None:
    """Raise MemoryBudgetError before a matrix of pairs that would not fit is allocated.

    The message includes `instead`, and names the methods without such a matrix that would fit.
    """
    limit = _validate.available_memory()
    if n_bytes > limit:
        fitting = [name for name, needed in _needs(estimator) if needed <= limit]
        others = "Fewer or coarser clusterings need less."
        if fitting:
            verb = "need" if len(fitting) > 1 else "needs"
            others = f"{' and '.join(fitting)} {verb} no such matrix."
        advice = Message("{others} {instead}", instead=instead, others=others)
        _validate.check_memory(n_bytes, what, advice if instead else others)


def _needs(estimator: Any) -> list[tuple[str, int]]:
    """Return the memory that the alternative methods need for the votes of an estimator."""
    needs: list[tuple[str, int]] = []
    if estimator._from_similarity:
        return needs
    for name in _WITHOUT_PAIRS:
        other: Any = METHODS[name]()
        other.n_jobs, other.n_clusters = estimator.n_jobs, estimator.n_clusters
        for attribute in ("microclusters_", "n_microclusters_", "member_weight_"):
            setattr(other, attribute, getattr(estimator, attribute))
        needs.append((type(other).__name__, other._needed_bytes()))
    return needs
