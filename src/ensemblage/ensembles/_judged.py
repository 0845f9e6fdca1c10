"""The number of clusters that the votes support, judged by the features.

Votes favour clusters of equal size: small groups that are far from all others are joined with each
other, or ignored in favour of halves of a large one. In the features such groups show.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import pairwise_distances, silhouette_score

from ensemblage.ensembles._noise import doubted
from ensemblage.flow import one_blas_thread

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
    clear = _clearer(consensus, plan, choice or consensus.k_choice_, seed)
    return choice if clear is None else clear


def _clearer(consensus: Any, plan: Plan, choice: KChoice, seed: int) -> KChoice | None:
    """Return the choice of clusters that are clearly more compact and farther apart, if any.

    The mean silhouettes of a sample of the objects are compared. A choice of one cluster stays: the
    features may have long tails, which look like clusters that are far apart.
    """
    if choice.k == 1:
        return None
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(len(plan.features))[:_MOST_OBJECTS])
    distances = pairwise_distances(np.asarray(plan.features[rows], dtype=np.float64))
    units, sizes = consensus.microclusters_.of_object[rows], consensus.microclusters_.sizes
    cut, least = copy(consensus)._cut_microclusters, consensus._cuts().least
    silhouettes = {}
    for k in choice.ks.tolist():
        with one_blas_thread:
            labels = cut(k)
        smallest = np.bincount(labels, sizes, minlength=k).min()
        if len(np.unique(labels[units])) == k < len(rows) and smallest >= least(k):
            silhouettes[k] = silhouette_score(distances, labels[units], metric="precomputed")
    best = max(silhouettes, key=lambda k: silhouettes[k], default=choice.k)
    here = silhouettes.get(choice.k, -1.0)
    if best == choice.k or silhouettes[best] < max(_CLEAR, here + _BETTER):
        return None
    compared = "" if here < 0 else f", that of {choice.k} clusters is {here:.2f}"
    evidence = "moderate" if choice.evidence == "strong" else choice.evidence
    clear = (
        f"{evidence.capitalize()} evidence for {best} clusters: in the features they are compact"
        f" and far apart. Their mean silhouette is {silhouettes[best]:.2f}{compared}."
    )
    others = [k for k in (choice.k, *choice.runners_up) if k != best]
    return replace(
        choice,
        k=best,
        evidence=evidence,
        reasons=[clear, f"From the votes alone: {consensus.k_choice_.reasons[0]}"],
        runners_up=others[:3],
    )
