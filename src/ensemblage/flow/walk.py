"""Random walks on the elite-neighbour graph, and the similarity of trajectories.

The trajectory of a node is the concatenation of its rows of P, P², ..., P^T (Definitions 8 to 10).
Inner products of trajectories are S = Σ_t P^t (P^t)ᵀ, their cosines PTS = D^{-1/2} S D^{-1/2} with
D = diag S. A node without links has no trajectory: its PTS is 0 to others and 1 to itself.

Everything here is a product of S with some columns, in panels of sixteen, so the cost is O(T ·
links) for each column instead of the definition's O(T·n³), no n × n array is needed except for PTS
itself, and threads do not change a bit of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from ensemblage.flow._columns import (
    WalkProduct,
    csr_parts,
    for_all_columns,
    inverse,
    local_order,
    unit_columns,
)
from ensemblage.flow._jit import kernel
from ensemblage.flow._panels import WIDTH, column_squares
from ensemblage.flow._threads import in_threads, n_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_TILE = 64


def reach(wish: int | str, n_microclusters: int) -> int:
    """Return a number of neighbours or of steps; "auto" is the rule of the paper's authors.

    That is half of the root of the number of microclusters, at least 1 and at most 20. "all" are
    all other microclusters.

    Examples
    --------
    >>> [reach("auto", n) for n in (1, 100, 10_000)], reach("all", 100), reach(7, 100)
    ([1, 5, 20], 99, 7)
    """
    if wish == "auto":
        return max(1, min(20, int(n_microclusters**0.5 / 2)))
    return max(1, n_microclusters - 1) if wish == "all" else int(wish)


def panel_bytes(n_rows: int, n_jobs: int | None) -> int:
    """Return the memory of one panel of columns in each thread."""
    n_panels = -(-n_rows // WIDTH)
    return 8 * WIDTH * n_rows * min(n_threads(n_jobs), n_panels)


def transition_matrix(graph: Any, sizes: NDArray[np.int64]) -> Any:
    """Return P, where P[i, j] is the probability that a walker on i steps to j.

        P[i, j] = w[i, j]·s[j] / Σ_l w[i, l]·s[l]

    The row of a node without links is empty.
    """
    weights = graph.data * sizes[graph.indices]
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    totals = np.bincount(row, weights=weights, minlength=graph.shape[0])
    return csr_array((weights / totals[row], graph.indices, graph.indptr), shape=graph.shape)


def trajectory_norms(P: Any, n_steps: int, *, n_jobs: int | None = None) -> FloatArray:
    """Return the exact length of each node's trajectory: the root of diag S.

    S[j, j] = Σ_t |(Pᵀ)^t e_j|², so half of a product with each unit vector suffices.
    """
    n = P.shape[0]
    order, ordered = local_order(P)
    forward = csr_parts(ordered.T.tocsr())

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


def similarity_product(
    P: Any,
    norms: FloatArray,
    columns: Any,
    n_steps: int,
    *,
    single: bool = False,
    product: WalkProduct | None = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Return PTS @ columns without building PTS.

    Parameters
    ----------
    P : sparse array of shape (n, n)
        The transition matrix.
    norms : ndarray of shape (n,)
        Lengths of the trajectories; 0 marks a node without links.
    columns : array or sparse array of shape (n, n_columns)
        The matrix that PTS is multiplied with.
    n_steps : int
        The paper's T.
    single : bool, default=False
        Compute in single precision, exact to about 1e-6: half of the time and memory.
    product : WalkProduct, optional
        P prepared for these steps and this precision, if there are several products.
    n_jobs : int or None
        Threads; the product does not depend on it.
    """
    scale, alone = inverse(norms), norms == 0
    out = np.empty(columns.shape, dtype=np.float32 if single else np.float64)

    def fetch(first: int, last: int) -> FloatArray:
        some = columns[:, first:last]
        return scale[:, None] * (some if isinstance(some, np.ndarray) else some.toarray())

    def store(first: int, last: int, product: NDArray[Any]) -> None:
        np.multiply(scale[:, None], product, out=out[:, first:last], casting="same_kind")

    n_columns = columns.shape[1]
    for_all_columns(P, n_columns, n_steps, fetch, store, n_jobs, single=single, product=product)
    rest = columns[alone]
    out[alone] = rest if isinstance(rest, np.ndarray) else rest.toarray()
    return out


def group_similarity(
    P: Any,
    norms: FloatArray,
    groups: NDArray[np.int64],
    n_steps: int,
    *,
    single: bool = False,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the mean PTS of the members of every two groups, without building PTS.

    It is Wᵀ PTS W, where column g of W is 1/|g| on the members of group g: one column a group.

    Parameters
    ----------
    P, norms, n_steps, single, n_jobs
        As for `similarity_product`.
    groups : ndarray of shape (n,)
        The group 0, 1, ... of each node; none is empty.

    Returns
    -------
    ndarray of shape (n_groups, n_groups)
        Symmetric up to rounding.
    """
    n, counts = len(groups), np.bincount(groups)
    scale, alone = inverse(norms), np.flatnonzero(norms == 0)
    share = 1.0 / counts[groups]
    means = csr_array((share, (groups, np.arange(n))), shape=(len(counts), n))
    out = np.empty((len(counts), len(counts)))

    def fetch(first: int, last: int) -> FloatArray:
        members = np.flatnonzero((groups >= first) & (groups < last))
        some = np.zeros((n, last - first))
        some[members, groups[members] - first] = scale[members] * share[members]
        return some

    def store(first: int, last: int, product: NDArray[Any]) -> None:
        product *= scale[:, None]
        here = alone[(groups[alone] >= first) & (groups[alone] < last)]
        product[here, groups[here] - first] = share[here]  # similar only to themselves
        out[:, first:last] = means @ product

    for_all_columns(P, len(counts), n_steps, fetch, store, n_jobs, single=single)
    return out


def trajectory_similarity(P: Any, n_steps: int, *, n_jobs: int | None = None) -> FloatArray:
    """Return PTS, the cosine of every pair of trajectories, as a dense symmetric matrix.

    S is computed by columns of the unit matrix, which also give its diagonal.
    """
    n = P.shape[0]
    out = np.empty((n, n))

    def store(first: int, last: int, product: FloatArray) -> None:
        out[first:last] = product.T  # S is symmetric: its columns are its rows

    for_all_columns(P, n, n_steps, lambda *span: unit_columns(n, *span), store, n_jobs)
    scale = inverse(np.sqrt(out.diagonal()))
    in_threads(lambda rows: _normalise(out, scale, *rows), row_ranges(n, _TILE), n_jobs)
    return out


@kernel
def _normalise(S: Any, scale: Any, first: Any, last: Any) -> None:
    """Turn rows of inner products into cosines, the upper triangle deciding for both.

    Tiles of rows are independent: each reads and writes its part of the upper triangle and the
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
