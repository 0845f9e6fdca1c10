"""What methods share that agglomerate microclusters on a similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from quorate import _validate, flow
from quorate.methods._base import ConsensusClusterer

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from quorate._types import FloatArray

_ROUNDING = 1e-12


class LinkageClusterer(ConsensusClusterer):
    """Base of the methods with a `similarity_`, a `linkage` and a `linkage_matrix_`."""

    linkage: str
    similarity_: FloatArray
    linkage_matrix_: FloatArray

    def _check_square(self, n_clusters: int = 0) -> None:
        """Refuse a similarity and a tree of so many microclusters that they would not fit.

        A few tables of all pairs of `n_clusters` clusters of the ensemble are counted with them.
        """
        n = self.n_microclusters_
        _validate.check_memory(
            16 * n * n + 40 * n_clusters**2,
            f"{type(self).__name__}'s similarity of {n} microclusters"
            + (f" (and {n_clusters} clusters)" if n_clusters else "")
            + " and its tree",
            "PTGP needs no such matrix.",
        )

    def _check_objects(self) -> None:
        """Refuse a tree of so many objects that their distances would not fit."""
        n = len(self.microclusters_.of_object)
        _validate.check_memory(
            16 * n * n,
            f"{type(self).__name__}'s distances of {n} objects",
            'level="microclusters" needs those of microclusters only.',
        )

    def _link(self, linkage: str, level: str = "microclusters") -> Self:
        """Merge microclusters, or the objects themselves, on `similarity_`; cut, and finish.

        Averages are over objects in both cases.
        """
        if level == "objects":
            self.linkage_matrix_ = self._tree_of_objects(linkage)
            n_objects = len(self.microclusters_.of_object)
            return self._finish(unit_of_object=np.arange(n_objects, dtype=np.int32))
        self.linkage_matrix_ = self._tree_of_microclusters(linkage)
        return self._finish()

    def _tree_of_microclusters(self, linkage: str) -> FloatArray:
        return flow.agglomerate(1.0 - self.similarity_, linkage, self.microclusters_.sizes)

    def _tree_of_objects(self, linkage: str) -> FloatArray:
        """Return the tree of the objects, through that of microclusters where this is exact.

        It is where the objects of each microcluster are each other's nearest.
        """
        _, sizes, of_object = self.microclusters_
        similarity = self.similarity_
        inner = similarity.diagonal()
        nearest = similarity.max(axis=1) <= inner + _ROUNDING
        if nearest[sizes > 1].all():
            tree = self._tree_of_microclusters(linkage)
            return flow.tree_of_objects(tree, of_object, 1.0 - inner)
        self._check_objects()
        return flow.agglomerate(1.0 - similarity[np.ix_(of_object, of_object)], linkage)

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        return flow.cut_tree(self.linkage_matrix_, n_clusters)

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        return self.similarity_ @ weights

    def _similarity_to_itself(self) -> FloatArray:
        return self.similarity_.diagonal()
