"""Co-association: in what share of the clusterings two microclusters agree (Definition 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.flow._agreement import (
    VoteCodes,
    count_matches,
    counter_dtype,
    sum_matches,
    turnout_codes,
    vote_codes,
)
from ensemblage.flow._jit import kernel
from ensemblage.flow._symmetry import mirror
from ensemblage.flow._threads import in_threads, row_ranges
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROWS_PER_BLOCK = 64
#: Rows whose votes are compared in the time of adding to one row of a list.
_ROWS_PER_STEP = 5
_NOTHING = np.finfo(np.float64).tiny  # avoids division by zero


def coassociation(
    table: NDArray[np.int32],
    others: NDArray[np.int32] | None = None,
    *,
    weights: FloatArray | None = None,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return a[i, j] = agreements / clusterings in which row i and row j both voted.

    Rows of `table` are compared with rows of `others` (default: with each other). If no clustering
    has both votes, a[i, j] = 0. A full row agrees with itself: a[i, i] = 1. With `weights`, one for
    each clustering and not negative, a clustering counts by its weight.
    """
    if others is None:
        others = table
    n_rows, n_clusterings = table.shape
    votes, turnout = _sides(vote_codes(np.vstack([table, others])), n_rows), None
    if min(table.min(initial=0), others.min(initial=0)) < 0:
        turnout = _sides(turnout_codes(np.vstack([table, others])), n_rows)
    result: FloatArray = np.empty((n_rows, len(others)))
    # Added in the order of the sums, so that full agreement is 1.
    total = n_clusterings if weights is None else np.cumsum(weights)[-1]

    def fill_weighted(rows: tuple[int, int]) -> None:
        start, stop = rows
        sums = result[start:stop]
        sum_matches(votes.left, votes.right, weights, start, sums)
        if turnout is None:
            sums /= total
            return
        both = np.empty_like(sums)
        sum_matches(turnout.left, turnout.right, weights, start, both)
        np.divide(sums, both, out=sums, where=both > 0)

    def fill(rows: tuple[int, int]) -> None:
        start, stop = rows
        counts = np.empty((stop - start, len(others)), dtype=counter_dtype(n_clusterings))
        count_matches(votes.left, votes.right, start, counts)
        if turnout is None:
            np.divide(counts, n_clusterings, out=result[start:stop])
            return
        both = np.empty_like(counts)
        count_matches(turnout.left, turnout.right, start, both)
        # The float64 quotient, rounded once: equal shares are equal numbers.
        result[start:stop] = counts / np.maximum(both, 1).astype(np.float64)

    work = fill if weights is None else fill_weighted
    in_threads(work, row_ranges(n_rows, _ROWS_PER_BLOCK), n_jobs)
    return result


def _sides(codes: VoteCodes, n_rows: int) -> VoteCodes:
    """Return the first `n_rows` as the left side and the others as the right one.

    Both are contiguous: for other arrays a kernel would be compiled again.
    """
    left, right = codes.left[:, :n_rows], codes.right[:, n_rows:]
    return VoteCodes(np.ascontiguousarray(left), np.ascontiguousarray(right))


def graded_coassociation(
    table: NDArray[np.int32],
    likeness: FloatArray,
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return co-association with graded similarity of clusters and weighted clusterings.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes, -1 where there is none.
    likeness : ndarray of shape (n_clusters, n_clusters)
        Symmetric; clusters of all clusterings in one row, as in `ensemblage.flow.membership`. Only
        pairs of the same clustering are used.
    weights : ndarray of shape (n_clusterings,), optional
        Not negative; 1 for each clustering by default.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray of shape (n, n)
        The weighted mean of ``likeness[cluster of i, cluster of j]`` over the clusterings in which
        both rows voted, 0 where these weigh nothing. With the identity it is co-association.
    """
    n, n_clusterings = table.shape
    weights = np.ones(n_clusterings) if weights is None else weights
    ends = np.cumsum(table.max(axis=0) + 1)
    votes = np.ascontiguousarray(table.T)
    # An extra code for missing votes, similar to none; and weights once per row of likeness.
    grades = [
        np.pad(weight * likeness[start:end, start:end], (0, 1))
        for start, end, weight in zip(np.append(0, ends[:-1]), ends, weights, strict=True)
    ]
    gaps = bool((table < 0).any())
    voted = (votes >= 0).astype(np.float64)
    total = np.cumsum(weights)[-1]
    compiled = worth_a_kernel(n * n * n_clusterings)
    result: FloatArray = np.empty((n, n))

    def fill(rows: tuple[int, int]) -> None:
        start, stop = rows
        sums = result[start:stop]
        sums[:] = 0.0
        for m in range(n_clusterings):
            if compiled:
                _add_grades(grades[m], votes[m], start, sums)
            else:
                sums += grades[m][votes[m, start:stop, None], votes[m]]
        if not gaps:
            sums /= max(total, _NOTHING)
            return
        common = np.zeros_like(sums)
        for m in range(n_clusterings):
            common += np.outer(weights[m] * voted[m, start:stop], voted[m])
        np.divide(sums, common, out=sums, where=common > 0)

    in_threads(fill, row_ranges(n, _ROWS_PER_BLOCK), n_jobs)
    return result


def shared_coassociation(
    table: NDArray[np.int32],
    strength: FloatArray,
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return co-association in which an agreement counts by the strength of the shared cluster.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes, -1 where there is none.
    strength : ndarray of shape (n_clusters,)
        Of each cluster, clustering by clustering as in `ensemblage.flow.membership`; not negative.
    weights : ndarray of shape (n_clusterings,), optional
        Not negative; 1 for each clustering by default.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray of shape (n, n)
        The weighted sum of the strengths of the clusters that two rows share, divided by the
        weight of the clusterings in which both voted; 0 where that is 0.

    Notes
    -----
    `graded_coassociation` with a diagonal likeness gives the same numbers in about ten times the
    time: here one side of the diagonal is computed, by comparing votes, or by adding to the rows
    of each cluster if clusters are small. Both give equal numbers to the last bit.
    """
    n, n_clusterings = table.shape
    weights = np.ones(n_clusterings) if weights is None else weights
    codes = vote_codes(table)
    turnout = turnout_codes(table) if (table < 0).any() else None
    n_codes = table.max(axis=0) + 1
    # Two columns more, of the codes for a missing vote, which agree with nothing.
    worth = np.zeros((n_clusterings, int(n_codes.max(initial=0)) + 2))
    exists = np.arange(worth.shape[1]) < n_codes[:, None]
    worth[exists] = np.repeat(weights, n_codes) * strength
    total = np.cumsum(weights)[-1]
    result: FloatArray = np.empty((n, n))
    compiled = worth_a_kernel(n * n * n_clusterings)
    lists = _lists_if_short(table) if compiled else None

    def fill(rows: tuple[int, int]) -> None:
        start, stop = rows
        sums = result[start:stop]
        if lists is not None:
            _add_to_lists(*lists, worth, start, sums)
        else:
            add = _add_shared if compiled else _add_shared_plainly
            add(codes.left, codes.right, worth, start, sums)
        sums = sums[:, :stop]
        if turnout is None:
            sums /= max(total, _NOTHING)
            return
        both = np.empty((stop - start, n))
        sum_matches(turnout.left, turnout.right, weights, start, both)
        np.divide(sums, both[:, :stop], out=sums, where=both[:, :stop] > 0)

    in_threads(fill, row_ranges(n, _ROWS_PER_BLOCK), n_jobs)
    mirror(result)
    return result


def _add_shared_plainly(left: Any, right: Any, worth: Any, start: int, sums: Any) -> None:
    stop = start + len(sums)
    sums[:, :stop] = 0.0
    for votes, codes, values in zip(left[:, start:stop], right[:, :stop], worth, strict=True):
        sums[:, :stop] += np.where(votes[:, None] == codes, values[votes][:, None], 0.0)


@kernel
def _add_shared(left: Any, right: Any, worth: Any, start: Any, sums: Any) -> None:
    """Write to ``sums[r, j]`` the total strength of the clusters that rows start + r and j share.

    Up to the last row of `sums` only. Clusterings are added in their order, four at a time, so
    that a sum is loaded once for four.
    """
    n_clusterings, stop = right.shape[0], start + sums.shape[0]
    whole = n_clusterings - n_clusterings % 4
    for r in range(sums.shape[0]):
        row = sums[r]
        row[:stop] = 0.0
        i = start + r
        for m in range(0, whole, 4):
            codes_0, codes_1, codes_2, codes_3 = right[m], right[m + 1], right[m + 2], right[m + 3]
            vote_0, vote_1 = left[m, i], left[m + 1, i]
            vote_2, vote_3 = left[m + 2, i], left[m + 3, i]
            worth_0, worth_1 = worth[m, vote_0], worth[m + 1, vote_1]
            worth_2, worth_3 = worth[m + 2, vote_2], worth[m + 3, vote_3]
            for j in range(stop):
                value = row[j]
                value += worth_0 if codes_0[j] == vote_0 else 0.0
                value += worth_1 if codes_1[j] == vote_1 else 0.0
                value += worth_2 if codes_2[j] == vote_2 else 0.0
                value += worth_3 if codes_3[j] == vote_3 else 0.0
                row[j] = value
        for m in range(whole, n_clusterings):
            codes, vote = right[m], left[m, i]
            value_here = worth[m, vote]
            for j in range(stop):
                row[j] += value_here if codes[j] == vote else 0.0


class _Lists(NamedTuple):
    """The rows of each cluster.

    `codes` are votes from 1 on, 0 for a missing one; `rows` are all rows in the order of each
    clustering's codes, which begin at its `firsts`; `places` is where each row is there.
    """

    codes: NDArray[np.uint16]
    rows: NDArray[np.uint16]
    places: NDArray[np.uint16]
    firsts: NDArray[np.int32]


def _lists_if_short(table: NDArray[np.int32]) -> _Lists | None:
    """Return lists of the rows of clusters if adding to them is faster than comparing votes."""
    n, n_clusterings = table.shape
    n_codes = int(table.max(initial=-1)) + 2
    if max(n, n_codes) > np.iinfo(np.uint16).max:
        return None
    codes = (table + 1).astype(np.uint16)
    by_clustering = np.ascontiguousarray(codes.T)
    n_rows = np.array([np.bincount(column, minlength=n_codes) for column in by_clustering])
    if _ROWS_PER_STEP * (n_rows[:, 1:] ** 2.0).sum() > float(n) * n * n_clusterings:
        return None
    rows = np.argsort(by_clustering, axis=1, kind="stable").astype(np.uint16)
    places = np.empty_like(rows)
    np.put_along_axis(places, rows.astype(np.int64), np.arange(n, dtype=np.uint16)[None], axis=1)
    firsts = (np.cumsum(n_rows, axis=1) - n_rows).astype(np.int32)
    return _Lists(codes, rows, np.ascontiguousarray(places.T), firsts)


@kernel
def _add_to_lists(
    codes: Any, rows: Any, places: Any, firsts: Any, worth: Any, start: Any, sums: Any
) -> None:
    """Do the same as `_add_shared`, up to the diagonal, for the rows of each cluster alone."""
    for r in range(sums.shape[0]):
        i = start + r
        row = sums[r]
        row[: start + sums.shape[0]] = 0.0
        for m in range(codes.shape[1]):
            code = np.int64(codes[i, m])
            if code > 0:
                value = worth[m, code - 1]
                up_to_it = rows[m, firsts[m, code] : np.int64(places[i, m]) + 1]
                for place in range(len(up_to_it)):
                    row[np.uint64(up_to_it[place])] += value


@kernel
def _add_grades(grades: Any, votes: Any, start: Any, sums: Any) -> None:
    """Add ``grades[vote of row start + r, vote of row j]`` to ``sums[r, j]``; -1 is the last."""
    for r in range(sums.shape[0]):
        row = grades[votes[start + r]]
        for j in range(sums.shape[1]):
            sums[r, j] += row[votes[j]]
