"""Losses between two partitions, as functions of sums over sizes of clusters and overlaps.

For a clustering with clusters of sizes t, an estimate with clusters of sizes z, and overlaps o, all
over the N objects with a vote there, a loss depends on T = Σ φ(t), A = Σ φ(z), B = Σ φ(o) and
L = φ(N) only. φ(x) is x² for Binder's loss, x(x - 1)/2 for omARI, and x·log2 x for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

BINDER, VI, NVI, ID, NID, OMARI = range(6)
KINDS = {"binder": BINDER, "vi": VI, "nvi": NVI, "id": ID, "nid": NID, "omari": OMARI}
#: Denominators below this are 0: two partitions of one cluster, or of objects alone.
_NOTHING = 1e-6


def phi_table(kind: int, n_objects: int) -> FloatArray:
    """Return φ of 0, 1, ..., n_objects + 1."""
    x = np.arange(n_objects + 2, dtype=np.float64)
    if kind == BINDER:
        return x * x
    if kind == OMARI:
        return x * (x - 1.0) / 2.0
    table: FloatArray = x * np.log2(x, out=np.zeros_like(x), where=x > 0)
    return table


@kernel
def loss_of_sums(kind: Any, a: Any, A: Any, B: Any, T: Any, N: Any, L: Any) -> Any:
    """Return the loss of an estimate with a clustering, given their sums."""
    if kind == BINDER:
        return (a * T + (2.0 - a) * A - 2.0 * B) / (N * N)
    if kind == VI:
        return (a * T + (2.0 - a) * A - 2.0 * B) / N
    if kind == NVI:
        joint = L - B
        return (A + T - 2.0 * B) / joint if joint > _NOTHING else 0.0
    if kind == ID:
        return (A + T - B - min(A, T)) / N
    if kind == NID:
        larger = L - min(A, T)
        return 1.0 - (L + B - A - T) / larger if larger > _NOTHING else 0.0
    chance = A * T / L if L > 0.0 else 0.0
    room = (A + T) / 2.0 - chance
    return 1.0 - (B - chance) / room if room > _NOTHING else 0.0
