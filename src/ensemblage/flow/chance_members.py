"""Clusterings that agree with no other clustering more than by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from ensemblage.flow._contingency import cluster_ends, owners, sharing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Agreement is by chance if it is within this number of standard deviations of independence.
_DEVIATIONS = 5.0
#: A clustering that is not random usually agrees with one of this number of others.
_FEW_CLUSTERINGS = 8


def at_chance(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    members: Iterable[int],
    others: NDArray[np.bool_],
    deviations: float = _DEVIATIONS,
) -> NDArray[np.bool_]:
    """Return for each clustering whether it is one of `members` and independent of all `others`.

    The measure is Pearson's chi-squared statistic of the overlaps with another clustering, over the
    objects with both votes, compared with its mean and variance for independent clusterings with
    the same cluster sizes (Haldane 1940). O(n·M) for each of `members`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> table = np.repeat(np.arange(3), 40)[:, None] * np.ones(4, dtype=int)
    >>> table[:, 3] = rng.integers(0, 20, 120)
    >>> sizes = np.ones(120, dtype=np.int64)
    >>> at_chance(table.astype(np.int32), sizes, [0, 3], np.array([True, True, True, True]))
    array([False, False, False,  True])
    """
    ends, owner, share = cluster_ends(table), owners(table), sharing(table, sizes)
    n_members = table.shape[1]
    found = np.zeros(n_members, dtype=bool)
    for m in members:
        n_own = int(ends[m + 1] - ends[m])
        for n_compared in sorted({min(_FEW_CLUSTERINGS, n_members), n_members}):
            overlaps = share(table[:, m], n_compared, n_own)
            above = _deviations(overlaps, owner[: overlaps.shape[1]], n_compared)
            above[m : m + 1] = -np.inf  # not with itself
            found[m] = n_own > 0 and (above[others[:n_compared]] < deviations).all()
            if not found[m]:
                break
    return found


def _deviations(overlaps: Any, owner: NDArray[np.int64], n_members: int) -> FloatArray:
    """Return how far chi-squared is above its mean for independence, in standard deviations.

    `overlaps` has a row for each cluster of one clustering and a column for each cluster of the
    others, as an array or a sparse matrix; `owner` is the clustering of each column.
    """
    columns = overlaps.sum(axis=0)
    per_column = np.divide(1.0, columns, out=np.zeros_like(columns), where=columns > 0)
    place = np.arange(len(owner)), owner
    shape = len(owner), n_members
    rows = _dense(overlaps @ csr_array((np.ones(len(owner)), place), shape=shape))
    per_row = np.divide(1.0, rows, out=np.zeros_like(rows), where=rows > 0)
    squares = _dense((overlaps * overlaps) @ csr_array((per_column, place), shape=shape))
    n = rows.sum(axis=0)
    r = np.count_nonzero(rows, axis=0)
    c = np.bincount(owner, columns > 0, minlength=n_members)
    uneven_rows = n * per_row.sum(axis=0) - r**2
    uneven_columns = n * np.bincount(owner, per_column, minlength=n_members) - c**2
    defined = (n >= 2) & (r >= 2) & (c >= 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        chi2 = n * ((squares * per_row).sum(axis=0) - 1.0)
        mean = (r - 1) * (c - 1) * n / (n - 1)
        variance = 2.0 * (r - 1) * (c - 1) + uneven_rows * uneven_columns / n
        return np.where(defined, (chi2 - mean) / np.sqrt(variance), 0.0)


def _dense(matrix: Any) -> FloatArray:
    whole: FloatArray = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return whole
