"""Recurrence of clusters in consensuses of halves of the members.

A cluster that the votes support recurs when only half of the members vote; a split that they do not
support is missing or different. Clusters are compared one by one, so that one wrong split among
many right ones is detected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.metrics.choosing import _sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray
    from ensemblage.metrics.choosing._cuts import Cuts

    Labels = NDArray[np.int64]

#: The number of sampled objects, of divisions of the members in halves, and the maximal number of
#: members in a half: the cost does not grow with the data.
MOST_OBJECTS = 600
N_DIVISIONS = 4
_MOST_MEMBERS = 20
#: Doubling the number of clusters may cost 7 % of recurrence: 2 ** (1 / 10) = 1.07.
_STRICTNESS = 10


def support_curve(cuts: Cuts, ks: IntArray, *, n_divisions: int, seed: int = 0) -> FloatArray:
    """Return the support for each k; above the number of microclusters, that of this number."""
    labels = [cuts.cut(min(int(k), len(cuts.sizes))) for k in ks]
    recurrences = recurrence(cuts, ks, labels, np.random.default_rng(seed), n_divisions)
    return support(recurrences, labels, cuts.sizes)


def recurrence(
    cuts: Cuts,
    ks: IntArray,
    labels: list[Labels],
    rng: np.random.Generator,
    n_divisions: int = N_DIVISIONS,
) -> FloatArray:
    """Return for each k how well its clusters recur in halves of the members, in [0, 1].

    For each cluster and each half: the largest Jaccard index with a cluster of the half at the same
    k, and with one at any of `ks`; the mean of both, over halves and clusters.
    """
    n_members = len(cuts.voters)
    sample = _sample.draw(*cuts.votes, MOST_OBJECTS, rng)
    of_sample = [label[sample.rows] for label in labels]
    overlaps_of_halves = []
    for _ in range(n_divisions):
        order = rng.permutation(n_members)
        for half in (order[: n_members // 2], order[n_members // 2 :]):
            some = np.sort(half[:_MOST_MEMBERS])
            if sample.table[:, some].max() < 0:
                continue  # these members have no vote on a sampled object
            weight = None if sample.weight is None else sample.weight[some]
            cut, largest = cuts.tree(sample.table[:, some], sample.sizes, weight)
            in_half = [cut(min(int(k), largest)) for k in ks]
            overlaps_of_halves.append(overlaps(of_sample, in_half, sample.sizes))
    # Clusters without a sampled object have no value in any half.
    by_k = list(zip(*overlaps_of_halves, strict=True)) or [(np.zeros(1),)] * len(ks)
    return np.array([np.nanmean(np.array(at_k)) for at_k in by_k])


def support(recurring: FloatArray, labels: list[Labels], sizes: NDArray[np.int64]) -> FloatArray:
    """Return the effective number of clusters of each cut times the 10th power of recurrence.

    The effective number is that of equal clusters with the same entropy, so that single outliers
    hardly count.
    """
    return np.array([effective_number(label, sizes) for label in labels]) * recurring**_STRICTNESS


def effective_number(labels: Labels, sizes: NDArray[np.int64]) -> float:
    """Return the exponential of the entropy of the sizes of clusters of several objects.

    It is multiplied by the share of the objects in them. Clusters of one object do not count,
    because halves of the members give any single object again that their votes distinguish.

    Examples
    --------
    >>> import numpy as np
    >>> round(effective_number(np.array([0, 1, 2]), np.array([5, 5, 5])), 6)
    3.0
    >>> round(effective_number(np.array([0, 1, 2]), np.array([99, 99, 2])), 2)
    2.1
    >>> round(effective_number(np.array([0, 1, 2]), np.array([2, 2, 1])), 6)
    1.6
    """
    objects = np.bincount(labels, weights=sizes)
    several = objects[objects > 1]
    if not len(several):
        return 0.0
    shares = several / several.sum()
    return float(np.exp(-np.sum(shares * np.log(shares))) * several.sum() / objects.sum())


def overlaps(
    cuts: list[Labels], others: list[Labels], sizes: NDArray[np.int64]
) -> list[FloatArray]:
    """Return how well each cluster of each cut recurs in others, in [0, 1].

    The mean of the largest Jaccard index with a cluster of the same position in `others`, and the
    largest with any of `others`. Rows without a label (-1) in others are left out; a cluster
    without rows has NaN.
    """
    labelled = others[0] >= 0
    sizes = sizes[labelled]
    mine, my_places = _distinct(cuts, labelled)
    theirs, their_places = _distinct(others, labelled)
    common = (mine * sizes) @ theirs.T
    my_sizes, their_sizes = mine @ sizes, theirs @ sizes
    together = my_sizes[:, None] + their_sizes - common
    jaccard = np.divide(common, together, out=np.zeros_like(common), where=together > 0)
    jaccard[my_sizes == 0] = np.nan
    anywhere = jaccard.max(axis=1)
    return [
        (jaccard[np.ix_(own, at_k)].max(axis=1) + anywhere[own]) / 2
        for own, at_k in zip(my_places, their_places, strict=True)
    ]


def _distinct(
    cuts: list[Labels], known: NDArray[np.bool_]
) -> tuple[FloatArray, list[NDArray[np.intp]]]:
    """Return the different clusters of all cuts as rows of 0 and 1, and those of each cut.

    Cuts of a tree share most of their clusters.
    """
    place: dict[bytes, int] = {}
    rows: list[NDArray[np.bool_]] = []
    of_cuts = []
    for labels in cuts:
        clusters = labels[known] == np.arange(int(labels.max()) + 1)[:, None]
        keys = [row.tobytes() for row in np.packbits(clusters, axis=1)]
        for key, row in zip(keys, clusters, strict=True):
            if key not in place:
                place[key] = len(rows)
                rows.append(row)
        of_cuts.append(np.array([place[key] for key in keys]))
    return np.array(rows, dtype=np.float64), of_cuts
