"""HBGF: hybrid bipartite graph formulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._bipartite import BipartiteClusterer
from ensemblage.methods._partition import check_partitioner, partition_graph

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

SOLVERS = ("spectral", "partition")
_TOLERANCE = 0.03


class HBGF(BipartiteClusterer):
    """Consensus of objects and clusters together, as the two sides of one graph.

    Each object is linked with each of its clusters. Objects and clusters of that graph are
    embedded in one space and clustered at once, so that a consensus cluster holds objects and the
    clusters they belong to.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    solver : {"spectral", "partition"}, default="spectral"
        How to cut the graph: "spectral" embeds both sides by eigenvectors and clusters them by
        k-means; "partition" uses a graph partitioner, which makes parts of nearly equal size.
    partitioner : {"mtkahypar", "metis"}, default="mtkahypar"
        The graph partitioner, for ``solver="partition"``; "metis" needs the extra ``metis``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the first object of k-means, or of the order of vertices in the partitioner. Equal
        integers give equal labels.
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
    USENC : the same graph with only its objects clustered, from several starts.

    Notes
    -----
    With H the 0/1 membership of objects in clusters, the leading `n_clusters` singular vectors U
    (objects) and V (clusters) of H diag(1/√size) are scaled to rows of length 1, stacked and
    clustered by k-means (at most 200 rounds). It starts from an object drawn at random, then always
    the one whose |cosines| with those chosen have the smallest sum. Where votes are missing, rows
    of H are divided by the root of their number of votes too: the normalised graph, of which the
    formula above is the case of equal numbers.

    Microclusters count as often as they have objects, so the embedding is exactly that of the
    objects, and so is k-means, but for the start: an object that equals a chosen one is not chosen
    as well. A cluster that ends up with clusters of the ensemble and no object is left out, with a
    warning.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for the graph, O(C³) for eigenvectors, above 1,000 clusters O(C²·k),
    and O((n + C)·k²) a round of k-means. :meth:`cut` repeats k-means only.

    References
    ----------
    X. Z. Fern, C. E. Brodley, "Solving cluster ensemble problems by bipartite graph partitioning",
    ICML 2004.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.HBGF(n_clusters=2, random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _why_fewer = (
        "the votes do not support more, or some contain clusters of the ensemble but no object"
    )

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        solver: str = "spectral",
        partitioner: str = "mtkahypar",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.partitioner = partitioner
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        self._solver = _validate.check_choice(owner, "solver", self.solver, SOLVERS)
        check_partitioner(owner, self.partitioner)
        self._partitioner = self.partitioner
        self._seed = _validate.check_random_state(owner, self.random_state)
        groups = self._begin(X, member_weight).microclusters
        clusters = flow.membership(groups.table)

        if self._solver == "spectral":
            self._check_clusters(leading=True)
            self._prepare(clusters)
        else:
            self._graph = flow.membership_graph(clusters, groups.sizes)
            self._graph.data = flow.whole_weights(self._graph.data).astype(np.int32)
        return self._finish()

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        return (
            self._cut_by_vectors(n_clusters)
            if self._solver == "spectral"
            else self._parts(n_clusters)
        )

    def _parts(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the parts of the microclusters; the clusters have no weight."""
        sizes = self.microclusters_.sizes
        weights = np.zeros(self._graph.shape[0], dtype=np.int64)
        weights[: len(sizes)] = sizes
        return partition_graph(
            self._graph,
            weights,
            n_clusters,
            partitioner=self._partitioner,
            tolerance=_TOLERANCE,
            seed=self._seed,
        )[: len(sizes)]

    def _cut_by_vectors(self, n_clusters: int) -> NDArray[np.int64]:
        sizes = self.microclusters_.sizes
        objects, clusters = self._transfer_cut.both_sides(n_clusters)
        rng = np.random.default_rng(self._seed)
        first = int(rng.choice(len(sizes), p=sizes / sizes.sum()))
        start = flow.least_aligned(objects, n_clusters, first)
        rows = np.concatenate([objects, clusters])
        weights = np.concatenate([sizes, np.ones(len(clusters))])
        return flow.lloyd(rows, start, weights=weights, max_iter=200)[: len(objects)]
