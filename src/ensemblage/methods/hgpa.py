"""HGPA: hypergraph partitioning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._checks import LEVELS
from ensemblage.methods._partition import (
    check_partitioner,
    objects_in_order,
    partition_hypergraph,
)

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

#: hMETIS' UBfactor 5: a half may have shares from 45 % to 55 %.
_TOLERANCE = 0.05


class HGPA(ConsensusClusterer):
    """Balanced partition of the objects that breaks few clusters of the ensemble.

    Every cluster of every clustering is a net over its objects. The objects are partitioned into
    `n_clusters` parts of similar size so that the nets in more than one part have minimal weight. A
    broken net costs the same however it is broken, so clusterings with clusters larger than the
    parts contribute little.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    level : {"microclusters", "objects"}, default="microclusters"
        The units that are partitioned. With microclusters, weighted by their sizes, objects that no
        clustering separates stay together. "objects" is the authors' choice: identical objects may
        be separated for better balance.
    net_weights : {"size", "uniform"}, default="size"
        The cost of a broken cluster: its size, as in the authors' program, or the same for all, as
        in their article.
    partitioner : {"mtkahypar"}, default="mtkahypar"
        The library that cuts the hypergraph. METIS does not support hypergraphs.
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
    CSPA : cuts the graph of co-association instead.
    MCLA : partitions clusters instead of objects.

    Notes
    -----
    The objective is the total weight of the cut nets (not the connectivity). As the authors'
    shmetis with UBfactor 5 does, the hypergraph is bisected, and the sides again, each time with
    a side within 5 % of its share (from 45 % to 55 % of a half), or half of a mean vertex where
    that is more, and never more than half of the heaviest vertex off. A net that is cut plays no
    part in later bisections. Nets of one vertex cannot be cut, nets of all always are: both are
    left out. Where no net is left, vertices are spread by weight. An object without a vote is in
    no net of that clustering. A microcluster larger than a part is a cluster of its own.

    At the true number of clusters the results here are far above those that Huang, Lai and Wang
    (2016) print for HGPA. Theirs came from another partitioner, which could not be tried.

    O(n·M·log k) in about all for n vertices (microclusters or objects) and M clusterings; no pairs
    of objects. :meth:`cut` repeats the partition only.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions", Journal of Machine Learning Research 3, 2002, pp. 583-617.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.HGPA(n_clusters=2, random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _joins_groups = True  # parts of similar size

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        level: str = "microclusters",
        net_weights: str = "size",
        partitioner: str = "mtkahypar",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.level = level
        self.net_weights = net_weights
        self.partitioner = partitioner
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        _validate.check_choice(owner, "level", self.level, LEVELS)
        _validate.check_choice(owner, "net_weights", self.net_weights, ("size", "uniform"))
        check_partitioner(owner, self.partitioner, hypergraph=True)
        self._seed = _validate.check_random_state(owner, self.random_state)
        table, self._weights, of_object = self._begin(X, member_weight).microclusters
        order, table = flow.in_own_order(table, self._weights)
        self._weights, self._place = self._weights[order], np.argsort(order)
        self._nets = flow.membership(table)
        in_cluster = (self._nets.T @ self._weights).astype(np.int64)
        self._net_weights = (
            flow.net_weights(in_cluster, int(in_cluster.sum()))
            if self.net_weights == "size"
            else np.ones(len(in_cluster), dtype=np.int64)
        )
        if self.level == "microclusters":
            return self._finish()
        rows, self._place = objects_in_order(self._place[of_object])
        self._nets = flow.membership(table[rows])
        self._weights = np.ones(len(of_object), dtype=np.int64)
        return self._finish(np.arange(len(of_object), dtype=np.int32))

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        parts = partition_hypergraph(
            self._nets,
            self._weights,
            self._net_weights,
            n_clusters,
            tolerance=_TOLERANCE,
            seed=self._seed,
        )
        return parts[self._place]
