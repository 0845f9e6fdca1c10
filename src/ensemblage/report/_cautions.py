"""Warnings about a consensus, shown at the top of a report."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.methods import (
    EAC,
    LWGP,
    Consensus,
    Vote,
    agreement_with_default,
    default_for,
    without_comparison,
)
from ensemblage.metrics.agreement import ari_of_groups
from ensemblage.metrics.explain import lowest_usual
from ensemblage.report._findings import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage import metrics

#: Cheap methods of different kinds: a graph, a tree, votes.
_OTHERS = (LWGP, EAC, Vote)
_WEAK = ("weak", "none")
_NAMED = 5


def cautions(fitted: Any, splits: metrics.SplitSummary) -> list[str]:
    """Return the warnings about a consensus, each a sentence or two, if any."""
    name = method_name(fitted)
    texts = [
        _of_members(fitted, name),
        _of_the_graph(fitted),
        _of_k(fitted),
        _of_splits(splits),
    ]
    return [text for text in texts if text]


def method_name(fitted: Any) -> str:
    """Return the method of the labels, as texts name it."""
    name = type(fitted).__name__
    if isinstance(fitted, Consensus) and fitted.method != "auto":
        return type(fitted.estimator_).__name__
    return name


def _of_members(fitted: Any, name: str) -> str:
    """Warn if a method agrees less than others with the clusterings, or with other methods."""
    with warnings.catch_warnings(), without_comparison():
        warnings.simplefilter("ignore")  # the fit has raised these warnings
        default = default_for(fitted)
        if default is None:
            return ""
        agreement = agreement_with_default(fitted, default)
        others = _other_labels(fitted, default, name)
    texts = []
    if agreement.is_unreliable:
        texts.append(
            f"{name} agrees less with the clusterings than the default method: its clusters have a"
            f" mean NMI of {agreement.own:.2f} with them, those of Consensus"
            f" {agreement.default:.2f}."
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
    labels = {} if name == own else {own: default._micro_labels}
    for other in _OTHERS:
        if other.__name__ == name:
            continue
        estimator = other(fitted.n_clusters_, n_jobs=fitted.n_jobs)
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
        estimator.fit(fitted._ensemble, member_weight=fitted.member_weight_)
        labels[other.__name__] = estimator._micro_labels
    return labels


def _agreement_with(
    fitted: Any, others: dict[str, NDArray[np.int64]]
) -> tuple[NDArray[np.float64], float]:
    """Return the mean ARI of each method with the rest, ours first; and among the others."""
    sizes = fitted.microclusters_.sizes
    all_labels = [fitted._micro_labels, *others.values()]
    scores = np.array([[ari_of_groups(a, b, sizes) for b in all_labels] for a in all_labels])
    n = len(scores)
    means = (scores.sum(axis=1) - 1.0) / (n - 1)
    between = scores[1:, 1:][~np.eye(n - 1, dtype=bool)].mean()
    return means, float(between)


def _of_the_graph(fitted: Any) -> str:
    """Warn if the default method used its second choice."""
    second = isinstance(fitted, Consensus) and fitted._took_second_choice
    return " ".join(fitted.reasons_) if second else ""


def _of_k(fitted: Any) -> str:
    """Warn if the number of clusters was chosen on weak evidence."""
    choice: Any = getattr(fitted, "k_choice_", None)
    evidence = getattr(choice, "evidence", None)
    if evidence not in _WEAK:
        return ""
    runners_up = list(map(str, choice.runners_up))
    others = f" Also try {listed(runners_up)}." if runners_up else ""
    if evidence == "none":
        return f"The clusterings show no structure, so all objects are in one cluster.{others}"
    return f"The evidence for {choice.k} clusters is weak.{others}"


def _of_splits(splits: metrics.SplitSummary) -> str:
    """Warn of clusters that may be two groups."""
    clusters = np.flatnonzero(splits.two_groups).tolist()
    if not clusters:
        return ""
    if len(clusters) == 1:
        text = f"Cluster {clusters[0]} may be two groups"
    else:
        shown = [str(cluster) for cluster in clusters[:_NAMED]]
        more = f" and {len(clusters) - _NAMED} more" * (len(clusters) > _NAMED)
        text = f"Clusters {listed(shown)}{more} may be two groups each"
    return (
        f"{text}: see the heatmap. Confidence does not show this. A larger k or another method may"
        " fit better."
    )
