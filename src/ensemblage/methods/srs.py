"""SRS: SimRank-based similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage import _validate, flow
from ensemblage.flow import one_blas_thread
from ensemblage.methods._checks import LEVELS
from ensemblage.methods._linkage import LinkageClusterer

if TYPE_CHECKING:
    from typing import Self


class SRS(LinkageClusterer):
    """Agglomerative consensus on SimRank similarity.

    Objects are similar if they are in similar clusters, and clusters are similar if they hold
    similar objects: SimRank on the bipartite graph of objects and clusters.

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
    decay : float, default=0.8
        Share of a similarity that a step along the graph retains, from 0 to 1.
    n_iterations : int, default=5
        Iterations, counting the first, in which everything is similar only to itself: 5 means four
        updates, as in the LinkCluE toolbox. At least 2.
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
        SimRank of two different objects of each pair of microclusters; below 1 also on the
        diagonal, where both are of the same.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format; with ``level="objects"`` over
        objects, of shape (n_objects - 1, 4).
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    WCT : similarity of clusters by their common neighbours.

    Notes
    -----
    Starting with s_ij = 0 and c_uv = 0 but for s_ii = c_uu = 1, each update makes

    - s_ij = decay · mean of c_uv over the clusters u of i and v of j (M_i·M_j of them; M² where no
      vote is missing),
    - c_uv = decay · mean of s_ij over the objects i of u and j of v,

    both from the previous values. Two different objects with the same votes have a similarity s_aa
    below 1, so that, of objects, they merge at height 1 - s_aa and not at 0. The default leaves
    these merges out; both levels agree wherever the object-level cut keeps identical rows together,
    which is where k is small. ``level="objects"`` is exact: through microclusters, with their inner
    merges, where no s_ab exceeds s_aa and ``ties="mean"``, else on the N × N distances, which
    raises MemoryBudgetError if they do not fit.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(C³ + n·M²) for every other update, O(n²·M) for the similarity, O(n²)
    for the tree, and 16·n² + 8·n·C + 40·C² bytes. :meth:`cut` costs O(n). The method is
    deterministic.

    References
    ----------
    N. Iam-on, T. Boongoen, S. Garrett, "Refining pairwise similarity matrix for cluster ensemble
    problem with cluster relations", Discovery Science, LNCS 5255, 2008, pp. 222-233.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> en.SRS(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        linkage: str = "average",
        ties: str = "mean",
        decay: float = 0.8,
        n_iterations: int = 5,
        level: str = "microclusters",
        min_cluster_size: float | str = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.ties = ties
        self.decay = decay
        self.n_iterations = n_iterations
        self.level = level
        self.min_cluster_size = min_cluster_size
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        linkage, ties = self._check_merging()
        decay = _validate.check_share(owner, "decay", self.decay)
        n_updates = _validate.check_whole(owner, "n_iterations", self.n_iterations, 2) - 1
        level = _validate.check_choice(owner, "level", self.level, LEVELS)
        groups = self._begin(X, member_weight).microclusters
        clusters = flow.membership(groups.table)
        self._check_square(clusters.shape[1])

        with one_blas_thread:
            self.similarity_ = flow.simrank(
                clusters, groups.sizes, decay, n_updates, n_jobs=self.n_jobs
            )
        return self._link(linkage, ties, level)
