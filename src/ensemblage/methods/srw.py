"""SRW: consensus by a random walker between seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._checks import check_pairs

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Decay of exponential weights: exp(-beta · (1 - co-association)).
_BETA = 30.0
#: Microclusters of fewer objects cannot become seeds.
_SEED_SIZE = 2


class SRW(ConsensusClusterer):
    """Consensus by a random walker that stops at the first seed it reaches.

    Objects that no clustering separates form one microcluster. Those of at least two objects are
    merged, step by step, into `n_clusters` seed regions. From every other object a random walker
    starts along the links between objects, weighted by co-association; the object gets the label of
    the region that its walker is most likely to reach first.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    n_neighbors : int or None, default=None
        Links of each object to its most similar other objects; those that tie with the last are
        kept, and a link is kept if either end selects it. None links all pairs of objects that
        agree in some clustering. A small number disconnects the graph, because the nearest
        neighbours of an object are those of its own microcluster.
    seeds : {"merge", "largest"}, default="merge"
        "merge" unites the two most similar candidates (mean co-association of their objects) until
        `n_clusters` are left; "largest" takes the `n_clusters` largest microclusters as they are.
        Candidates are microclusters of two objects or more, all if these are too few.
    weights : {"coassociation", "exponential"}, default="coassociation"
        Weight of a link between objects of co-association a: a itself, or exp(-30·(1 - a)).
    unreached : {"similar", "one class"}, default="similar"
        Labels of objects from which no walker reaches a seed: each connected part of them joins the
        region with the largest mean co-association, or all of them join the largest region.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters: `n_clusters`.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1].
    similarity_ : ndarray of shape (n_microclusters_, n_microclusters_)
        Co-association of microclusters.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    EAC : merges all microclusters as SRW merges its seeds, without a walk.

    Notes
    -----
    With L the Laplacian of the graph, u its free and s its seeded nodes, and Y the regions of the
    seeds, the chances X that a walker meets each region first solve L_uu X = -L_us Y. Identical
    objects have identical chances, so the system has one row for each free microcluster, with
    weights n_a·n_b·w_ab, and its solution is that of the objects. It is solved by eliminating
    nodes without a single subtraction, which keeps all digits of the weakest links.

    With N objects, M clusterings, n microclusters and k clusters: O(N·M) for microclusters,
    O(n²·M) byte compares and O(n²) for the seeds, O(n³) for the walk, about 24·n² bytes.
    :meth:`cut` repeats the walk only. The method is deterministic.

    A microcluster without a link to any seed agrees, where all pairs are linked, with no object of
    any seed region; it then joins the region of most objects.

    Only the abstract of the article was available. With the defaults, SRW is far better than in the
    tables of Huang, Lai and Wang (2016), which are approached by ``seeds="largest"``,
    ``n_neighbors=1`` and ``unreached="one class"``, but not reproduced exactly.

    References
    ----------
    D. D. Abdala, P. Wattuya, X. Jiang, "Ensemble clustering via random walker consensus
    strategy", International Conference on Pattern Recognition, 2010, pp. 1433-1436.

    L. Grady, "Random walks for image segmentation", IEEE Transactions on Pattern Analysis and
    Machine Intelligence 28(11), 2006, pp. 1768-1783.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.SRW(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int | None = None,
        seeds: str = "merge",
        weights: str = "coassociation",
        unreached: str = "similar",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.seeds = seeds
        self.weights = weights
        self.unreached = unreached
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        check = _validate.check_choice
        self._seeds = check(owner, "seeds", self.seeds, ("merge", "largest"))
        weights = check(owner, "weights", self.weights, ("coassociation", "exponential"))
        self._unreached = check(owner, "unreached", self.unreached, ("similar", "one class"))
        if self.n_neighbors is not None:
            _validate.check_whole(owner, "n_neighbors", self.n_neighbors, 1)
        groups = self._begin(X, member_weight).microclusters
        n = self.n_microclusters_
        what = f"SRW's co-association of {n} microclusters and the walk on it"
        check_pairs(self, 24 * n * n, what)

        self.similarity_ = flow.coassociation(
            groups.table, weights=self.member_weight_, n_jobs=self.n_jobs
        )
        self._beta = _BETA if weights == "exponential" else None
        self._thresholds: FloatArray | None = None
        if self.n_neighbors is not None:
            self._thresholds = flow.object_thresholds(
                self.similarity_, groups.sizes, self.n_neighbors
            )
        self._trees: dict[int, FloatArray] = {}
        return self._finish()

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        sizes = self.microclusters_.sizes
        region = self._seed_regions(n_clusters)
        graph = flow.walker_graph(self.similarity_, sizes, self._thresholds, self._beta)
        chances = flow.first_arrivals(graph, region, n_clusters, n_jobs=self.n_jobs)
        labels = flow.first_likely(chances)
        stranded = np.flatnonzero(chances.sum(axis=1) == 0)
        if not len(stranded):
            return labels
        if self._unreached == "one class":
            seeded = region >= 0
            labels[stranded] = np.bincount(region[seeded], sizes[seeded]).argmax()
        else:
            part = np.full_like(region, -1)
            part[stranded] = flow.islands(graph, stranded)
            nearest = flow.nearest_regions(self.similarity_, sizes, part, region)
            labels[stranded] = nearest[part[stranded]]
        return labels

    def _seed_regions(self, n_regions: int) -> NDArray[np.int64]:
        """Return the seed region of each microcluster, -1 if it is not a seed."""
        sizes = self.microclusters_.sizes
        region = np.full(len(sizes), -1, dtype=np.int64)
        if self._seeds == "largest":
            largest = np.argsort(-sizes, kind="stable")[:n_regions]
            region[largest] = np.arange(n_regions)
            return region
        candidates = np.flatnonzero(sizes >= _SEED_SIZE)
        if len(candidates) < n_regions:
            candidates = np.arange(len(sizes))
        if len(candidates) not in self._trees:
            distance = 1.0 - self.similarity_[np.ix_(candidates, candidates)]
            tree = flow.agglomerate(distance, "average", sizes[candidates])
            self._trees[len(candidates)] = tree
        region[candidates] = flow.cut_tree(self._trees[len(candidates)], n_regions)
        return region

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        return self.similarity_ @ weights

    def _similarity_between(self, rows: NDArray[Any]) -> FloatArray:
        return self.similarity_[np.ix_(rows, rows)]
