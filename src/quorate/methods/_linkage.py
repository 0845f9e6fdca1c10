"""What methods share that agglomerate microclusters on a similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quorate import _validate, flow
from quorate.methods._base import ConsensusClusterer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from quorate._types import FloatArray


class LinkageClusterer(ConsensusClusterer):
    """Base of the methods with a `similarity_`, a `linkage` and a `linkage_matrix_`."""

    linkage: str
    similarity_: FloatArray
    linkage_matrix_: FloatArray

    def _check_square(self) -> None:
        """Refuse a similarity and a tree of so many microclusters that they would not fit."""
        n = self.n_microclusters_
        _validate.check_memory(
            16 * n * n,
            f"{type(self).__name__}'s similarity of {n} microclusters and its tree",
            "PTGP needs no such matrix.",
        )

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        return flow.cut_tree(self.linkage_matrix_, n_clusters)

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        return self.similarity_ @ weights

    def _similarity_to_itself(self) -> FloatArray:
        return self.similarity_.diagonal()
