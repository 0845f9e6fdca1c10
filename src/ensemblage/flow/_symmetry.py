"""Symmetric matrices, made symmetric to the last bit.

Agglomeration follows chains of nearest neighbours; they end only if the distance from a to b equals
that from b to a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TILE = 64


def mirror(matrix: NDArray[Any]) -> None:
    """Copy the lower triangle to the upper one."""
    for top in range(0, len(matrix), _TILE):
        rows = matrix[top : top + _TILE]
        matrix[:top, top : top + _TILE] = rows[:, :top].T
        tile = rows[:, top : top + _TILE]
        above = np.triu_indices(len(tile), 1)
        tile[above] = tile.T[above]
