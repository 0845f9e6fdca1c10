"""Similarity of pairs of microclusters: co-association, unless a method overrides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.methods._placing import ROWS_TO_COMPARE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, Microclusters

_ROWS_PER_BLOCK = 1 << 15


class Pairs:
    """The similarity of microclusters by the votes, and by the method itself."""

    microclusters_: Microclusters
    member_weight_: FloatArray | None
    n_jobs: int | None
    _from_similarity: bool

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        """Return the method's own similarity of microclusters times a matrix of few columns."""
        return self._coassociation_sums(weights)

    def _similarity_between(self, rows: NDArray[Any]) -> FloatArray:
        """Return the method's own similarity of some microclusters to each other."""
        table, members = self.microclusters_.table[rows], self.member_weight_
        return flow.coassociation(table, weights=members, n_jobs=self.n_jobs)

    def _similarity_name(self) -> str:
        """Return the name of the method's own similarity in plots."""
        return "co-association"

    def _similarity_to_itself(self) -> FloatArray | float:
        """Return the method's own similarity of an object to itself."""
        return 1.0

    def _coassociation_sums(
        self, weights: FloatArray, rows: NDArray[np.int64] | None = None
    ) -> FloatArray:
        """Return the co-association of (some) microclusters times `weights`, of few columns.

        Computed through the clusters if no vote is missing, without pairs of microclusters;
        otherwise in blocks of rows.
        """
        table, members = self.microclusters_.table, self.member_weight_
        some = table if rows is None else table[rows]
        if table.min() >= 0:
            n_clusters, strength = table.max(axis=0) + 1, self._cluster_weight()
            in_clusters = flow.membership(table, by_rows=True).T @ weights
            total = self._total_weight()

            def agreements(block: tuple[int, int]) -> FloatArray:
                counted = flow.membership(some[slice(*block)], strength, n_clusters, by_rows=True)
                sums: FloatArray = counted @ in_clusters
                return sums / total

            blocks = flow.row_ranges(len(some), _ROWS_PER_BLOCK)
            parts = flow.in_threads(agreements, blocks, self.n_jobs)
            return np.concatenate([np.empty((0, weights.shape[1])), *parts])
        parts = [
            flow.coassociation(
                some[start : start + ROWS_TO_COMPARE], table, weights=members, n_jobs=self.n_jobs
            )
            @ weights
            for start in range(0, len(some), ROWS_TO_COMPARE)
        ]
        return np.concatenate(parts)

    def _confidence_sums(
        self, weights: FloatArray, rows: NDArray[np.int64] | None = None
    ) -> FloatArray:
        """Return the sums that confidence is computed from: co-association, if there are votes."""
        if not self._from_similarity:
            return self._coassociation_sums(weights, rows)
        sums = self._similarity_sums(weights)
        return sums if rows is None else sums[rows]

    def _cluster_weight(self) -> FloatArray | None:
        """Return the weight of each cluster of the ensemble: that of its clustering."""
        if self.member_weight_ is None:
            return None
        return self.member_weight_[flow.owners(self.microclusters_.table)]

    def _total_weight(self) -> float:
        """Return the total weight of all clusterings with votes; each is 1 without weights."""
        voting = self.microclusters_.table.max(axis=0) >= 0
        weight = self.member_weight_
        return int(voting.sum()) if weight is None else float(np.cumsum(weight[voting])[-1])
