"""k-means of a few thousand embedded rows: the last step of a spectral method.

scikit-learn's KMeans has ten times the overhead at this size, another type of random state, and its
result depends on the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import fast_kernel, kernel
from ensemblage.flow._threads import in_threads, n_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, Weights

#: Rows that a thread measures at a time; they stay in its cache while candidates are tried.
_ROWS_PER_PART = 1 << 14


def kmeans(
    rows: FloatArray,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    weights: Weights | None = None,
    n_starts: int = 3,
    max_iter: int = 100,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Return the labels of the best of `n_starts` runs of Lloyd's algorithm.

    Starts are chosen by greedy k-means++ (the best of 2 + ln k candidates at each step); a cluster
    that loses its last row is given the row farthest from its centre, of those that are not alone.
    Labels are 0..k-1; fewer occur only where there are fewer than k distinct rows. As many clusters
    as distinct rows need no run.
    """
    mass = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
    rows = np.ascontiguousarray(rows)
    if n_clusters == len(rows) == len(np.unique(rows, axis=0)):
        return np.arange(n_clusters)
    n_trials = 2 + int(np.log(n_clusters))
    each = max(n_threads(n_jobs) // n_starts, 1)  # threads of a start

    def one_start(child: np.random.Generator) -> tuple[float, NDArray[np.int64]]:
        draws = child.random((n_clusters, n_trials))
        return _lloyd(rows, mass, _choose_centres(rows, mass, draws, each), max_iter, each)

    results = in_threads(one_start, rng.spawn(n_starts), n_jobs)
    return min(results, key=lambda result: result[0])[1]


def lloyd(
    rows: FloatArray,
    centres: FloatArray,
    *,
    weights: Weights | None = None,
    max_iter: int = 100,
) -> NDArray[np.int64]:
    """Return the labels of Lloyd's algorithm started from `centres`.

    It ends when no label changes. Ties go to the lowest centre; a cluster that loses its last row
    is given the row of largest weighted distance from its centre, of those that are not alone.
    """
    mass = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
    start = np.array(centres, dtype=np.float64, order="C")
    return _lloyd(np.ascontiguousarray(rows), mass, start, max_iter, 1)[1]


def centroids(rows: FloatArray, labels: NDArray[np.int64], weights: Weights) -> FloatArray:
    """Return the weighted mean of the rows of each label 0, 1, ..., all of which occur."""
    mass = np.bincount(labels, weights)
    means: FloatArray = np.stack(
        [np.bincount(labels, weights * column) / mass for column in rows.T], axis=1
    )
    return means


def farthest_first(rows: FloatArray, n_centres: int) -> FloatArray:
    """Return the first row, then repeatedly the row farthest from all returned so far.

    Ties go to the earliest row, so nothing is random; rows repeat once all distinct ones are used.
    """
    matrix = np.ascontiguousarray(rows)
    everywhere, nobody = np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64)
    nearest = np.full(len(rows), np.inf)
    chosen = np.zeros(n_centres, dtype=np.int64)
    for c in range(1, n_centres):
        _approach(matrix, everywhere, matrix, chosen[c - 1 : c], 0, nearest, nobody)
        chosen[c] = nearest.argmax()
    return rows[chosen]


def least_aligned(rows: FloatArray, n_centres: int, first: int) -> FloatArray:
    """Return row `first`, then repeatedly the row least in line with those returned so far.

    In line means the sum of |cosines|, which for unit rows are inner products. No row is taken
    twice, and ties go to the earliest; there must be at least `n_centres` rows.
    """
    alignment = np.zeros(len(rows))
    chosen = [first]
    while len(chosen) < n_centres:
        alignment += np.abs(rows @ rows[chosen[-1]])
        alignment[chosen[-1]] = np.inf
        chosen.append(int(alignment.argmin()))
    return rows[chosen]


#: Dimensions that are summed before a distance is compared. The first ones of a spectral embedding
#: hold most of it: 64 of 1467 separate nearly all pairs. Sums have the same order whether or not
#: they end early, and those that do are irrelevant: results are those of the plain algorithm.
_BLOCK = 64
#: Up to this number, comparing early costs more than it saves.
_NARROW = 256


def _choose_centres(
    rows: FloatArray, weights: FloatArray, draws: FloatArray, n_jobs: int
) -> FloatArray:
    """Greedy k-means++: candidates drawn by weighted distance, the most useful one taken."""
    n, n_trials = len(rows), draws.shape[1]
    everywhere, nobody = np.arange(n), np.zeros(n, dtype=np.int64)
    nearest, candidates = np.ones(n), np.empty((n_trials, n))
    chosen = np.zeros(len(draws), dtype=np.int64)
    for c, draw in enumerate(draws):
        chance = np.cumsum(weights * nearest)  # the first centre by weight alone
        if c == 0:
            nearest[:] = np.inf
            draw = draw[:1]
        picks = np.searchsorted(chance, draw * chance[-1], side="right").clip(max=n - 1)

        def approach(part: tuple[int, int], picks: NDArray[np.intp] = picks) -> None:
            some = everywhere[slice(*part)]
            for trial in range(len(picks)):
                candidates[trial, slice(*part)] = nearest[slice(*part)]
                asked = picks[trial : trial + 1]
                _approach(rows, some, rows, asked, 0, candidates[trial], nobody)

        in_threads(approach, row_ranges(n, _ROWS_PER_PART), n_jobs)
        totals = [_weighted_sum(weights, candidates[trial]) for trial in range(len(picks))]
        best = int(np.argmin(totals))
        chosen[c], nearest[:] = picks[best], candidates[best]
    return rows[chosen]


def _lloyd(
    rows: FloatArray, weights: FloatArray, centres: FloatArray, max_iter: int, n_jobs: int
) -> tuple[float, NDArray[np.int64]]:
    """Improve `centres` until no label changes; return the weighted squared distances, and labels.

    With many clusters most of them soon rest: only those that won or lost a row move.
    """
    labels = np.zeros(len(rows), dtype=np.int64)
    distances = np.full(len(rows), np.inf)
    moved = np.ones(len(centres), dtype=np.bool_)
    for turn in range(max_iter):
        before = labels.copy()
        _assign(rows, centres, moved, labels, distances, n_jobs, again=turn > 0)
        switched = labels != before if turn > 0 else np.ones(len(rows), dtype=np.bool_)
        if not switched.any():
            break
        changed = np.zeros(len(centres), dtype=np.bool_)
        changed[labels[switched]] = changed[before[switched]] = True
        mass = np.bincount(labels, weights=weights, minlength=len(centres))
        for empty in np.flatnonzero(mass == 0.0):
            _refill(empty, weights, distances, mass, changed, labels)
        moved = changed & (mass > 0.0)
        centres[moved] = 0.0
        which = np.flatnonzero(moved[labels])
        label = labels[which]
        _add_rows(rows, which, label, weights[which] / mass[label], centres)
    else:
        _assign(rows, centres, moved, labels, distances, n_jobs, again=max_iter > 0)
    return _weighted_sum(weights, distances), labels


def _assign(
    rows: FloatArray,
    centres: FloatArray,
    moved: NDArray[np.bool_],
    labels: NDArray[np.int64],
    distances: FloatArray,
    n_jobs: int,
    *,
    again: bool,
) -> None:
    """Give each row the number of its nearest centre, the lowest on ties.

    A row whose centre has not `moved` can only be nearer to one that has. With many dimensions the
    likely centre is measured first, if there is one (`again`), so that others end early.
    """
    lost = moved[labels]
    distances[lost] = np.inf
    own_first = int(again and rows.shape[1] > _NARROW)
    for which, asked, first in (
        (np.flatnonzero(lost), np.arange(len(centres)), own_first),
        (np.flatnonzero(~lost), np.flatnonzero(moved), 0),
    ):

        def approach(
            part: tuple[int, int], which: Any = which, asked: Any = asked, first: int = first
        ) -> None:
            _approach(rows, which[slice(*part)], centres, asked, first, distances, labels)

        in_threads(approach, row_ranges(len(which), _ROWS_PER_PART), n_jobs)


def _refill(
    empty: np.int64,
    weights: FloatArray,
    distances: FloatArray,
    mass: NDArray[Any],
    changed: NDArray[np.bool_],
    labels: NDArray[np.int64],
) -> None:
    """Give an empty cluster the row of largest weighted distance, unless all are at their centre.

    A row alone in its cluster stays: taking it would empty another cluster.
    """
    costs = np.where(mass[labels] > weights, weights * distances, 0.0)
    farthest = costs.argmax()
    if costs[farthest] > 0.0:
        changed[labels[farthest]] = changed[empty] = True
        mass[labels[farthest]] -= weights[farthest]
        mass[empty] = weights[farthest]
        labels[farthest] = empty


# Rounds are driven by NumPy: each kernel that calls another is compiled with it again. The three
# small ones below take most of the time of a run and little to compile.


@fast_kernel
def _approach(
    rows: Any, which: Any, centres: Any, asked: Any, own_first: Any, nearest: Any, labels: Any
) -> None:
    """Lower ``nearest[i]``, for i in `which`, to the least squared distance from a listed centre.

    ``labels[i]`` becomes that centre; the lowest wins ties. With `own_first` = 1 the centre
    ``labels[i]`` is measured before the others.
    """
    width = rows.shape[1]
    head = width if width <= _NARROW else _BLOCK
    for place in range(len(which)):
        i = which[place]
        least, label = nearest[i], labels[i]
        for turn in range(-own_first, len(asked)):
            c = label if turn < 0 else asked[turn]
            total = 0.0
            for d in range(head):
                difference = rows[i, d] - centres[c, d]
                total += difference * difference
            for start in range(head, width, _BLOCK):
                if total > least:
                    break
                part = 0.0
                for d in range(start, min(start + _BLOCK, width)):
                    difference = rows[i, d] - centres[c, d]
                    part += difference * difference
                total += part
            if total < least or (total == least and c < label):
                least, label = total, c
        nearest[i], labels[i] = least, label


@kernel
def _add_rows(rows: Any, which: Any, labels: Any, shares: Any, centres: Any) -> None:
    """Add rows ``which[i]``, times their shares, to the centres ``labels[i]``."""
    for place in range(len(which)):
        for d in range(rows.shape[1]):
            centres[labels[place], d] += rows[which[place], d] * shares[place]


@kernel
def _weighted_sum(weights: Any, values: Any) -> Any:
    """Return the sum of weights × values, added in their order."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * values[i]
    return total
