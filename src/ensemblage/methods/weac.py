"""WEAC: weighted evidence accumulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._shared_clusters import ClusterWeights, SharedClusters

if TYPE_CHECKING:
    from typing import Self

    from ensemblage._types import FloatArray


class WEAC(SharedClusters):
    """Agglomerative consensus on co-association in which good clusterings count more.

    A clustering that agrees with the others (by normalised mutual information) weighs more than one
    that does not; the similarity of two objects is the weight of the clusterings that put them into
    the same cluster.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    linkage : {"average", "complete", "single"}, default="average"
        Similarity of two clusters: the mean, smallest or largest over pairs of their objects.
    ties : {"mean", "later", "octave"}, default="mean"
        Which of several equally similar pairs of clusters merges first; complete and single link
        depend on it strongly. "mean": the pair with the largest mean similarity, then the one with
        the most objects. The others use the order of rows: "later" takes the first pair and puts
        the union in its later place; "octave" takes the last pair and the earlier place, as GNU
        Octave does.
    beta : float, default=2.0
        How much the weights differ: each is the clustering's mean NMI with the others, relative to
        the best, to this power. 0 is EAC.
    min_cluster_size : int, float or "auto", default=1
        Least size of a cluster: a number of objects, or as a float a share of n_objects /
        n_clusters; "auto" is 0.1. Smaller branches of the tree join the most similar cluster, so
        that outliers do not use up clusters. It is halved if the tree has too few branches of that
        size. 1 is the plain cut of the tree.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1].
    similarity_ : ndarray of shape (n_microclusters_, n_microclusters_)
        Weighted co-association of microclusters; 1 on the diagonal. Computed on first access if the
        tree did not need it; raises MemoryBudgetError if it would not fit.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format.
    weights_ : ndarray of shape (n_features_in_,)
        The weight of each clustering, at most 1; times its `member_weight`, where that was given.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    EAC : the same with equal weights.
    GPMGLA : the same weights in a bipartite graph.

    Notes
    -----
    s_ij = Σ_m w_m [same cluster in m] / Σ_m w_m, both sums over the clusterings in which i and j
    voted; 0 where these weigh nothing. w_m = (mean NMI of m with the others / the largest such
    mean) to the power of beta, NMI normalised by the larger entropy and counted over objects that
    voted in both.
    Identical rows have similarity 1 and merge first, so average link over microclusters weighted by
    size is average link over objects: the result is that of the object-level method.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for the weights, O(n²·M) for the similarity, O(n²) for the tree,
    and 16·n² bytes. Above 4,000 microclusters average link (with ``ties="mean"``) on votes without
    missing ones works on clusters instead of pairs: the same tree, in 80·n·M bytes. :meth:`cut`
    costs O(n). The method is deterministic.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang, "Combining multiple clusterings via crowd agreement estimation
    and multi-granularity link analysis", Neurocomputing 170, 2015, pp. 240-250.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> en.WEAC(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        linkage: str = "average",
        ties: str = "mean",
        beta: float = 2.0,
        min_cluster_size: float | str = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.ties = ties
        self.beta = beta
        self.min_cluster_size = min_cluster_size
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        linkage, ties = self._check_merging()
        beta = _validate.check_number(owner, "beta", self.beta, zero_allowed=True)
        groups = self._begin(X, member_weight).microclusters
        self._check_fits(linkage, ties)

        nmi = flow.member_nmi(groups.table, groups.sizes)
        self.weights_ = flow.clustering_weights(nmi, beta)
        if self.member_weight_ is not None:
            self.weights_ = self.weights_ * self.member_weight_
        return self._link(linkage, ties)

    def _cluster_weights(self) -> ClusterWeights:
        table = self.microclusters_.table
        total = self.weights_[table.max(axis=0) >= 0].sum()
        return ClusterWeights(self.weights_[flow.owners(table)], float(total))

    def _similarity_of_pairs(self) -> FloatArray:
        table = self.microclusters_.table
        similarity = flow.graded_coassociation(
            table, np.eye(len(flow.owners(table))), self.weights_, n_jobs=self.n_jobs
        )
        np.fill_diagonal(similarity, 1.0)  # also where all votes of an object have weight 0
        return similarity
