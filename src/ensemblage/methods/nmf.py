"""NMF: consensus by nonnegative factors of co-association."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._checks import check_pairs

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Maximal draws of a start in which a cluster has died.
_DRAWS = 3
_MOST_STARTS = 1_000_000


class NMF(ConsensusClusterer):
    """Consensus by nonnegative matrix factorisation of co-association.

    Co-association of the objects is approximated by Q S Qᵀ, where Q has a nonnegative column for
    each cluster, columns are nearly orthogonal and S is diagonal. An object belongs to the cluster
    in whose column its value is largest.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    n_starts : int, default=3
        Random starts, of which the one with the smallest residual is kept. A start in which a
        cluster dies is redrawn at most twice.
    max_iter : int, default=200
        Rounds of updates of each start.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts. Equal integers give equal labels.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found; a warning is raised if it is lower than requested.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1].
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_iter_ : int
        Rounds of updates of each start: `max_iter`.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    Notes
    -----
    Minimises |A - Q S Qᵀ|² over pairs of objects, with A their co-association, by the updates
    (element by element)

        Q ← Q · sqrt( A Q S / (Q Qᵀ A Q S) ),   S ← S · sqrt( Qᵀ A Q / (Qᵀ Q S Qᵀ Q) ).

    Identical objects that start with equal rows keep them equal. The updates therefore run on
    microclusters, with sums over objects weighted by size, and give the result of the objects.

    With N objects, M clusterings, n microclusters and k clusters: O(N·M) for microclusters, then
    O(n·(M + k)·k) for an update, since A is H·Hᵀ/M for the 0/1 membership H and is never built.
    With missing votes A is not such a product: an update costs O(n²·k) and A takes 8·n² bytes.
    :meth:`cut` repeats everything after microclusters.

    References
    ----------
    T. Li, C. Ding, M. I. Jordan, "Solving consensus and semi-supervised clustering problems using
    nonnegative matrix factorization", International Conference on Data Mining, 2007, pp. 577-582.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.NMF(n_clusters=2, random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_starts: int = 3,
        max_iter: int = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        self._n_starts = _validate.check_whole(
            owner, "n_starts", self.n_starts, 1, highest=_MOST_STARTS
        )
        self._max_iter = _validate.check_whole(owner, "max_iter", self.max_iter, 1)
        self._seed = _validate.check_random_state(owner, self.random_state)
        table = self._begin(X, member_weight).microclusters.table
        n = self.n_microclusters_
        self.n_iter_ = self._max_iter

        self._coassociation: FloatArray | None = None
        self._membership = flow.membership(table).tocsr()
        weight = self._cluster_weight()
        self._counted = (
            self._membership if weight is None else flow.membership(table, weight).tocsr()
        )
        if (table < 0).any():
            what = f"NMF's co-association of {n} microclusters, some of whose votes are missing,"
            check_pairs(self, 8 * n * n, what, "Without missing votes NMF does not need it.")
            self._coassociation = flow.coassociation(
                table, weights=self.member_weight_, n_jobs=self.n_jobs
            )
        return self._finish()

    def _check_factors(self, n_clusters: int) -> None:
        n = self.n_microclusters_
        _validate.check_memory(
            8 * 6 * n * n_clusters,
            f"NMF's factors of {n} microclusters and {n_clusters} clusters",
            "Fewer clusters need less.",
        )

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        self._check_factors(n_clusters)
        return flow.factorise(
            self._similarity_sums,
            self.microclusters_.sizes,
            n_clusters,
            np.random.default_rng(self._seed),
            n_starts=self._n_starts,
            n_draws=_DRAWS,
            max_iter=self._max_iter,
        )

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        if self._coassociation is not None:
            return flow.product_by_rows(self._coassociation, weights, n_jobs=self.n_jobs)
        agreements: FloatArray = self._counted @ (self._membership.T @ weights)
        return agreements / self._total_weight()
