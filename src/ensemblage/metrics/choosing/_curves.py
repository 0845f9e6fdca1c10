"""Curves over k from one fit, as functions of arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ensemblage import flow
from ensemblage.metrics.choosing._sample import draw
from ensemblage.metrics.confidence import cluster_weights, confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray
    from ensemblage.metrics.choosing._cuts import Cuts

#: Columns of several k are multiplied at once while they take no more bytes than this.
_BATCH_BYTES = 1 << 27
#: Above this number of microclusters the mean confidence is estimated from a sample.
_MOST_ROWS = 10_000


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
    """Return by how much the k-th largest eigenvalue exceeds the next; missing ones are 0.

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
    cuts: Cuts, labels: list[NDArray[np.int64]], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the mean NMI with the members, and the mean confidence of objects, of each cut.

    Above 10,000 microclusters, confidence is that of 10,000 objects drawn at random.
    """
    ends = np.cumsum(cuts.table.max(axis=0) + 1)
    rows, counts = None, cuts.sizes
    if len(cuts.sizes) > _MOST_ROWS:
        drawn = draw(cuts.table, cuts.sizes, cuts.member_weight, _MOST_ROWS, rng)
        rows, counts = drawn.rows, drawn.sizes
    agreement, sureness = [], []
    for some, places in _batches(labels, cuts.sizes):
        weights = np.hstack(
            [
                cluster_weights(label, cuts.sizes, stop - start)
                for label, (start, stop) in zip(some, places, strict=True)
            ]
        )
        sums = cuts.similarity_sums(weights, rows)
        for label, (start, stop) in zip(some, places, strict=True):
            common = flow.overlaps_with(label, stop - start, cuts.table, cuts.sizes)
            agreement.append(mean_nmi(common.T, ends, cuts.member_weight))
            objects = np.bincount(label, cuts.sizes).astype(np.float64)
            per_row = confidence(
                sums[:, start:stop],
                label if rows is None else label[rows],
                counts,
                cuts.to_itself,
                objects=objects,
            )
            if (links := cuts.links_at(stop - start)) is not None:
                lead = flow.lead_of_own_group(links, label, cuts.sizes)
                per_row = per_row * (lead if rows is None else lead[rows])
            sureness.append(float(np.average(per_row, weights=counts)))
    return np.array(agreement), np.array(sureness)


def _batches(
    labels: list[NDArray[np.int64]], sizes: NDArray[np.int64]
) -> Iterator[tuple[list[NDArray[np.int64]], list[tuple[int, int]]]]:
    """Yield as many cuts at a time as fit side by side, and the position of their columns."""
    widths = [int(label.max()) + 1 for label in labels]
    room = max(1, _BATCH_BYTES // (8 * len(sizes)))
    first = 0
    while first < len(labels):
        last = first + 1
        while last < len(labels) and sum(widths[first : last + 1]) <= room:
            last += 1
        yield labels[first:last], list(pairwise(np.cumsum([0, *widths[first:last]]).tolist()))
        first = last


def mean_nmi(counts: FloatArray, ends: IntArray, weight: FloatArray | None) -> float:
    """Return the mean NMI of a clustering with the members, given the sizes of all overlaps.

    Rows are clusters of the members, which end at `ends`; members without votes or weight are left
    out. NMI is I / sqrt(H H), as averaged by Strehl and Ghosh.
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
    # NMI is 1 for two single clusters, and 0 for one against several.
    nmi = np.array(h_members == h_clusters, dtype=np.float64)
    np.divide(h_members + h_clusters - h_joint, both, out=nmi, where=both > 0)
    weights = heard * (1.0 if weight is None else weight[voting])
    return float(np.average(np.clip(nmi, 0.0, 1.0), weights=weights))


def _plogp(shares: FloatArray) -> FloatArray:
    return shares * np.log(shares, out=np.zeros_like(shares), where=shares > 0)


def balance(agreement: FloatArray, sureness: FloatArray) -> FloatArray:
    """Return the sum of both curves, each scaled to [0, 1] over the compared k.

    Examples
    --------
    >>> import numpy as np
    >>> balance(np.array([0.2, 0.6, 0.7]), np.array([0.9, 0.8, 0.4])).round(2)
    array([1. , 1.6, 1. ])
    """
    return _rescaled(agreement) + _rescaled(sureness)


def _rescaled(curve: FloatArray) -> FloatArray:
    low, high = curve.min(), curve.max()
    # A curve that differs by rounding only is flat, and is ignored.
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return np.zeros_like(curve)
    scaled: FloatArray = (curve - low) / (high - low)
    return scaled
