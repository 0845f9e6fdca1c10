"""How many clusters: curves over k from one fit, and a choice with its reasons."""

from ensemblage.metrics.choosing._choice import KChoice
from ensemblage.metrics.choosing._choose import CRITERIA, choose, choose_k
from ensemblage.metrics.choosing._cuts import Cuts
from ensemblage.metrics.choosing._recurrence import support_curve

__all__ = ["CRITERIA", "Cuts", "KChoice", "choose", "choose_k", "support_curve"]
