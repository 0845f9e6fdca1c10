"""LWEA: locally weighted evidence accumulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._linkage import LinkageClusterer

if TYPE_CHECKING:
    from typing import Self


class LWEA(LinkageClusterer):
    """Agglomerative consensus on co-association in which certain clusters count more.

    A cluster whose objects the other clusterings keep together weighs more than one they scatter;
    two objects are as similar as the weight of the clusters they share.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        How many clusters to form; "auto" chooses as :func:`ensemblage.metrics.choose_k` does.
    linkage : {"average", "complete", "single"}, default="average"
        Which similarity of two clusters decides about merging: the mean, the smallest or the
        largest of their objects'.
    theta : float, default=0.4
        How much uncertainty is forgiven; the smaller, the less an uncertain cluster weighs.
    level : {"microclusters", "objects"}, default="microclusters"
        What is merged. Microclusters, whose objects then share a label; or the objects themselves,
        as in the article, where identical rows of votes may part. The two give the same clusters
        wherever the cut of the objects keeps identical rows together.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        How many clusters came out.
    k_choice_ : KChoice
        With ``n_clusters="auto"``: why so many.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1].
    similarity_ : ndarray of shape (n_microclusters_, n_microclusters_)
        Locally weighted co-association of two different objects of each pair of microclusters;
        below 1 also on the diagonal, where both are of the same.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format; with ``level="objects"`` over
        objects, of shape (n_objects - 1, 4).
    certainties_ : ndarray of shape (n_clusters of the ensemble,)
        The weight of each cluster (the ensemble-driven cluster index), clustering by clustering.
    microclusters_ : Microclusters
        Their votes, their sizes, and where each object belongs.
    n_microclusters_, n_features_in_ : int
        Sizes that were found; `n_features_in_` counts clusterings.

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
    s_ab exceeds s_aa, else on the N × N distances, which may be refused for memory. Without missing
    votes no s_ab exceeds s_aa.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for the weights, O(n²·M) for the similarity, O(n²) for the tree,
    and 16·n² + 40·C² bytes. :meth:`cut` costs O(n). No random numbers are drawn.

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

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        linkage: str = "average",
        theta: float = 0.4,
        level: str = "microclusters",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.theta = theta
        self.level = level
        self.n_jobs = n_jobs

    def _fit(self, X: Any) -> Self:
        linkage = _validate.check_linkage("LWEA", self.linkage)
        theta = _validate.check_number("LWEA", "theta", self.theta)
        level = _validate.check_level("LWEA", self.level)
        groups = self._begin(X).microclusters
        owner = flow.owners(groups.table)
        self._check_square(len(owner))

        counts = flow.overlaps(flow.membership(groups.table), groups.sizes)
        weight = self.member_weight_
        entropies = flow.cluster_entropies(counts, owner, weight)
        self.certainties_ = flow.cluster_certainties(entropies, self._total_weight(), theta)
        self.similarity_ = flow.graded_coassociation(
            groups.table, np.diag(self.certainties_), weight, n_jobs=self.n_jobs
        )
        return self._link(linkage, level)
