"""Base of the methods that cut a bipartite graph of objects and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage.flow import one_blas_thread
from ensemblage.methods._base import ConsensusClusterer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_STARTS = 3
#: With few rows three starts may all miss the best clusters, so that the order of rows decides.
_FEW_ROWS, _STARTS_OF_FEW = 100, 20


def scaled_columns(matrix: Any, weight: FloatArray) -> Any:
    """Return a sparse matrix with columns scaled by `weight`, without columns of weight 0."""
    kept = np.flatnonzero(weight)
    result = matrix.tocsc()[:, kept]
    result.data = result.data * np.repeat(weight[kept], np.diff(result.indptr))
    return result


class BipartiteClusterer(ConsensusClusterer):
    """Base of the methods that embed a graph by the transfer cut.

    They cluster objects: a microcluster counts once for each of its objects, in the graph and in
    k-means, so the result is that of the objects.
    """

    _seed: int
    _transfer_cut: flow.TransferCut

    def _check_clusters(self, *, leading: bool = False) -> None:
        """Raise MemoryBudgetError if the graph of `n_clusters` clusters would not fit."""
        n_clusters = int((self.microclusters_.table.max(axis=0) + 1).sum())
        _validate.check_memory(
            self._needed_bytes(leading=leading),
            f"{type(self).__name__}'s graph of {n_clusters} clusters",
            "Fewer or coarser clusterings need less.",
        )

    def _needed_bytes(self, *, leading: bool = True) -> int:
        """Return the memory that the graph takes.

        A large sparse graph of which only `leading` eigenvectors are needed is not built.
        """
        table = self.microclusters_.table
        n_clusters = int((table.max(axis=0) + 1).sum())
        n_columns = min(n_clusters, flow.MOST_COLUMNS) if leading else n_clusters
        return 60 * table.size + 2000 * n_clusters + 48 * n_columns**2

    def _weighted(self, bipartite: Any) -> Any:
        """Return the graph with links scaled by the weights of clusterings; 0 drops a clustering.

        A cluster whose links are scaled by w counts like w copies of it.
        """
        weight = self._cluster_weight()
        return bipartite if weight is None else scaled_columns(bipartite, weight)

    def _prepare(self, bipartite: Any, **options: Any) -> None:
        """Prepare the graph of microclusters (rows) and clusters (columns) for all cuts."""
        sizes = self.microclusters_.sizes
        with one_blas_thread:
            self._transfer_cut = flow.TransferCut(bipartite, sizes, n_jobs=self.n_jobs, **options)

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        rows = self._transfer_cut.embedding(n_clusters)
        rng = np.random.default_rng(self._seed)
        sizes = self.microclusters_.sizes
        n_starts = _STARTS if len(rows) > _FEW_ROWS else _STARTS_OF_FEW
        return flow.kmeans(
            rows, n_clusters, rng, weights=sizes, n_starts=n_starts, n_jobs=self.n_jobs
        )
