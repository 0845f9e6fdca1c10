"""Curves over k from further cuts: with other seeds, and of subsets of the members.

Monti's consensus matrix counts how often two objects are together when the data are clustered
repeatedly at the same k. Here the members vary instead: a random half of them makes a consensus,
which is cut at every k. This applies to a fixed ensemble, whose members have their own k.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage import flow
from ensemblage.metrics.agreement import ari_of_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray
    from ensemblage.metrics.choosing._cuts import Cuts

    Labels = NDArray[np.int64]

#: Grid of the distribution of the consensus index; quotients of counts lie on it exactly.
GRID = np.arange(101) / 100
#: Pairs with an index above the first and up to the second are ambiguous.
_AMBIGUOUS = (10, 90)
#: Above this number of groups, pairs are sampled.
_MOST_GROUPS = 4000
_ROWS_PER_BLOCK = 512


def cuts_of_halves(
    cuts: Cuts, ks: IntArray, n_refits: int, rng: np.random.Generator
) -> list[list[Labels]]:
    """Return for each k the labels of microclusters in consensuses of random halves of members.

    A half that distinguishes fewer than k groups has no cut there, and is left out.
    """
    n_members = len(cuts.voters)
    by_k: list[list[Labels]] = [[] for _ in ks]
    for _ in range(n_refits):
        half = cuts.voters[np.sort(rng.choice(n_members, (n_members + 1) // 2, replace=False))]
        cut, n_groups = cuts.of_members(half)
        for found, k in zip(by_k, ks.tolist(), strict=True):
            if k <= n_groups:
                found.append(cut(k))
    return by_k


def cuts_by_seed(
    with_seed: Callable[[int], Callable[[int], Labels]], ks: IntArray, seeds: list[int]
) -> list[list[Labels]]:
    """Return for each k the labels of microclusters with each of the seeds."""
    cuts = [with_seed(seed) for seed in seeds]
    return [[cut(k) for cut in cuts] for k in ks.tolist()]


def stability(cuts_at_k: list[Labels], sizes: NDArray[np.int64]) -> float:
    """Return the mean adjusted Rand index of all pairs of cuts; NaN without a pair."""
    pairs = [
        ari_of_groups(a, b, sizes)
        for a, b in combinations(cuts_at_k, 2)
        if ((a >= 0) & (b >= 0)).any()
    ]
    return float(np.mean(pairs)) if pairs else float("nan")


class Distribution(NamedTuple):
    """Distribution of the consensus index of pairs of objects: ``cdf`` at `GRID`, and mean."""

    cdf: FloatArray
    mean: float


def consensus_distribution(
    cuts_at_k: list[Labels],
    sizes: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    n_jobs: int | None = None,
) -> Distribution | None:
    """Return the distribution of the consensus index over all pairs of different objects.

    The index of a pair is the share of the cuts with both objects in which they are together; pairs
    without such a cut are left out. Objects with the same labels in every cut form one group; pairs
    of groups are counted in blocks of rows.
    """
    if not cuts_at_k:
        return None
    groups = flow.microclusters(np.column_stack(cuts_at_k), n_jobs=n_jobs)[0]
    weights = np.zeros(len(groups.sizes))
    np.add.at(weights, groups.of_object, sizes)
    table = groups.table
    labelled = (table >= 0).any(axis=1)
    table, weights = table[labelled], weights[labelled]
    if len(table) > _MOST_GROUPS:
        some = np.sort(rng.choice(len(table), _MOST_GROUPS, replace=False))
        table, weights = table[some], weights[some]
    return _distribution(table, weights, n_jobs)


def _distribution(
    table: NDArray[np.int32], weights: FloatArray, n_jobs: int | None
) -> Distribution | None:
    counts = np.zeros(len(GRID) + 1)
    total = 0.0
    voted = (table >= 0).astype(np.float64)
    for start in range(0, len(table), _ROWS_PER_BLOCK):
        rows = slice(start, start + _ROWS_PER_BLOCK)
        index = flow.coassociation(table[rows], table, n_jobs=n_jobs)
        pairs = np.outer(weights[rows], weights)
        own = np.arange(start, min(start + _ROWS_PER_BLOCK, len(table)))
        pairs[own - start, own] -= weights[own]  # exclude pairs of an object with itself
        if not voted.all():
            pairs[voted[rows] @ voted.T == 0] = 0.0
        # The first point of the grid that is not below the index.
        place = np.searchsorted(GRID, index.ravel(), side="left")
        counts += np.bincount(place, weights=pairs.ravel(), minlength=len(counts))
        total += float((index * pairs).sum())
    n_pairs = counts.sum()
    if n_pairs <= 0:
        return None
    return Distribution(np.cumsum(counts)[: len(GRID)] / n_pairs, total / n_pairs)


def ambiguous_share(distribution: Distribution) -> float:
    """Return PAC: the share of pairs that are neither nearly always nor hardly ever together."""
    low, high = _AMBIGUOUS
    return float(distribution.cdf[high] - distribution.cdf[low])


def area_gains(areas: FloatArray) -> FloatArray:
    """Return by what share the area under the distribution grows from one k to the next.

    The first k has the area itself, as Monti and others define it.

    Examples
    --------
    >>> import numpy as np
    >>> area_gains(np.array([0.5, 0.6, 0.63])).round(3)
    array([0.5 , 0.2 , 0.05])
    """
    gains: FloatArray = areas.copy()
    before = areas[:-1]
    gains[1:] = np.divide(np.diff(areas), before, out=np.zeros(len(before)), where=before > 0)
    return gains
