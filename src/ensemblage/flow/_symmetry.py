"""Matrices that are symmetric by definition, made so to the last bit.

Agglomeration follows chains of nearest neighbours; they end because the distance from a to b is
that from b to a.
"""

from __future__ import annotations

from typing import Any

from ensemblage.flow._jit import kernel

_TILE = 64


@kernel
def mirror(matrix: Any) -> None:
    """Write what is below the diagonal above it."""
    n = matrix.shape[0]
    for top in range(0, n, _TILE):
        bottom = min(top + _TILE, n)
        for left in range(0, bottom, _TILE):
            for i in range(top, bottom):
                for j in range(left, min(left + _TILE, i)):
                    matrix[j, i] = matrix[i, j]
