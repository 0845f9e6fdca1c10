"""Starts of k-means that are far from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spread_starts(rows: NDArray[Any], n_starts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return different rows, each drawn by its squared distance to the nearest one before.

    The first is drawn evenly, the others as in k-means++ (Arthur and Vassilvitskii 2007), so that
    small groups far from all others get a start. If all rows lie on starts, the rest are drawn
    evenly. O(n·k·d).

    Examples
    --------
    >>> rows = np.repeat([[0.0], [50.0], [100.0]], [98, 1, 1], axis=0)
    >>> sorted(spread_starts(rows, 3, np.random.default_rng(0))[1:].tolist())
    [98, 99]
    """
    starts = [int(rng.integers(len(rows)))]
    to_nearest = np.full(len(rows), np.inf)
    while len(starts) < n_starts:
        away = rows.astype(np.float64, copy=False) - rows[starts[-1]]
        to_nearest = np.minimum(to_nearest, np.einsum("ij,ij->i", away, away))
        total = to_nearest.sum()
        if total > 0:
            starts.append(int(rng.choice(len(rows), p=to_nearest / total)))
        else:
            others = np.setdiff1d(np.arange(len(rows)), starts)
            starts.append(int(rng.choice(others)))
    return np.array(starts, dtype=np.int64)
