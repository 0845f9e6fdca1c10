"""A random walker between seeds, and the seed it reaches first (Grady 2006).

Nodes are microclusters of s objects each. Objects of one microcluster have the same links and hence
the same probabilities, so links are lumped: w[a, b] counts all s[a]·s[b] links between the objects
of a and those of b; links inside a microcluster have no effect and are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_NODES_AT_A_TIME = 64
_ROWS_PER_BLOCK = 256
_ROUNDING = 1e-12


def object_thresholds(
    similarity: FloatArray, sizes: NDArray[np.int64], n_neighbors: int
) -> FloatArray:
    """Return each object's similarity to the last of its `n_neighbors` most similar objects.

    The objects of a microcluster share one threshold. The other objects of their microcluster, of
    similarity 1, are among their neighbours. With fewer other objects, the threshold is 0.
    """
    result = np.zeros(len(sizes))
    for start, stop in row_ranges(len(sizes), _ROWS_PER_BLOCK):
        rows = np.arange(stop - start)
        block = similarity[start:stop]
        order = np.argsort(-block, axis=1, kind="stable")
        objects = sizes[order] - (order == np.arange(start, stop)[:, None])
        enough = np.cumsum(objects, axis=1) >= n_neighbors
        last = order[rows, enough.argmax(axis=1)]
        result[start:stop] = np.where(enough[:, -1], block[rows, last], 0.0)
    return result


def walker_graph(
    similarity: FloatArray,
    sizes: NDArray[np.int64],
    thresholds: FloatArray | None = None,
    beta: float | None = None,
) -> FloatArray:
    """Return the lumped link weights w[a, b] between microclusters, 0 on the diagonal.

    Parameters
    ----------
    similarity : ndarray of shape (n, n)
        Co-association; where it is 0 there is no link.
    sizes : ndarray of shape (n,)
        Objects in each microcluster.
    thresholds : ndarray of shape (n,), optional
        A link is kept if it reaches the threshold of either end; by default all are kept.
    beta : float, optional
        A link between two objects weighs exp(-beta·(1 - similarity)); by default its similarity.
    """
    weights = np.empty_like(similarity)
    for rows in row_ranges(len(sizes), _ROWS_PER_BLOCK):
        some = slice(*rows)
        block = similarity[some]
        strength = block if beta is None else np.exp(-beta * (1.0 - block)) * (block > 0)
        np.multiply(strength, np.multiply.outer(sizes[some], sizes), out=weights[some])
        if thresholds is not None:
            weights[some][block < np.minimum.outer(thresholds[some], thresholds)] = 0.0
    np.fill_diagonal(weights, 0.0)
    return weights


def first_arrivals(
    weights: FloatArray, region: NDArray[np.int64], n_regions: int, *, n_jobs: int | None = None
) -> FloatArray:
    """Return the probability that a walker from each node reaches each seed region first.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Symmetric link weights, 0 on the diagonal.
    region : ndarray of shape (n,)
        The seed region of each node, -1 for other nodes.
    n_regions : int
        Number of regions.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n, n_regions)
        Rows of sum 1; a row of zeros if no walker reaches any seed.

    Notes
    -----
    The probabilities X of the free nodes u solve L_uu X = -L_us Y, with L the graph's Laplacian and
    Y the seeds. Nodes are eliminated one after the other: a step to an eliminated node is replaced
    by the steps from that node. This is Gaussian elimination without subtractions, so every
    probability is exact to nearly all its digits, also for the weakest links.
    """
    chances = np.zeros((len(weights), n_regions))
    seeds = np.flatnonzero(region >= 0)
    chances[seeds, region[seeds]] = 1.0
    reached = _reached(weights, seeds)
    free = np.flatnonzero(reached & (region < 0))
    steps = np.empty((len(free), len(free) + n_regions))
    for start, stop in row_ranges(len(free), _ROWS_PER_BLOCK):
        rows = weights[free[start:stop]]
        steps[start:stop, : len(free)] = rows[:, free]
        steps[start:stop, len(free) :] = rows @ chances
    chances[free] = _absorbed(steps, n_jobs)
    return chances


def first_likely(chances: FloatArray) -> NDArray[np.int64]:
    """Return the most likely region of each row, the lowest among equals up to rounding."""
    largest = chances.max(axis=1, keepdims=True)
    first: NDArray[np.int64] = (chances >= largest - _ROUNDING).argmax(axis=1)
    return first


def islands(weights: FloatArray, nodes: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the number of the connected part that each of `nodes` is in, counted from 0."""
    graph = csr_array(weights[np.ix_(nodes, nodes)])
    part: NDArray[np.int64] = connected_components(graph, directed=False)[1].astype(np.int64)
    return part


def nearest_regions(
    similarity: FloatArray,
    sizes: NDArray[np.int64],
    part: NDArray[np.int64],
    region: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return for each part the region with the largest mean similarity between their objects.

    Parameters
    ----------
    similarity : ndarray of shape (n, n)
        Of microclusters.
    sizes : ndarray of shape (n,)
        Objects in each microcluster.
    part, region : ndarrays of shape (n,)
        Numbers from 0; -1 for a microcluster in none.

    Returns
    -------
    ndarray of shape (n_parts,)
        Among equals the region of most objects, then the lowest.
    """
    of_part, of_region = _indicator(part, sizes), _indicator(region, sizes)
    objects = of_region.sum(axis=0)
    inside = part >= 0
    means = of_part[inside].T @ (similarity[inside] @ of_region) / objects
    largest = means.max(axis=1, keepdims=True)
    ties = means >= largest * (1.0 - _ROUNDING)
    nearest: NDArray[np.int64] = np.where(ties, objects, 0.0).argmax(axis=1)
    return nearest


def _indicator(group: NDArray[np.int64], sizes: NDArray[np.int64]) -> FloatArray:
    """Return the objects of each row in the column of its group."""
    inside = np.flatnonzero(group >= 0)
    result = np.zeros((len(group), int(group.max()) + 1))
    result[inside, group[inside]] = sizes[inside]
    return result


def _reached(weights: FloatArray, seeds: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return the nodes connected with a seed, visiting every row once."""
    reached = np.zeros(len(weights), dtype=np.bool_)
    reached[seeds] = True
    fresh = seeds
    while len(fresh):
        linked = np.zeros_like(reached)
        for start, stop in row_ranges(len(fresh), _ROWS_PER_BLOCK):
            linked |= (weights[fresh[start:stop]] > 0).any(axis=0)
        fresh = np.flatnonzero(linked & ~reached)
        reached |= linked
    return reached


def _absorbed(steps: FloatArray, n_jobs: int | None) -> FloatArray:
    """Return where walkers end, given weights of steps to the n nodes and then to the regions.

    Overwrites `steps`. Blocks of nodes are eliminated together, so that most of the work is a
    product of matrices; a node's step to itself is ignored.
    """
    n = len(steps)
    blocks = row_ranges(n, _NODES_AT_A_TIME)
    for first, last in blocks:
        for p in range(first, last):
            row = steps[p, p + 1 :]
            row /= row.sum()
            steps[p + 1 : last, p + 1 :] += np.multiply.outer(steps[p + 1 : last, p], row)
        for p in range(last - 2, first - 1, -1):
            steps[p, last:] += steps[p, p + 1 : last] @ steps[p + 1 : last, last:]
        leave = steps[first:last, last:]

        def send_on(
            rows: tuple[int, int], first: int = first, last: int = last, leave: FloatArray = leave
        ) -> None:
            some = slice(last + rows[0], last + rows[1])
            steps[some, last:] += steps[some, first:last] @ leave

        in_threads(send_on, row_ranges(n - last, _ROWS_PER_BLOCK), n_jobs)
    ends = steps[:, n:].copy()
    for first, last in reversed(blocks):
        ends[first:last] += steps[first:last, last:n] @ ends[last:]
    return ends
