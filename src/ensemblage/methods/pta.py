"""PTA: probability trajectory accumulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage import _device, _validate, flow
from ensemblage.methods import _pta_routes
from ensemblage.methods._linkage import LinkageClusterer
from ensemblage.methods._precomputed import AFFINITIES
from ensemblage.methods._trajectories import TrajectoryMethod, elite_walk, set_reach

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


class PTA(TrajectoryMethod, LinkageClusterer):
    """Agglomerative consensus on probability-trajectory similarity.

    Objects that no clustering separates form one microcluster. Microclusters are linked with
    their elite neighbours, a random walk on that graph gives each a trajectory, and those with
    similar trajectories are merged step by step.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    linkage : {"average", "complete", "single"}, default="average"
        Similarity of two clusters: the mean, smallest or largest over pairs of their members. Means
        count microclusters, regardless of size, as in the paper. The paper prints complete link as
        a sum; its results come from the usual minimum, which "complete" means here.
    ties : {"mean", "later", "octave"}, default="mean"
        Which of several equally similar pairs of clusters merges first; complete and single link
        depend on it strongly. "mean": the pair with the largest mean similarity, then the one with
        the most microclusters. The others use the order of rows: "later" takes the first pair and
        puts the union in its later place; "octave" takes the last pair and the earlier place, as
        GNU Octave does. They need the exact similarity.
    n_neighbors : int, "auto" or "all", default="auto"
        Elite neighbours of each microcluster, the paper's K; neighbours that tie with the last
        are kept. "auto" is ``max(1, min(20, floor(sqrt(n) / 2)))`` for n microclusters, "all"
        keeps every link.
    n_steps : int or "auto", default="auto"
        Steps of the random walk, the paper's T; "auto" as for `n_neighbors`.
    similarity : {"auto", "exact", "uint16", "approximate"}, default="auto"
        How the similarity of all pairs of n microclusters is held while they are merged.

        - "exact": in double precision, 16·n² bytes.
        - "uint16": in sixteen bits, n² bytes. The tree differs from the exact one by heights of
          about 1e-5, and by merges that are closer than that. With average link the last 1000
          clusters merge by exact means, so that cuts at few clusters are the exact ones.
        - "approximate": not stored. The first merges, until 4000 clusters are left, use 1024
          features of each microcluster, 12,288·n bytes; later ones use exact mean similarities.
          `captured_` is the share of the similarity that the features retain. Well below 1, labels
          still show clear clusters but not those of a cut at any k. Average link only.
        - "auto": "exact" up to 12,000 microclusters, "uint16" up to 60,000, and above that
          "approximate" for average link, with a warning that reports the share captured. It does
          not depend on the machine: MemoryBudgetError is raised if it does not fit.
    affinity : {"votes", "precomputed"}, default="votes"
        Input of `fit`: votes, or the similarity of every pair of objects, a symmetric matrix of
        numbers from 0 to 1 with 1 on its diagonal, from which elite neighbours are taken.
    min_cluster_size : int, float or "auto", default=1
        Least size of a cluster: a number of objects, or as a float a share of n_objects /
        n_clusters; "auto" is 0.1. Smaller branches of the tree join the most similar cluster, so
        that outliers do not use up clusters. It is halved if the tree has too few branches of that
        size. 1 is the plain cut of the tree.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the walk is computed. "cuda" needs the extra ``gpu``; "auto" uses a CUDA device if
        there is one and the work is large enough to be faster there. Only the exact similarity is
        computed there.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1].
    similarity_ : ndarray of shape (n_microclusters_, n_microclusters_)
        Trajectory similarity (PTS) of microclusters in double precision. Computed on first access
        if the tree did not need it; raises MemoryBudgetError if it would not fit.
    similarity_kind_ : {"exact", "uint16", "approximate"}
        The precision of the similarity.
    captured_ : float
        The share of the similarity's trace that the tree is built from, in [0, 1]: 1.0 unless
        `similarity_kind_` is "approximate".
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format.
    captured_links_ : float
        The share of elite neighbours that the graph holds, in [0, 1]: 1.0 unless there are so many
        microclusters that not all pairs were compared.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_neighbors_, n_steps_, n_features_in_ : int
        Numbers of microclusters, neighbours, steps and clusterings.

    See Also
    --------
    PTGP : the same similarity, cut as a bipartite graph, without a matrix of all pairs.

    Notes
    -----
    S is the sum of P^t (P^t)ᵀ over the steps t = 1 to T, where P is the transition matrix of the
    walk. PTS_ij = S_ij / √(S_ii · S_jj), the cosine of two trajectories. The height of a merge is 1
    minus the similarity of the two clusters.

    With N objects, M clusterings, n microclusters and E links: O(N·M) for microclusters, O(n²·M)
    byte compares for the graph, O(T·E·n) for the similarity and O(n²) for the tree, exact or in
    sixteen bits; O(T·E·5000) for the approximate tree. In addition to the memory above, every route
    takes 48·E bytes for the graph and 128·n·(T + 2) for each thread, "uint16" another 768·n.
    :meth:`cut` costs O(n). The method is deterministic; the features of "approximate" are drawn
    with a fixed seed. Levels of sixteen bits tie often. There the earlier microcluster wins, also
    with complete and single link: ties by mean similarity would double the memory. Ties cannot
    change the number of clusters of a cut.

    A microcluster without links has similarity 0 to all others and joins last. With fewer than 16
    microclusters "auto" means one neighbour and one step, after which a walker has left its own
    node and neighbours may have nothing in common: pass larger numbers, as below.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang, "Robust ensemble clustering using probability trajectories",
    IEEE Transactions on Knowledge and Data Engineering 28(5), 2016, pp. 1312-1326.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> en.PTA(n_clusters=2, n_neighbors=2, n_steps=2).fit_predict(votes)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True
    _means_over_objects = False

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        linkage: str = "average",
        ties: str = "mean",
        n_neighbors: int | str = "auto",
        n_steps: int | str = "auto",
        similarity: str = "auto",
        affinity: str = "votes",
        min_cluster_size: float | str = 1,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.ties = ties
        self.n_neighbors = n_neighbors
        self.n_steps = n_steps
        self.similarity = similarity
        self.affinity = affinity
        self.min_cluster_size = min_cluster_size
        self.n_jobs = n_jobs
        self.device = device

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        linkage, ties = self._check_merging()
        wish = _validate.check_choice(owner, "similarity", self.similarity, _pta_routes.CHOICES)
        device = _validate.check_choice(owner, "device", self.device, _device.DEVICES)
        affinity = _validate.check_choice(owner, "affinity", self.affinity, AFFINITIES)
        links = self._begin_with_similarity(X, member_weight) if affinity == "precomputed" else None
        if links is None:
            self._begin(X, member_weight)
        set_reach(self)
        kind = _pta_routes.choose(self, wish, linkage, ties, links)
        _device.chosen(device, self.n_microclusters_)  # raises early

        walk = elite_walk(self, self.microclusters_, links)
        self._fit_tree(walk, kind, wish, linkage, ties)
        if links is not None:  # confidence uses the links in place of co-association
            self._confidence = self._confidence_by(links.__matmul__, links.diagonal())
        return self

    def _fit_tree(self, walk: Any, kind: str, wish: str, linkage: str, ties: str) -> Self:
        """Build the tree by one of the routes, and cut it."""
        self.similarity_kind_, self.captured_ = kind, 1.0
        self._similarity: FloatArray | None = None
        self._walk: Any = None
        if kind == "exact":
            self._similarity = self._trajectory_similarity(walk)
            self.linkage_matrix_ = flow.agglomerate(1.0 - self._similarity, linkage, ties=ties)
            return self._finish()
        self._walk = walk
        if kind == "uint16":
            self.linkage_matrix_, self._norms = _pta_routes.packed_tree(
                walk, self.n_steps_, linkage, self.n_jobs
            )
            return self._finish()
        self.linkage_matrix_, self._norms, self.captured_ = _pta_routes.approximate_tree(
            walk, self.n_steps_, self.n_jobs
        )
        if wish == "auto":
            self._warn_of_approximation()
        return self._finish()

    @property
    def similarity_(self) -> FloatArray:  # type: ignore[override]  # it cannot be set from outside
        """Trajectory similarity of microclusters, computed on first access if not by fit."""
        check_is_fitted(self, "labels_")
        if self._similarity is None:
            n = self.n_microclusters_
            _validate.check_memory(
                8 * n * n,
                f"The similarity of {n} microclusters in double precision",
                "PTA does not need it for its tree and confidence.",
            )
            self._similarity = self._trajectory_similarity(self._walk)
        return self._similarity

    def _trajectory_similarity(self, walk: Any) -> FloatArray:
        on = _device.chosen(self.device, self.n_microclusters_)
        if on is not None:
            return _device.trajectory_similarity(walk, self.n_steps_, on)
        return flow.trajectory_similarity(walk, self.n_steps_, n_jobs=self.n_jobs)

    def _similarity_of(self, rows: NDArray[Any], weights: FloatArray) -> FloatArray:
        return self._similarity_sums(weights)[rows]

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        if self._similarity is not None:
            return self._similarity @ weights
        if self.similarity_kind_ == "exact":
            return super()._similarity_sums(weights)
        sums = flow.similarity_product(
            self._walk, self._norms, weights, self.n_steps_, n_jobs=self.n_jobs
        )
        # A microcluster that has nothing in common with the rest of its cluster is similar only to
        # itself there. That is a similarity of 1, and an error of its length must not pass for
        # similarity to others.
        own = np.nonzero(weights)
        error = _pta_routes.length_error(self.similarity_kind_, len(sums))
        sums[own] = np.where(np.abs(sums[own] - 1.0) < error, 1.0, sums[own])
        return sums

    def _similarity_to_itself(self) -> FloatArray:
        return np.ones(self.n_microclusters_)

    def _warn_of_approximation(self) -> None:
        _validate.warn(
            f"PTA's tree of {self.n_microclusters_} microclusters is approximate: its features"
            f" capture {self.captured_:.0%} of the similarity. Pass"
            f' similarity="approximate" to accept this, or similarity="uint16" for a tree of the'
            f" whole similarity, which takes more memory.",
            _validate.ApproximateSimilarityWarning,
        )
