"""The number of clusters, for a report."""

from __future__ import annotations

import math
from typing import Any

from ensemblage import metrics
from ensemblage.report._facts import MOST_MICROCLUSTERS
from ensemblage.report._texts import texts


def k_facts(fitted: Any) -> dict[str, Any] | None:
    """Return the scores over k and the recommendation; None if there is nothing to choose."""
    choice = getattr(fitted, "k_choice_", None)
    if choice is None:
        if not 2 <= fitted.n_microclusters_ <= MOST_MICROCLUSTERS:
            return None
        choice = metrics.choose_k(fitted)
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
            f"This report has {used}; {choice.k} are recommended."
            if choice.k != used
            else f"{used}, as recommended.",
            *choice.reasons,
            choice.alternatives,
        ]
    )
