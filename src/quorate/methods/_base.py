"""What all consensus estimators share: votes in, labels by any number of clusters out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from quorate import _validate, flow
from quorate._ensemble import Ensemble, as_ensemble
from quorate.methods._blas import one_blas_thread
from quorate.metrics.confidence import cluster_weights, confidence
from quorate.metrics.explain import cluster_consensus, member_agreement

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from quorate._types import FloatArray


class ConsensusClusterer(ClusterMixin, BaseEstimator, ABC):
    """Base of the estimators. A method says how it fits and how it cuts; the rest is here.

    `_fit` of a method reads: `_begin`, the stages of its paper, `_finish`.
    """

    n_clusters: int
    n_jobs: int | None
    _micro_labels: NDArray[np.int64]
    _unit_of_object: NDArray[np.int32]
    _confidence: FloatArray | None

    @abstractmethod
    def _fit(self, X: Any) -> Self:
        """Check the parameters, find the consensus of the votes X, return the estimator."""

    @abstractmethod
    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return labels from 0 at `n_clusters`: of microclusters, or of what `_finish` is told."""

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        """Return a similarity of microclusters times `weights`, a matrix of few columns.

        Unless a method has a similarity of its own it is co-association, a block at a time.
        """
        table = self.microclusters_.table
        parts = [
            flow.coassociation(table[start : start + _ROWS_TO_COMPARE], table, n_jobs=self.n_jobs)
            @ weights
            for start in range(0, len(table), _ROWS_TO_COMPARE)
        ]
        return np.concatenate(parts)

    def _similarity_to_itself(self) -> FloatArray | float:
        """Return what that similarity says of an object and itself."""
        return 1.0

    # -- the public face -----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the consensus of the votes X.

        Parameters
        ----------
        X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
            One column of labels for each clustering; -1, NaN and None are missing votes.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        # What an earlier fit has found goes first: a fit that fails must not leave a mixture.
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return self._fit(X)

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the consensus labels: a Series where X is a DataFrame.

        Parameters
        ----------
        X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
            Votes.
        y : None
            Ignored.

        Returns
        -------
        ndarray or Series of shape (n_objects,)
        """
        return self._as_given(self.fit(X, y).labels_)

    def cut(self, n_clusters: int) -> Any:
        """Return the labels at another number of clusters, from the fitted state.

        Parameters
        ----------
        n_clusters : int
            At most `n_microclusters_`.

        Returns
        -------
        ndarray or Series of shape (n_objects,)
            What ``fit_predict`` with that `n_clusters` would return.
        """
        check_is_fitted(self, "labels_")
        k = _validate.check_n_clusters(type(self).__name__, n_clusters, self.n_microclusters_)
        with one_blas_thread:
            labels = _by_first_appearance(self._cut(k))
        self._warn_if_fewer(labels, k)
        return self._as_given(flow.spread(labels, self._unit_of_object))

    def predict(self, X: Any) -> Any:
        """Return the consensus label of new rows of votes.

        A row seen in fit gets its own label. Any other gets the label of the microcluster it
        agrees with most, ties going to the larger one, then to the earlier; a row that agrees
        with none gets the label of the largest cluster.

        Parameters
        ----------
        X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
            Votes by the same clusterings as in fit.

        Returns
        -------
        ndarray or Series of shape (n_objects,)
        """
        check_is_fitted(self, "labels_")
        new = as_ensemble(X, n_jobs=self.n_jobs)
        self._check_columns(X, new, reset=False)
        table = self._ensemble.translate(new)
        labels = self._labels_of_rows(table)
        labels = flow.spread(labels, new.microclusters.of_object)
        return labels if new.index is None else _series(labels, new.index)

    @property
    def confidence_(self) -> FloatArray:
        """How sure the consensus is of each object's label, in [0, 1]."""
        check_is_fitted(self, "labels_")
        if self._confidence is None:
            labels, sizes = self._micro_labels, self.microclusters_.sizes
            weights = cluster_weights(labels, sizes, self.n_clusters_)
            with one_blas_thread:
                sums = self._similarity_sums(weights)
            self._confidence = confidence(sums, labels, sizes, self._similarity_to_itself())
        return self._confidence[self.microclusters_.of_object]

    @property
    def cluster_consensus_(self) -> FloatArray:
        """Mean co-association of the pairs of objects in each cluster, in [0, 1]; 1 for one."""
        check_is_fitted(self, "labels_")
        return cluster_consensus(self)

    @property
    def member_agreement_(self) -> FloatArray:
        """NMI (max) of each clustering with the consensus, over the objects it votes on."""
        check_is_fitted(self, "labels_")
        return member_agreement(self)

    def __sklearn_tags__(self) -> Any:
        """Say that X holds labels of any kind, some perhaps missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # -- for the methods -----------------------------------------------------------------------

    def _begin(self, X: Any) -> Ensemble:
        """Check what was passed, and set what every fit sets."""
        owner = type(self).__name__
        _validate.check_n_clusters(owner, self.n_clusters)
        _validate.check_n_jobs(owner, self.n_jobs)
        ensemble = as_ensemble(X, n_jobs=self.n_jobs)
        self._check_columns(X, ensemble, reset=True)
        n = len(ensemble.microclusters.sizes)
        _validate.check_n_clusters(owner, self.n_clusters, n)
        if getattr(self, "level", None) == "objects":
            _validate.check_objects_known(owner, ensemble.n_objects, ensemble.microclusters)
        self._ensemble = ensemble
        self.microclusters_ = ensemble.microclusters
        self.n_microclusters_ = n
        return ensemble

    def _finish(self, unit_of_object: NDArray[np.int32] | None = None) -> Self:
        """Cut at `n_clusters` and give every object its label.

        `unit_of_object` says which of the labels of `_cut` is an object's, if not the one of its
        microcluster. A microcluster is then known, to `predict`, by the label most of its objects
        have.
        """
        of_object = self.microclusters_.of_object
        self._unit_of_object = of_object if unit_of_object is None else unit_of_object
        with one_blas_thread:
            labels = _by_first_appearance(self._cut(self.n_clusters))
        self.labels_ = flow.spread(labels, self._unit_of_object)
        self.n_clusters_ = int(labels.max()) + 1
        self._micro_labels = (
            labels if unit_of_object is None else _most_frequent(self.labels_, of_object)
        )
        self._confidence = None
        self._warn_if_fewer(labels, self.n_clusters)
        return self

    # -- inside --------------------------------------------------------------------------------

    def _check_columns(self, X: Any, ensemble: Ensemble, *, reset: bool) -> None:
        """Compare number and names of clusterings as scikit-learn does for features."""
        if not isinstance(X, Ensemble):
            validate_data(self, X=X, reset=reset, skip_check_array=True)
            return
        names = ensemble.names
        if names is not None and not all(isinstance(name, str) for name in names):
            names = None
        if reset:
            self.n_features_in_ = ensemble.n_clusterings
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            return
        owner = type(self).__name__
        if ensemble.n_clusterings != self.n_features_in_:
            raise ValueError(
                f"X has {ensemble.n_clusterings} features (clusterings), but {owner} is expecting"
                f" {self.n_features_in_} features as input."
            )
        fitted = getattr(self, "feature_names_in_", None)
        if names is not None and fitted is not None and names != fitted.tolist():
            raise ValueError(
                f"The feature names should match those that were passed during fit: {owner} was"
                f" fitted on {_some(fitted.tolist())}, and X has {_some(names)}."
            )

    def _labels_of_rows(self, table: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the label of each row of votes, given in this ensemble's codes."""
        known, sizes, _ = self.microclusters_
        index = flow.MicroclusterIndex(known.shape[1])
        index.add(known)
        nearest = index.lookup(table).astype(np.int64)
        unseen = np.flatnonzero(nearest < 0)
        # Larger first, earlier first among equals: argmax then takes the right one.
        order = np.argsort(-sizes, kind="stable")
        labels = self._micro_labels[nearest]
        for start in range(0, len(unseen), _ROWS_TO_COMPARE):
            rows = unseen[start : start + _ROWS_TO_COMPARE]
            agreement = flow.coassociation(table[rows], known[order], n_jobs=self.n_jobs)
            best = agreement.argmax(axis=1)
            labels[rows] = self._micro_labels[order[best]]
            labels[rows[agreement.max(axis=1) == 0]] = self._largest_cluster()
        return labels

    def _largest_cluster(self) -> int:
        """Return the label that most objects have."""
        sizes = self.microclusters_.sizes
        # With one label for each microcluster, as of `Ensemble.of_groups`, these count by size.
        weights = sizes if len(self.labels_) == len(sizes) else None
        return int(np.bincount(self.labels_, weights=weights).argmax())

    def _warn_if_fewer(self, labels: NDArray[np.int64], n_clusters: int) -> None:
        found = int(labels.max()) + 1
        if found < n_clusters:
            _validate.warn(
                f"{type(self).__name__} was asked for {n_clusters} clusters and found {found}: the"
                f" votes gave it no reason for more.",
                _validate.FewerClustersWarning,
            )

    def _as_given(self, labels: NDArray[np.int64]) -> Any:
        index = self._ensemble.index
        return labels if index is None else _series(labels, index)


_ROWS_TO_COMPARE = 1024


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def _series(labels: NDArray[np.int64], index: Any) -> Any:
    import pandas as pd  # the index is pandas', so it is there

    return pd.Series(labels, index=index, name="label")


def _most_frequent(labels: NDArray[np.int64], groups: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the label that occurs most often in each group, the lowest on ties."""
    pairs, counts = np.unique(np.column_stack([groups, labels]), axis=0, return_counts=True)
    order = np.lexsort([-counts, pairs[:, 0]])
    _, first = np.unique(pairs[order, 0], return_index=True)
    return pairs[order[first], 1].astype(np.int64)


def _by_first_appearance(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels 0, 1, ... in order of appearance, so that equal partitions are equal."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
