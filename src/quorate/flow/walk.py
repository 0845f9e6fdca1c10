"""Random walks on the elite-neighbour graph, and how alike two trajectories are.

The trajectory of a node is the concatenation of its rows of P, P², ..., P^T (Definitions 8 to 10).
Inner products of trajectories are S = Σ_t P^t (P^t)ᵀ, their cosines PTS = D^{-1/2} S D^{-1/2} with
D = diag S. A node without links has no trajectory: its PTS is 0 to others and 1 to itself.

Everything here is a product of S with some columns, in panels of sixteen, so the cost is
O(T · links) for each column instead of the definition's O(T·n³), no n × n array is needed unless
PTS itself is asked for, and panels may go to threads without changing a bit of the result.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from quorate.flow._jit import kernel
from quorate.flow._panels import WIDTH, column_squares, row_squares, walk_product
from quorate.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from quorate._types import FloatArray

_TILE = 64
_FEW_NODES = 1024
_PANELS_AT_A_TIME = 4  # share their scratch memory, whose pages cost time to get


def transition_matrix(graph: Any, sizes: NDArray[np.int64]) -> Any:
    """Return P, where P[i, j] is the chance that a walker on i steps to j.

        P[i, j] = w[i, j]·s[j] / Σ_l w[i, l]·s[l]

    A node without links has nowhere to go: its row stays empty.
    """
    weights = graph.data * sizes[graph.indices]
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    totals = np.bincount(row, weights=weights, minlength=graph.shape[0])
    return csr_array((weights / totals[row], graph.indices, graph.indptr), shape=graph.shape)


def trajectory_norms(P: Any, n_steps: int, *, n_jobs: int | None = None) -> FloatArray:
    """Return the length of each node's trajectory: the root of diag S, exactly.

    S[j, j] = Σ_t |(Pᵀ)^t e_j|², so half of a product with each unit vector suffices.
    """
    n = P.shape[0]
    order, ordered = _local_order(P)
    forward = _arrays(ordered.T.tocsr())

    def squares(columns: tuple[int, int]) -> FloatArray:
        start, stop = columns
        panel, other = np.zeros((2, n, WIDTH))
        panel[np.arange(start, stop), np.arange(stop - start)] = 1.0
        totals = np.zeros(WIDTH)
        column_squares(forward, n_steps, panel, other, totals)
        return totals[: stop - start]

    norms = np.empty(n)
    norms[order] = np.sqrt(np.concatenate(in_threads(squares, row_ranges(n, WIDTH), n_jobs)))
    return norms


def estimated_norms(
    P: Any, n_steps: int, n_probes: int, rng: np.random.Generator, *, n_jobs: int | None = None
) -> FloatArray:
    """Return the lengths of trajectories estimated from random signs, for very many nodes.

    S[i, i] = Σ_t |row i of P^t|², and the mean of (P^t r)_i² over random signs r is that square.
    The relative error of each length falls as 1 / sqrt(2·n_probes) or faster.
    """
    n = P.shape[0]
    order, ordered = _local_order(P)
    matrix = _arrays(ordered)
    n_panels = -(-n_probes // WIDTH)

    def squares(child: np.random.Generator) -> FloatArray:
        panel = child.integers(0, 2, size=(n, WIDTH)) * 2.0 - 1.0
        totals = np.zeros(n)
        row_squares(matrix, n_steps, panel, np.empty_like(panel), totals)
        return totals

    norms = np.empty(n)
    parts = in_threads(squares, rng.spawn(n_panels), n_jobs)
    norms[order] = np.sqrt(functools.reduce(np.add, parts) / (n_panels * WIDTH))
    return norms


def similarity_product(
    P: Any, norms: FloatArray, columns: Any, n_steps: int, *, n_jobs: int | None = None
) -> FloatArray:
    """Return PTS @ columns without ever having PTS.

    Parameters
    ----------
    P : sparse array of shape (n, n)
        The transition matrix.
    norms : ndarray of shape (n,)
        Lengths of the trajectories; 0 marks a node without links.
    columns : array or sparse array of shape (n, n_columns)
        What PTS is multiplied with.
    n_steps : int
        The paper's T.
    n_jobs : int or None
        Threads; the product does not depend on it.
    """
    scale, alone = _inverse(norms), norms == 0
    out = np.empty(columns.shape)

    def fetch(first: int, last: int) -> FloatArray:
        some = columns[:, first:last]
        return scale[:, None] * (some if isinstance(some, np.ndarray) else some.toarray())

    def store(first: int, last: int, product: FloatArray) -> None:
        np.multiply(scale[:, None], product, out=out[:, first:last])

    _by_panels(P, columns.shape[1], n_steps, fetch, store, n_jobs)
    rest = columns[alone]
    out[alone] = rest if isinstance(rest, np.ndarray) else rest.toarray()
    return out


def trajectory_similarity(P: Any, n_steps: int, *, n_jobs: int | None = None) -> FloatArray:
    """Return PTS, the cosine of every pair of trajectories, as a dense symmetric matrix.

    S is computed by columns of the unit matrix, which give its diagonal on the way.
    """
    n = P.shape[0]
    out = np.empty((n, n))

    def fetch(first: int, last: int) -> FloatArray:
        units = np.zeros((n, last - first))
        units[np.arange(first, last), np.arange(last - first)] = 1.0
        return units

    def store(first: int, last: int, product: FloatArray) -> None:
        out[first:last] = product.T  # S is symmetric: its columns are its rows

    _by_panels(P, n, n_steps, fetch, store, n_jobs)
    scale = _inverse(np.sqrt(out.diagonal()))
    in_threads(lambda rows: _normalise(out, scale, *rows), row_ranges(n, _TILE), n_jobs)
    return out


def _by_panels(
    P: Any,
    n_columns: int,
    n_steps: int,
    fetch: Callable[[int, int], FloatArray],
    store: Callable[[int, int, FloatArray], None],
    n_jobs: int | None,
) -> None:
    """Multiply S with columns by panels: `fetch` brings some, `store` takes S times these."""
    order, ordered = _local_order(P)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    forward, backward = _arrays(ordered.T.tocsr()), _arrays(ordered)

    def some_panels(span: tuple[int, int]) -> None:
        panels = np.empty((n_steps + 1, P.shape[0], WIDTH))
        result = np.empty_like(panels[0])
        for first in range(*span, WIDTH):
            last = min(first + WIDTH, span[1])
            panels[0, :, last - first :] = 0.0
            panels[0, :, : last - first] = fetch(first, last)[order]
            walk_product(forward, backward, n_steps, panels, result)
            store(first, last, result[place, : last - first])

    in_threads(some_panels, row_ranges(n_columns, _PANELS_AT_A_TIME * WIDTH), n_jobs)


def _local_order(P: Any) -> tuple[NDArray[np.intp], Any]:
    """Return an order of the nodes that brings neighbours together, and P in that order.

    A panel of many nodes does not fit in the nearest cache, but the neighbourhood of a node does:
    products are twice as fast at 7,000 nodes. Few nodes fit anyway and stay as they are.
    """
    n = P.shape[0]
    if n < _FEW_NODES:
        return np.arange(n), P
    order = reverse_cuthill_mckee(P, symmetric_mode=True)
    ordered = P[order][:, order]
    ordered.sort_indices()
    return order, ordered


def _inverse(norms: FloatArray) -> FloatArray:
    """Return 1 / norms, 0 where a node has no trajectory."""
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)


def _arrays(matrix: Any) -> tuple[Any, Any, Any]:
    """Return a sparse matrix as the three arrays of kernels, always of the same dtypes."""
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.uint32, copy=False),
        matrix.data,
    )


@kernel
def _normalise(S: Any, scale: Any, first: Any, last: Any) -> None:
    """Turn rows of inner products into cosines, the upper triangle deciding for both.

    Tiles of rows are independent: one reads and writes its part of the upper triangle and the
    mirror image of that.
    """
    n = S.shape[0]
    for left in range(first, n, _TILE):
        right = min(left + _TILE, n)
        for i in range(first, last):
            for j in range(max(left, i + 1), right):
                cosine = min(S[i, j] * scale[i] * scale[j], 1.0)
                S[i, j] = cosine
                S[j, i] = cosine
    for i in range(first, last):
        S[i, i] = 1.0
