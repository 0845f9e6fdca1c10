"""Ward's criterion on weighted rows: the increase of the sum of squares by each merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import fast_kernel
from ensemblage.flow._threads import in_threads, row_ranges

if TYPE_CHECKING:
    from ensemblage._types import FloatArray, Weights

_ROWS_PER_BLOCK = 64


def ward_costs(rows: FloatArray, weights: Weights, *, n_jobs: int | None = None) -> FloatArray:
    """Return w_a·w_b / (w_a + w_b) · ‖x_a − x_b‖² for every pair of rows x with weights w.

    This is the input of ``agglomerate(costs, "ward", weights)``.
    """
    rows = np.ascontiguousarray(rows)
    mass = weights.astype(np.float64)
    costs = np.zeros((len(rows), len(rows)))

    def part(some: tuple[int, int]) -> None:
        _fill(rows, mass, some[0], some[1], costs)

    in_threads(part, row_ranges(len(rows), _ROWS_PER_BLOCK), n_jobs)
    return costs


@fast_kernel
def _fill(rows: Any, weights: Any, first: Any, last: Any, costs: Any) -> None:
    """Write the costs of rows `first` to `last` with all before them, on both sides."""
    for b in range(last):
        for a in range(max(first, b + 1), last):
            total = 0.0
            for d in range(rows.shape[1]):
                difference = rows[a, d] - rows[b, d]
                total += difference * difference
            cost = weights[a] * weights[b] / (weights[a] + weights[b]) * total
            costs[a, b] = cost
            costs[b, a] = cost
