"""Products of S with many columns, a few panels at a time: the loop around one kernel.

Panels are independent, so threads do not change a bit of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ensemblage.flow._panels import WIDTH, WIDTH_SINGLE, walk_product
from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_FEW_NODES = 1024
#: Columns of one work item: a few panels share their scratch memory, which is slow to allocate.
COLUMNS_AT_A_TIME = 4 * WIDTH


class WalkProduct:
    """S, the sum of P^t (P^t)ᵀ over the steps t = 1 to T, as an operator on columns.

    Optionally in single precision, which is twice as fast and exact to about 1e-6. `order` are the
    nodes in the order in which `forward` (Pᵀ) and `backward` (P) have them, the arrays of kernels.
    """

    def __init__(self, P: Any, n_steps: int, *, single: bool = False) -> None:
        self._width = WIDTH_SINGLE if single else WIDTH
        self._dtype = np.dtype(np.float32 if single else np.float64)
        self.order, ordered = local_order(P)
        ordered = ordered.astype(self._dtype, copy=False)
        self._place = np.empty_like(self.order)
        self._place[self.order] = np.arange(len(self.order))
        self.forward, self.backward = csr_parts(ordered.T.tocsr()), csr_parts(ordered)
        if np.array_equal(self.forward[1], self.backward[1]):  # links have no direction
            self.forward = self.backward[0], self.backward[1], self.forward[2]
        self._n_steps = n_steps

    def by_panels(
        self,
        first: int,
        last: int,
        fetch: Callable[[int, int], NDArray[Any]],
        store: Callable[[int, int, NDArray[Any]], None],
    ) -> None:
        """Multiply columns ``first..last-1``: `fetch` reads some, `store` writes S times these."""
        panels = np.empty((self._n_steps + 1, len(self.order), self._width), dtype=self._dtype)
        result = np.empty_like(panels[0])
        for left in range(first, last, self._width):
            right = min(left + self._width, last)
            panels[0, :, right - left :] = 0.0
            panels[0, :, : right - left] = fetch(left, right)[self.order]
            walk_product(self.forward, self.backward, self._n_steps, panels, result)
            store(left, right, result[self._place, : right - left])


def for_all_columns(
    P: Any,
    n_columns: int,
    n_steps: int,
    fetch: Callable[[int, int], NDArray[Any]],
    store: Callable[[int, int, NDArray[Any]], None],
    n_jobs: int | None,
    *,
    single: bool = False,
    product: WalkProduct | None = None,
) -> None:
    """Multiply S with columns by panels: `fetch` reads some, `store` writes S times these."""
    if product is None:
        product = WalkProduct(P, n_steps, single=single)
    in_threads(
        lambda span: product.by_panels(*span, fetch, store),
        row_ranges(n_columns, COLUMNS_AT_A_TIME),
        n_jobs,
    )


def unit_columns(n: int, first: int, last: int) -> FloatArray:
    """Return columns ``first..last-1`` of the unit matrix."""
    units = np.zeros((n, last - first))
    units[np.arange(first, last), np.arange(last - first)] = 1.0
    return units


def local_order(P: Any) -> tuple[NDArray[np.intp], Any]:
    """Return an order of the nodes in which neighbours are close, and P in that order.

    A panel of many nodes does not fit in the nearest cache, but the neighbourhood of a node does:
    products are twice as fast at 7,000 nodes. Few nodes fit anyway and keep their order.
    """
    n = P.shape[0]
    if n < _FEW_NODES:
        return np.arange(n), P
    order = reverse_cuthill_mckee(P, symmetric_mode=True)
    ordered = P[order][:, order]
    ordered.sort_indices()
    return order, ordered


def inverse(norms: FloatArray) -> FloatArray:
    """Return 1 / norms, 0 if a node has no trajectory."""
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)


def csr_parts(matrix: Any) -> tuple[Any, Any, Any]:
    """Return a sparse matrix as the three arrays of kernels, always of the same dtypes."""
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.uint32, copy=False),
        matrix.data,
    )
