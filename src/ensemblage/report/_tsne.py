"""t-SNE of some hundred points (van der Maaten and Hinton, 2008): exact, without a seed.

scikit-learn's is designed for many thousand points and takes ten seconds for 800. All pairs of a
few hundred fit in the cache, and starting from principal axes needs no random numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

_STEPS = 350
_EARLY = 100  # steps with stronger attraction, in which groups form
_EXAGGERATION = 8.0
_TINY = 1e-12


def tsne(distance: FloatArray, start: FloatArray, perplexity: float = 30.0) -> FloatArray:
    """Return positions in the plane whose neighbours are those of the distances.

    Parameters
    ----------
    distance : ndarray of shape (n, n)
        Symmetric, zero on its diagonal.
    start : ndarray of shape (n, 2)
        Starting positions, of any scale.
    perplexity : float, default=30.0
        Approximate number of neighbours of each point; at most (n - 1) / 3.
    """
    n = len(distance)
    attraction = affinities(distance, min(perplexity, (n - 1) / 3)).astype(np.float32)
    attraction *= _EXAGGERATION
    places = (start / max(float(start.std()), _TINY) * 1e-2).astype(np.float32)
    speed, gains = np.zeros_like(places), np.ones_like(places)
    rate = max(n / _EXAGGERATION, 10.0)
    scratch = np.empty_like(attraction), np.empty_like(attraction)
    for step in range(_STEPS):
        if step == _EARLY:
            attraction /= _EXAGGERATION
        slope = gradient(places, attraction, scratch)
        # Gains as in the authors' program: larger while a coordinate keeps its direction.
        gains = np.where((slope > 0) == (speed > 0), gains * 0.8, gains + 0.2)
        np.maximum(gains, 0.01, out=gains)
        speed = (0.5 if step < _EARLY else 0.8) * speed - rate * gains * slope
        places += speed
        places -= places.mean(axis=0)
    return places.astype(np.float64)


def affinities(distance: FloatArray, perplexity: float) -> FloatArray:
    """Return p_ij, the neighbourhood probabilities of i and j, summing to 1.

    Each row is a Gaussian of the distance whose width is found by bisection, so that the row's
    entropy is the logarithm of the perplexity.
    """
    n = len(distance)
    squared = distance**2
    off = ~np.eye(n, dtype=bool)
    squared = np.where(off, squared - np.where(off, squared, np.inf).min(axis=1)[:, None], np.inf)
    low, high = np.full(n, 1e-8), np.full(n, 1e8)
    for _ in range(50):
        width = np.sqrt(low * high)
        rows = np.exp(-squared * width[:, None])
        rows /= rows.sum(axis=1)[:, None]
        entropy = -(rows * np.log(np.maximum(rows, _TINY))).sum(axis=1)
        too_wide = entropy > np.log(perplexity)
        low, high = np.where(too_wide, width, low), np.where(too_wide, high, width)
    return (rows + rows.T) / (2 * n)


def gradient(places: Any, attraction: Any, scratch: tuple[Any, Any]) -> Any:
    """Return 4 Σ_j (p_ij - q_ij) (1 + |y_i - y_j|²)⁻¹ (y_i - y_j) for each point i.

    `scratch` is two arrays of the attraction's shape and type: allocating them would cost more than
    the arithmetic.
    """
    kernel, pull = scratch
    lengths = (places**2).sum(axis=1)
    np.matmul(-2.0 * places, places.T, out=kernel)
    kernel += lengths
    kernel += lengths[:, None] + 1.0
    np.divide(1.0, kernel, out=kernel)
    np.fill_diagonal(kernel, 0.0)
    np.multiply(kernel, -1.0 / max(float(kernel.sum()), _TINY), out=pull)
    pull += attraction
    pull *= kernel
    return 4.0 * (pull.sum(axis=1)[:, None] * places - pull @ places)
