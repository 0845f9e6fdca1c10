"""Agreement of clusterings; how sure a consensus is, what it is made of, how many clusters."""

from quorate.metrics.agreement import ari, ensemble_nmi, nmi
from quorate.metrics.choosing import KChoice, choose_k
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
    "KChoice",
    "MemberSummary",
    "SeedSpread",
    "ari",
    "choose_k",
    "clusters",
    "confidence",
    "ensemble_nmi",
    "member_similarity",
    "members",
    "nmi",
    "seed_spread",
]
