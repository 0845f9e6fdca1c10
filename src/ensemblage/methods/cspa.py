"""CSPA: cluster-based similarity partitioning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._checks import LEVELS, check_pairs
from ensemblage.methods._partition import check_partitioner, objects_in_order, partition_graph

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

#: Share of the weight by which a side of a bisection may exceed its target: 1 % of a half.
_TOLERANCE = 0.005
#: Measured bytes per edge: the graph in both directions, and the partitioner's copies of it.
_BYTES_PER_EDGE = 250


class CSPA(ConsensusClusterer):
    """Balanced partition of the co-association graph.

    Any two objects are linked by the share of the clusterings that put them together. That graph is
    cut into `n_clusters` parts of nearly equal size so that the cut links have minimal weight. Use
    it only for clusters of similar size: parts are balanced by definition.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    level : {"microclusters", "objects"}, default="microclusters"
        The units that are partitioned. With microclusters, weighted by their sizes, objects that no
        clustering separates stay together. "objects" is the authors' choice: parts are better
        balanced, identical objects may be separated, and all pairs of objects have to fit in
        memory.
    partitioner : {"mtkahypar", "metis"}, default="mtkahypar"
        The library that cuts the graph. "metis" (recursive bisection, used by the authors) needs
        ``pip install "ensemblage[metis]"``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of vertices in the partitioner. Equal integers give equal labels.
    n_jobs : int or None, default=None
        Threads that build the graph. None means ``OMP_NUM_THREADS`` or else all cores; results do
        not depend on it. The partitioner runs on one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1], by
        co-association.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    HGPA : cuts the hypergraph of clusters instead.
    MCLA : partitions clusters instead of objects; the cheapest of the three.
    EAC : the same similarity, clustered agglomeratively, without balance.

    Notes
    -----
    The weight of an edge between microclusters a and b is n_a · n_b · A_ab, the sum of the
    co-association A over their pairs of objects, so every partition that keeps identical objects
    together cuts the same weight at both levels. Edges inside a microcluster cannot be cut.
    Weights are rounded to integers that add up to 10⁸ over both directions, at least 1 each.

    The graph is bisected, and the sides again, as pmetis does. A side aims at its share of the
    objects within 0.5 % of those to be divided, or half of a mean vertex where that is more, and
    is never more than half of the heaviest vertex off. A microcluster larger than a part is a
    cluster of its own.

    With n vertices (microclusters or objects), M clusterings and E pairs that agree anywhere:
    O(n²·M) byte compares, O(E) memory (about 250 bytes a pair), and a partition in O(E·log k). With
    1.8 million pairs of 2,700 microclusters mtkahypar takes 8 seconds for 10 parts, METIS 0.2.
    :meth:`cut` repeats the partition only.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions", Journal of Machine Learning Research 3, 2002, pp. 583-617.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.CSPA(n_clusters=2, random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _joins_groups = True  # parts of similar size

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        level: str = "microclusters",
        partitioner: str = "mtkahypar",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.level = level
        self.partitioner = partitioner
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        _validate.check_choice(owner, "level", self.level, LEVELS)
        check_partitioner(owner, self.partitioner)
        self._partitioner = self.partitioner
        self._seed = _validate.check_random_state(owner, self.random_state)
        table, self._weights, of_object = self._begin(X, member_weight).microclusters
        order, table = flow.in_own_order(table, self._weights)
        self._weights, self._place = self._weights[order], np.argsort(order)
        unit_of_object = None
        if self.level == "objects":
            unit_of_object = np.arange(len(of_object), dtype=np.int32)
            self._check_pairs(table, self._weights, len(of_object))
            rows, self._place = objects_in_order(self._place[of_object])
            table, self._weights = table[rows], np.ones(len(of_object), dtype=np.int64)
        else:
            self._check_pairs(table, np.ones(len(table), dtype=np.int64), len(table))

        self._graph = flow.agreement_graph(table, self._weights, n_jobs=self.n_jobs)
        self._graph.data = flow.whole_weights(self._graph.data).astype(np.int32)
        return self._finish(unit_of_object)

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        parts = partition_graph(
            self._graph,
            self._weights,
            n_clusters,
            partitioner=self._partitioner,
            tolerance=_TOLERANCE,
            seed=self._seed,
        )
        return parts[self._place]

    def _check_pairs(
        self, table: NDArray[np.int32], counts: NDArray[np.int64], n_vertices: int
    ) -> None:
        """Raise MemoryBudgetError if there are too many edges: pairs that share a cluster."""
        in_cluster = flow.membership(table).T @ counts.astype(np.float64)
        n_edges = min(n_vertices**2, int((in_cluster**2).sum())) // 2
        fewer = self.n_microclusters_ < n_vertices
        check_pairs(
            self,
            _BYTES_PER_EDGE * n_edges,
            f"CSPA's graph of {n_vertices} {self.level}",
            "level='microclusters' needs less." if fewer else "",
            kind="graph",
        )
