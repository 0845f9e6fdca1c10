"""LWGP: locally weighted graph partitioning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ensemblage import _validate, flow
from ensemblage.methods._bipartite import BipartiteClusterer
from ensemblage.methods._local_weights import check_local_weights, local_entropies

if TYPE_CHECKING:
    from typing import Self


class LWGP(BipartiteClusterer):
    """Bipartite consensus in which certain clusters weigh more than uncertain ones.

    A cluster is certain if the other clusterings keep its objects together. Each object is linked
    with each of its clusters, as strongly as the cluster is certain, and the graph is cut into
    `n_clusters` parts.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    weights : {"entropy", "normalized"}, default="entropy"
        Measure of uncertainty: the entropy of a cluster over the other clusterings, as published;
        or that entropy divided by log2 of the number of clusters of the cluster's own clustering,
        which puts coarse and fine clusterings on one scale.
    theta : float or "auto", default="auto"
        Tolerance of uncertainty: near 0 only certain clusters count, for large values all count the
        same. "auto" is 0.4 with entropies and 0.1 with normalised ones.
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
    LWEA : the same weights, clustered agglomeratively; gives a tree.
    LWPT : the same idea with a random walk and without random numbers.
    USENC : the same graph without weights.

    Notes
    -----
    The uncertainty Ent_u of cluster u is the entropy in bits of its objects over the clusters of
    each clustering, summed over the M clusterings; ECI_u = exp(-Ent_u / (theta·M)). B has ECI_u
    where an object is in cluster u, else 0. With d its row sums, the leading `n_clusters`
    eigenvectors v of B' diag(1/d) B, normalised by its row sums, give objects the coordinates
    diag(1/d) B v; rows of length 1 are clustered by k-means (3 starts of at most 100 rounds; 20 for
    up to 100 microclusters). Microclusters count as often as they have objects, so this is exactly
    the result of the objects.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for entropies and graph, O(C³) for eigenvectors, above 1,000 clusters
    O(C²·k), and O(n·k²) a round of k-means. :meth:`cut` repeats k-means only.

    References
    ----------
    D. Huang, C.-D. Wang, J.-H. Lai, "Locally weighted ensemble clustering", IEEE Transactions on
    Cybernetics 48(5), 2018, pp. 1460-1473.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.LWGP(n_clusters=2, random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True
    _thetas = (0.4, 0.1)

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        weights: str = "entropy",
        theta: float | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weights = weights
        self.theta = theta
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        weights = check_local_weights(self)
        self._seed = _validate.check_random_state(owner, self.random_state)
        table = self._begin(X, member_weight).microclusters.table
        self._check_clusters(leading=True)

        entropies = local_entropies(self, weights)
        certainties = flow.cluster_certainties(entropies, self._total_weight(), weights.theta)
        weight = self._cluster_weight()
        strength = certainties if weight is None else certainties * weight
        self._prepare(flow.merged_membership(table, strength))
        return self._finish()
