"""How well clusterings agree, and how sure a consensus is of each object."""

from quorate.metrics.agreement import ari, ensemble_nmi, nmi
from quorate.metrics.confidence import confidence

__all__ = ["ari", "confidence", "ensemble_nmi", "nmi"]
