"""Comparison of the support of members with that of members of unstructured features.

Members agree on any features: k-means divides a single cloud in similar ways each time. If the
votes are weak evidence, members are therefore also made from noise, as in the gap statistic: points
drawn uniformly from a box along the principal axes of the features.

Groups of objects that no vote links are clusters, unless noise has as many of them. Whether there
are more clusters is then decided by a comparison with noise in these groups: a box for each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

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
#: Smaller groups that no vote links are outliers.
_LEAST_GROUP = 5


class Noise(NamedTuple):
    """A comparison with noise.

    Attributes
    ----------
    support : Null
        The support for numbers of clusters, of the features and of noise.
    n_groups : int
        The largest number of groups that no vote links, in members of noise.
    """

    support: Null
    n_groups: int


def can_compare(plan: Plan, n_members: int) -> bool:
    """Return whether the members can be made from noise, and are enough for a comparison."""
    return all(isinstance(method, str) for method in plan.methods) and n_members >= _FEWEST_MEMBERS


def compare_with_noise(
    plan: Plan, n_members: int, seed: int, groups: NDArray[np.int64] | None = None
) -> Noise:
    """Compare the support for numbers of clusters, and the groups of objects, with those of noise.

    With `groups`, one for each object, noise has a box for each of them.

    Members are made again from a sample of at most 300 objects, and from 20 boxes of as many
    points; their support is computed on 2 divisions of at most 20 members. For each k the mean of
    all 21 logarithms is subtracted; the remainders are compared by their maximum.
    """
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(plan.features))[:_MOST_OBJECTS])
    sample = np.asarray(plan.features[rows], dtype=np.float64)
    places = np.zeros(len(rows), dtype=np.int64) if groups is None else groups[rows]
    share = len(sample) / len(plan.features)
    low, high = plan.n_clusters_range
    most = max(2, len(sample) // 2)
    plan = replace(
        plan,
        n_rows=None if plan.n_rows is None else max(1, round(share * plan.n_rows)),
        n_clusters_range=(min(low, most), min(high, most)),
    )
    sets = [sample, *(_boxes(sample, places, rng) for _ in range(_N_BOXES))]
    trees = [
        _tree(replace(plan, features=features, seed=int(rng.integers(2**63))), n_members)
        for features in sets
    ]
    support = null_of([_log_support(tree) for tree in trees])
    return Noise(support, max(_n_groups(tree) for tree in trees[1:]))


def doubted(consensus: Any, plan: Plan, n_members: int, seed: int) -> KChoice | None:
    """Return another choice of k than that of the consensus, if noise gives the same support.

    The choice is the number of groups that no vote links, if there are more than in noise, and
    noise in these groups gives the same support as well. Without such groups moderate evidence
    becomes weak, and weak evidence none. Strong evidence is kept, and so is that of methods that
    cannot be applied to noise.
    """
    choice: KChoice | None = getattr(consensus, "k_choice_", None)
    if choice is None:  # the number of clusters was not chosen
        return None
    if choice.evidence not in ("moderate", "weak") or not can_compare(plan, n_members):
        return None
    noise = compare_with_noise(plan, n_members, seed)
    if noise.support.exceeded:
        return None
    alone = f"From the votes alone: {choice.reasons[0]}"
    n_groups = _n_groups(consensus)
    if n_groups > noise.n_groups:
        groups = consensus._ensemble.links.of_row[consensus.microclusters_.of_object]
        within = compare_with_noise(plan, n_members, seed, groups)
        if within.support.exceeded and choice.k >= n_groups:
            return None
        certain = (
            f"Moderate evidence for {n_groups} clusters: the objects form {n_groups} groups, of"
            f" {_LEAST_GROUP} objects or more, that do not share a cluster of any clustering;"
            f" with noise instead of the features, at most {noise.n_groups}."
        )
        finer = f"Finer clusters are uncertain: {_compared(within.support, ' in these groups')}"
        others = [k for k in (choice.k, *choice.runners_up) if k != n_groups]
        return replace(
            choice,
            k=n_groups,
            evidence="moderate",
            reasons=[certain, finer, alone],
            runners_up=others[:3],
        )
    compared = _compared(noise.support)
    if choice.evidence == "moderate":
        weak = f"Weak evidence for {choice.k} clusters: {compared}"
        return replace(choice, evidence="weak", reasons=[weak, alone, *choice.reasons[1:]])
    low, high = plan.n_clusters_range
    limit = f"Clusterings with {low} to {high} clusters cannot show more groups than {high}."
    reasons = [f"No structure: {compared} {limit}", alone]
    return replace(choice, k=1, evidence="none", reasons=reasons, runners_up=[])


def _compared(support: Null, where: str = "") -> str:
    return (
        f"clusterings of noise{where} instead of the features give the same support for numbers of"
        f" clusters (logarithm of support above its mean {support.excess:.2f}; for {_N_BOXES} boxes"
        f" of noise up to {support.limit:.2f})."
    )


def _boxes(
    features: NDArray[np.float64], groups: NDArray[np.int64], rng: np.random.Generator
) -> FloatArray:
    """Return noise with a box for each group of objects."""
    noise = np.empty_like(features)
    for group in np.unique(groups):
        noise[groups == group] = box(features[groups == group], rng)
    return noise


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


def _tree(plan: Plan, n_members: int) -> LWEA:
    labels = dict(run_labels(plan, range(min(n_members, _MOST_MEMBERS)), 1))
    votes = np.column_stack([labels[index] for index in range(len(labels))])
    votes = votes[(votes >= 0).any(axis=1)]
    return LWEA(1, weights="normalized", min_cluster_size="auto", n_jobs=1).fit(votes)


def _log_support(tree: LWEA) -> FloatArray:
    return np.log(_TINY + support_curve(tree._cuts(), _KS, n_divisions=2))


def _n_groups(fitted: Any) -> int:
    """Return the number of groups that no vote links, without outliers."""
    links, sizes = fitted._ensemble.links, fitted.microclusters_.sizes
    return int(np.count_nonzero(np.bincount(links.of_row, sizes) >= _LEAST_GROUP))
