"""GPMGLA: graph partitioning with multi-granularity link analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage import _validate, flow
from ensemblage.methods._bipartite import BipartiteClusterer

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

#: Maximal rounds of k-means, which normally ends when no label changes.
_ROUNDS = 10_000
#: Added to the lengths of rows by the authors' program. Without it another row may be the
#: farthest where two distances differ only by rounding.
_OFFSET = 1e-10


class GPMGLA(BipartiteClusterer):
    """Bipartite consensus with links between clusters that overlap the same others.

    Clusterings that agree with the rest of the ensemble weigh more. Objects are linked with their
    clusters, and clusters with clusters that have overlaps in common; the graph of both is cut into
    `n_clusters` parts. The method is deterministic.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    alpha : float, default=0.5
        Strength of the links of objects, relative to those between clusters.
    beta : float, default=2.0
        How strongly agreement with the others increases the weight of a clustering; 0 makes all
        equal.
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
        How much closer each object is to its own cluster than to the next by co-association, in
        [0, 1].
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    WEAC : the same weights of clusterings, clustered agglomeratively; from the same article.

    Notes
    -----
    The weight of clustering m is I_m = (a_m / max a)^beta, a_m its mean NMI (max) with the others.
    With W the Jaccard coefficients of clusters, two clusters have the source-aware likeness
    SACT_ij = Σ_z I_z·min(W_iz, W_jz) over all clusters z, scaled to a maximum of 1, with 1 on the
    diagonal. B has alpha·I_m where an object is in a cluster of clustering m, and below these rows
    those of SACT. The leading `n_clusters` eigenvectors v of B' diag(1/d) B, d being row sums and
    the matrix normalised by its own, give objects the coordinates diag(1/d) B v; rows of length 1
    are clustered by k-means from one start: the first object, then always the row farthest from
    those chosen. Microclusters count as often as they have objects, so this is exactly the result
    of the objects. The authors' program leaves a cluster empty that loses its last object during
    k-means; here it gets the farthest one.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for overlaps, O(C³) for likeness and eigenvectors and O(n·k²) a round
    of k-means. :meth:`cut` repeats k-means only.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang, "Combining multiple clusterings via crowd agreement estimation
    and multi-granularity link analysis", Neurocomputing 170, 2015, pp. 240-250.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.GPMGLA(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        alpha: float = 0.5,
        beta: float = 2.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        alpha = _validate.check_number(owner, "alpha", self.alpha)
        beta = _validate.check_number(owner, "beta", self.beta, zero_allowed=True)
        table, sizes, _ = self._begin(X, member_weight).microclusters
        self._check_clusters()

        agreement = flow.member_nmi(table, sizes)
        weights = flow.clustering_weights(agreement, beta)[flow.owners(table)]
        likeness = flow.jaccard(flow.overlaps(table, sizes))
        triples = flow.source_aware_triples(likeness, weights, n_jobs=self.n_jobs)
        self._prepare(flow.membership(table, alpha * weights), hidden_rows=triples)
        return self._finish()

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        rows = flow.unit_rows(self._transfer_cut.coordinates(n_clusters), _OFFSET)
        start = flow.farthest_first(rows, n_clusters)
        return flow.lloyd(rows, start, weights=self.microclusters_.sizes, max_iter=_ROUNDS)
