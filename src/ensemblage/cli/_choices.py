"""A choice of k as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ensemblage.cli._tables import aligned

if TYPE_CHECKING:
    from ensemblage.metrics import KChoice

#: How a criterion is called at the head of its column.
_TITLES = {
    "support": "support",
    "recurrence": "found again",
    "balance": "balance",
    "ensemble_nmi": "NMI",
    "confidence": "confidence",
    "lifetime": "lifetime",
    "eigengap": "eigengap",
    "subset_stability": "halves",
    "pac": "PAC",
    "delta_area": "delta area",
    "seed_stability": "seeds",
}


def choice_in_words(choice: KChoice) -> str:
    """Return the recommendation, its reasons and the alternatives, a line each."""
    absent = [f"No {_TITLES[name]}: {reason}" for name, reason in choice.absent.items()]
    lines = [*choice.reasons, choice.alternatives, *absent]
    return "\n".join([f"Recommended: k = {choice.k}", *(f"  {line}" for line in lines)])


def score_table(choice: KChoice) -> str:
    """Return the scores by k; the best of each column has a star."""
    header = ["k", *(_TITLES[name] for name in choice.scores)]
    rows = []
    for place, k in enumerate(choice.ks.tolist()):
        cells = [
            _cell(float(curve[place]), best=choice.recommended[name] == k)
            for name, curve in choice.scores.items()
        ]
        rows.append([str(k), *cells])
    return aligned(header, rows)


def _cell(score: float, *, best: bool) -> str:
    mark = "*" if best else " "
    return f"{'-' if math.isnan(score) else format(score, '.4f')}{mark}"
