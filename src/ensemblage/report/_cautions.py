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
from ensemblage.methods.fresh import seeded
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
#: Methods agree with each other if their ARI is at most this far below the largest.
_NEAR_BEST = 0.1


def cautions(
    fitted: Any, splits: metrics.SplitSummary, choice: metrics.KChoice | None = None
) -> list[str]:
    """Return the warnings about a consensus, each a sentence or two, if any.

    `choice` is the choice of k by the model, None if the number of clusters was passed.
    """
    name = method_name(fitted)
    texts = [
        _of_members(fitted, name),
        _of_the_graph(fitted),
        _of_k(choice),
        _of_splits(splits),
    ]
    return [text for text in texts if text]


def method_name(fitted: Any) -> str:
    """Return the method of the labels, as texts name it."""
    name = type(fitted).__name__
    if isinstance(fitted, Consensus) and fitted._named is not None:
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
        own, between = _agreement_with(fitted, others)
        is_outlier = own[0] < lowest_usual(own)
        agreement_of_small = _agreement_with_small(fitted, name, others) if is_outlier else None
    called, usual, its_own = name, "the default method", type(default).__name__
    if name == its_own and fitted.min_cluster_size != "auto":
        called = f"{name} with min_cluster_size={fitted.min_cluster_size}"
        usual, its_own = "with the default min_cluster_size", "the default"
    call = f"Consensus(n_clusters={fitted.n_clusters_})"
    texts, advice = [], []
    if agreement.is_unreliable:
        texts.append(
            f"{called} agrees less with the clusterings than {usual}: its clusters have a mean NMI"
            f" of {agreement.own:.2f} with them, those of {its_own} {agreement.default:.2f}."
        )
        advice.append(f"Compare with {call}.")
    if is_outlier:
        texts.append(
            f"{called} disagrees with other methods: its mean ARI with {listed(list(others))} is"
            f" {own[0]:.2f}; these have {between:.2f} with each other."
        )
        agreeing = _agreeing(fitted, others)
        advice.append(
            f"Compare with {call}."
            if type(default).__name__ in agreeing
            else f"Compare with {listed(agreeing)} at n_clusters={fitted.n_clusters_}."
        )
    if agreement_of_small is not None:
        advice.append(
            "Clusters with fewer objects than min_cluster_size were not formed. With"
            f" min_cluster_size=1 the mean ARI is {agreement_of_small:.2f}: small clusters may be"
            " real."
        )
    return " ".join([*texts, *dict.fromkeys(advice)])


def _other_labels(fitted: Any, default: Any, name: str) -> dict[str, NDArray[np.int64]]:
    """Return the labels of microclusters by other methods, at the same number of clusters."""
    own = type(default).__name__
    labels = {} if name == own else {own: default._micro_labels}
    for other in _OTHERS:
        if other.__name__ == name:
            continue
        estimator = seeded(other, fitted.n_clusters_, 0, n_jobs=fitted.n_jobs)
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


def _agreeing(fitted: Any, others: dict[str, NDArray[np.int64]]) -> list[str]:
    """Return the two methods that agree best, and those that agree nearly as well with both."""
    sizes = fitted.microclusters_.sizes
    labels = list(others.values())
    scores = np.array([[ari_of_groups(a, b, sizes) for b in labels] for a in labels])
    pairs = np.where(np.eye(len(labels), dtype=bool), -np.inf, scores)
    best = list(np.unravel_index(pairs.argmax(), pairs.shape))
    agree = scores[best].min(axis=0) >= pairs.max() - _NEAR_BEST
    return [name for name, does in zip(others, agree.tolist(), strict=True) if does]


def _agreement_with_small(
    fitted: Any, name: str, others: dict[str, NDArray[np.int64]]
) -> float | None:
    """Return the mean ARI of `Consensus` with other methods, without a least size of clusters.

    None if the least size is not the reason that it disagrees with them.
    """
    if name != Consensus.__name__ or fitted.min_cluster_size == 1 or fitted._took_second_choice:
        return None
    small = Consensus(fitted.n_clusters_, min_cluster_size=1, random_state=0, n_jobs=fitted.n_jobs)
    small.fit(fitted._ensemble, member_weight=fitted.member_weight_)
    means, _ = _agreement_with(small, others)
    return None if means[0] < lowest_usual(means) else float(means[0])


def _of_the_graph(fitted: Any) -> str:
    """Warn if the default method used its second choice."""
    second = isinstance(fitted, Consensus) and fitted._took_second_choice
    return " ".join(fitted.reasons_) if second else ""


def _of_k(choice: metrics.KChoice | None) -> str:
    """Warn if the number of clusters was chosen on weak evidence."""
    if choice is None or choice.evidence not in _WEAK:
        return ""
    runners_up = list(map(str, choice.runners_up))
    others = f" Also try {listed(runners_up)}." if runners_up else ""
    if choice.evidence == "none":
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
    better = "A larger k" if len(splits.sizes) == 1 else "A larger k or another method"
    return f"{text}: see the heatmap. Confidence does not show this. {better} may fit better."
