"""The products of `ensemblage.flow.walk` for very many nodes: single precision, no exact lengths.

Beyond some ten thousand nodes a panel no longer fits in a cache, and memory bandwidth limits:
float32 moves half as much and has 32 columns in a panel instead of 16. Its rounding, some 1e-6 of a
similarity, is far below the error of the lengths, which are estimated from random probes here.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import qr

from ensemblage.flow._columns import WalkProduct
from ensemblage.flow._panels import WIDTH_SINGLE, row_squares, walk_steps
from ensemblage.flow._threads import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_DIRECTIONS = 64
_STEPS_TO_SETTLE = 8
_FIRST_PANELS = 1  # its 32 probes determine how many are needed


def estimated_norms(
    P: Any,
    n_steps: int,
    n_probes: int,
    rng: np.random.Generator,
    *,
    error: float = 0.01,
    product: WalkProduct | None = None,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the lengths of trajectories, estimated to a relative error, for very many nodes.

    The square of a length is S_ii, the sum over the steps t of |row i of P^t|². The term t = 1 is
    summed from P itself. Of the other rows of P^t the part in the span of some directions Q is
    exact, |row i of P^t Q|²; these are the directions of walkers after some steps, so they contain
    most of a long walk. The square of the rest is estimated by the mean of the square of entry i of
    P^t r over random signs r, made orthogonal to Q. Its relative standard deviation is √(2/q) for q
    signs, so that of a length is

        (share of its square that is neither first step nor in Q) / √(2·q),

    and q is chosen to make this `error` in the mean square over nodes, `n_probes` at most.
    `product` is P prepared in single precision, if it is used for more than this.
    """
    n = P.shape[0]
    if product is None:
        product = WalkProduct(P, n_steps, single=True)
    matrix = ends, _, entries = product.backward
    basis = _directions(product.forward, min(n_steps, _STEPS_TO_SETTLE), rng, n_jobs)

    def squares(panel: NDArray[np.float32]) -> FloatArray:
        totals = np.zeros(n)
        row_squares(matrix, n_steps, panel, np.empty_like(panel), totals)
        return totals

    def probe(child: np.random.Generator) -> FloatArray:
        signs = child.integers(0, 2, size=(n, WIDTH_SINGLE), dtype=np.int8)
        panel = (2 * signs - 1).astype(np.float32)
        panel -= basis @ (basis.T @ panel)
        return squares(panel)

    starts = range(0, basis.shape[1], WIDTH_SINGLE)
    inside = _sum(in_threads(lambda first: squares(_panel(basis, first)), starts, n_jobs))
    row = np.repeat(np.arange(n), np.diff(ends))
    known = inside + np.bincount(row, weights=entries.astype(np.float64) ** 2, minlength=n)
    children = rng.spawn(-(-n_probes // WIDTH_SINGLE))
    few = children[:_FIRST_PANELS]
    rest = _sum(in_threads(probe, few, n_jobs))
    probes = probes_for(error, known, rest / (len(few) * WIDTH_SINGLE))
    wanted = -(-probes // WIDTH_SINGLE)
    n_panels = min(max(wanted, len(few)), len(children))
    if n_panels > len(few):
        rest += _sum(in_threads(probe, children[len(few) : n_panels], n_jobs))
    norms = np.empty(n)
    norms[product.order] = np.sqrt(known + rest / (n_panels * WIDTH_SINGLE))
    return norms


def _directions(
    transposed: Any, n_steps: int, rng: np.random.Generator, n_jobs: int | None
) -> NDArray[np.float32]:
    """Return an orthonormal basis of the distributions of walkers after some steps."""
    n = len(transposed[0]) - 1

    def walked(child: np.random.Generator) -> NDArray[np.float32]:
        panel = child.standard_normal((n, WIDTH_SINGLE), dtype=np.float32)
        ended: NDArray[np.float32] = walk_steps(transposed, n_steps, panel, np.empty_like(panel))
        return ended

    children = rng.spawn(_DIRECTIONS // WIDTH_SINGLE)
    columns = np.hstack(in_threads(walked, children, n_jobs))
    basis: NDArray[np.float32] = qr(columns, mode="economic", overwrite_a=True)[0]
    return basis


def _panel(columns: NDArray[np.float32], first: int) -> NDArray[np.float32]:
    """Return some columns as a panel, filled up with zeros."""
    some = columns[:, first : first + WIDTH_SINGLE]
    panel = np.zeros((len(columns), WIDTH_SINGLE), dtype=np.float32)
    panel[:, : some.shape[1]] = some
    return panel


def probes_for(error: float, known: FloatArray, rest: FloatArray) -> int:
    """Return how many probes give that error, where `rest` of a square is estimated."""
    whole = known + rest
    share = np.divide(rest, whole, out=np.zeros_like(rest), where=whole > 0)
    return int(np.ceil(0.5 * np.mean(share**2) / error**2))


def _sum(parts: list[FloatArray]) -> FloatArray:
    """Return the sum, in a fixed order for any number of threads."""
    return functools.reduce(np.add, parts)
