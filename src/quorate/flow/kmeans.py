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

    from quorate._types import FloatArray


def kmeans(
    rows: FloatArray,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    weights: FloatArray | None = None,
    n_starts: int = 3,
    max_iter: int = 100,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Return the labels of the best of `n_starts` runs of Lloyd's algorithm.

    Starts are chosen by greedy k-means++ (the best of 2 + ln k candidates at each step); a cluster
    that loses its last row is given the row farthest from its centre. Labels are 0..k-1; fewer
    occur only where there are fewer than k distinct rows.
    """
    weights = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
    rows = np.ascontiguousarray(rows)
    n_trials = 2 + int(np.log(n_clusters))

    def one_start(child: np.random.Generator) -> tuple[float, NDArray[np.int64]]:
        draws = child.random((n_clusters, n_trials))
        centres = np.empty((n_clusters, rows.shape[1]))
        _choose_centres(rows, weights, draws, centres)
        labels = np.empty(len(rows), dtype=np.int64)
        inertia = _lloyd(rows, weights, centres, max_iter, labels)
        return inertia, labels

    results = in_threads(one_start, rng.spawn(n_starts), n_jobs)
    return min(results, key=lambda result: result[0])[1]


@fast_kernel
def _squared_distance(a: Any, b: Any) -> float:
    total = 0.0
    for d in range(len(a)):
        difference = a[d] - b[d]
        total += difference * difference
    return total


@kernel
def _choose_centres(rows: Any, weights: Any, draws: Any, centres: Any) -> None:
    """Greedy k-means++: candidates drawn by weighted distance, the most useful one taken."""
    n, n_clusters = len(rows), len(centres)
    nearest = np.full(n, np.inf)
    candidate, best = np.empty(n), np.empty(n)
    chance = np.cumsum(weights)
    for c in range(n_clusters):
        best_total = np.inf
        for trial in range(draws.shape[1] if c > 0 else 1):
            pick = np.searchsorted(chance, draws[c, trial] * chance[-1], side="right")
            pick = min(pick, n - 1)
            total = 0.0
            for i in range(n):
                candidate[i] = min(nearest[i], _squared_distance(rows[i], rows[pick]))
                total += weights[i] * candidate[i]
            if total < best_total:
                best_total = total
                best[:] = candidate
                centres[c] = rows[pick]
        nearest[:] = best
        chance = np.cumsum(weights * nearest)


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
            farthest = np.argmax(weights * distances)
            if mass[c] == 0.0 and distances[farthest] > 0.0:
                mass[labels[farthest]] -= weights[farthest]
                mass[c] = weights[farthest]
                labels[farthest] = c
                distances[farthest] = 0.0
        for c in range(len(centres)):
            if mass[c] > 0.0:
                centres[c] = 0.0
        for i in range(len(rows)):
            centres[labels[i]] += rows[i] * (weights[i] / mass[labels[i]])
    _assign(rows, centres, labels, distances)
    return np.sum(weights * distances)
