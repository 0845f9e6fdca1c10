"""Clusters merged inside their clusterings, a pair at a time, so that the clusterings agree better.

Two clusterings are compared by their contingency table. The change by a merge of two rows of such a
table is a sum over its columns, which is stored for every pair of rows and updated after a merge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Gains below this are rounding; gains that differ by less are equal.
_ROUNDING = 1e-12


class Merge(NamedTuple):
    """Two clusters of a clustering that become one.

    Attributes
    ----------
    member : int
        The clustering.
    kept, merged : int
        The cluster that remains, and the one that becomes part of it.
    gain : float
        The mean gain of agreement with the other clusterings.
    """

    member: int
    kept: int
    merged: int
    gain: float


def merges_that_agree(
    counts: FloatArray, owner: NDArray[np.int64], fixed: NDArray[np.bool_], metric: str
) -> Iterator[Merge]:
    """Yield repeatedly the merge that makes one clustering agree best with the others.

    Parameters
    ----------
    counts : ndarray of shape (n_clusters, n_clusters)
        Objects that every two clusters of the ensemble share.
    owner : ndarray of shape (n_clusters,)
        The clustering of each cluster, in order; every number from 0 occurs.
    fixed : ndarray of shape (n_clusters,)
        Clusters that are compared but not merged.
    metric : {"nmi", "ari"}
        The agreement of two clusterings over the objects they share; the mutual information is
        divided by the mean of the entropies.

    Yields
    ------
    Merge
        Clusters by their number in `counts`, the lower one kept. The gain is the mean over the
        other clusterings. It ends when no gain is above 0, or when a clustering has one cluster
        left.
    """
    tables = _Tables(counts, owner, fixed, metric)
    while True:
        best = tables.best()
        if best is None:
            return
        yield best
        if tables.merge(best) == 1:
            return


class _Tables:
    """The contingency tables of all clusterings, and what merges would gain."""

    def __init__(
        self,
        counts: FloatArray,
        owner: NDArray[np.int64],
        fixed: NDArray[np.bool_],
        metric: str,
    ) -> None:
        self.counts, self.metric = counts.copy(), metric
        starts = np.flatnonzero(np.diff(owner, prepend=-1)).tolist()
        ends = [*starts[1:], len(owner)]
        self.blocks = [slice(*ends) for ends in zip(starts, ends, strict=True)]
        self.alive = [int((~fixed[block]).sum()) for block in self.blocks]
        n = len(self.blocks)
        # terms[m][l][a, b]: the change of the sum over the cells of table (m, l) by merging a and b
        self.terms = [np.zeros((n, size, size)) for size in self._sizes()]
        self.gains = [np.zeros((n, size, size)) for size in self._sizes()]
        for m in range(n):
            for other in self._others(m):
                for column in self._table(m, other).T:
                    self._add_column(self.terms[m][other], column)
                self.gains[m][other] = self._gain(m, other)
        self.means = [gains.sum(axis=0) / max(n - 1, 1) for gains in self.gains]
        self.forbidden = [_not_a_pair(fixed[block]) for block in self.blocks]

    def _sizes(self) -> list[int]:
        return [block.stop - block.start for block in self.blocks]

    def _others(self, m: int) -> list[int]:
        return [other for other in range(len(self.blocks)) if other != m]

    def _table(self, m: int, other: int) -> FloatArray:
        return self.counts[self.blocks[m], self.blocks[other]]

    def _add_column(self, terms: FloatArray, column: FloatArray, sign: float = 1.0) -> None:
        """Add the contribution of a column of a table; only its nonzero rows matter."""
        rows = np.flatnonzero(column)
        terms[np.ix_(rows, rows)] += sign * _of_pairs(column[rows], column[rows], self.metric)

    def _gain(self, m: int, other: int) -> FloatArray:
        table, terms = self._table(m, other), self.terms[m][other]
        return (_nmi_gain if self.metric == "nmi" else _ari_gain)(table, terms)

    def best(self) -> Merge | None:
        """Return the merge with the largest gain, the first of equals; None if there is none."""
        allowed = [
            np.where(forbidden, -np.inf, means)
            for forbidden, means in zip(self.forbidden, self.means, strict=True)
        ]
        largest = [float(gains.max(initial=-np.inf)) for gains in allowed]
        top = max(largest, default=-np.inf)
        if top <= _ROUNDING:
            return None
        m = next(m for m, gain in enumerate(largest) if gain >= top - _ROUNDING)
        places = np.argwhere(allowed[m] >= top - _ROUNDING)
        a, b = places[0].tolist()
        start = self.blocks[m].start
        return Merge(m, start + a, start + b, float(allowed[m][a, b]))

    def merge(self, merge: Merge) -> int:
        """Merge two clusters, and return the number of clusters left in their clustering."""
        m, kept, merged, _ = merge
        for other in self._others(m):
            old = self.counts[self.blocks[other]][:, [kept, merged]].T
            for column in old:
                self._add_column(self.terms[other][m], column, -1.0)
            self._add_column(self.terms[other][m], old.sum(axis=0))
        self.counts[kept] += self.counts[merged]
        self.counts[:, kept] += self.counts[:, merged]
        self.counts[merged] = self.counts[:, merged] = 0.0
        a, b = kept - self.blocks[m].start, merged - self.blocks[m].start
        for other in self._others(m):
            table, terms = self._table(m, other), self.terms[m][other]
            terms[b] = terms[:, b] = 0.0
            terms[a] = terms[:, a] = _of_rows(table[a], table, self.metric)
            self._renew(m, other)
            self._renew(other, m)
        self.forbidden[m][b] = self.forbidden[m][:, b] = True
        self.alive[m] -= 1
        return self.alive[m]

    def _renew(self, m: int, other: int) -> None:
        before, after = self.gains[m][other], self._gain(m, other)
        self.means[m] += (after - before) / (len(self.blocks) - 1)
        self.gains[m][other] = after


def _not_a_pair(fixed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which entries of a square of clusters are not a valid pair, lower first."""
    forbidden: NDArray[np.bool_] = fixed[:, None] | fixed | np.tri(len(fixed), dtype=bool)
    return forbidden


def _of_pairs(x: FloatArray, y: FloatArray, metric: str) -> FloatArray:
    """Return the change of a sum over cells by merging a cell of x and one of y.

    The sum is of n log n for NMI, of n (n - 1) for the adjusted Rand index.
    """
    if metric == "ari":
        products: FloatArray = 2.0 * np.outer(x, y)
        return products
    both = x[:, None] + y
    gained: FloatArray = xlogy(both, both) - xlogy(x, x)[:, None] - xlogy(y, y)
    return gained


def _of_rows(row: FloatArray, table: FloatArray, metric: str) -> FloatArray:
    """Return the change of the sum over cells by merging one row with each row of a table."""
    if metric == "ari":
        products: FloatArray = 2.0 * (table @ row)
        return products
    both = table + row
    gained: FloatArray = (xlogy(both, both) - xlogy(table, table) - xlogy(row, row)).sum(axis=1)
    return gained


def _nmi_gain(table: FloatArray, terms: FloatArray) -> FloatArray:
    """Return the change of 2 I / (H + H) for each pair of rows that may be merged."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n = rows.sum()
    if n == 0:
        return np.zeros_like(terms)
    whole, cells = xlogy(n, n), xlogy(table, table).sum()
    in_columns, in_rows = xlogy(columns, columns).sum(), xlogy(rows, rows).sum()

    def nmi(cells: FloatArray, in_rows: FloatArray) -> FloatArray:
        entropies = 2 * whole - in_rows - in_columns
        shared = 2 * (cells - in_rows - in_columns + whole)
        real = entropies > _ROUNDING * whole
        values: FloatArray = np.divide(shared, entropies, np.ones_like(entropies), where=real)
        return values

    after = nmi(cells + terms, in_rows + _of_pairs(rows, rows, "nmi"))
    gain: FloatArray = after - nmi(np.array(cells), np.array(in_rows))
    return gain


def _ari_gain(table: FloatArray, terms: FloatArray) -> FloatArray:
    """Return the change of the adjusted Rand index for each pair of rows that may be merged."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n = rows.sum()
    if n == 0:
        return np.zeros_like(terms)
    pairs, cells = n * (n - 1), (table * (table - 1)).sum()
    in_columns, in_rows = (columns * (columns - 1)).sum(), (rows * (rows - 1)).sum()

    def ari(cells: FloatArray, in_rows: FloatArray) -> FloatArray:
        expected = in_rows * in_columns / max(pairs, 1.0)
        room = (in_rows + in_columns) / 2 - expected
        values: FloatArray = np.ones_like(cells)
        np.divide(cells - expected, room, out=values, where=room != 0)
        return values

    after = ari(cells + terms, in_rows + _of_pairs(rows, rows, "ari"))
    gain: FloatArray = after - ari(np.array(cells), np.array(in_rows))
    return gain
