"""Clusterings that agree with no other clustering more than by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.flow._contingency import cluster_ends, overlaps_with

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

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
    columns = table[:, voting]
    starts = cluster_ends(columns)[:-1]
    counts = overlaps_with(votes, int(votes.max()) + 1, columns, sizes)
    ends = np.append(starts[1:], counts.shape[1])
    return all(
        _deviation(counts[:, start:end]) < deviations
        for start, end in zip(starts, ends, strict=True)
    )


def _deviation(counts: FloatArray) -> float:
    """Return how far chi-squared is above its mean for independence, in standard deviations."""
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    counts = counts[rows > 0][:, columns > 0]
    rows, columns = rows[rows > 0], columns[columns > 0]
    n, r, c = float(rows.sum()), len(rows), len(columns)
    if n < 2 or r < 2 or c < 2:
        return 0.0
    chi2 = n * (float((counts**2 / rows[:, None] / columns).sum()) - 1.0)
    mean = (r - 1) * (c - 1) * n / (n - 1)
    uneven = [float((n / sums).sum()) - len(sums) ** 2 for sums in (rows, columns)]
    variance = 2.0 * (r - 1) * (c - 1) + uneven[0] * uneven[1] / n
    return (chi2 - mean) / float(np.sqrt(variance))
