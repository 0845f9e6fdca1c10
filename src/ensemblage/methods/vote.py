"""Vote: the plurality of aligned clusterings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.methods._base import ConsensusClusterer

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

_MAX_ROUNDS = 20


class Vote(ConsensusClusterer):
    """Plurality vote of the clusterings, after aligning their labels.

    The best-known baseline: one clustering is the reference, the others are given its labels so
    that as many objects as possible agree (the Hungarian method), and each object gets the label
    that most clusterings give it. Then all clusterings are aligned to that consensus, and vote
    again, until no label changes.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Maximal number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
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
        How much closer each object is to its own cluster than to the next, in [0, 1].
    reference_ : int
        The clustering that the others were first aligned to, counted from 0.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    EAC : needs no alignment, because it compares pairs of objects.

    Notes
    -----
    The reference is, of the clusterings with exactly `n_clusters` clusters, the one with the
    highest mean NMI with all others. Where there is none, it is chosen among those with the fewest
    clusters above `n_clusters`, and its clusters are merged by mean co-association (average link)
    until `n_clusters` are left. Where all have fewer, it is chosen among those with most, and fewer
    clusters result: votes cannot split what no clustering splits.

    In the alignment each label is given to one cluster of a clustering, so that the objects that
    keep their label are as many as possible. A cluster that is left over takes the label of most
    of its objects. Missing votes are ignored. Ties go to the lowest label; 20 rounds at most.

    With N objects, M clusterings, n microclusters, C clusters in the ensemble and k clusters:
    O(N·M) for microclusters, O(n·M²) for overlaps, and O(n·(M + k)) and the assignments, O(C·k²)
    or less, for a round. :meth:`cut` repeats all but the overlaps. The method is deterministic.

    References
    ----------
    S. Dudoit, J. Fridlyand, "Bagging to improve the accuracy of a clustering procedure",
    Bioinformatics 19(9), 2003, pp. 1090-1099.

    H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics
    Quarterly 2, 1955, pp. 83-97.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 5, "b"], [0, 5, "b"], [0, 6, "b"], [1, 6, "a"], [1, 6, "a"], [1, 6, "b"]]
    >>> en.Vote(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 1, 1, 1])
    """

    _takes_member_weight = True
    _why_fewer = (
        "it has no more labels than its reference clustering has clusters, and a label that gets no"
        " object is lost"
    )

    def __init__(self, n_clusters: int | str = 8, *, n_jobs: int | None = None) -> None:
        self.n_clusters = n_clusters
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        groups = self._begin(X, member_weight).microclusters
        self._membership = flow.membership(groups.table, by_rows=True)
        self._owner = flow.owners(groups.table)
        _validate.check_memory(
            16 * self.n_features_in_**2,
            f"Vote's comparison of all pairs of {self.n_features_in_} clusterings",
            "Fewer clusterings need less.",
        )

        nmi = flow.member_nmi(groups.table, groups.sizes)
        weight = self.member_weight_
        self._nmi = nmi.mean(axis=1) if weight is None else nmi @ weight / weight.sum()
        self._finish()
        self.reference_ = self._reference(self._wanted_k())
        return self

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        table, sizes, _ = self.microclusters_
        reference = self._reference(n_clusters)
        label_of = self._merged(reference, n_clusters)
        start = np.append(label_of, -1)[table[:, reference]]  # code -1 (missing) has no label
        return flow.vote(
            self._membership, sizes, self._owner, start, _MAX_ROUNDS, self._cluster_weight()
        )

    def _reference(self, n_clusters: int) -> int:
        """Return the first reference: nearest to `n_clusters` from above, then from below."""
        n_clusters_of = np.bincount(self._owner, minlength=self.n_features_in_)
        if self.member_weight_ is not None:
            n_clusters_of = np.where(self.member_weight_ > 0, n_clusters_of, 0)
        enough = n_clusters_of[n_clusters_of >= n_clusters]
        nearest = enough.min() if len(enough) else n_clusters_of.max()
        return int(np.where(n_clusters_of == nearest, self._nmi, -1.0).argmax())

    def _merged(self, reference: int, n_clusters: int) -> NDArray[np.int64]:
        """Return labels of the reference's clusters, merged where there are too many."""
        table, sizes, _ = self.microclusters_
        votes = table[:, reference]
        shared = flow.overlaps_with(votes, int(votes.max()) + 1, table, sizes)
        agreement = flow.cluster_agreement(shared, self._owner, self.member_weight_)
        in_cluster = shared[:, self._owner == reference].diagonal()
        tree = flow.agglomerate(1.0 - agreement, "average", in_cluster)
        return flow.cut_tree(tree, min(n_clusters, len(in_cluster)))
