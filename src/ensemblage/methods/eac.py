"""EAC: evidence accumulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._precomputed import AFFINITIES
from ensemblage.methods._shared_clusters import ClusterWeights, SharedClusters

if TYPE_CHECKING:
    from typing import Self

    from ensemblage._types import FloatArray


class EAC(SharedClusters):
    """Agglomerative consensus on co-association: evidence accumulation.

    The similarity of two objects is the share of clusterings that put them into the same cluster.

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
    affinity : {"votes", "precomputed"}, default="votes"
        Input of `fit`: votes, or the similarity of every pair of objects, a symmetric matrix of
        numbers from 0 to 1 with 1 on its diagonal, such as a co-association.
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
        Co-association of microclusters; 1 on the diagonal. Computed on first access if the tree did
        not need it; raises MemoryBudgetError if it would not fit.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    WEAC : the same with clusterings weighted by their agreement with the others.
    LWEA : the same with clusters weighted by how certain they are.

    Notes
    -----
    s_ij = (clusterings in which i and j share a cluster) / (clusterings in which both
    voted), 0 where there is none. Identical rows have similarity 1 and merge first, so average link
    over microclusters weighted by size is average link over objects: the result is that of the
    object-level method.

    With N objects, M clusterings and n microclusters: O(N·M) for
    microclusters, O(n²·M) byte compares for the similarity, O(n²) for the tree, and 16·n² bytes.
    Above 4,000 microclusters average link (with ``ties="mean"``) on votes without missing ones
    works on clusters instead of pairs: the same tree, in 80·n·M bytes. :meth:`cut` costs O(n). The
    method is deterministic. Similarities are multiples of 1/M and tie often, hence `ties`; a cut at
    k gives k clusters also with ties.

    References
    ----------
    A. L. N. Fred, A. K. Jain, "Combining multiple clusterings using evidence accumulation", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 27(6), 2005, pp. 835-850.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> en.EAC(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 0, 1, 1, 1])
    >>> similarity = [[1, 0.9, 0.2], [0.9, 1, 0.1], [0.2, 0.1, 1]]
    >>> en.EAC(n_clusters=2, affinity="precomputed").fit_predict(similarity)
    array([0, 0, 1])
    """

    _takes_member_weight = True

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        linkage: str = "average",
        ties: str = "mean",
        affinity: str = "votes",
        min_cluster_size: float | str = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.ties = ties
        self.affinity = affinity
        self.min_cluster_size = min_cluster_size
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        linkage, ties = self._check_merging()
        affinity = _validate.check_choice(owner, "affinity", self.affinity, AFFINITIES)
        if affinity == "precomputed":
            self._similarity = self._begin_with_similarity(X, member_weight)
            return self._link(linkage, ties)
        self._begin(X, member_weight)
        self._check_fits(linkage, ties)
        return self._link(linkage, ties)

    def _cluster_weights(self) -> ClusterWeights:
        weight = self._cluster_weight()
        if weight is None:
            weight = np.ones(len(flow.owners(self.microclusters_.table)))
        return ClusterWeights(weight, self._total_weight())

    def _similarity_of_pairs(self) -> FloatArray:
        return flow.coassociation(
            self.microclusters_.table, weights=self.member_weight_, n_jobs=self.n_jobs
        )

    def _similarity_name(self) -> str:
        return super()._similarity_name() if self._from_similarity else "co-association"
