"""Curves over k that come from one fit, as functions of arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ensemblage import flow
from ensemblage.metrics.confidence import cluster_weights, confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray
    from ensemblage.metrics.choosing._cuts import Cuts

#: Columns of several k are multiplied at once while they take no more bytes than this.
_BATCH_BYTES = 1 << 27


def lifetimes(heights: FloatArray, ks: IntArray) -> FloatArray:
    """Return how long a tree has exactly k clusters, as a difference of merge heights.

    From k + 1 to k clusters is the k-th merge from the end, from k to k - 1 the one after it. The
    objects of a microcluster merge at height 0, so n clusters begin there.

    Examples
    --------
    Three pairs that merge at 0.2 and then one after the other:

    >>> import numpy as np
    >>> lifetimes(np.array([0.2, 0.2, 0.2, 0.9, 1.0]), np.array([2, 3, 4])).round(3)
    array([0.1, 0.7, 0. ])
    """
    last_first = np.append(heights[::-1], 0.0)
    return last_first[ks - 2] - last_first[ks - 1]


def eigengaps(eigenvalues: FloatArray, ks: IntArray) -> FloatArray:
    """Return by how much the k-th largest eigenvalue exceeds the next; those missing are 0.

    Examples
    --------
    >>> import numpy as np
    >>> eigengaps(np.array([1.0, 0.9, 0.8, 0.1]), np.array([2, 3, 4, 5])).round(3)
    array([0.1, 0.7, 0.1, 0. ])
    """
    values = np.zeros(max(len(eigenvalues), int(ks.max()) + 1))
    values[: len(eigenvalues)] = np.clip(eigenvalues, 0.0, None)
    return values[ks - 1] - values[ks]


def agreement_and_confidence(
    cuts: Cuts, labels: list[NDArray[np.int64]]
) -> tuple[FloatArray, FloatArray]:
    """Return the mean NMI with the members, and the mean confidence of objects, of each cut.

    Both need sums over the objects of each cluster, so the cuts go through the sparse votes and
    through the similarity many at a time, and nothing is done object by object.
    """
    members = flow.membership(cuts.table)
    ends = np.cumsum(cuts.table.max(axis=0) + 1)
    agreement, sureness = [], []
    for some, weights, places in _batches(labels, cuts.sizes):
        counts = members.T @ weights
        sums = cuts.similarity_sums(weights)
        for label, (start, stop) in zip(some, places, strict=True):
            agreement.append(mean_nmi(counts[:, start:stop], ends, cuts.member_weight))
            per_row = confidence(sums[:, start:stop], label, cuts.sizes, cuts.to_itself)
            sureness.append(float(np.average(per_row, weights=cuts.sizes)))
    return np.array(agreement), np.array(sureness)


def _batches(
    labels: list[NDArray[np.int64]], sizes: NDArray[np.int64]
) -> Iterator[tuple[list[NDArray[np.int64]], FloatArray, list[tuple[int, int]]]]:
    """Give a few cuts at a time: labels, their columns side by side, and where each's are."""
    widths = [int(label.max()) + 1 for label in labels]
    room = max(1, _BATCH_BYTES // (8 * len(sizes)))
    first = 0
    while first < len(labels):
        last = first + 1
        while last < len(labels) and sum(widths[first : last + 1]) <= room:
            last += 1
        ends = np.cumsum([0, *widths[first:last]]).tolist()
        columns = [
            cluster_weights(label, sizes, width)
            for label, width in zip(labels[first:last], widths[first:last], strict=True)
        ]
        yield labels[first:last], np.hstack(columns), list(pairwise(ends))
        first = last


def mean_nmi(counts: FloatArray, ends: IntArray, weight: FloatArray | None) -> float:
    """Return the mean NMI of a clustering with the members, given all their common counts.

    Rows are clusters of the members, which end at `ends`; a member without votes is left out, and
    so is one that weighs nothing. NMI is I / sqrt(H H), as Strehl and Ghosh average it.
    """
    starts = np.concatenate([[0], ends[:-1]])
    voting = np.flatnonzero(ends > starts)
    starts, n_rows = starts[voting], (ends - starts)[voting]
    of_members = np.add.reduceat(counts, starts, axis=0)
    totals = of_members.sum(axis=1)
    heard = totals > 0
    totals[~heard] = 1.0
    of_rows = np.repeat(totals, n_rows)
    joint = counts / of_rows[:, None]
    h_members = -np.add.reduceat(_plogp(counts.sum(axis=1) / of_rows), starts)
    h_clusters = -_plogp(of_members / totals[:, None]).sum(axis=1)
    h_joint = -np.add.reduceat(_plogp(joint).sum(axis=1), starts)
    both = np.sqrt(h_members * h_clusters)
    # One cluster says all about one cluster, and nothing about more.
    nmi = np.array(h_members == h_clusters, dtype=np.float64)
    np.divide(h_members + h_clusters - h_joint, both, out=nmi, where=both > 0)
    weights = heard * (1.0 if weight is None else weight[voting])
    return float(np.average(np.clip(nmi, 0.0, 1.0), weights=weights))


def _plogp(shares: FloatArray) -> FloatArray:
    return shares * np.log(shares, out=np.zeros_like(shares), where=shares > 0)


def balance(agreement: FloatArray, sureness: FloatArray) -> FloatArray:
    """Return the sum of both curves, each brought to [0, 1] over the k looked at.

    Examples
    --------
    >>> import numpy as np
    >>> balance(np.array([0.2, 0.6, 0.7]), np.array([0.9, 0.8, 0.4])).round(2)
    array([1. , 1.6, 1. ])
    """
    return _rescaled(agreement) + _rescaled(sureness)


def _rescaled(curve: FloatArray) -> FloatArray:
    low, high = curve.min(), curve.max()
    # A curve that differs by rounding only is flat, and has nothing to say.
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return np.zeros_like(curve)
    scaled: FloatArray = (curve - low) / (high - low)
    return scaled
