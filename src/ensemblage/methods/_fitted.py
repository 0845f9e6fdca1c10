"""Methods of a fitted consensus: prediction, confidence, cohesion, agreement with members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage.flow import one_blas_thread
from ensemblage.methods._checks import check_columns
from ensemblage.methods._placing import compared_at_once, place_rows, warn_of_unknown
from ensemblage.metrics.aligning import aligned
from ensemblage.metrics.confidence import cluster_weights, confidence
from ensemblage.metrics.explain import cluster_consensus
from ensemblage.metrics.explain_members import member_agreement

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._ensemble import Ensemble
    from ensemblage._types import FloatArray, Microclusters

_ROWS_PER_BLOCK = 1 << 15
#: Above this number of microclusters with missing votes, agreement is a mean over pairs of votes
#: instead of pairs of objects: all pairs would take minutes, and gigabytes in `Consensus`.
MOST_WITH_GAPS = 15_000


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
        otherwise in blocks of rows, and for very many microclusters as a mean over pairs of votes.
        """
        table, members = self.microclusters_.table, self.member_weight_
        some = table if rows is None else table[rows]
        if table.min() >= 0:
            n_clusters, strength = table.max(axis=0) + 1, self._cluster_weight()
            in_clusters = flow.cluster_sums(table, weights)
            total = self._total_weight()

            def agreements(block: tuple[int, int]) -> FloatArray:
                counted = flow.membership(some[slice(*block)], strength, n_clusters, by_rows=True)
                sums: FloatArray = counted @ in_clusters
                return sums / total

            blocks = flow.row_ranges(len(some), _ROWS_PER_BLOCK)
            parts = flow.in_threads(agreements, blocks, self.n_jobs)
            return np.concatenate([np.empty((0, weights.shape[1])), *parts])
        if len(table) > MOST_WITH_GAPS:
            strength = self._cluster_weight()
            return flow.mean_agreement_sums(
                some, table, weights, strength, members, n_jobs=self.n_jobs
            )
        step = compared_at_once(len(table))
        parts = [
            flow.coassociation(
                some[start : start + step], table, weights=members, n_jobs=self.n_jobs
            )
            @ weights
            for start in range(0, len(some), step)
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

    def _cluster_weight(self, weight: FloatArray | None = None) -> FloatArray | None:
        """Return the weight of each cluster of the ensemble: that of its clustering."""
        weight = self.member_weight_ if weight is None else weight
        return None if weight is None else weight[flow.owners(self.microclusters_.table)]

    def _total_weight(self) -> float:
        """Return the total weight of all clusterings with votes; each is 1 without weights."""
        voting = self.microclusters_.table.max(axis=0) >= 0
        weight = self.member_weight_
        return int(voting.sum()) if weight is None else float(np.cumsum(weight[voting])[-1])


def of_mean_one(estimator: Any) -> FloatArray | None:
    """Return the weights of clusterings divided by their mean, those of 0 and gaps left out."""
    weight: FloatArray | None = estimator.member_weight_
    if weight is None:
        return None
    counts = (weight > 0) & (estimator.microclusters_.table.max(axis=0) >= 0)
    return weight * (1.0 / float(weight[counts].mean()))


class Fitted(Pairs):
    """Methods and properties of a fitted estimator."""

    labels_: NDArray[np.int64]
    n_clusters_: int
    _ensemble: Ensemble
    _micro_labels: NDArray[np.int64]
    _confidence: FloatArray | None

    def predict(self, X: Any, *, return_confidence: bool = False, align_to: Any = None) -> Any:
        """Return the consensus label of new rows of votes.

        A row that occurred in fit gets its label. Any other row gets the label of the microcluster
        that it agrees with most; ties go to the larger, then to the earlier microcluster. A row
        that agrees with none gets the label of the largest cluster.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow table or Ensemble of shape (n_objects, n_clusterings)
            Votes of the same clusterings as in fit; also a dict of lists by name. Named columns may
            be in any order.
        return_confidence : bool, default=False
            Also return the confidence of each label, as defined by `confidence_`. A row that
            occurred in fit has the confidence of the objects with these votes; any other row is
            compared with all objects of the fit.
        align_to : array-like, optional
            Earlier labels of the objects of the fit; clusters keep their numbers, as in
            `fit_predict`.

        Returns
        -------
        labels : ndarray, Series or Arrow array of shape (n_objects,)
        confidence : ndarray of shape (n_objects,)
            Only with `return_confidence`.
        """
        new, table = self._new_rows(X)
        of_object = new.microclusters.of_object
        labels, sure = place_rows(self, table, with_confidence=return_confidence)
        labels = self._aligned(labels, align_to, fitted=self.labels_)
        placed = _validate.labels_like(flow.spread(labels, of_object), new.kind, new.index)
        return placed if sure is None else (placed, sure[of_object])

    @property
    def confidence_(self) -> FloatArray:
        """Confidence of each object's label, in [0, 1], by co-association.

        (a - b) / max(a, b), at least 0: a is the mean co-association with the other objects of its
        cluster, b the largest mean with the objects of another cluster. With a single cluster it is
        a. In a cluster of groups that no vote links, or only stray votes if there are fewer
        clusters than such groups, it is multiplied by the share of the object's own group in the
        cluster minus that of the others, at least 0.
        """
        check_is_fitted(self, "labels_")
        if self._confidence is None:
            self._confidence = self._confidence_by(
                self._confidence_sums,
                self._similarity_to_itself() if self._from_similarity else 1.0,
            )
        return self._confidence[self.microclusters_.of_object]

    def _confidence_by(
        self, similarity_sums: Callable[[FloatArray], FloatArray], to_itself: FloatArray | float
    ) -> FloatArray:
        """Return the confidence of each microcluster by a similarity."""
        labels, sizes = self._micro_labels, self.microclusters_.sizes
        weights = cluster_weights(labels, sizes, self.n_clusters_)
        with one_blas_thread:
            sums = similarity_sums(weights)
        values = confidence(sums, labels, sizes, to_itself)
        shares = self._linked_shares()
        return values if shares is None else values * shares

    def _linked_shares(self) -> FloatArray | None:
        """Return the factors of confidence; None if votes link all objects."""
        if self.n_clusters_ == 1 or self._from_similarity:
            return None
        ensemble, sizes = self._ensemble, self.microclusters_.sizes
        links = flow.links_at(ensemble.links, ensemble.firm_links, sizes, self.n_clusters_)
        if links.n_groups == 1:
            return None
        return flow.lead_of_own_group(links, self._micro_labels, sizes)

    @property
    def cluster_consensus_(self) -> FloatArray:
        """Mean co-association of the pairs of objects in each cluster, in [0, 1]; 1 if single."""
        check_is_fitted(self, "labels_")
        self._check_has_votes()
        return cluster_consensus(self)

    @property
    def member_agreement_(self) -> FloatArray:
        """NMI (max) of each clustering with the consensus, over the objects that it labels."""
        check_is_fitted(self, "labels_")
        self._check_has_votes()
        return member_agreement(self)

    def _new_rows(self, X: Any) -> tuple[Ensemble, NDArray[np.int32]]:
        """Return new votes, and the votes of their microclusters in the codes of the fit."""
        check_is_fitted(self, "labels_")
        if self._from_similarity:
            raise ValueError(
                f"This {type(self).__name__} was fitted on a similarity (affinity='precomputed'),"
                f" so it has no votes to compare new objects with. Fit it on votes to predict."
            )
        new = as_ensemble(X, n_jobs=self.n_jobs, new=True).in_order_of(self._ensemble.names)
        check_columns(self, X, new, reset=False)
        table = self._ensemble.translate(new)
        warn_of_unknown(self._ensemble, new, table)
        return new, table

    def _label_unseen(self, table: NDArray[np.int32]) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Return labels of rows that did not occur in fit; None to use agreement."""
        return None

    def _why_not_whole(self) -> str | None:
        """Return the error in the numbers of a loaded estimator, None if there is none."""
        return None

    def _check_has_votes(self) -> None:
        """Raise an error if there are no members."""
        if self._from_similarity:
            raise AttributeError(
                f"This {type(self).__name__} was fitted on a similarity (affinity='precomputed'),"
                f" so it has no members."
            )

    def _aligned(
        self,
        labels: NDArray[np.int64],
        align_to: Any,
        fitted: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Return labels renumbered to match earlier ones, if there are any."""
        owner, ensemble = type(self).__name__, self._ensemble
        if align_to is not None:
            _validate.check_each_object(owner, len(self.labels_), ensemble.n_objects)
        return aligned(owner, labels, align_to, ensemble.index, fitted=fitted)

    def _as_given(self, labels: NDArray[np.int64]) -> Any:
        ensemble = self._ensemble
        return _validate.labels_like(labels, ensemble.kind, ensemble.index)
