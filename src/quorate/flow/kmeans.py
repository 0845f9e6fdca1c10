"""k-means of a few thousand embedded rows: what ends a spectral method.

scikit-learn's KMeans does the same with ten times the overhead at this size, draws from another
kind of random state, and its result depends on the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from quorate.flow._jit import fast_kernel, kernel
from quorate.flow._threads import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quorate._types import FloatArray, Weights


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
    that loses its last row is given the row farthest from its centre. Labels are 0..k-1; fewer
    occur only where there are fewer than k distinct rows.
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
    is given the row of largest weighted distance from its centre.
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


@fast_kernel
def _squared_distance(a: Any, b: Any) -> float:
    total = 0.0
    for d in range(len(a)):
        difference = a[d] - b[d]
        total += difference * difference
    return total


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
        best_total = np.inf
        for trial in range(draws.shape[1] if c > 0 else 1):
            pick = _first_above(chance, draws[c, trial] * chance[n - 1])
            total = 0.0
            for i in range(n):
                distance = _squared_distance(rows[i], rows[pick])
                candidate[i] = min(nearest[i], distance) if c > 0 else distance
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
        for i in range(len(rows)):
            nearest[i] = min(nearest[i], _squared_distance(rows[i], rows[chosen[c - 1]]))
        chosen[c] = np.argmax(nearest)


@kernel
def _assign(rows: Any, centres: Any, labels: Any, distances: Any) -> bool:
    """Give each row the number of its nearest centre, the lowest on ties; tell if any changed."""
    changed = False
    for i in range(len(rows)):
        nearest, label = np.inf, 0
        for c in range(len(centres)):
            distance = _squared_distance(rows[i], centres[c])
            if distance < nearest:
                nearest, label = distance, c
        changed = changed or labels[i] != label
        labels[i] = label
        distances[i] = nearest
    return changed


@kernel
def _lloyd(rows: Any, weights: Any, centres: Any, max_iter: Any, labels: Any) -> Any:
    """Improve `centres` until no label changes; return the weighted sum of squared distances."""
    labels[:] = -1
    distances = np.empty(len(rows))
    mass = np.empty(len(centres))
    for _ in range(max_iter):
        if not _assign(rows, centres, labels, distances):
            break
        mass[:] = 0.0
        for i in range(len(rows)):
            mass[labels[i]] += weights[i]
        for c in range(len(centres)):
            if mass[c] == 0.0:
                _refill(c, weights, distances, mass, labels)
        for c in range(len(centres)):
            for d in range(rows.shape[1]):
                if mass[c] > 0.0:
                    centres[c, d] = 0.0
        for i in range(len(rows)):
            share = weights[i] / mass[labels[i]]
            for d in range(rows.shape[1]):
                centres[labels[i], d] += rows[i, d] * share
    _assign(rows, centres, labels, distances)
    total = 0.0
    for i in range(len(rows)):
        total += weights[i] * distances[i]
    return total


@kernel
def _refill(empty: Any, weights: Any, distances: Any, mass: Any, labels: Any) -> None:
    """Give an empty cluster the row of largest weighted distance, if any is off its centre."""
    farthest = 0
    for i in range(len(weights)):
        if weights[i] * distances[i] > weights[farthest] * distances[farthest]:
            farthest = i
    if distances[farthest] > 0.0:
        mass[labels[farthest]] -= weights[farthest]
        mass[empty] = weights[farthest]
        labels[farthest] = empty
        distances[farthest] = 0.0
