"""Clusterings that agree with no other clustering more than by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Agreement is by chance if it is within this number of standard deviations of independence.
_DEVIATIONS = 5.0


def at_chance(
    table: NDArray[np.int32], sizes: NDArray[np.int64], member: int, deviations: float = _DEVIATIONS
) -> bool:
    """Tell whether a clustering is as good as independent of every other one.

    The measure is Pearson's chi-squared statistic of the overlaps, over the objects with both
    votes, beside its mean and variance for independent clusterings with the same cluster sizes
    (Haldane 1940). O(n·M).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> table = np.repeat(np.arange(3), 40)[:, None] * np.ones(4, dtype=int)
    >>> table[:, 3] = rng.integers(0, 20, 120)
    >>> sizes = np.ones(120, dtype=np.int64)
    >>> at_chance(table.astype(np.int32), sizes, 0), at_chance(table.astype(np.int32), sizes, 3)
    (False, True)
    """
    others = np.delete(np.arange(table.shape[1]), member)
    voting = others[table[:, others].max(axis=0) >= 0]
    votes = table[:, member]
    if not len(voting) or votes.max() < 0:
        return False
    return all(_deviation(votes, table[:, m], sizes) < deviations for m in voting)


def _deviation(
    votes: NDArray[np.int32], others: NDArray[np.int32], sizes: NDArray[np.int64]
) -> float:
    """Return how far chi-squared is above its mean for independence, in standard deviations."""
    voted = (votes >= 0) & (others >= 0)
    if not voted.any():
        return 0.0
    weights = sizes[voted].astype(np.float64)
    overlaps = csr_array(coo_array((weights, (votes[voted], others[voted])))).tocoo()  # sums up
    in_row, in_column = (np.bincount(at, overlaps.data) for at in overlaps.coords)
    row, column = overlaps.coords
    rows, columns = in_row[in_row > 0], in_column[in_column > 0]
    n, r, c = float(weights.sum()), len(rows), len(columns)
    if n < 2 or r < 2 or c < 2:
        return 0.0
    chi2 = n * (float((overlaps.data**2 / in_row[row] / in_column[column]).sum()) - 1.0)
    mean = (r - 1) * (c - 1) * n / (n - 1)
    uneven = [float((n / sums).sum()) - len(sums) ** 2 for sums in (rows, columns)]
    variance = 2.0 * (r - 1) * (c - 1) + uneven[0] * uneven[1] / n
    return (chi2 - mean) / float(np.sqrt(variance))
