"""The number of clusters: curves over k from one fit, and a choice with its reasons."""

from ensemblage.metrics.choosing._choice import KChoice
from ensemblage.metrics.choosing._choose import CRITERIA, choose, choose_k
from ensemblage.metrics.choosing._cuts import Cuts
from ensemblage.metrics.choosing._default import largest_default_k
from ensemblage.metrics.choosing._null import Null, null_of
from ensemblage.metrics.choosing._recurrence import support_curve

__all__ = [
    "CRITERIA",
    "Cuts",
    "KChoice",
    "Null",
    "choose",
    "choose_k",
    "largest_default_k",
    "null_of",
    "support_curve",
]
