"""Base of the methods that agglomerate microclusters by a similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import Ensemble
from ensemblage._messages import ParameterError
from ensemblage.flow.agglomerate import LINKAGES, TIES
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._checks import check_pairs
from ensemblage.methods._numbering import by_first_appearance
from ensemblage.methods._precomputed import check_similarity
from ensemblage.methods.fresh import params_of_fit

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROUNDING = 1e-12
#: Beyond this number of microclusters merges are not compared with those of other clusters.
_MOST_COMPARED = 4000
#: Smaller clusters never count when k is chosen, unless the least size is smaller still.
_FEWEST_TO_COUNT = 5
#: Nor do those below this part of the mean size, with the automatic least size.
_SMALL = 4


class LinkageClusterer(ConsensusClusterer):
    """Base of the methods with a `similarity_`, a `linkage` and a `linkage_matrix_`."""

    linkage: str
    ties: str
    min_cluster_size: int | float | str
    similarity_: FloatArray
    linkage_matrix_: FloatArray
    _sized: flow.SizedTree | None
    _joins_groups = True  # the order of merges
    #: Whether merges of groups that no vote links may come before the end of the tree.
    _mixes_groups: bool
    #: Whether means of similarities are over objects; otherwise over microclusters.
    _means_over_objects: ClassVar[bool] = True
    #: Whether small groups that are clearly apart are clusters in spite of a least size.
    _keeps_clear_groups = False

    def _cuts_a_tree(self) -> bool:
        return True

    def _check_merging(self) -> tuple[str, str]:
        """Return the linkage and the rule for ties."""
        owner = type(self).__name__
        linkage = _validate.check_choice(owner, "linkage", self.linkage, LINKAGES)
        return linkage, _validate.check_choice(owner, "ties", self.ties, TIES)

    def _begin(self, X: Any, member_weight: Any) -> Ensemble:
        _validate.check_min_cluster_size(type(self).__name__, self.min_cluster_size)
        return super()._begin(X, member_weight)

    def _begin_with_similarity(self, X: Any, member_weight: Any) -> FloatArray:
        """Check a similarity of objects, each a microcluster, and set the attributes of a fit."""
        owner = type(self).__name__
        _validate.check_min_cluster_size(owner, self.min_cluster_size)
        if member_weight is not None:
            raise TypeError(
                f"{owner} accepts member_weight only with votes, got a similarity"
                f" (affinity='precomputed'). Apply the weights when computing the similarity."
            )
        k = _validate.check_n_clusters_or_auto(owner, self.n_clusters)
        if k is None:
            expected = "an integer of at least 1 with affinity='precomputed'"
            hint = "Choosing the number of clusters needs votes."
            raise ParameterError(owner, "n_clusters", expected, self.n_clusters, hint)
        _validate.check_n_jobs(owner, self.n_jobs)
        similarity = check_similarity(owner, X)
        n = len(similarity.matrix)
        _validate.check_enough_groups(owner, k, n)
        alone = np.arange(n, dtype=np.int32)[:, None]
        ones = np.ones(n, dtype=np.int64)
        self._ensemble = Ensemble.of_checked_groups(alone, ones, [list(range(n))])
        self._ensemble.index, self._ensemble.kind = similarity.index, similarity.kind
        self.microclusters_ = self._ensemble.microclusters
        self.n_microclusters_ = self.n_features_in_ = n
        self.member_weight_, self._from_similarity, self._asked = None, True, k
        return similarity.matrix

    def __sklearn_tags__(self) -> Any:
        """Declare whether X is a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self, "affinity", "votes") == "precomputed"
        return tags

    def _check_square(self, n_clusters: int = 0) -> None:
        """Raise MemoryBudgetError if the similarity and the tree would not fit.

        The estimate includes a few tables of all pairs of `n_clusters` clusters of the ensemble.
        """
        n = self.n_microclusters_
        check_pairs(
            self,
            16 * n * n + 40 * n_clusters**2,
            f"{type(self).__name__}'s similarity of {n} microclusters"
            + (f" (and {n_clusters} clusters)" if n_clusters else "")
            + " and its tree",
            self._instead_of_square(),
        )

    def _instead_of_square(self) -> str:
        """Return advice, besides another method, if the similarity would not fit."""
        return ""

    def _check_objects(self) -> None:
        """Raise MemoryBudgetError if the distances of all objects would not fit."""
        n = len(self.microclusters_.of_object)
        _validate.check_memory(
            16 * n * n,
            f"{type(self).__name__}'s distances of {n} objects",
            'level="microclusters" needs distances of microclusters only.',
        )

    def _link(self, linkage: str, ties: str, level: str = "microclusters") -> Self:
        """Merge microclusters, or the objects themselves, by `similarity_`; cut, and finish.

        Averages are over objects in both cases.
        """
        if level == "objects":
            self.linkage_matrix_ = self._tree_of_objects(linkage, ties)
            n_objects = len(self.microclusters_.of_object)
            return self._finish(unit_of_object=np.arange(n_objects, dtype=np.int32))
        self.linkage_matrix_ = self._tree_of_microclusters(linkage, ties)
        return self._finish()

    def _tree_of_microclusters(self, linkage: str, ties: str) -> FloatArray:
        sizes = self.microclusters_.sizes
        return flow.agglomerate(1.0 - self.similarity_, linkage, sizes, ties)

    def _tree_of_objects(self, linkage: str, ties: str) -> FloatArray:
        """Return the tree of the objects, through that of microclusters if this is exact.

        It is exact if the objects of each microcluster are each other's nearest, unless ties are
        broken by the order of objects.
        """
        _, sizes, of_object = self.microclusters_
        similarity = self.similarity_
        inner = similarity.diagonal()
        nearest = similarity.max(axis=1) <= inner + _ROUNDING
        if ties == "mean" and nearest[sizes > 1].all():
            tree = self._tree_of_microclusters(linkage, ties)
            return flow.tree_of_objects(tree, of_object, 1.0 - inner)
        self._check_objects()
        distance = 1.0 - similarity[np.ix_(of_object, of_object)]
        return flow.agglomerate(distance, linkage, ties=ties)

    def _finish(self, unit_of_object: NDArray[np.int32] | None = None) -> Self:
        self._sized = None
        self._mixes_groups = False
        by_order = self.ties != "mean"  # then the order of rows decides
        if self._cuts_a_tree() and self._by_rule and not by_order and not self._from_similarity:
            self._join_groups_last()
        return super()._finish(unit_of_object)

    def _has_rule_for_groups(self) -> bool:
        return super()._has_rule_for_groups() and not getattr(self, "_mixes_groups", False)

    def _join_groups_last(self) -> None:
        """Let groups that no vote links join last, in an order independent of the rows."""
        links = self._ensemble.links
        between = self.linkage_matrix_[len(self.linkage_matrix_) - links.n_groups + 1 :, 2]
        if links.n_groups > 1 and np.ptp(between) <= _ROUNDING:  # else the heights decide
            of_leaf = links.of_row[self._group_of_leaf()]
            tree, order = self.linkage_matrix_, self._groups_in_order()
            cut = by_first_appearance(flow.cut_tree(tree, links.n_groups))
            self._mixes_groups = not np.array_equal(cut, by_first_appearance(of_leaf))
            if not self._mixes_groups:
                self.linkage_matrix_ = flow.groups_last(tree, of_leaf, order)

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Cut the tree by counting merges, or with a least size of clusters."""
        parts = self._parts(n_clusters)
        if parts is None:
            return flow.cut_tree(self.linkage_matrix_, n_clusters)
        return self._attached(parts)

    def _is_tied(self, n_clusters: int) -> bool:
        # Other linkages compare means where heights are equal.
        if params_of_fit(self)["linkage"] != "average" or not self._cuts_a_tree():
            return False
        if self._cuts_between_groups(n_clusters):
            return False
        parts = self._parts(n_clusters)
        if parts is None:
            is_tied = flow.is_tied(self.linkage_matrix_, n_clusters)
        else:
            is_tied = flow.next_split_is_tied(self._sized_tree(), parts)
        return is_tied or self._has_rival_merge(n_clusters, parts)

    def _cuts_between_groups(self, n_clusters: int) -> bool:
        """Tell whether the clusters are the groups that votes link.

        Within a group, similarities may be too small for its height to differ from theirs.
        """
        links = self._ensemble.links
        if self._from_similarity or n_clusters != links.n_groups:
            return False
        groups = links.of_row[self._group_of_leaf()]
        cut = by_first_appearance(self._cut(n_clusters))
        return np.array_equal(cut, by_first_appearance(groups))

    def _has_rival_merge(self, n_clusters: int, parts: flow.Parts | None) -> bool:
        """Tell whether a large part of a cluster was as similar to a part of another one."""
        n, tree = self.n_microclusters_, self._sized_tree()
        if n > _MOST_COMPARED or len(tree.order) != n:
            return False
        labels = np.full(n, -1)
        if parts is None:
            labels = flow.cut_tree(self.linkage_matrix_, n_clusters)
        else:
            for label, node in enumerate(parts.clusters):
                labels[tree.leaves(node)] = label
        return flow.has_rival(tree, labels, self._mass_of_leaves(), self._similarity_of)

    def _least_size(self, n_clusters: int) -> int:
        n_objects = int(self.microclusters_.sizes.sum())
        return _validate.least_size(params_of_fit(self)["min_cluster_size"], n_objects, n_clusters)

    def _least_to_count(self, n_clusters: int) -> int:
        """Return the size below which a cluster does not count when k is chosen.

        A cut halves the least size until there are k clusters, however small; see `_parts`.
        """
        least = self._least_size(n_clusters)
        # With few objects, a tenth of the mean size is less than one object.
        if params_of_fit(self)["min_cluster_size"] == "auto":
            n_objects = int(self.microclusters_.sizes.sum())
            least = max(least, n_objects // (_SMALL * n_clusters))
        return min(least, _FEWEST_TO_COUNT)

    def _parts(self, n_clusters: int) -> flow.Parts | None:
        """Return the cut with a least size; None if every split counts."""
        least = self._least_size(n_clusters)
        if least <= 1:
            return None
        tree = self._sized_tree()
        return flow.least_size_parts(tree, n_clusters, least, keep_clear=self._keeps_clear_groups)

    def _group_of_leaf(self) -> NDArray[np.int32]:
        """Return the microcluster of each leaf of the tree."""
        of_object, n = self.microclusters_.of_object, self.n_microclusters_
        n_leaves = len(self.linkage_matrix_) + 1
        return np.arange(n, dtype=np.int32) if n_leaves == n else of_object

    def _sized_tree(self) -> flow.SizedTree:
        if vars(self).get("_sized") is None:
            n_leaves = len(self.linkage_matrix_) + 1
            sizes = self.microclusters_.sizes
            if n_leaves != len(sizes):  # the leaves are the objects themselves
                sizes = np.ones(n_leaves, dtype=np.int64)
            self._sized = flow.sized_tree(self.linkage_matrix_, sizes)
        return cast("flow.SizedTree", self._sized)

    def _mass_of_leaves(self) -> NDArray[np.int64]:
        """Return the weight of each leaf of the tree in means of similarities."""
        tree = self._sized_tree()
        n = len(tree.order)
        return np.array(tree.objects[:n]) if self._means_over_objects else np.ones(n, np.int64)

    def _attached(self, parts: flow.Parts) -> NDArray[np.int64]:
        """Return the labels of leaves, small parts joining the most similar cluster."""
        tree, group, mass = self._sized_tree(), self._group_of_leaf(), self._mass_of_leaves()
        rows = np.concatenate([np.empty(0, np.int64), *map(tree.leaves, parts.set_aside)])
        labels = np.full(len(group), -1)
        for label, node in enumerate(parts.clusters):
            labels[tree.leaves(node)] = label
        of_clusters = np.bincount(labels[labels >= 0], mass[labels >= 0].astype(np.float64))
        if len(group) == self.n_microclusters_:
            sums = self._similarity_to(rows, labels, mass, len(of_clusters))
        else:
            weights = np.zeros((self.n_microclusters_, len(of_clusters)))
            np.add.at(weights, (group[labels >= 0], labels[labels >= 0]), mass[labels >= 0])
            sums = self._similarity_of(group[rows], weights)
        return flow.attach(tree, parts, sums, of_clusters, mass[rows])

    def _similarity_to(
        self, rows: NDArray[Any], labels: NDArray[np.int64], mass: NDArray[np.int64], k: int
    ) -> FloatArray:
        """Return the similarity of some microclusters to those of each label, times their mass.

        Microclusters with label -1 are ignored.
        """
        weights = np.zeros((len(labels), k))
        labelled = np.flatnonzero(labels >= 0)
        weights[labelled, labels[labelled]] = mass[labelled]
        return self._similarity_of(rows, weights)

    def _similarity_of(self, rows: NDArray[Any], weights: FloatArray) -> FloatArray:
        """Return the similarity of some microclusters times `weights`."""
        sums: FloatArray = self.similarity_[rows] @ weights
        return sums

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        return self.similarity_ @ weights

    def _similarity_between(self, rows: NDArray[Any]) -> FloatArray:
        return self.similarity_[np.ix_(rows, rows)]

    def _similarity_name(self) -> str:
        return "similarity"

    def _similarity_to_itself(self) -> FloatArray:
        return self.similarity_.diagonal()
