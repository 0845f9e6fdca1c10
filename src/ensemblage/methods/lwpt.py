"""LWPT: locally weighted probability trajectories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.methods._bipartite import BipartiteClusterer
from ensemblage.methods._checks import check_pairs
from ensemblage.methods._local_weights import check_local_weights, local_entropies

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: The number of heaviest microclusters that determine the start of k-means.
_ROWS_FOR_WARD = 3000


class LWPT(BipartiteClusterer):
    """Consensus by random walks between objects and the clusters that are certain of them.

    A walker steps from an object to one of its clusters, preferably one that the other clusterings
    keep together, and then to an object of that cluster. Objects with similar distributions of
    walkers after many such steps belong together. The number of steps depends on `n_clusters`:
    until about half of the possible distinctions have faded. The method is deterministic.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    weights : {"entropy", "normalized"}, default="entropy"
        Measure of uncertainty: the entropy of a cluster over the other clusterings, as published;
        or that entropy divided by log2 of the number of clusters of the cluster's own clustering,
        which puts coarse and fine clusterings on one scale.
    theta : float or "auto", default="auto"
        Tolerance of uncertainty: near 0 a walker only takes the most certain cluster of an object,
        for large values any. "auto" is 0.15 with entropies and 0.06 with normalised ones.
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
    LWGP : the same weights, in a graph that is cut without a walk.
    PTGP : walks between microclusters.

    Notes
    -----
    A method of this project, not published elsewhere and evaluated only by its authors.

    1. Ent_u is the entropy in bits of the objects of cluster u over the clusters of each
       clustering, summed over the M clusterings; a_u = exp(-Ent_u / (theta·M)).
    2. B_iu = a_u / Σ_v a_v over the clusters of object i, 0 for others: rows sum to 1.
    3. With D the diagonal matrix of the column sums of B, D^(-½) Bᵀ B D^(-½) has eigenvalues
       1 = mu_1 ≥ mu_2 ≥ ... and vectors Q; F = B D^(-½) Q.
    4. The length p of the walk is such that the sum of mu_j^(2p) over j = 2, 3, ... is (k - 1)/2;
       then mu_k^p is kept at 0.1 or more, and p at 1000 or less.
    5. Column j of F is multiplied by mu_j^p, or dropped if that is below 1e-4, and the rows are
       scaled to length 1. Their inner products are cosines of the trajectories after p + ½ double
       steps.
    6. Ward's agglomeration of the 3000 heaviest microclusters, cut at exactly k, gives the centres
       from which k-means of all starts (at most 100 rounds).

    Microclusters count as often as they have objects throughout, so this is exactly the result of
    the objects, up to 3000 microclusters.

    With N objects, M clusterings, n microclusters, C clusters in the ensemble and r columns kept:
    O(N·M) for microclusters, O(n·M²) for the graph, O(min(n, C)³) for eigenvectors,
    O(min(n, 3000)²·r) for the start and O(n·r·k) a round of k-means; no matrix of all pairs of
    microclusters beyond the 3000. :meth:`cut` shares the eigenvectors and repeats steps 4 to 6.

    References
    ----------
    The weights are those of D. Huang, C.-D. Wang, J.-H. Lai, "Locally weighted ensemble
    clustering", IEEE Transactions on Cybernetics 48(5), 2018, pp. 1460-1473.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.LWPT(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True
    _thetas = (0.15, 0.06)
    _why_unreliable = "Very small clusters of the ensemble mislead it."

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        weights: str = "entropy",
        theta: float | str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weights = weights
        self.theta = theta
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        weights = check_local_weights(self)
        table = self._begin(X, member_weight).microclusters.table
        self._check_clusters()

        members = flow.membership(table)
        entropies = local_entropies(self, weights)
        weight = self._cluster_weight()
        if weight is not None:
            members, entropies = members[:, weight > 0], entropies[weight > 0]
            weight = weight[weight > 0]
        shares = flow.vote_shares(members, entropies, self._total_weight(), weights.theta, weight)
        self._prepare(shares, first_batch=shares.shape[1])
        return self._finish()

    def _needed_bytes(self, *, leading: bool = False) -> int:  # noqa: ARG002
        """Return the memory that the graph and all its eigenvectors take.

        They are computed from the smaller side of the graph.
        """
        table = self.microclusters_.table
        n_clusters = int((table.max(axis=0) + 1).sum())
        return 60 * table.size + 2000 * n_clusters + 48 * n_clusters * min(n_clusters, len(table))

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        n, sizes = self.n_microclusters_, self.microclusters_.sizes
        if n_clusters in (1, n):
            return np.arange(n) * (n_clusters > 1)
        rows = self._trajectories(n_clusters)
        start = self._start(rows, n_clusters)
        return flow.lloyd(rows, start, weights=sizes)

    def _trajectories(self, n_clusters: int) -> FloatArray:
        """Return unit rows whose inner products are cosines of trajectories."""
        eigenvalues = self._transfer_cut.eigenvalues()
        weights = flow.walk_weights(eigenvalues, flow.walk_length(eigenvalues, n_clusters))
        check_pairs(
            self,
            32 * self.n_microclusters_ * len(weights),
            f"LWPT's trajectories of {self.n_microclusters_} microclusters",
            "Fewer clusters need less.",
        )
        return flow.unit_rows(self._transfer_cut.coordinates(len(weights)) * weights)

    def _start(self, rows: FloatArray, n_clusters: int) -> FloatArray:
        """Return the centres of the clusters that Ward's agglomeration finds."""
        sizes = self.microclusters_.sizes
        heaviest = np.argsort(-sizes, kind="stable")[: max(_ROWS_FOR_WARD, n_clusters)]
        what = f"LWPT's tree of {len(heaviest)} microclusters"
        check_pairs(self, 16 * len(heaviest) ** 2, what)
        heaviest.sort()
        rows, sizes = rows[heaviest], sizes[heaviest]
        costs = flow.ward_costs(rows, sizes, n_jobs=self.n_jobs)
        labels = flow.cut_tree(flow.agglomerate(costs, "ward", sizes), n_clusters)
        return flow.centroids(rows, labels, sizes)
