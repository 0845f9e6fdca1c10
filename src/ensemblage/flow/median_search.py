"""The partition with the least expected loss to the clusterings of an ensemble, by local search.

Runs of sweeps that move one microcluster at a time, from given labels or from random ones; then
whole clusters are taken apart and their rows reallocated, which is kept if it helps (Dahl, Johnson
and Müller 2022).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage.flow._losses import BINDER, KINDS, OMARI, VI, loss_of_sums, phi_table
from ensemblage.flow._median_sweeps import CLOSE, column_sums, count, sweep, sweep_ratio
from ensemblage.flow._threads import in_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_MOST_SWEEPS = 200
#: The two points inside an interval that golden section compares.


class MedianProblem(NamedTuple):
    """Votes as counts, and a loss as coefficients of sums over these.

    Attributes
    ----------
    rows : ndarray of shape (n, n_columns), int32
        The count that each row adds to in each column, -1 for none: one column for each
        clustering, then one for all rows, or one for the voters of each clustering.
    owner : ndarray of shape (n_counts,)
        The column of each count.
    coef : ndarray of shape (n_columns,)
        Factor of Σ φ(counts) of a column in an additive loss, times the number of objects.
    constant : float
        Added to that.
    shares : ndarray of shape (n_clusterings,)
        The share of each clustering in the expected loss.
    totals, voters : ndarray of shape (n_clusterings,)
        Σ φ of its clusters, and its objects.
    sizes, phi, kind : ndarray, ndarray, int
        Objects of each row; φ of whole numbers; the loss.
    """

    rows: NDArray[np.int32]
    owner: NDArray[np.int64]
    coef: FloatArray
    constant: float
    shares: FloatArray
    totals: FloatArray
    voters: NDArray[np.int64]
    sizes: NDArray[np.int64]
    phi: FloatArray
    kind: int


class MedianPartition(NamedTuple):
    """The partition with the least expected loss.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Labels of the rows.
    loss : float
        Their expected loss.
    losses : ndarray of shape (n_runs,)
        The final expected losses of all runs.
    """

    labels: NDArray[np.int64]
    loss: float
    losses: FloatArray


def median_problem(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    loss: str,
    a: float = 1.0,
    weights: FloatArray | None = None,
) -> MedianProblem:
    """Return the search for the least expected loss as counts and coefficients.

    Parameters
    ----------
    table : ndarray of shape (n, n_clusterings)
        Votes of microclusters, -1 where there is none.
    sizes : ndarray of shape (n,)
        Objects in each.
    loss : {"binder", "vi", "nvi", "id", "nid", "omari"}
        The loss.
    a : float
        For "binder" and "vi": the cost of separating objects that belong together; 2 - a is the
        cost of joining objects that do not.
    weights : ndarray of shape (n_clusterings,), optional
        Weight of each clustering.
    """
    n_members, kind = table.shape[1], KINDS[loss]
    voted = table >= 0
    n_clusters = table.max(axis=0) + 1
    before = np.concatenate([[0], np.cumsum(n_clusters)])
    rows = np.where(voted, table + before[:-1], -1)
    voters = sizes @ voted
    phi = phi_table(kind, int(sizes.sum()))
    in_clusters = np.bincount(rows[voted], (sizes[:, None] * voted)[voted], minlength=before[-1])
    owner = np.repeat(np.arange(n_members), n_clusters)
    totals: FloatArray = np.bincount(
        owner, phi[in_clusters.astype(np.int64)], minlength=n_members
    ).astype(np.float64)

    shares = np.where(voters > 0, 1.0 if weights is None else weights, 0.0)
    shares /= shares.sum()
    power = 2 if kind in (BINDER, OMARI) else 1
    scaled = sizes.sum() * shares / np.maximum(voters, 1) ** float(power)
    a = a if kind in (BINDER, VI) else 1.0
    if voted.all():
        others, coef = np.full((len(table), 1), before[-1]), [(2.0 - a) * scaled.sum()]
        columns = np.array([n_members])
    else:
        others, coef = np.where(voted, before[-1] + np.arange(n_members), -1), (2.0 - a) * scaled
        columns = n_members + np.arange(n_members)
    return MedianProblem(
        rows=np.ascontiguousarray(np.hstack([rows, others]).astype(np.int32)),
        owner=np.concatenate([owner, columns]),
        coef=np.concatenate([-2.0 * scaled, coef]),
        constant=float(a * (scaled @ totals)),
        shares=shares,
        totals=totals,
        voters=voters,
        sizes=sizes,
        phi=phi,
        kind=kind,
    )


def median_partition(
    problem: MedianProblem,
    starts: Sequence[NDArray[np.int64]],
    n_runs: int,
    seed: int,
    *,
    n_clusters: int,
    fixed: bool,
    n_zealous: int,
    n_jobs: int | None = None,
) -> MedianPartition:
    """Return the labels with the least expected loss of all runs, the first of equal ones.

    Parameters
    ----------
    problem : MedianProblem
        The problem to minimise.
    starts : sequence of ndarray of shape (n,)
        Labels to start from, -1 for rows to be allocated first.
    n_runs : int
        Runs from random labels, or from none, in addition to these.
    seed : int
        Seed of these, and of orders of rows.
    n_clusters : int
        Maximal number of clusters; with `fixed`, the exact number.
    n_zealous : int
        Maximal number of clusters of a run that are taken apart.
    n_jobs : int or None
        Threads.
    """
    children = np.random.default_rng(seed).spawn(len(starts) + n_runs)

    def run(item: int) -> tuple[float, NDArray[np.int64]]:
        rng = children[item]
        n = len(problem.rows)
        if item < len(starts):
            labels, order = starts[item].astype(np.int64), np.arange(n)
        else:
            order = rng.permutation(n)
            labels = _random_start(rng, order, n_clusters, fixed=fixed)
        if fixed:
            labels = _with_every_label(labels, n_clusters)
        search = _Search(problem, labels, n_clusters, fixed=fixed)
        search.settle(order)
        value = search.take_apart(order, rng, n_zealous)
        return value, search.labels

    results = in_threads(run, range(len(children)), n_jobs)
    values = np.array([value for value, _ in results]) / problem.sizes.sum()
    best = int(np.flatnonzero(values <= values.min() + CLOSE)[0])
    return MedianPartition(results[best][1], float(values[best]), values)


class _Search:
    """Labels during improvement, with their counts."""

    def __init__(
        self,
        problem: MedianProblem,
        labels: NDArray[np.int64],
        n_clusters: int,
        *,
        fixed: bool,
    ) -> None:
        self.problem, self.fixed = problem, fixed
        self.labels = labels
        shape = len(problem.owner), n_clusters
        self._counts = np.zeros(shape, dtype=np.int64)
        self._steps = np.zeros(shape)
        self._inside = np.zeros(n_clusters, dtype=np.int64)
        self._sums = np.zeros(problem.rows.shape[1])
        self._count()

    def settle(self, order: NDArray[np.int64]) -> None:
        """Allocate rows without a label in order, then sweep until nothing moves."""
        p = self.problem
        waiting = order[self.labels[order] < 0]
        if len(waiting):
            self._sweep_additive(waiting)
        for _ in range(_MOST_SWEEPS):
            if p.kind in (BINDER, VI):
                moves = self._sweep_additive(order)
            else:
                self._sum()
                moves = sweep_ratio(
                    p.kind,
                    p.rows,
                    p.shares * p.sizes.sum(),
                    p.totals,
                    p.voters,
                    p.sizes,
                    order,
                    self.fixed,
                    p.phi,
                    self.labels,
                    self._counts,
                    self._steps,
                    self._inside,
                    self._sums,
                )
            if not moves:
                break

    def take_apart(
        self, order: NDArray[np.int64], rng: np.random.Generator, n_attempts: int
    ) -> float:
        """Reallocate the rows of one cluster after the other, as long as that helps.

        Returns the expected loss times the number of objects.
        """
        value = self.value()
        clusters = rng.permutation(np.flatnonzero(self._inside > 1))
        for c in clusters[:n_attempts]:
            rows = rng.permutation(np.flatnonzero(self.labels == c))
            if len(rows) < 2:  # it has changed meanwhile
                continue
            before = self.labels.copy()
            self.labels[rows[1:] if self.fixed else rows] = -1
            self._count()
            self._sweep_additive(rows[1:] if self.fixed else rows)
            self.settle(order)
            changed = self.value()
            if changed < value - CLOSE:
                value = changed
            else:
                self.labels[:] = before
                self._count()
        return value

    def value(self) -> float:
        """Return the expected loss times the number of objects, from the counts."""
        p = self.problem
        self._sum()
        if p.kind in (BINDER, VI):
            return float(p.constant + p.coef @ self._sums)
        n_members, n_objects = len(p.shares), p.sizes.sum()
        own = self._sums[n_members:]
        losses = [
            loss_of_sums(
                p.kind,
                1.0,
                own[m if len(own) > 1 else 0],
                self._sums[m],
                p.totals[m],
                float(p.voters[m]),
                p.phi[p.voters[m]],
            )
            for m in np.flatnonzero(p.shares)
        ]
        return float(n_objects * (p.shares[p.shares > 0] @ losses))

    def _count(self) -> None:
        p = self.problem
        count(p.rows, p.sizes, self.labels, p.phi, self._counts, self._steps, self._inside)

    def _sum(self) -> None:
        column_sums(self.problem.owner, self.problem.phi, self._counts, self._sums)

    def _sweep_additive(self, order: NDArray[np.int64]) -> int:
        p = self.problem
        return int(
            sweep(
                p.rows,
                p.coef,
                p.sizes,
                order,
                self.fixed,
                p.phi,
                self.labels,
                self._counts,
                self._steps,
                self._inside,
            )
        )


def _random_start(
    rng: np.random.Generator, order: NDArray[np.int64], n_clusters: int, *, fixed: bool
) -> NDArray[np.int64]:
    """Return random labels, or none, each in half of the cases."""
    n = len(order)
    if rng.random() < 0.5:
        return rng.integers(n_clusters, size=n)
    labels = np.full(n, -1, dtype=np.int64)
    if fixed:
        labels[order[:n_clusters]] = np.arange(n_clusters)
    return labels


def _with_every_label(labels: NDArray[np.int64], n_clusters: int) -> NDArray[np.int64]:
    """Return labels in which all of `n_clusters` occur; the largest clusters give rows."""
    labels = labels.copy()
    counts = np.bincount(labels[labels >= 0], minlength=n_clusters)
    for label in np.flatnonzero(counts == 0):
        waiting = np.flatnonzero(labels < 0)
        largest = int(counts.argmax())
        row = waiting[0] if len(waiting) else np.flatnonzero(labels == largest)[-1]
        if not len(waiting):
            counts[largest] -= 1
        labels[row], counts[label] = label, 1
    return labels
