"""Base of EAC, WEAC and LWEA: similarity is the weight of the clusters that two objects share."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage import _device, _device_rows, _validate, flow
from ensemblage._messages import Message, Parameter
from ensemblage.flow import one_blas_thread
from ensemblage.methods import _fitted
from ensemblage.methods._linkage import LinkageClusterer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from ensemblage._types import FloatArray

#: Above this number of microclusters, average link works on clusters, without the similarity of
#: all pairs. It gives the same tree in O(n) memory instead of 16·n² bytes. From here on it was
#: faster in all measurements, also with 100 clusterings of 2 to 10 clusters; with 10 finer ones
#: from 1,000 on.
MOST_PAIRED = 4000
_BYTES_A_VOTE, _BYTES_A_ROW = 80, 300
#: Above this number of steps, some 10 to 20 seconds, the tree of `Consensus` starts from groups.
MOST_STEPS = 1.5e9
N_GROUPS = 4000


class ClusterWeights(NamedTuple):
    """The weight of each cluster of the ensemble, and the divisor of similarities."""

    weight: FloatArray
    total: float


class _Shared(NamedTuple):
    """Membership in clusters: the similarity of all pairs is weighted · votersᵀ / total."""

    weighted: csr_array
    voters: csr_array
    total: float


class SharedClusters(LinkageClusterer):
    """Base of the methods whose similarity is the weight of the clusters that two objects share.

    The similarity of all pairs is computed in fit only if the tree needs it, otherwise on first
    access.
    """

    _similarity: FloatArray | None
    #: Whether the tree may start from groups of similar microclusters if there are very many.
    _may_group: bool
    #: Where microclusters are compared with the leaders of groups.
    _device_for_groups = "cpu"
    #: What the groups of the tree show of the differences of objects; None if there are none.
    _captured: float | None

    @abstractmethod
    def _cluster_weights(self) -> ClusterWeights:
        """Return the weights of clusters, those of their clusterings included."""

    @abstractmethod
    def _similarity_of_pairs(self) -> FloatArray:
        """Return the similarity of all pairs of microclusters, missing votes or not."""

    @property
    def similarity_(self) -> FloatArray:  # type: ignore[override]  # it cannot be set from outside
        """Similarity of microclusters, computed on first access if the tree did not need it."""
        check_is_fitted(self, "microclusters_")
        if self._from_similarity:
            similarity: Any = self._similarity  # raises an error after loading
            return similarity
        if vars(self).get("_similarity") is None:
            n = self.n_microclusters_
            owner = type(self).__name__
            _validate.check_memory(
                8 * n * n,
                f"The similarity of {n} microclusters",
                f"{owner} does not need it for its tree, cuts and confidence.",
            )
            self._similarity = self._similarity_of_pairs()
        return self._similarity  # type: ignore[return-value]

    def _has_all_votes(self) -> bool:
        """Tell whether no vote is missing, except in clusterings without any vote."""
        if self._from_similarity:
            return False
        table = self.microclusters_.table
        missing = table.min(axis=0) < 0
        return bool((table.max(axis=0)[missing] < 0).all())

    def _goes_by_clusters(self, linkage: str, ties: str) -> bool:
        """Tell whether the tree is built without the similarity of all pairs."""
        wanted = linkage == "average" and ties == "mean" and self.n_microclusters_ > MOST_PAIRED
        return wanted and (self._has_all_votes() or self._has_many_gaps())

    def _has_many_gaps(self) -> bool:
        """Return whether too many microclusters have missing votes for the matrix of all pairs."""
        may_group = getattr(self, "_may_group", False) and not self._from_similarity
        many = may_group and self.n_microclusters_ > _fitted.MOST_WITH_GAPS
        return many and not self._has_all_votes()

    def _begins_with_groups(self) -> bool:
        """Tell whether a tree that works on clusters would take too many steps without groups."""
        if not getattr(self, "_may_group", False):
            return False
        if self._has_many_gaps():
            return True
        steps = 0.0
        for column in self.microclusters_.table.T:
            steps += float((np.bincount(column) ** 2.0).sum())
            if steps > MOST_STEPS:
                return True
        return False

    def _check_fits(self, linkage: str, ties: str) -> None:
        """Raise MemoryBudgetError if all pairs of microclusters are needed and would not fit."""
        self._similarity = self._captured = None
        if not self._goes_by_clusters(linkage, ties):
            self._check_square()
            return
        table = self.microclusters_.table
        n, n_members = table.shape
        if self._begins_with_groups():
            n_clusters = table.max(axis=0) + 1
            n_dense = int(n_clusters[n_clusters <= N_GROUPS].sum())
            needed = 40 * n * n_members + 16 * N_GROUPS * (n_dense + 2 * N_GROUPS)
        else:
            needed = self._bytes_by_clusters()
        _validate.check_memory(
            needed,
            f"{type(self).__name__}'s tree of {n} microclusters",
            "Coarser clusterings need less.",
        )

    def _bytes_by_clusters(self) -> int:
        """Return the memory that average link takes without the similarity of all pairs."""
        n, n_members = self.microclusters_.table.shape
        return n * (_BYTES_A_VOTE * n_members + _BYTES_A_ROW)

    def _instead_of_square(self) -> str:
        fits = self._bytes_by_clusters() <= _validate.available_memory()
        if self.n_microclusters_ <= MOST_PAIRED or not fits:
            return ""
        return Message(
            "Average link ({linkage}, ties='mean') needs no such matrix where no vote is missing.",
            linkage=Parameter("linkage", "average"),
        )

    def _tree_of_microclusters(self, linkage: str, ties: str) -> FloatArray:
        table, sizes, _ = self.microclusters_
        if linkage != "average" or ties != "mean":
            return flow.agglomerate(1.0 - self.similarity_, linkage, sizes, ties)
        if not self._goes_by_clusters(linkage, ties):
            if self._has_all_votes():  # then the similarity is not needed elsewhere
                return flow.average_link(self._similarity_of_pairs(), sizes, overwrite=True)
            return flow.average_link(self.similarity_, sizes)
        voting = table.max(axis=0) >= 0
        if self._begins_with_groups():
            return self._tree_of_groups(table[:, voting], sizes, voting)
        return flow.sparse_average_link(table[:, voting], sizes, *self._cluster_weights())

    def _tree_of_groups(
        self, table: NDArray[np.int32], sizes: NDArray[np.int64], voting: NDArray[np.bool_]
    ) -> FloatArray:
        """Return a tree that joins similar microclusters first, and is exact from there on."""
        weight, _ = self._cluster_weights()
        members = np.ones(table.shape[1])
        if self.member_weight_ is not None:
            members = self.member_weight_[voting]
        rows = flow.leader_rows(table, sizes, weight, N_GROUPS)
        on = _device.chosen(self._device_for_groups, len(table))
        if on is not None and _device_rows.can_join(table):
            leaders = _device_rows.join_leaders(table, rows, weight, members, on)
        else:
            leaders = flow.join_leaders(table, rows, weight, members, n_jobs=self.n_jobs)
        with one_blas_thread:
            groups = flow.similarity_of_groups(
                table, sizes, leaders, weight, members, n_jobs=self.n_jobs
            )
        self._captured = groups.captured
        tree = flow.average_link(groups.similarity, groups.sizes, overwrite=True)
        return flow.tree_of_rows(tree, leaders)

    def _tree_of_objects(self, linkage: str, ties: str) -> FloatArray:
        if not self._goes_by_clusters(linkage, ties):
            return super()._tree_of_objects(linkage, ties)
        # No object shares more clusters with an object than one with the same votes.
        shared = self._shared()
        inner = shared.weighted.sum(axis=1) / shared.total
        tree = self._tree_of_microclusters(linkage, ties)
        return flow.tree_of_objects(tree, self.microclusters_.of_object, 1.0 - inner)

    def _shared(self) -> _Shared:
        table, (weight, total) = self.microclusters_.table, self._cluster_weights()
        strong = flow.membership(table, weight, by_rows=True)
        return _Shared(strong, flow.membership(table, by_rows=True), total)

    def _similarity_of(self, rows: NDArray[Any], weights: FloatArray) -> FloatArray:
        if self._has_many_gaps():
            table, weight = self.microclusters_.table, self._cluster_weights().weight
            members = self.member_weight_
            return flow.mean_agreement_sums(
                table[rows], table, weights, weight, members, n_jobs=self.n_jobs
            )
        if not self._has_all_votes():
            return super()._similarity_of(rows, weights)
        shared = self._shared()
        sums: FloatArray = shared.weighted[rows] @ (shared.voters.T @ weights)
        return sums / shared.total

    def _similarity_to(
        self, rows: NDArray[Any], labels: NDArray[np.int64], mass: NDArray[np.int64], k: int
    ) -> FloatArray:
        if not self._has_all_votes():
            return super()._similarity_to(rows, labels, mass, k)
        table, (weight, total) = self.microclusters_.table, self._cluster_weights()
        n_clusters = table.max(axis=0) + 1
        strong = flow.membership(table[rows], weight, n_clusters, by_rows=True)
        sums: FloatArray = strong @ flow.overlaps_with(labels, k, table, mass).T
        return sums / total

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        return self._similarity_of(np.arange(self.n_microclusters_), weights)

    def _similarity_between(self, rows: NDArray[Any]) -> FloatArray:
        if vars(self).get("_similarity") is not None or not self._has_all_votes():
            return super()._similarity_between(rows)
        shared = self._shared()
        sums: FloatArray = (shared.weighted[rows] @ shared.voters[rows].T).toarray()
        return sums / shared.total
