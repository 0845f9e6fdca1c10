"""k-means of a few thousand embedded rows: what ends a spectral method.

scikit-learn's KMeans does the same with ten times the overhead at this size, draws from another
kind of random state, and its result depends on the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import fast_kernel, kernel
from ensemblage.flow._threads import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, Weights


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
    Labels are 0..k-1; fewer occur only where there are fewer than k distinct rows.
    """
    mass = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
    rows = np.ascontiguousarray(rows)
    n_trials = 2 + int(np.log(n_clusters))

    def one_start(child: np.random.Generator) -> tuple[float, NDArray[np.int64]]:
        draws = child.random((n_clusters, n_trials))
        centres = np.empty((n_clusters, rows.shape[1]))
        _choose_centres(rows, mass, draws, centres)
        labels = np.empty(len(rows), dtype=np.int64)
        inertia = _lloyd(rows, mass, centres, max_iter, labels)
        return inertia, labels

    results = in_threads(one_start, rng.spawn(n_starts), n_jobs)
    return min(results, key=lambda result: result[0])[1]


def lloyd(
    rows: FloatArray,
    centres: FloatArray,
    *,
    weights: Weights | None = None,
    max_iter: int = 100,
) -> NDArray[np.int64]:
    """Return the labels that Lloyd's algorithm ends with when it starts from `centres`.

    It ends when no label changes. Ties go to the lowest centre; a cluster that loses its last row
    is given the row of largest weighted distance from its centre, of those that are not alone.
    """
    mass = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
    labels = np.empty(len(rows), dtype=np.int64)
    start = np.array(centres, dtype=np.float64, order="C")
    _lloyd(np.ascontiguousarray(rows), mass, start, max_iter, labels)
    return labels


def centroids(rows: FloatArray, labels: NDArray[np.int64], weights: Weights) -> FloatArray:
    """Return the weighted mean of the rows of each label 0, 1, ..., all of which occur."""
    mass = np.bincount(labels, weights)
    means: FloatArray = np.stack(
        [np.bincount(labels, weights * column) / mass for column in rows.T], axis=1
    )
    return means


def farthest_first(rows: FloatArray, n_centres: int) -> FloatArray:
    """Return the first row, then time and again the row farthest from all returned so far.

    Ties go to the earliest row, so nothing is random; rows repeat once all distinct ones are used.
    """
    nearest = np.full(len(rows), np.inf)
    chosen = np.zeros(n_centres, dtype=np.int64)
    _choose_farthest(np.ascontiguousarray(rows), nearest, chosen)
    return rows[chosen]


def least_aligned(rows: FloatArray, n_centres: int, first: int) -> FloatArray:
    """Return row `first`, then time and again the row least in line with those returned so far.

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


#: Dimensions that are summed before a distance is looked at. The first ones of a spectral embedding
#: hold most of it: 64 of 1467 tell nearly all pairs apart. Sums are in the same order whether or
#: not they are ended early, and those that are do not matter: results are the plain ones.
_BLOCK = 64
#: Up to so many, to look costs more than it saves.
_NARROW = 256

# A call between kernels costs as much as some distances, so sums are written out below, twice.


@fast_kernel
def _approach(rows: Any, pick: Any, nearest: Any, out: Any) -> None:
    """Write for each row the lesser of `nearest` and its squared distance from row `pick`."""
    width = rows.shape[1]
    head = width if width <= _NARROW else _BLOCK
    for i in range(len(rows)):
        total = 0.0
        for d in range(head):
            difference = rows[i, d] - rows[pick, d]
            total += difference * difference
        for start in range(head, width, _BLOCK):
            if total > nearest[i]:
                break
            part = 0.0
            for d in range(start, min(start + _BLOCK, width)):
                difference = rows[i, d] - rows[pick, d]
                part += difference * difference
            total += part
        out[i] = min(nearest[i], total)


@fast_kernel
def _nearer(rows: Any, i: Any, centres: Any, asked: Any, nearest: Any, label: Any) -> Any:
    """Return the least squared distance of row i, and whose: `label` at `nearest`, or one asked.

    The lowest centre wins ties.
    """
    width = rows.shape[1]
    head = width if width <= _NARROW else _BLOCK
    for c in asked:
        total = 0.0
        for d in range(head):
            difference = rows[i, d] - centres[c, d]
            total += difference * difference
        for start in range(head, width, _BLOCK):
            if total > nearest:
                break
            part = 0.0
            for d in range(start, min(start + _BLOCK, width)):
                difference = rows[i, d] - centres[c, d]
                part += difference * difference
            total += part
        if total < nearest or (total == nearest and c < label):
            nearest, label = total, c
    return nearest, label


# Below, rows are copied and sums taken entry by entry: whole-array assignments and reductions give
# the same code, but each costs about half a second to compile.


@kernel
def _running_sum(weights: Any, factors: Any, out: Any) -> None:
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * factors[i]
        out[i] = total


@kernel
def _first_above(ascending: Any, value: Any) -> Any:
    """Return the first place whose entry is above `value`, the last place if there is none."""
    low, high = 0, len(ascending) - 1
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _choose_centres(rows: Any, weights: Any, draws: Any, centres: Any) -> None:
    """Greedy k-means++: candidates drawn by weighted distance, the most useful one taken."""
    n = len(rows)
    nearest, chance = np.ones(n), np.empty(n)
    candidate, best = np.empty(n), np.empty(n)
    for c in range(len(centres)):
        _running_sum(weights, nearest, chance)  # the first centre by weight alone
        if c == 0:
            nearest[:] = np.inf
        best_total = np.inf
        for trial in range(draws.shape[1] if c > 0 else 1):
            pick = _first_above(chance, draws[c, trial] * chance[n - 1])
            total = 0.0
            _approach(rows, pick, nearest, candidate)
            for i in range(n):
                total += weights[i] * candidate[i]
            if total < best_total:
                best_total = total
                best, candidate = candidate, best
                for d in range(rows.shape[1]):
                    centres[c, d] = rows[pick, d]
        nearest, best = best, nearest


@kernel
def _choose_farthest(rows: Any, nearest: Any, chosen: Any) -> None:
    """Write which rows are centres after the first, `nearest` being the distance to any so far."""
    for c in range(1, len(chosen)):
        _approach(rows, chosen[c - 1], nearest, nearest)
        chosen[c] = np.argmax(nearest)


@kernel
def _assign(rows: Any, centres: Any, moved: Any, changed: Any, labels: Any, distances: Any) -> bool:
    """Give each row the number of its nearest centre, the lowest on ties; tell if any changed.

    A row whose centre has not `moved` can only be nearer to one that has. Clusters that won or
    lost a row are marked in `changed`.
    """
    anything = False
    everywhere, where_moved = np.arange(len(centres)), np.flatnonzero(moved)
    for i in range(len(rows)):
        nearest, label = distances[i], labels[i]
        asked = where_moved
        if label < 0 or moved[label]:
            asked = everywhere
            nearest = np.inf
            if label >= 0 and rows.shape[1] > _NARROW:  # the likely one first: others end early
                nearest, _ = _nearer(rows, i, centres, asked[label : label + 1], nearest, label)
            label = max(label, 0)
        nearest, label = _nearer(rows, i, centres, asked, nearest, label)
        distances[i] = nearest
        if label != labels[i]:
            anything = True
            changed[label] = True
            if labels[i] >= 0:
                changed[labels[i]] = True
            labels[i] = label
    return anything


@kernel
def _lloyd(rows: Any, weights: Any, centres: Any, max_iter: Any, labels: Any) -> Any:
    """Improve `centres` until no label changes; return the weighted sum of squared distances.

    With many clusters most of them soon rest: only those that won or lost a row move.
    """
    labels[:] = -1
    distances = np.empty(len(rows))
    mass = np.empty(len(centres))
    moved = np.ones(len(centres), dtype=np.bool_)
    changed = np.zeros(len(centres), dtype=np.bool_)
    settled = False
    for _ in range(max_iter):
        if not _assign(rows, centres, moved, changed, labels, distances):
            settled = True
            break
        mass[:] = 0.0
        for i in range(len(rows)):
            mass[labels[i]] += weights[i]
        for c in range(len(centres)):
            if mass[c] == 0.0:
                _refill(c, weights, distances, mass, changed, labels)
        for c in range(len(centres)):
            moved[c] = changed[c] and mass[c] > 0.0
            changed[c] = False
            for d in range(rows.shape[1]):
                if moved[c]:
                    centres[c, d] = 0.0
        for i in range(len(rows)):
            if moved[labels[i]]:
                share = weights[i] / mass[labels[i]]
                for d in range(rows.shape[1]):
                    centres[labels[i], d] += rows[i, d] * share
    if not settled:
        _assign(rows, centres, moved, changed, labels, distances)
    total = 0.0
    for i in range(len(rows)):
        total += weights[i] * distances[i]
    return total


@kernel
def _refill(empty: Any, weights: Any, distances: Any, mass: Any, changed: Any, labels: Any) -> None:
    """Give an empty cluster the row of largest weighted distance, if any is off its centre.

    A row that is alone stays: to take it would leave another cluster empty.
    """
    farthest, most = -1, 0.0
    for i in range(len(weights)):
        if weights[i] * distances[i] > most and mass[labels[i]] > weights[i]:
            farthest, most = i, weights[i] * distances[i]
    if farthest >= 0:
        changed[labels[farthest]] = changed[empty] = True
        mass[labels[farthest]] -= weights[farthest]
        mass[empty] = weights[farthest]
        labels[farthest] = empty
