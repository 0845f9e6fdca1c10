"""The number of clusters that the votes support, judged by the features.

Votes favour clusters of equal size: small groups that are far from all others are joined with each
other, or ignored in favour of halves of a large one. In the features such groups show.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import pairwise_distances, silhouette_score

from ensemblage.ensembles._consensus import cuts_of
from ensemblage.ensembles._noise import can_compare, compare_with_noise, doubted

if TYPE_CHECKING:
    from ensemblage.ensembles._plan import Plan
    from ensemblage.metrics import KChoice

#: Mean silhouette of clusters that are compact and far apart (Kaufman and Rousseeuw 1990).
_CLEAR = 0.7
#: Another number of clusters is not chosen for a difference below this.
_BETTER = 0.05
_MOST_OBJECTS = 600


def judged(consensus: Any, plan: Plan, n_members: int, seed: int) -> KChoice | None:
    """Return another choice of k than that of the consensus, if the features contradict it."""
    if not hasattr(consensus, "k_choice_"):  # the number of clusters was not chosen
        return None
    choice = doubted(consensus, plan, n_members, seed)
    clear = _clearer(consensus, plan, choice or consensus.k_choice_, n_members, seed)
    return choice if clear is None else clear


def _clearer(
    consensus: Any, plan: Plan, choice: KChoice, n_members: int, seed: int
) -> KChoice | None:
    """Return the choice of clusters that are clearly more compact and farther apart, if any.

    The mean silhouettes of a sample of the objects are compared. They are largest where few groups
    are far apart, so clusters within such groups stay if they are clear themselves, or if noise in
    the groups supports them less. Up to the number that the votes support, the most compact
    clusters are chosen if they are clear, whatever noise supports. A choice of one cluster stays:
    the features may have long tails, which look like clusters that are far apart.
    """
    if choice.k == 1:
        return None
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(plan.features))[:_MOST_OBJECTS])
    sample = np.asarray(plan.features[rows], dtype=np.float64)
    distances = pairwise_distances(sample - sample.mean(axis=0))
    cut, least = cuts_of(consensus), consensus._cuts().least
    silhouettes = {}
    for k in {choice.k, *choice.ks.tolist()}:
        labels = cut(k)
        n_clusters, smallest = len(np.unique(labels[rows])), np.bincount(labels).min()
        if n_clusters == k < len(rows) and smallest >= least(k):
            silhouettes[k] = silhouette_score(distances, labels[rows], metric="precomputed")
    if choice.k not in silhouettes:  # the sample lacks a cluster of it
        return None
    here, best = silhouettes[choice.k], max(sorted(silhouettes), key=lambda k: silhouettes[k])
    if best == choice.k or silhouettes[best] < _CLEAR:
        return None
    is_supported = choice.k < best <= consensus.k_choice_.k  # by the votes, if not beside noise
    if not is_supported and silhouettes[best] < here + _BETTER:
        return None
    if best < choice.k and (
        here >= _CLEAR
        or not can_compare(plan, n_members)
        or compare_with_noise(plan, n_members, seed, cut(best)).support.exceeded
    ):
        return None
    evidence = "moderate" if choice.evidence == "strong" else choice.evidence
    clear = (
        f"{evidence.capitalize()} evidence for {best} clusters: in the features they are compact"
        f" and far apart. Their mean silhouette is {silhouettes[best]:.2f}, that of {choice.k}"
        f" clusters is {here:.2f}."
    )
    others = [k for k in (choice.k, *choice.runners_up) if k != best]
    return replace(
        choice,
        k=best,
        evidence=evidence,
        reasons=[clear, f"From the votes alone: {consensus.k_choice_.reasons[0]}"],
        runners_up=others[:3],
    )
