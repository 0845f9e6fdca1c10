"""Nyström's approximation: few features for each node whose inner products are nearly PTS.

PTS is positive semidefinite. With Ω an orthonormal n × r sketch and Y = PTS·Ω, the matrix
Y (ΩᵀY)⁻¹ Yᵀ = F Fᵀ is the best approximation of PTS from Y alone, and PTS - F Fᵀ is positive
semidefinite too: |PTS_ij - F_i·F_j|² ≤ (1 - |F_i|²)(1 - |F_j|²). The share of the trace that F
captures therefore measures the accuracy of the features.

Needs S·V for r columns and 12·n·r bytes; nothing n × n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Eigenvalues below this share of the largest are rounding in single precision.
_NEGLIGIBLE = 1e-6
_ROWS_AT_A_TIME = 4096


def sketch(
    linked: NDArray[np.bool_], rank: int, rng: np.random.Generator
) -> NDArray[np.floating[Any]]:
    """Return an orthonormal sketch for the nodes that have links, with 0 for the others.

    Nodes without links are similar only to themselves, and have no features.
    """
    n_linked = int(linked.sum())
    columns = rng.standard_normal((n_linked, min(rank, n_linked)), dtype=np.float32)
    # numpy would use double precision and nine times the memory of the columns.
    columns = np.ascontiguousarray(
        linalg.qr(columns, overwrite_a=True, mode="economic", check_finite=False)[0]
    )
    if n_linked == len(linked):
        return columns
    out = np.zeros((len(linked), columns.shape[1]), dtype=np.float32)
    out[linked] = columns
    return out


def nystroem(
    omega: NDArray[Any], image: NDArray[Any], n_linked: int
) -> tuple[NDArray[np.float32], float]:
    """Return unit features from PTS times a sketch, and the share of the trace they capture.

    Parameters
    ----------
    omega : ndarray of shape (n, rank)
        The sketch.
    image : ndarray of shape (n, rank)
        PTS @ omega, in single precision; overwritten.
    n_linked : int
        How many nodes have links: the trace of their part of PTS.

    Returns
    -------
    features : ndarray of shape (n, at most rank), float32
        Rows of length 1, or 0 for a node without links.
    captured : float
        Σ|F_i|² over the trace, before rows are scaled to length 1; in [0, 1].
    """
    core = (omega.T @ image).astype(np.float64)
    values, vectors = np.linalg.eigh((core + core.T) / 2)
    kept = values > _NEGLIGIBLE * max(values[-1], 0.0) if len(values) else np.zeros(0, dtype=bool)
    back = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)
    features = image[:, : back.shape[1]]
    total = 0.0
    for start in range(0, len(image), _ROWS_AT_A_TIME):
        rows = image[start : start + _ROWS_AT_A_TIME] @ back
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        total += float((lengths.astype(np.float64) ** 2).sum())
        np.divide(rows, lengths, out=rows, where=lengths > 0)
        features[start : start + _ROWS_AT_A_TIME] = rows
    captured = min(total / n_linked, 1.0) if n_linked else 1.0
    return np.ascontiguousarray(features), captured
