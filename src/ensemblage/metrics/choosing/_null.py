"""Comparison of the agreement of members with that of permuted votes.

Each member's labels are permuted over the objects, which preserves only the sizes of clusters. A
consensus of such votes also agrees with its members, because it is built from them. Only the excess
of the real votes is evidence for more than one cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage import flow
from ensemblage.metrics.choosing import _sample
from ensemblage.metrics.choosing._curves import mean_nmi

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray
    from ensemblage.metrics.choosing._cuts import Cuts

N_PERMUTATIONS = 20
#: With fewer objects many permutations are the same votes again.
_FEWEST_OBJECTS = 10
#: With permuted votes every object is a separate microcluster, so a sample is used.
MOST_OBJECTS = 300
_MOST_MEMBERS = 50
_ROUNDING = 1e-9


class Null(NamedTuple):
    """The excess of a curve over k over the mean of all curves, of the data and of null data.

    Attributes
    ----------
    excess : float
        The largest excess of the data over the mean of all, over k.
    limit : float
        The largest such value of data without structure.
    """

    excess: float
    limit: float

    @property
    def exceeded(self) -> bool:
        """Whether the members agree more than by chance."""
        return self.excess > self.limit + _ROUNDING


def compare_with_permuted(cuts: Cuts, ks: IntArray, rng: np.random.Generator) -> Null | None:
    """Compare the agreement with the members with that of permuted votes.

    For each k the mean NMI of the tree's cut with the members, less the mean of this over the
    votes and their `N_PERMUTATIONS` permutations; then the largest over k. Votes without structure
    exceed all permutations in one of 21 cases. None if there is nothing to permute: a single
    member, one group only, or fewer than ten objects.
    """
    if len(cuts.voters) < 2:
        return None
    sample = _sample.draw(*cuts.votes, MOST_OBJECTS, rng)
    if len(sample.rows) < 2 or sample.sizes.sum() < _FEWEST_OBJECTS:
        return None
    table, weight = np.repeat(sample.table, sample.sizes, axis=0), sample.weight
    if table.shape[1] > _MOST_MEMBERS:
        some = np.sort(rng.choice(table.shape[1], _MOST_MEMBERS, replace=False))
        table, weight = table[:, some], None if weight is None else weight[some]
        table = table[(table >= 0).any(axis=1)]
    of_members = int(np.median([len(np.unique(column[column >= 0])) for column in table.T]))
    ks = np.union1d(ks, [max(of_members, ks[0])])  # finer members have no structure at a coarse k
    ks = ks[ks <= len(sample.rows)]
    tables = [table, *(permuted(table, rng) for _ in range(N_PERMUTATIONS))]
    curves = [_agreement(cuts, one, weight, ks) for one in tables]
    return null_of(curves)


def null_of(curves: list[FloatArray]) -> Null:
    """Compare the first curve with the others, which are of data without structure.

    Examples
    --------
    >>> null_of([np.array([0.0, 9.0]), np.array([1.0, 0.0]), np.array([2.0, 0.0])])
    Null(excess=6.0, limit=1.0)
    """
    excess = (np.array(curves) - np.mean(curves, axis=0)).max(axis=1)
    return Null(float(excess[0]), float(excess[1:].max()))


def permuted(table: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the table with each member's votes permuted; missing votes stay in place."""
    mixed = table.copy()
    for m in range(table.shape[1]):
        voted = np.flatnonzero(table[:, m] >= 0)
        mixed[voted, m] = table[rng.permutation(voted), m]
    return mixed


def _agreement(
    cuts: Cuts, table: NDArray[np.int32], weight: FloatArray | None, ks: IntArray
) -> FloatArray:
    """Return the mean NMI of a tree's cuts with the members, for each k."""
    sizes = np.ones(len(table), dtype=np.int64)
    cut, largest = cuts.tree(table, sizes, weight)
    members = flow.membership(table)
    ends = np.cumsum(table.max(axis=0) + 1)
    scores = []
    for k in ks.tolist():
        labels = cut(min(k, largest))
        clusters = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
        scores.append(mean_nmi(members.T @ clusters, ends, weight))
    return np.array(scores)
