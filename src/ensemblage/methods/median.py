"""Median: the partition with the least expected loss to the clusterings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage._messages import ParameterError
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._starting import start_from
from ensemblage.methods._turning import turned
from ensemblage.methods.lwea import LWEA
from ensemblage.methods.lwgp import LWGP

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._ensemble import Ensemble
    from ensemblage._types import FloatArray

#: Random runs, clusters that each takes apart, and the n·M·k up to which these numbers are used.
_RUNS, _ZEALOUS, _AFFORDABLE = 16, 10, 2e7
_MOST_RUNS = 1_000_000
#: Runs during the search for a, and its precision.
_RUNS_FOR_A, _CLOSENESS_OF_A = 2, 0.01
#: Up to this number of microclusters a tree is a starting point; number of clusterings tried
#: as well.
_SMALL, _CANDIDATES = 2000, 100


class _Votes(NamedTuple):
    """The distinct clusterings of microclusters, and their weights."""

    table: NDArray[np.int32]
    sizes: NDArray[np.int64]
    weight: FloatArray


class Median(ConsensusClusterer):
    """The partition with the least expected loss to the clusterings (SALSO).

    For draws of a clustering from a posterior distribution, one column each, this is the Bayes
    estimate. With ``n_clusters="auto"`` the number of clusters is free: the loss decides it.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        How many clusters to form; "auto" uses the number that minimises the loss. It follows the
        numbers of the clusterings: right for posterior draws, too many for clusterings that are
        finer than the expected result.
    loss : {"vi", "binder", "nvi", "id", "nid", "omari"}, default="vi"
        Variation of information, Binder's loss, normalised variation of information, information
        distance, normalised information distance, or one less the adjusted Rand index.
    a : float or "auto", default=1.0
        For "vi" and "binder": the cost, from 0 to 2, of separating two objects that belong
        together; 2 - a is the cost of joining two that do not. Larger values give fewer clusters.
        "auto" takes the value with the largest expected loss of the estimate.
    max_clusters : int or "auto", default="auto"
        Maximal number of clusters with ``n_clusters="auto"``; "auto" is twice the largest number of
        any clustering.
    n_runs : int or "auto", default="auto"
        Random runs in addition to those from given starts; the best run wins. "auto" is 16, and
        fewer for more than 2·10⁷ votes times clusters.
    draws : {"columns", "rows"}, default="columns"
        Position of the clusterings in X: samplers often return one in each row. An Ensemble, and a
        list with an array or Series for each clustering, are read alike in both cases.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random runs. Equal integers give equal labels.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found.
    expected_loss_ : float
        The mean loss to the clusterings, by `member_weight`.
    member_losses_ : ndarray of shape (n_clusterings,)
        The loss to each clustering; NaN for one without votes.
    a_ : float
        The cost of separation that was used.
    run_losses_ : ndarray of shape (n_runs,)
        The final expected loss of each run, those from given starts first.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next by co-association, in
        [0, 1].
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    ensemblage.metrics.expected_loss : the loss of any labels.
    ensemblage.metrics.credible_ball : how far the draws are from the estimate.

    Notes
    -----
    For an estimate with clusters of sizes z, a clustering with clusters of sizes t and overlaps o,
    f(x) = x·log2 x, u = Σ f(z), v = Σ f(t), w = Σ f(o), and L = f(N) for N objects:

    - binder = [a·Σ t² + (2 - a)·Σ z² - 2·Σ o²] / N²
    - vi = [a·v + (2 - a)·u - 2·w] / N
    - nvi = (u + v - 2·w) / (L - w)
    - id = (u + v - w - min(u, v)) / N
    - nid = 1 - (L + w - u - v) / (L - min(u, v))
    - omari = 1 - ARI

    Runs start from a tree (`LWEA`, beyond 2,000 microclusters `LWGP` where `n_clusters` is given),
    from the clustering with the least expected loss, from nothing, and at random. Sweeps move one
    microcluster after the other where the loss is least, until none moves; then clusters are taken
    apart and their microclusters reallocated, if that reduces the loss. Identical rows share a
    label: with "binder" that loses nothing. The search does not prove that its optimum is global.
    With fewer clusters than groups that votes link, rows are searched in the order of their
    structure, so that their own order decides nothing, except for rows of equal structure.

    Equal clusterings are counted once, with their weights added. A missing vote is left out: sums
    are over the objects that a clustering labels.

    With N objects, M clusterings, n microclusters and k clusters: O(N·M) for microclusters and
    O(n·M·k) a sweep, linear in M. :meth:`cut` searches again at its k.

    References
    ----------
    D. B. Dahl, D. J. Johnson, P. Müller, "Search algorithms and loss functions for Bayesian
    clustering", Journal of Computational and Graphical Statistics 31(4), 2022, pp. 1189-1201.

    S. Wade, Z. Ghahramani, "Bayesian cluster analysis: point estimation and credible balls",
    Bayesian Analysis 13(2), 2018, pp. 559-626.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3]]
    >>> model = en.Median(random_state=0).fit(votes)
    >>> model.labels_, round(model.expected_loss_, 3)
    (array([0, 0, 0, 0, 1, 1, 1]), 0.607)
    >>> en.Median(loss="binder", random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 2, 2, 2])
    """

    _takes_member_weight = True
    _found: flow.MedianPartition | None
    _joins_groups = True  # the least expected loss

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        loss: str = "vi",
        a: float | str = 1.0,
        max_clusters: int | str = "auto",
        n_runs: int | str = "auto",
        draws: str = "columns",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.loss = loss
        self.a = a
        self.max_clusters = max_clusters
        self.n_runs = n_runs
        self.draws = draws
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        self._loss = _validate.check_choice(owner, "loss", self.loss, flow.LOSSES)
        cost = _validate.check_cost(owner, self.loss, self.a, auto_allowed=True)
        self._max_clusters = _whole_or_auto(owner, "max_clusters", self.max_clusters, 1)
        self._n_runs = _whole_or_auto(owner, "n_runs", self.n_runs, 0, _MOST_RUNS)
        self._draws = _validate.check_choice(owner, "draws", self.draws, ("columns", "rows"))
        self._seed = _validate.check_random_state(owner, self.random_state)
        _validate.check_n_jobs(owner, self.n_jobs)
        # Many clusterings of few objects are usual here and not a reason to warn.
        self._begin(as_ensemble(self._votes_on(X), n_jobs=self.n_jobs, new=True), member_weight)
        self._prepare()
        self._found = None
        self.a_ = self._best_a() if cost is None else cost
        self._finish()
        self._found = None
        table, sizes, _ = self.microclusters_
        losses = flow.partition_losses(self._micro_labels, table, sizes, self._loss, self.a_)
        self.member_losses_ = losses
        voting = np.isfinite(losses)
        weight = None if self.member_weight_ is None else self.member_weight_[voting]
        self.expected_loss_ = float(np.average(losses[voting], weights=weight))
        return self

    # -- inside --------------------------------------------------------------------------------

    def _votes_on(self, X: Any) -> Any:
        """Return votes with one clustering in each column."""
        return X if self._draws == "columns" else turned(type(self).__name__, X)

    def _new_rows(self, X: Any) -> tuple[Ensemble, NDArray[np.int32]]:
        check_is_fitted(self, "labels_")
        return super()._new_rows(self._votes_on(X))

    def _prepare(self) -> None:
        """Set the state of every search: distinct clusterings with their weights, and starts."""
        table, sizes, _ = self.microclusters_
        weight = np.ones(table.shape[1]) if self.member_weight_ is None else self.member_weight_
        # Codes are by first appearance, so equal partitions are equal columns.
        self._votes = _distinct(table, sizes, weight)
        self._largest = int(table.max()) + 1
        tree = LWEA(1, weights="normalized", n_jobs=self.n_jobs)
        self._starts = start_from([tree] if len(sizes) <= _SMALL else [], self)

    def _wanted_k(self) -> int:
        if self._asked is not None:
            return self._asked
        self._found = self._search(None, self.a_)
        return len(np.unique(self._found.labels))

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        result = self._found
        if result is None:
            result = self._search(n_clusters, self.a_)
        if "labels_" not in vars(self):
            self.run_losses_ = result.losses
        return result.labels

    def _search(
        self, n_clusters: int | None, a: float, n_runs: int | None = None
    ) -> flow.MedianPartition:
        """Return the best of all runs at a number of clusters, or at any."""
        n, n_members = self._votes.table.shape
        k = self._most_clusters() if n_clusters is None else n_clusters
        votes, order = self._votes, None
        if n_clusters is not None and self._leaves_to_chance(n_clusters):
            # Then the order of rows must not decide.
            order = np.argsort(flow.structure(votes.table, votes.sizes), kind="stable")
            table = np.column_stack([flow.renumbered(column) for column in votes.table[order].T])
            votes = _distinct(table, votes.sizes[order], votes.weight)
        problem = flow.median_problem(votes.table, votes.sizes, self._loss, a, votes.weight)
        effort = min(1.0, _AFFORDABLE / (n * n_members * k))
        if n_runs is None:
            n_runs = int(_RUNS * effort) if self._n_runs is None else self._n_runs
        _validate.check_memory(
            32 * len(problem.owner) * k + 4 * problem.rows.size,
            f"Median's counts of {len(problem.owner)} clusters by {k}",
            "A smaller max_clusters, or fewer clusterings, need less.",
        )
        found = flow.median_partition(
            problem,
            self._start_labels(n_clusters, k, votes, order),
            n_runs,
            self._seed,
            n_clusters=k,
            fixed=n_clusters is not None,
            n_zealous=max(1, int(_ZEALOUS * effort)),
            n_jobs=self.n_jobs,
        )
        return found if order is None else found._replace(labels=found.labels[np.argsort(order)])

    def _most_clusters(self) -> int:
        most = 2 * self._largest if self._max_clusters is None else self._max_clusters
        return min(most, self.n_microclusters_)

    def _start_labels(
        self, n_clusters: int | None, most: int, votes: _Votes, order: NDArray[np.int64] | None
    ) -> list[NDArray[np.int64]]:
        """Return starting labels: of another method, of a clustering, and none."""
        nothing = np.full(self.n_microclusters_, -1, dtype=np.int64)
        if n_clusters is not None:
            nothing[:n_clusters] = np.arange(n_clusters)
        wanted = min(self._largest, most) if n_clusters is None else n_clusters
        if n_clusters is not None and not self._starts:
            seed = _validate.DrawnSeed(self._seed)
            graph = LWGP(1, weights="normalized", random_state=seed, n_jobs=self.n_jobs)
            self._starts = start_from([graph], self)
        free_of_many = n_clusters is None and self.n_microclusters_ > _SMALL
        starts = [] if free_of_many else [start.labels(wanted) for start in self._starts]
        if order is not None:
            starts = [flow.renumbered(labels[order]) for labels in starts]
        member = _best_member(votes, self._loss, n_clusters, most)
        return [*starts, *([] if member is None else [member]), nothing]

    def _best_a(self) -> float:
        """Return the cost for which the least expected loss, a concave function, is largest."""

        def least(a: float) -> float:
            return self._search(None, a, n_runs=_RUNS_FOR_A).loss

        return float(flow.golden_maximum(least, 0.0, 2.0, _CLOSENESS_OF_A))


def _distinct(table: NDArray[np.int32], sizes: NDArray[np.int64], weight: FloatArray) -> _Votes:
    """Return each partition once; codes are by first appearance, so equal ones are equal columns.

    Columns are sorted by their bytes, so the order of clusterings has no effect.
    """
    kept: dict[bytes, float] = {}
    for vote, counts in zip(np.ascontiguousarray(table.T), weight.tolist(), strict=True):
        kept[vote.tobytes()] = kept.get(vote.tobytes(), 0.0) + counts
    columns = sorted(kept)
    votes = np.frombuffer(b"".join(columns), dtype=table.dtype).reshape(-1, len(sizes))
    weights = np.array([kept[column] for column in columns])
    return _Votes(np.ascontiguousarray(votes.T), sizes, weights)


def _best_member(
    votes: _Votes, loss: str, n_clusters: int | None, most: int
) -> NDArray[np.int64] | None:
    """Return the votes of the clustering with the least expected loss, among those that fit."""
    table, sizes, weight = votes
    clusters_of_member = table.max(axis=0) + 1
    fits = np.flatnonzero((clusters_of_member > 0) & (clusters_of_member <= most))
    if n_clusters is not None:
        fits = np.flatnonzero(clusters_of_member == n_clusters)
    if len(fits) == 0:
        return None
    step = max(1.0, len(fits) / _CANDIDATES)
    tried = fits[np.arange(0, len(fits), step).astype(np.int64)]
    means = []
    for m in tried:
        losses = flow.partition_losses(table[:, m], table, sizes, loss)
        valid = np.isfinite(losses) & (weight > 0)
        means.append(float(np.average(losses[valid], weights=weight[valid])))
    return table[:, tried[int(np.argmin(means))]].astype(np.int64)


def _whole_or_auto(
    owner: str, name: str, value: Any, lowest: int, highest: int | None = None
) -> int | None:
    if isinstance(value, str) and value == "auto":
        return None
    try:
        return _validate.check_whole(owner, name, value, lowest, highest=highest)
    except ParameterError as error:
        raise ParameterError(owner, name, f"'auto' or {error.expected}", value) from None
