"""PTA: probability trajectory accumulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quorate import _validate, flow
from quorate.methods._linkage import LinkageClusterer
from quorate.methods._trajectories import elite_walk

if TYPE_CHECKING:
    from typing import Self


class PTA(LinkageClusterer):
    """Agglomerative consensus on probability-trajectory similarity.

    Objects that no clustering tells apart are one microcluster. Microclusters are linked with
    their elite neighbours, a random walk on that graph gives each a trajectory, and those with
    similar trajectories are merged step by step.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    linkage : {"average", "complete", "single"}, default="average"
        Which similarity of two clusters decides about merging: the mean, the smallest or the
        largest of their members'. Means count microclusters, whatever their size, as the paper's
        do. The paper prints complete link as a sum; its results come from the usual minimum, which
        is what "complete" means here.
    n_neighbors : int, "auto" or "all", default="auto"
        Elite neighbours of each microcluster, the paper's K; neighbours that tie with the last
        are kept. "auto" is ``max(1, min(20, floor(sqrt(n) / 2)))`` for n microclusters, "all"
        keeps every link.
    n_steps : int or "auto", default="auto"
        Steps of the random walk, the paper's T; "auto" as for `n_neighbors`.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        How many clusters came out.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1].
    similarity_ : ndarray of shape (n_microclusters_, n_microclusters_)
        Trajectory similarity (PTS) of microclusters.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format.
    microclusters_ : Microclusters
        Their votes, their sizes, and where each object belongs.
    n_microclusters_, n_neighbors_, n_steps_, n_features_in_ : int
        Sizes that were found or chosen; `n_features_in_` counts clusterings.

    See Also
    --------
    PTGP : the same similarity, cut as a bipartite graph, without a matrix of all pairs.

    Notes
    -----
    With N objects, M clusterings, n microclusters and E links: O(N·M) for microclusters, O(n²·M)
    byte compares for the graph, O(T·E·n) for the similarity, O(n²) for the tree, and 16·n² bytes.
    :meth:`cut` costs O(n). No random numbers are drawn.

    A microcluster without links has similarity 0 to all others and joins last. With fewer than 16
    microclusters "auto" means one neighbour and one step, after which a walker has left its own
    node and neighbours may have nothing in common: ask for more of both, as below.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang, "Robust ensemble clustering using probability trajectories",
    IEEE Transactions on Knowledge and Data Engineering 28(5), 2016, pp. 1312-1326.

    Examples
    --------
    >>> import quorate as qr
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> qr.PTA(n_clusters=2, n_neighbors=2, n_steps=2).fit_predict(votes)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        linkage: str = "average",
        n_neighbors: int | str = "auto",
        n_steps: int | str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.n_neighbors = n_neighbors
        self.n_steps = n_steps
        self.n_jobs = n_jobs

    def _fit(self, X: Any) -> Self:
        linkage = _validate.check_linkage("PTA", self.linkage)
        groups = self._begin(X).microclusters
        n = self.n_microclusters_

        walk = elite_walk(self, groups, 16 * n * n, f"all pairs of {n} microclusters")
        self.similarity_ = flow.trajectory_similarity(walk, self.n_steps_, n_jobs=self.n_jobs)
        self.linkage_matrix_ = flow.agglomerate(1.0 - self.similarity_, linkage)
        return self._finish()
