"""The number of clusters, for a report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ensemblage import metrics
from ensemblage.report._facts import MOST_MICROCLUSTERS
from ensemblage.report._texts import texts


def chosen_k(model: Any) -> metrics.KChoice | None:
    """Return the choice of k by the model itself; None if its number of clusters was passed.

    That of `EnsembleClustering` takes a comparison with noise into account, that of the consensus
    method inside does not.
    """
    choice: metrics.KChoice | None = getattr(model, "k_choice_", None)
    return choice


def recommended_k(model: Any, fitted: Any) -> metrics.KChoice | None:
    """Return the model's own choice of k, else a new one; None if that would take long."""
    choice = chosen_k(model)
    if choice is None and 2 <= fitted.n_microclusters_ <= MOST_MICROCLUSTERS:
        return metrics.choose_k(fitted)
    return choice


def plausible_splits(fitted: Any, choice: metrics.KChoice | None) -> metrics.SplitSummary:
    """Return the best splits of clusters, none of them two groups if there is no structure."""
    splits = metrics.splits(fitted)
    if fitted.n_clusters_ > 1 or choice is None or choice.evidence != "none":
        return splits
    return splits._replace(two_groups=np.zeros_like(splits.two_groups))


def k_facts(fitted: Any, choice: metrics.KChoice | None) -> dict[str, Any] | None:
    """Return the scores over k and the recommendation; None if there is nothing to choose."""
    if choice is None:
        return None
    titles = texts()["criteria"]
    curves = [
        {
            "title": titles.get(name, name),
            "values": [round(value, 5) if math.isfinite(value) else None for value in values],
            "best": choice.recommended.get(name),
        }
        for name, values in choice.scores.items()
        if any(math.isfinite(value) for value in values)
    ]
    if not curves:
        return None
    return {
        "ks": choice.ks.tolist(),
        "used": fitted.n_clusters_,
        "best": choice.k,
        "curves": curves,
        "text": _format_choice(choice, fitted.n_clusters_),
    }


def _format_choice(choice: Any, used: int) -> str:
    return " ".join(
        [
            f"This report has {used}; {choice.k} {'is' if choice.k == 1 else 'are'} recommended."
            if choice.k != used
            else f"{used}, as recommended.",
            *choice.reasons,
            choice.alternatives,
        ]
    )
