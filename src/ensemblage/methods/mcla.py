"""MCLA: meta-clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from ensemblage import _validate, flow
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._partition import check_partitioner, partition_graph

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

#: Share of the weight by which a side of a bisection may exceed its target: 1 % of a half.
_TOLERANCE = 0.005


class MCLA(ConsensusClusterer):
    """Clusters of the ensemble grouped into meta-clusters, to which objects are assigned.

    The clusters of all clusterings are the vertices of a graph, linked by the share of their
    objects that they have in common. It is cut into `n_clusters` meta-clusters of like weight.
    An object goes to the meta-cluster of whose clusters the largest share contains it.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of meta-clusters to form; those that win no object are dropped. "auto" chooses it
        with :func:`ensemblage.metrics.choose_k`.
    partitioner : {"mtkahypar", "metis"}, default="mtkahypar"
        The library that cuts the graph. "metis" (recursive bisection, used by the authors) needs
        ``pip install "ensemblage[metis]"``.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of vertices in the partitioner. Equal integers give equal labels.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.
        The partitioner runs on one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found; a warning is raised if it is lower than requested.
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
    CSPA : partitions the objects by co-association.
    HGPA : partitions the objects by the clusters that they would break.

    Notes
    -----
    Edges are Jaccard's |C_i ∩ C_j| / |C_i ∪ C_j|, vertices weigh the size of the cluster; both
    are rounded to integers that add up to 10⁸ (edges over both directions), at least 1 each. The
    graph is bisected, and the sides again, as pmetis does. A side aims at its share of the weight
    within 0.5 % of what is to be divided, or half of a mean cluster where that is more, and is
    never more than half of the heaviest cluster off. A cluster larger than a part is a
    meta-cluster of its own.

    The association of an object with a meta-cluster is the *mean* over its clusters of being in
    them. Only clusterings in which the object voted are counted. Ties go to the meta-cluster that
    contains the earliest cluster of the ensemble, where the authors' program adds random noise.
    With fewer clusters than groups that votes link, clusters are sorted by their structure, so that
    the order of rows decides nothing, except for clusters of equal structure.

    Exact on microclusters: O(n·M²) for n microclusters and M clusterings, and a graph of as many
    vertices as the ensemble has clusters. :meth:`cut` repeats the partition only. It gives no more
    meta-clusters than there are clusters.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions", Journal of Machine Learning Research 3, 2002, pp. 583-617.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.MCLA(n_clusters=2, random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _joins_groups = True  # groups of clusters of similar size

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        partitioner: str = "mtkahypar",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        check_partitioner(owner, self.partitioner)
        self._partitioner = self.partitioner
        self._seed = _validate.check_random_state(owner, self.random_state)
        table, sizes, _ = self._begin(X, member_weight).microclusters
        self._membership = flow.membership(table)
        n_in_ensemble = self._membership.shape[1]
        _validate.check_memory(
            32 * n_in_ensemble**2,
            f"MCLA's graph of {n_in_ensemble} clusters",
            "Fewer or coarser clusterings need less.",
        )
        overlaps = flow.overlaps(self.microclusters_.table, sizes)
        likeness = flow.jaccard(overlaps)
        np.fill_diagonal(likeness, 0.0)
        self._graph = csr_array(flow.whole_weights(likeness))
        self._weights = flow.whole_weights(overlaps.diagonal())
        return self._finish()

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        table, n_in_ensemble = self.microclusters_.table, len(self._weights)
        n_groups = min(n_clusters, n_in_ensemble)
        graph = self._graph
        own: Any = slice(None)
        if self._leaves_to_chance(n_clusters):  # then the order of rows must not decide
            numbers = flow.structure_of_clusters(table, self.microclusters_.sizes)
            own = np.argsort(numbers, kind="stable")
            graph = graph[own][:, own].sorted_indices()
        groups = np.empty(n_in_ensemble, dtype=np.int64)
        groups[own] = partition_graph(
            graph,
            self._weights[own],
            n_groups,
            partitioner=self._partitioner,
            tolerance=_TOLERANCE,
            seed=self._seed,
        )
        association = flow.association(
            self._membership, table >= 0, flow.owners(table), groups, n_groups
        )
        # The partitioner numbers parts arbitrarily; earliest cluster first makes ties well defined.
        first = np.unique(groups[own], return_index=True)[1]
        order = np.argsort(first)
        return order[association[:, order].argmax(axis=1)]
