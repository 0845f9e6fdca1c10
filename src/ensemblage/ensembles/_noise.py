"""Comparison of the support of members with that of members of unstructured features.

Members agree on any features: k-means divides a single cloud in similar ways each time. If the
votes are weak evidence, members are therefore also made from noise, as in the gap statistic: points
drawn uniformly from a box along the principal axes of the features.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ensemblage.ensembles._run import run_labels
from ensemblage.methods import LWEA
from ensemblage.metrics.choosing import null_of, support_curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.ensembles._plan import Plan
    from ensemblage.metrics.choosing import KChoice, Null

_N_BOXES = 20
#: The cost is bounded by a sample of the objects, and by these numbers of members and clusters.
_MOST_OBJECTS = 300
_MOST_MEMBERS = 20
#: With fewer members a comparison with members of noise is not meaningful.
_FEWEST_MEMBERS = 5
_KS = np.arange(2, 21)
_TINY = 1e-12


def compare_with_noise(plan: Plan, n_members: int, seed: int) -> Null:
    """Compare the support for numbers of clusters with that of noise.

    Members are made again from a sample of at most 300 objects, and from 20 boxes of as many
    points; their support is computed on 2 divisions of at most 20 members. For each k the mean of
    all 21 logarithms is subtracted; the remainders are compared by their maximum.
    """
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(plan.features))[:_MOST_OBJECTS]
    sample = np.asarray(plan.features[np.sort(rows)], dtype=np.float64)
    share = len(sample) / len(plan.features)
    low, high = plan.n_clusters_range
    most = max(2, len(sample) // 2)
    plan = replace(
        plan,
        n_rows=None if plan.n_rows is None else max(1, round(share * plan.n_rows)),
        n_clusters_range=(min(low, most), min(high, most)),
    )
    sets = [sample, *(box(sample, rng) for _ in range(_N_BOXES))]
    curves = [
        _log_support(replace(plan, features=features, seed=int(rng.integers(2**63))), n_members)
        for features in sets
    ]
    return null_of(curves)


def doubted(choice: KChoice | None, plan: Plan, n_members: int, seed: int) -> KChoice | None:
    """Return a choice of k with reduced evidence, if noise gives the same support; else None.

    Moderate evidence becomes weak, weak evidence none. Strong evidence is kept, and so is that of
    methods that cannot be applied to noise.
    """
    if choice is None:  # the number of clusters was not chosen
        return None
    drawn = all(isinstance(method, str) for method in plan.methods)
    if choice.evidence not in ("moderate", "weak") or not drawn or n_members < _FEWEST_MEMBERS:
        return None
    noise = compare_with_noise(plan, n_members, seed)
    if noise.exceeded:
        return None
    compared = (
        "clusterings of noise instead of the features give the same support for numbers of clusters"
        f" (logarithm of support above its mean {noise.excess:.2f}; for {_N_BOXES} boxes of noise"
        f" up to {noise.limit:.2f})."
    )
    alone = f"From the votes alone: {choice.reasons[0]}"
    if choice.evidence == "moderate":
        weak = f"Weak evidence for {choice.k} clusters: {compared}"
        return replace(choice, evidence="weak", reasons=[weak, alone, *choice.reasons[1:]])
    reasons = [f"No structure: {compared}", alone]
    return replace(choice, k=1, evidence="none", reasons=reasons, runners_up=[])


def box(features: NDArray[np.float64], rng: np.random.Generator) -> FloatArray:
    """Return points drawn uniformly from the bounding box of the features along principal axes.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.column_stack([np.arange(5.0), np.arange(5.0)])
    >>> points = box(line, np.random.default_rng(0))
    >>> bool(np.allclose(points[:, 0], points[:, 1]))
    True
    """
    centre = features.mean(axis=0)
    _, _, axes = np.linalg.svd(features - centre, full_matrices=False)
    along = (features - centre) @ axes.T
    points = rng.uniform(along.min(axis=0), along.max(axis=0), size=along.shape)
    return centre + points @ axes


def _log_support(plan: Plan, n_members: int) -> FloatArray:
    labels = dict(run_labels(plan, range(min(n_members, _MOST_MEMBERS)), 1))
    votes = np.column_stack([labels[index] for index in range(len(labels))])
    votes = votes[(votes >= 0).any(axis=1)]
    tree = LWEA(1, weights="normalized", min_cluster_size="auto", n_jobs=1).fit(votes)
    return np.log(_TINY + support_curve(tree._cuts(), _KS, n_divisions=2))
