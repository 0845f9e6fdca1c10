"""Warnings of clusters that the votes do not determine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage import _validate, flow
from ensemblage._messages import Message, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Other numbers of clusters are examined up to this distance.
_NEAR = 20


def warn_of_chance(estimator: Any, n_clusters: int) -> None:
    """Warn if chance decided which parts share a cluster."""
    if not estimator._warns_of_chance:
        return
    unlinked = of_unlinked_groups(estimator, n_clusters)
    if unlinked is not None:
        _validate.warn(unlinked, _validate.UnlinkedGroupsWarning)
        return
    tied = of_a_tie(estimator, n_clusters)
    if tied is not None:
        _validate.warn(tied, _validate.TiedCutWarning)


def of_unlinked_groups(estimator: Any, n_clusters: int) -> Message | None:
    """Return a warning if clusters contain groups that no vote links, or only stray votes."""
    exact = estimator._ensemble.links.n_groups if estimator._leaves_to_chance(n_clusters) else 0
    firm = n_firm_groups(estimator, n_clusters)
    n_groups = max(exact, firm)
    if n_groups <= n_clusters:
        return None
    linked, joins, least = "", "no clustering joins (unless it joins all objects)", ""
    if firm > exact:
        linked, joins = ", if stray votes are ignored", "hardly any clustering joins"
    elif _least_size_joins_groups(estimator, n_groups):
        least = " with {least}"
    return Message(
        f"The votes link the objects into {{n_groups}} groups{linked}, but {{n_clusters}} clusters"
        f" were formed, so groups that {joins} share a cluster. The votes do not determine which"
        f" ones, and confidence is 0 except for a group that is most of its cluster. Pass {{k}}"
        f" from {{n_groups}} up{least}, or add coarser clusterings.",
        n_groups=n_groups,
        n_clusters=n_clusters,
        k=Parameter("n_clusters"),
        least=Parameter("min_cluster_size", 1),
    )


def _least_size_joins_groups(estimator: Any, n_groups: int) -> bool:
    """Tell whether a least size of clusters joins groups even if there is a cluster for each."""
    tree = getattr(estimator, "_named", None) or getattr(estimator, "_tree", None) or estimator
    if not hasattr(tree, "_parts") or not tree._cuts_a_tree() or tree._parts(n_groups) is None:
        return False
    return not tree._cuts_between_groups(n_groups)


def n_firm_groups(estimator: Any, n_clusters: int) -> int:
    """Return the number of groups that only stray votes link; 0 if that is not known."""
    if n_clusters == 1 or estimator._from_similarity:
        return 0
    return flow.n_large_groups(estimator._ensemble.firm_links, estimator.microclusters_.sizes)


def of_a_tie(estimator: Any, n_clusters: int) -> Message | None:
    """Return a warning if equally similar parts were joined only in part."""
    if not estimator._is_tied(n_clusters):
        return None

    def first(numbers: Iterable[int]) -> list[int]:
        is_tied: Callable[[int], bool] = estimator._is_tied
        linked = (k for k in numbers if of_unlinked_groups(estimator, k) is None)
        return [next((k for k in linked if not is_tied(k)), 1)]

    most = min(n_clusters + _NEAR, estimator.n_microclusters_)
    below = first(range(n_clusters - 1, max(1, n_clusters - _NEAR), -1))
    others = [k for k in below + first(range(n_clusters + 1, most + 1)) if k > 1]
    advice = f" Pass {' or '.join(['{k}', *map(str, others[1:])])}." if others else ""
    return Message(
        "The votes do not determine {n_clusters} clusters by {method}: several parts are equally"
        " similar, and only some of them were joined; which ones depends on the order of objects."
        + advice,
        n_clusters=n_clusters,
        method=type(estimator).__name__,
        k=Parameter("n_clusters", *others[:1]),
    )
