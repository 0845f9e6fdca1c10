"""ECPCS: enhanced co-association, or meta-clusters, by propagated similarity of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._linkage import LinkageClusterer
from ensemblage.methods.fresh import params_of_fit

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


class ECPCS(LinkageClusterer):
    """Consensus by cluster-wise similarity that spreads along random walks between clusters.

    Clusters of the whole ensemble are linked by the share of objects they have in common, and a
    random walk on that graph gives each a trajectory: clusters may be alike without sharing an
    object. Then either objects are merged step by step, where votes for different but similar
    clusters count for something ("hc"), or the clusters themselves are cut into `n_clusters`
    groups, and an object goes where most of its clusters are ("mc").

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    variant : {"hc", "mc"}, default="hc"
        Hierarchical clustering of the enhanced co-association, or meta-clusters.
    linkage : {"average", "complete", "single"}, default="average"
        For "hc", the similarity of two clusters: the mean, smallest or largest over pairs of their
        objects. The article uses the mean.
    ties : {"mean", "later", "octave"}, default="mean"
        Which of several equally similar pairs of clusters merges first; complete and single link
        depend on it strongly. "mean": the pair with the largest mean similarity, then the one with
        the most objects. The others use the order of rows: "later" takes the first pair and puts
        the union in its later place; "octave" takes the last pair and the earlier place, as GNU
        Octave does.
    n_steps : int, default=20
        Steps of the random walk, the article's t.
    random_state : int, Generator, RandomState or None, default=None
        For "mc": seed of the search for its partition. Equal integers give equal labels. "hc" is
        deterministic.
    min_cluster_size : int, float or "auto", default=1
        Least size of a cluster: a number of objects, or as a float a share of n_objects /
        n_clusters; "auto" is 0.1. Smaller branches of the tree join the most similar cluster, so
        that outliers do not use up clusters. It is halved if the tree has too few branches of that
        size. 1 is the plain cut of the tree.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found; "mc" may find fewer than requested, with a warning.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1]; by
        `similarity_` for "hc", by co-association for "mc".
    cluster_similarity_ : ndarray of shape (n_base_clusters, n_base_clusters)
        Similarity of the clusters of the ensemble, clustering by clustering.
    similarity_ : ndarray of shape (n_microclusters_, n_microclusters_)
        Enhanced co-association of microclusters; "hc" only.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format; "hc" only.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    Notes
    -----
    The walker steps from cluster u to v with a chance proportional to the Jaccard index of the
    two, and never stays. Z_uv is the cosine of the trajectories of u and v over `n_steps` steps;
    a cluster that overlaps no other has Z = 0.

    "hc": the similarity of two objects is the mean, over the clusterings in which both voted, of
    1 where they share a cluster and Z_uv where they are in clusters u and v. Objects are merged by
    it; on microclusters, weighted by size, that is exact.

    "mc": Z is partitioned by a normalised cut, its eigenvectors being turned towards a partition
    as Yu and Shi do. The score of an object for a group is the share of the group's clusters that
    it is in, and the highest score wins. With two clusterings the graph of clusters is bipartite
    and separates the two clusterings instead of the objects: use three or more.

    With N objects, M clusterings, n microclusters, C clusters in the ensemble and t steps: O(N·M)
    for microclusters, O(n·M²) for overlaps, O(t·C³) at most for Z; then O(n²·M) and 16·n² bytes
    for "hc", O(C³) for "mc", which builds no matrix of pairs of microclusters. :meth:`cut` costs
    O(n) for "hc", O(C·k²) for "mc".

    References
    ----------
    D. Huang, C.-D. Wang, H. Peng, J.-H. Lai, C.-K. Kwoh, "Enhanced ensemble clustering via fast
    propagation of cluster-wise similarities", IEEE Transactions on Systems, Man, and Cybernetics:
    Systems 51(1), 2021, pp. 508-520.

    S. X. Yu, J. Shi, "Multiclass spectral clustering", International Conference on Computer
    Vision, 2003, pp. 313-319.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> en.ECPCS(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    >>> en.ECPCS(n_clusters=2, variant="mc", random_state=0).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        variant: str = "hc",
        linkage: str = "average",
        ties: str = "mean",
        n_steps: int = 20,
        random_state: Any = None,
        min_cluster_size: float | str = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.linkage = linkage
        self.ties = ties
        self.n_steps = n_steps
        self.random_state = random_state
        self.min_cluster_size = min_cluster_size
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        self._variant = _validate.check_choice(owner, "variant", self.variant, ("hc", "mc"))
        linkage, ties = self._check_merging()
        n_steps = _validate.check_whole(owner, "n_steps", self.n_steps, 1)
        self._seed = _validate.check_random_state(owner, self.random_state)
        groups = self._begin(X, member_weight).microclusters
        self._membership = flow.membership(groups.table)
        n_clusters = self._membership.shape[1]
        if self._variant == "hc":
            self._check_square(n_clusters)
        else:
            _validate.check_memory(
                40 * n_clusters**2,
                f"ECPCS's similarity of the {n_clusters} clusters in the ensemble",
                "Fewer or coarser clusterings need less.",
            )

        _validate.check_memory(
            flow.panel_bytes(n_clusters, self.n_jobs) * (n_steps + 2),
            f"ECPCS's walks of {n_steps} steps",
            "Fewer steps need less; after some dozens, further ones change nothing.",
        )
        graph = flow.cluster_graph(flow.jaccard(flow.overlaps(groups.table, groups.sizes)))
        walk = flow.transition_matrix(graph, np.ones(n_clusters, dtype=np.int64))
        likeness = flow.trajectory_similarity(walk, n_steps, n_jobs=self.n_jobs)
        alone = np.flatnonzero(np.diff(walk.indptr) == 0)
        self.cluster_similarity_ = likeness.copy()
        self.cluster_similarity_[alone, alone] = 0.0
        if self._variant == "hc":
            self.similarity_ = flow.graded_coassociation(groups.table, likeness, n_jobs=self.n_jobs)
            return self._link(linkage, ties)
        self._normalised_cut = flow.NormalisedCut(self.cluster_similarity_)
        return self._finish()

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        if self._variant == "hc":
            return super()._cut(n_clusters)
        rng = np.random.default_rng(self._seed)
        part = flow.discretise(self._normalised_cut.embedding(n_clusters), rng)
        return flow.part_shares(self._membership, part).argmax(axis=1)

    def _has_rule_for_groups(self) -> bool:
        return self._cuts_a_tree() and super()._has_rule_for_groups()

    def _cuts_a_tree(self) -> bool:
        return bool(params_of_fit(self)["variant"] == "hc")

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        if self._variant == "hc":
            return super()._similarity_sums(weights)
        return ConsensusClusterer._similarity_sums(self, weights)

    def _similarity_between(self, rows: NDArray[Any]) -> FloatArray:
        if self._variant == "hc":
            return super()._similarity_between(rows)
        return ConsensusClusterer._similarity_between(self, rows)

    def _similarity_name(self) -> str:
        return super()._similarity_name() if self._variant == "hc" else "co-association"

    def _similarity_to_itself(self) -> FloatArray:
        return np.ones(self.n_microclusters_)
