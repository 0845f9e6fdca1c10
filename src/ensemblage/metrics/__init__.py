"""Agreement of clusterings, confidence and composition of a consensus, the number of clusters."""

from ensemblage.metrics.agreement import ari, ensemble_nmi, nmi
from ensemblage.metrics.aligning import align
from ensemblage.metrics.choosing import KChoice, choose_k
from ensemblage.metrics.confidence import confidence
from ensemblage.metrics.criteria import ClassCriteria
from ensemblage.metrics.drifting import Drift, drift
from ensemblage.metrics.elements import consistency, ecs
from ensemblage.metrics.explain import ClusterSummary, clusters
from ensemblage.metrics.explain_members import MemberSummary, member_similarity, members
from ensemblage.metrics.explain_seeds import SeedSpread, seed_spread
from ensemblage.metrics.explain_splits import SplitSummary, splits
from ensemblage.metrics.losses import (
    CredibleBall,
    MedianMember,
    credible_ball,
    expected_loss,
    median_of,
)
from ensemblage.metrics.sizes import by_size

__all__ = [
    "ClassCriteria",
    "ClusterSummary",
    "CredibleBall",
    "Drift",
    "KChoice",
    "MedianMember",
    "MemberSummary",
    "SeedSpread",
    "SplitSummary",
    "align",
    "ari",
    "by_size",
    "choose_k",
    "clusters",
    "confidence",
    "consistency",
    "credible_ball",
    "drift",
    "ecs",
    "ensemble_nmi",
    "expected_loss",
    "median_of",
    "member_similarity",
    "members",
    "nmi",
    "seed_spread",
    "splits",
]
