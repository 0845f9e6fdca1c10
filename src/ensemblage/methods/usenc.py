"""USENC: the consensus function of ultra-scalable ensemble clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage import _validate, flow
from ensemblage.methods._bipartite import BipartiteClusterer

if TYPE_CHECKING:
    from typing import Self


class USENC(BipartiteClusterer):
    """Bipartite consensus of objects and the clusters they belong to.

    Each object is linked with each of its clusters, with equal weights, and the graph is cut into
    `n_clusters` parts. This is the last step of U-SENC, which accepts labels of any origin; the
    article also describes how to generate the base clusterings.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts of k-means. Equal integers give equal labels.
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
    LWGP : the same graph with links as strong as their clusters are certain.
    HBGF : the same graph with objects and clusters embedded together.

    Notes
    -----
    B = H, the 0/1 membership of objects in clusters. With d the number of votes of each object,
    the leading `n_clusters` eigenvectors v of H' diag(1/d) H, normalised by its row sums, give
    objects the coordinates diag(1/d) H v; rows of length 1 are clustered by k-means (3 starts of
    at most 100 rounds; 20 for up to 100 microclusters). Microclusters count as often as they have
    objects, so this is exactly the result of the objects.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for the graph, O(C³) for eigenvectors, above 1,000 clusters O(C²·k),
    and O(n·k²) a round of k-means.
    :meth:`cut` repeats k-means only.

    References
    ----------
    D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and
    ensemble clustering", IEEE Transactions on Knowledge and Data Engineering 32(6), 2020,
    pp. 1212-1226.

    Z. Li, X.-M. Wu, S.-F. Chang, "Segmentation using superpixels: a bipartite graph partitioning
    approach", CVPR 2012.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.USENC(n_clusters=2, random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True

    def __init__(
        self, n_clusters: int | str = 8, *, random_state: Any = None, n_jobs: int | None = None
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        self._seed = _validate.check_random_state(owner, self.random_state)
        groups = self._begin(X, member_weight).microclusters
        self._check_clusters(leading=True)

        self._prepare(self._weighted(flow.membership(groups.table)))
        return self._finish()
