"""How many clusters: curves over k from one fit, and a choice with its reasons."""

from ensemblage.metrics.choosing._choice import KChoice
from ensemblage.metrics.choosing._choose import CRITERIA, choose, choose_k
from ensemblage.metrics.choosing._cuts import Cuts

__all__ = ["CRITERIA", "Cuts", "KChoice", "choose", "choose_k"]
