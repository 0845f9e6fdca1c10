"""Compact groups that k-means members from random starts have missed.

One start from random objects seldom puts a centre into a small group, however far it is from all
others, so most members join small groups, and their consensus is sure of it. Starts that are far
from each other find such groups. Where clusters are not round, they are hardly more compact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.ensembles._consensus import cuts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.ensembles._plan import Plan

#: Groups are missed if the clusters are wider by this factor, in sums of squares, than those of
#: k-means. On datasets and on moons and circles it is below 1.6, where groups are missed 2.5 to 20.
_WIDER = 2.0
#: Outliers make k-means more compact too, but they are not groups.
_FEWEST = 5
#: So many numbers of clusters above the chosen one are compared too.
_MORE = 4
_MOST_OBJECTS = 2000
_N_STARTS = 3


def without_missed_groups(plan: Plan, consensus: Any, seed: int, *, is_chosen: bool) -> Plan | None:
    """Return a plan with starts far from each other if the clusters miss groups, otherwise None.

    The clusters of a sample are compared with the most compact of three runs of k-means with as
    many clusters. If their number was chosen, by members that may have missed groups, the next
    numbers are compared too.
    """
    if plan.methods != ("kmeans",):
        return None
    n, k = len(plan.features), int(consensus.n_clusters_)
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.permutation(n)[:_MOST_OBJECTS])
    rows = np.asarray(plan.features[drawn], dtype=np.float64)
    most = min(len(rows), consensus.n_microclusters_, k + (_MORE if is_chosen else 0))
    cut = cuts_of(consensus)
    for n_clusters in range(max(2, k), most + 1):
        labels = consensus.labels_ if n_clusters == k else cut(n_clusters)
        if _misses(rows, labels[drawn], n_clusters, rng):
            return replace(plan, methods=("kmeans++",))
    return None


def _misses(
    rows: NDArray[Any], labels: NDArray[np.int64], k: int, rng: np.random.Generator
) -> bool:
    runs = [_kmeans(rows, k, rng) for _ in range(_N_STARTS)]
    widths = [_width(rows, run) for run in runs]
    best = int(np.argmin(widths))
    if np.bincount(runs[best], minlength=k).min() < _FEWEST:
        return False
    return _width(rows, labels) > _WIDER * widths[best]


def _kmeans(rows: NDArray[Any], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return flow.bounded_lloyd(rows, flow.spread_starts(rows, k, rng))[1]


def _width(rows: NDArray[Any], labels: NDArray[np.int64]) -> float:
    """Return the sum of squared distances to the means of the clusters."""
    centre = rows.mean(axis=0)  # differences of large numbers would lose digits
    sums = np.stack([np.bincount(labels, column) for column in (rows - centre).T], axis=1)
    means = sums / np.maximum(np.bincount(labels), 1)[:, None]
    return float(((rows - centre - means[labels]) ** 2).sum())
