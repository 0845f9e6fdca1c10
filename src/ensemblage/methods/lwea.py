"""LWEA: locally weighted evidence accumulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage import _validate, flow
from ensemblage.methods._checks import LEVELS
from ensemblage.methods._local_weights import check_local_weights, local_entropies
from ensemblage.methods._shared_clusters import ClusterWeights, SharedClusters

if TYPE_CHECKING:
    from typing import Self

    from ensemblage._types import FloatArray


class LWEA(SharedClusters):
    """Agglomerative consensus on co-association in which certain clusters count more.

    A cluster whose objects the other clusterings keep together weighs more than one they scatter;
    the similarity of two objects is the weight of the clusters they share.

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
    weights : {"entropy", "normalized"}, default="entropy"
        Measure of uncertainty: the entropy of a cluster over the other clusterings, as published;
        or that entropy divided by log2 of the number of clusters of the cluster's own clustering,
        which puts coarse and fine clusterings on one scale.
    theta : float or "auto", default="auto"
        Tolerance of uncertainty: the smaller, the less an uncertain cluster weighs. "auto" is 0.4
        with entropies and 0.1 with normalised ones.
    level : {"microclusters", "objects"}, default="microclusters"
        The units that are merged: microclusters, whose objects then share a label; or objects, as
        in the article, where identical rows of votes may be separated. Both give the same clusters
        if the cut of the objects keeps identical rows together.
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
        Locally weighted co-association of two different objects of each pair of microclusters;
        below 1 also on the diagonal, where both are of the same. Computed on first access if the
        tree did not need it; raises MemoryBudgetError if it would not fit.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format; with ``level="objects"`` over
        objects, of shape (n_objects - 1, 4).
    certainties_ : ndarray of shape (n_clusters of the ensemble,)
        The weight of each cluster (the ensemble-driven cluster index), clustering by clustering.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    LWGP : the same weights in a bipartite graph.
    EAC : the same with equal weights.

    Notes
    -----
    s_ij = (sum of w_u over the clusters u that i and j share) / (clusterings in which
    both voted), 0 where there is none. w_u = exp(-H_u / (theta·M)), H_u the sum over all
    clusterings of the entropy, in bits, of how they distribute those objects of u that they have a
    vote for. Two different objects with the same votes have a similarity s_aa below 1, so that, of
    objects, they merge at height 1 - s_aa and not at 0. The default leaves these merges out; both
    levels agree wherever the object-level cut keeps identical rows together, which is where k is
    small. ``level="objects"`` is exact: through microclusters, with their inner merges, where no
    s_ab exceeds s_aa and ``ties="mean"``, else on the N × N distances, which raises
    MemoryBudgetError if they do not fit. Without missing votes no s_ab exceeds s_aa.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for the weights, O(n²·M) for the similarity, O(n²) for the tree,
    and 16·n² bytes. Above 4,000 microclusters average link (with ``ties="mean"``) on votes without
    missing ones works on clusters instead of pairs: the same tree, in 80·n·M bytes. :meth:`cut`
    costs O(n). The method is deterministic.

    References
    ----------
    D. Huang, C.-D. Wang, J.-H. Lai, "Locally weighted ensemble clustering", IEEE Transactions on
    Cybernetics 48(5), 2018, pp. 1460-1473.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> en.LWEA(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True
    _thetas = (0.4, 0.1)

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        linkage: str = "average",
        ties: str = "mean",
        weights: str = "entropy",
        theta: float | str = "auto",
        level: str = "microclusters",
        min_cluster_size: float | str = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.ties = ties
        self.weights = weights
        self.theta = theta
        self.level = level
        self.min_cluster_size = min_cluster_size
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        linkage, ties = self._check_merging()
        weights = check_local_weights(self)
        level = _validate.check_choice(owner, "level", self.level, LEVELS)
        self._begin(X, member_weight)
        self._check_fits(linkage, ties)

        entropies = local_entropies(self, weights)
        self.certainties_ = flow.cluster_certainties(entropies, self._total_weight(), weights.theta)
        return self._link(linkage, ties, level)

    def _cluster_weights(self) -> ClusterWeights:
        weight = self._cluster_weight()
        certainties = self.certainties_ if weight is None else self.certainties_ * weight
        return ClusterWeights(certainties, self._total_weight())

    def _similarity_of_pairs(self) -> FloatArray:
        return flow.shared_coassociation(
            self.microclusters_.table, self.certainties_, self.member_weight_, n_jobs=self.n_jobs
        )
