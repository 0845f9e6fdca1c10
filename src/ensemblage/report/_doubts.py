"""Why a consensus should be looked at twice: what stands above everything else in a report."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.methods import (
    EAC,
    LWGP,
    Consensus,
    Vote,
    agreement_beside,
    default_beside,
    without_comparison,
)
from ensemblage.metrics.agreement import ari_of_groups
from ensemblage.metrics.explain import lowest_usual
from ensemblage.report._words import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage import metrics

#: Methods of different kinds that are cheap: a graph, a tree, votes.
_OTHERS = (LWGP, EAC, Vote)
_WEAK = ("weak", "none")
_NAMED = 5


def doubts(fitted: Any, splits: metrics.SplitSummary) -> list[str]:
    """Return the reasons to doubt a consensus, each a sentence or two; none where all is well."""
    name = method_name(fitted)
    found = [
        _of_members(fitted, name),
        _of_the_graph(fitted),
        _of_k(fitted),
        _of_splits(splits),
    ]
    return [text for text in found if text]


def method_name(fitted: Any) -> str:
    """Return the method whose labels these are, as texts call it."""
    name = type(fitted).__name__
    if isinstance(fitted, Consensus) and fitted.method != "auto":
        return type(fitted.estimator_).__name__
    return name


def _of_members(fitted: Any, name: str) -> str:
    """Say that a method agrees less than others do: with the clusterings, or with other methods."""
    with warnings.catch_warnings(), without_comparison():
        warnings.simplefilter("ignore")  # the fit has said what there was to say
        default = default_beside(fitted)
        if default is None:
            return ""
        found = agreement_beside(fitted, default)
        others = _other_labels(fitted, default, name)
    texts = []
    if found.is_doubtful:
        texts.append(
            f"{name} agrees less with the clusterings than the default method: its clusters have a"
            f" mean NMI of {found.own:.2f} with them, those of Consensus {found.default:.2f}."
        )
    own, between = _agreement_with(fitted, others)
    if own[0] < lowest_usual(own):
        texts.append(
            f"{name} disagrees with other methods: its mean ARI with {listed(list(others))} is"
            f" {own[0]:.2f}; these have {between:.2f} with each other."
        )
    if texts:
        texts.append(f"Compare with Consensus(n_clusters={fitted.n_clusters_}).")
    return " ".join(texts)


def _other_labels(fitted: Any, default: Any, name: str) -> dict[str, NDArray[np.int64]]:
    """Return the labels of microclusters by other methods, at the same number of clusters."""
    own = type(default).__name__
    found = {} if name == own else {own: default._micro_labels}
    for other in _OTHERS:
        if other.__name__ == name:
            continue
        estimator = other(fitted.n_clusters_, n_jobs=fitted.n_jobs)
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
        estimator.fit(fitted._ensemble, member_weight=fitted.member_weight_)
        found[other.__name__] = estimator._micro_labels
    return found


def _agreement_with(
    fitted: Any, others: dict[str, NDArray[np.int64]]
) -> tuple[NDArray[np.float64], float]:
    """Return the mean ARI of each method with the rest, ours first; that of the others alone."""
    sizes = fitted.microclusters_.sizes
    all_labels = [fitted._micro_labels, *others.values()]
    scores = np.array([[ari_of_groups(a, b, sizes) for b in all_labels] for a in all_labels])
    n = len(scores)
    means = (scores.sum(axis=1) - 1.0) / (n - 1)
    between = scores[1:, 1:][~np.eye(n - 1, dtype=bool)].mean()
    return means, float(between)


def _of_the_graph(fitted: Any) -> str:
    """Say that the default method took its second choice."""
    second = isinstance(fitted, Consensus) and fitted._took_second_choice
    return " ".join(fitted.reasons_) if second else ""


def _of_k(fitted: Any) -> str:
    """Say that the number of clusters was chosen on weak evidence."""
    choice: Any = getattr(fitted, "k_choice_", None)
    evidence = getattr(choice, "evidence", None)
    if evidence not in _WEAK:
        return ""
    runners_up = list(map(str, choice.runners_up))
    others = f" Also look at {listed(runners_up)}." if runners_up else ""
    if evidence == "none":
        return f"The clusterings show no structure, so all objects are in one cluster.{others}"
    return f"The evidence for {choice.k} clusters is weak.{others}"


def _of_splits(splits: metrics.SplitSummary) -> str:
    """Say which clusters look like two groups."""
    found = np.flatnonzero(splits.two_groups).tolist()
    if not found:
        return ""
    if len(found) == 1:
        text = f"Cluster {found[0]} looks like two groups"
    else:
        shown = [str(cluster) for cluster in found[:_NAMED]]
        more = f" and {len(found) - _NAMED} more" * (len(found) > _NAMED)
        text = f"Clusters {listed(shown)}{more} look like two groups each"
    return (
        f"{text}: see the heatmap. Confidence does not show this. A larger k or another method may"
        " fit better."
    )
