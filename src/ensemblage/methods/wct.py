"""WCT: weighted connected triples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._linkage import LinkageClusterer

if TYPE_CHECKING:
    from typing import Self


class WCT(LinkageClusterer):
    """Agglomerative consensus on co-association refined by weighted connected triples.

    Where a clustering puts two objects into different clusters they still count as similar if the
    two clusters overlap the same clusters of other clusterings.

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
        Weight of the similarity of two different clusters, from 0 (EAC) to 1; the 2011 article uses
        0.9.
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
        Refined co-association of microclusters; 1 on the diagonal.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    EAC : without the refinement.
    SRS : similarity of clusters and of objects by SimRank.

    Notes
    -----
    s_ij is the mean, over the clusterings in which i and j voted, of 1 where they share
    a cluster and decay · t_uv where they are in u and v. t_uv = Σ_z min(J_uz, J_vz) over the
    clusters z of the other clusterings, J the Jaccard index of clusters as sets of objects, divided
    by the largest such sum of any two clusters of the same clustering. Without common neighbours
    (as with a single clustering) this is EAC. Called CTS in the LinkCluE toolbox. Identical rows
    have similarity 1 and merge first, so average link over microclusters weighted by size is
    average link over objects: the result is that of the object-level method.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for overlaps, O(C³ / M) for triples, O(n²·M) for the
    similarity, O(n²) for the tree, and 16·n² + 40·C² bytes. :meth:`cut` costs O(n). The method is
    deterministic.

    References
    ----------
    N. Iam-On, T. Boongoen, S. Garrett, C. Price, "A link-based approach to the cluster ensemble
    problem", IEEE Transactions on Pattern Analysis and Machine Intelligence 33(12), 2011,
    pp. 2396-2409.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> en.WCT(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        linkage: str = "average",
        ties: str = "mean",
        decay: float = 0.8,
        min_cluster_size: float | str = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.ties = ties
        self.decay = decay
        self.min_cluster_size = min_cluster_size
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        linkage, ties = self._check_merging()
        decay = _validate.check_share(owner, "decay", self.decay)
        groups = self._begin(X, member_weight).microclusters
        member = flow.owners(groups.table)
        self._check_square(len(member))

        counts = flow.overlaps(groups.table, groups.sizes)
        likeness = decay * flow.connected_triples(flow.jaccard(counts), member)
        np.fill_diagonal(likeness, 1.0)
        self.similarity_ = flow.graded_coassociation(groups.table, likeness, n_jobs=self.n_jobs)
        return self._link(linkage, ties)
