"""PTGP: probability trajectory based graph partitioning."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage import _device, _validate, flow
from ensemblage.flow import one_blas_thread
from ensemblage.methods._bipartite import scaled_columns
from ensemblage.methods._trajectories import (
    TrajectoryMethod,
    elite_walk,
    expected_walk,
    set_reach,
)

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Up to this number of microclusters, precision is double and lengths of trajectories are exact;
#: above it, products are in single precision and lengths are estimated to this relative error.
_EXACT_NORMS = 15_000
_LENGTH_ERROR = 0.01
_PROBES = 1024  # at most
_VECTOR_ERROR = 1e-4


class PTGP(TrajectoryMethod):
    """Bipartite consensus of microclusters and clusters by probability trajectories.

    Objects that no clustering separates form one microcluster. Microclusters are linked with
    their elite neighbours, a random walk on that graph gives each a trajectory, and each is linked
    to every cluster of the ensemble by its mean trajectory similarity to the cluster's members.
    That bipartite graph is cut into `n_clusters` parts.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    n_neighbors : int, "auto" or "all", default="auto"
        Elite neighbours of each microcluster, the paper's K; neighbours that tie with the last
        are kept. "auto" is ``max(1, min(20, floor(sqrt(n) / 2)))`` for n microclusters, "all"
        keeps every link.
    n_steps : int or "auto", default="auto"
        Steps of the random walk, the paper's T; "auto" as for `n_neighbors`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts of k-means. Equal integers give equal labels.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the walk is computed. "cuda" needs the extra ``gpu``; "auto" uses a CUDA device if
        there is one and the work is large enough to be faster there.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found; a warning is raised if it is lower than requested.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1].
    similarity_ : ndarray of shape (n_microclusters_, n_microclusters_)
        Trajectory similarity (PTS) of microclusters, computed on first access.
    captured_links_ : float
        The share of elite neighbours that the graph holds, in [0, 1]: 1.0 unless there are so many
        microclusters that not all pairs were compared.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_neighbors_, n_steps_, n_features_in_ : int
        Numbers of microclusters, neighbours, steps and clusterings.

    See Also
    --------
    PTA : the same similarity, clustered agglomeratively; gives a tree.

    Notes
    -----
    With N objects, M clusterings, n microclusters, E links and C clusters in the ensemble:
    O(N·M) for microclusters, O(n²·M) byte compares at most for the graph, O(T·E·C) for the
    bipartite graph and O(T·E·n / 2) for the lengths of trajectories, O(n·C²) and O(C³) for the
    cut. Beyond 15,000 microclusters lengths are estimated, to about 1 %, products are taken in
    single precision, and where k is given and far below C the bipartite graph is multiplied with
    some 20·k vectors instead of being computed; labels agree, as eigenvectors are right to 1e-4.
    If the graph would take more than 9·10¹⁰ comparisons (never below 300,000 microclusters), each
    microcluster is compared with 65,536 others only, those of the most similar of 500 groups, with
    a warning; `captured_links_` is the share of elite neighbours found, measured on 2,048
    microclusters. Votes with gaps, weights of clusterings and ``device="cuda"`` compare all pairs.
    The matrix of all pairs of microclusters is never built. :meth:`cut` repeats k-means, and beyond
    15,000 microclusters the eigenvectors too.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang, "Robust ensemble clustering using probability trajectories",
    IEEE Transactions on Knowledge and Data Engineering 28(5), 2016, pp. 1312-1326.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.PTGP(n_clusters=2, random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True

    _transfer_cut: flow.TransferCut | flow.ImplicitCut
    #: The walk in the form of its products, while a fit needs several of them.
    _prepared: flow.WalkProduct | None

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int | str = "auto",
        n_steps: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.n_steps = n_steps
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        self._seed = _validate.check_random_state(owner, self.random_state)
        device = _validate.check_choice(owner, "device", self.device, _device.DEVICES)
        groups = self._begin(X, member_weight).microclusters
        weight = self._cluster_weight()
        n = len(groups.table)
        n_clusters = (
            len(flow.owners(groups.table)) if weight is None else int(np.count_nonzero(weight))
        )

        set_reach(self)
        exact, implicit = n <= _EXACT_NORMS, self._is_implicit(n_clusters)
        n_links, walk_bytes = expected_walk(self)
        _validate.check_memory(
            self._graph_bytes(n_clusters) + walk_bytes,
            f"PTGP with a graph of {n} microclusters and {n_clusters} clusters,"
            f" {self.n_neighbors_} neighbours (about {n_links} links) and {self.n_steps_} steps",
            "Fewer neighbours, steps or threads need less, and so do coarser clusterings.",
        )
        on = _device.chosen(device, n)  # refused here, before anything is computed
        self._walk = elite_walk(self, groups)
        self._prepared = None
        if on is None and not exact:
            self._prepared = flow.WalkProduct(self._walk, self.n_steps_, single=True)
        self._norms = self._trajectory_norms()
        clusters = flow.cluster_means(groups.table, by_rows=implicit)
        if weight is not None:
            clusters = scaled_columns(clusters, weight)
        with one_blas_thread:
            if implicit:
                times, there = partial(self._product, single=True), None
                if on is not None:
                    there = _device.SimilarityProduct(self._walk, self._norms, self.n_steps_, on)
                clusters = clusters.astype(np.float32)
                self._transfer_cut = flow.ImplicitCut(times, clusters, _VECTOR_ERROR, on, there)
            else:
                bipartite = self._product(clusters, single=not exact)
                self._transfer_cut = flow.TransferCut(bipartite, n_jobs=self.n_jobs)
        self._similarity: FloatArray | None = None
        self._finish()
        self._prepared = None
        return self

    def _is_implicit(self, n_clusters: int) -> bool:
        """Tell whether the graph of `n_clusters` clusters is only multiplied with vectors."""
        # Choosing k needs many cuts, for which all columns are computed once.
        return (
            self.n_microclusters_ > _EXACT_NORMS
            and self.n_clusters != "auto"
            and flow.columns_of_implicit_cut(int(self.n_clusters)) < n_clusters
        )

    def _graph_bytes(self, n_clusters: int) -> int:
        n = self.n_microclusters_
        each = 16 if n <= _EXACT_NORMS else 5
        columns_bytes = 4000 * n if self._is_implicit(n_clusters) else each * n * n_clusters
        return columns_bytes + 32 * min(n_clusters, 2000) ** 2

    def _needed_bytes(self) -> int:
        """Return the memory that a fit would take."""
        set_reach(self)
        n_clusters = int((self.microclusters_.table.max(axis=0) + 1).sum())
        return self._graph_bytes(n_clusters) + expected_walk(self)[1]

    @property
    def similarity_(self) -> FloatArray:
        """Trajectory similarity of microclusters, computed on first access."""
        check_is_fitted(self, "labels_")
        if self._similarity is None:
            n = self.n_microclusters_
            _validate.check_memory(
                8 * n * n,
                f"The similarity of {n} microclusters",
                "PTGP itself does not need it.",
            )
            self._similarity = flow.trajectory_similarity(
                self._walk, self.n_steps_, n_jobs=self.n_jobs
            )
        return self._similarity

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        rows = self._transfer_cut.embedding(n_clusters)
        rng = np.random.default_rng(self._seed)
        return flow.kmeans(rows, n_clusters, rng, n_jobs=self.n_jobs)

    def _similarity_sums(self, weights: Any) -> FloatArray:
        return self._product(weights)

    def _product(self, columns: Any, *, single: bool = False) -> Any:
        on = _device.chosen(self.device, self.n_microclusters_)
        if on is not None:
            return _device.similarity_product(self._walk, self._norms, columns, self.n_steps_, on)
        product = vars(self).get("_prepared") if single else None
        return flow.similarity_product(
            self._walk,
            self._norms,
            columns,
            self.n_steps_,
            single=single,
            product=product,
            n_jobs=self.n_jobs,
        )

    def _trajectory_norms(self) -> FloatArray:
        on, walk = _device.chosen(self.device, self.n_microclusters_), self._walk
        if self.n_microclusters_ <= _EXACT_NORMS:
            if on is not None:
                return _device.trajectory_norms(walk, self.n_steps_, on)
            return flow.trajectory_norms(walk, self.n_steps_, n_jobs=self.n_jobs)
        rng = np.random.default_rng(self._seed)
        wanted = (walk, self.n_steps_, _PROBES, rng)
        if on is not None:
            return _device.estimated_norms(*wanted, on, error=_LENGTH_ERROR)
        with one_blas_thread:
            return flow.estimated_norms(
                *wanted, error=_LENGTH_ERROR, product=self._prepared, n_jobs=self.n_jobs
            )
