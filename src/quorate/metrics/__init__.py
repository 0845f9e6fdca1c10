"""How well clusterings agree, how sure a consensus is of each object, and what it is made of."""

from quorate.metrics.agreement import ari, ensemble_nmi, nmi
from quorate.metrics.confidence import confidence
from quorate.metrics.explain import (
    ClusterSummary,
    MemberSummary,
    clusters,
    member_similarity,
    members,
)
from quorate.metrics.explain_seeds import SeedSpread, seed_spread

__all__ = [
    "ClusterSummary",
    "MemberSummary",
    "SeedSpread",
    "ari",
    "clusters",
    "confidence",
    "ensemble_nmi",
    "member_similarity",
    "members",
    "nmi",
    "seed_spread",
]
