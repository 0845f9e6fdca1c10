"""What all consensus estimators share: votes in, labels by any number of clusters out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ensemblage import _validate, flow
from ensemblage._blas import one_blas_thread
from ensemblage._ensemble import Ensemble, as_ensemble
from ensemblage._messages import Message, Parameter
from ensemblage.methods._checks import check_columns, check_takes_weight
from ensemblage.methods._choosing import cuts_of
from ensemblage.methods._numbering import by_first_appearance, most_frequent
from ensemblage.methods._pairs import Pairs
from ensemblage.methods._placing import place_rows, warn_of_unknown
from ensemblage.methods._savable import Savable
from ensemblage.metrics.aligning import aligned
from ensemblage.metrics.choosing import Cuts, choose
from ensemblage.metrics.confidence import cluster_weights, confidence
from ensemblage.metrics.explain import cluster_consensus
from ensemblage.metrics.explain_members import member_agreement
from ensemblage.metrics.sizes import ranked_by_size

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


#: What a fit may leave behind beside its public attributes.
_OF_A_FIT = ("_left_out", "_by_size")


class ConsensusClusterer(Pairs, Savable, ClusterMixin, BaseEstimator, ABC):
    """Base of the estimators. A method says how it fits and how it cuts; the rest is here.

    `_fit` of a method reads: `_begin`, the stages of its paper, `_finish`.
    """

    n_clusters: int | str
    _micro_labels: NDArray[np.int64]
    _unit_of_object: NDArray[np.int32]
    _confidence: FloatArray | None
    #: The number of clusters; None where one is still to be chosen.
    _asked: int | None
    #: Whether the definition of a method has a place for weights of clusterings.
    _takes_member_weight: ClassVar[bool] = False
    #: Why a method may end with fewer clusters than it was asked for.
    _why_fewer: ClassVar[str] = "the votes gave it no reason for more"

    @abstractmethod
    def _fit(self, X: Any, member_weight: Any) -> Self:
        """Check the parameters, find the consensus of the votes X, return the estimator."""

    @abstractmethod
    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return labels from 0 at `n_clusters`: of microclusters, or of what `_finish` is told."""

    # -- the public face -----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, member_weight: Any = None) -> Self:  # noqa: ARG002
        """Find the consensus of the votes X.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow table, dict, list or Ensemble, (n_objects, n_clusterings)
            One column of labels for each clustering; -1, NaN, None and null are missing votes. The
            items of a list are columns where they are arrays of one dimension, Series or fitted
            clusterers, and rows where they are lists.
        y : None
            Ignored.
        member_weight : array-like of shape (n_clusterings,), dict or Series, optional
            How much each clustering counts, from 0 up: 2 is as if it were there twice, 0 as if it
            did not vote. A dict, or a Series with an index of its own, goes by the names of the
            clusterings. For methods that have a place for it; others refuse it.

        Returns
        -------
        self
            The fitted estimator.
        """
        # What an earlier fit has found goes first: a fit that fails must not leave a mixture.
        for name in [name for name in vars(self) if name.endswith("_") or name in _OF_A_FIT]:
            delattr(self, name)
        check_takes_weight(type(self), member_weight)
        return self._fit(X, member_weight)

    def fit_predict(
        self, X: Any, y: Any = None, *, member_weight: Any = None, align_to: Any = None
    ) -> Any:
        """Fit, and return the consensus labels, as a column of what X is a table of.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow table or Ensemble of shape (n_objects, n_clusterings)
            Votes.
        y : None
            Ignored.
        member_weight : array-like of shape (n_clusterings,), dict or Series, optional
            How much each clustering counts, as for `fit`.
        align_to : array-like of shape (n_objects,), optional
            Earlier labels of the objects, whole numbers: clusters that have most of their objects
            in common keep their number, new clusters get new numbers, as
            :func:`ensemblage.metrics.align` gives them. A Series is matched by the index of X.
            `labels_` keeps its own numbers.

        Returns
        -------
        ndarray, Series or Arrow array of shape (n_objects,)
        """
        labels = self.fit(X, y, member_weight=member_weight).labels_
        return self._as_given(self._aligned(labels, align_to))

    def cut(self, n_clusters: int, *, align_to: Any = None) -> Any:
        """Return the labels at another number of clusters, from the fitted state.

        Parameters
        ----------
        n_clusters : int
            At most `n_microclusters_`.
        align_to : array-like of shape (n_objects,), optional
            Earlier labels of the objects, whose numbers clusters keep, as in `fit_predict`.

        Returns
        -------
        ndarray, Series or Arrow array of shape (n_objects,)
            What ``fit_predict`` with that `n_clusters` would return.
        """
        check_is_fitted(self, "labels_")
        owner = type(self).__name__
        k = _validate.check_n_clusters(owner, n_clusters)
        _validate.check_enough_groups(owner, k, self.n_microclusters_)
        with one_blas_thread:
            labels = by_first_appearance(self._cut(k))
        self._warn_if_fewer(labels, k)
        labels = flow.spread(labels, self._unit_of_object)
        return self._as_given(self._aligned(labels, align_to))

    def predict(self, X: Any, *, return_confidence: bool = False, align_to: Any = None) -> Any:
        """Return the consensus label of new rows of votes.

        A row seen in fit gets its own label. Any other gets the label of the microcluster it
        agrees with most, ties going to the larger one, then to the earlier; a row that agrees
        with none gets the label of the largest cluster.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow table or Ensemble of shape (n_objects, n_clusterings)
            Votes by the same clusterings as in fit; a dict of lists by name is a table too. Columns
            with names may be in any order.
        return_confidence : bool, default=False
            Also return how sure each label is, as `confidence_` defines it. A row seen in fit has
            the confidence of the objects with these votes; any other is compared with all objects
            of the fit.
        align_to : array-like, optional
            Earlier labels of the objects of the fit, whose numbers clusters keep, as in
            `fit_predict`.

        Returns
        -------
        labels : ndarray, Series or Arrow array of shape (n_objects,)
        confidence : ndarray of shape (n_objects,)
            Only with `return_confidence`.
        """
        check_is_fitted(self, "labels_")
        if self._from_similarity:
            raise ValueError(
                f"This {type(self).__name__} was fitted on a similarity (affinity='precomputed'),"
                f" so it knows no votes to compare new objects with. Fit it on votes to predict."
            )
        new = as_ensemble(X, n_jobs=self.n_jobs, new=True).in_order_of(self._ensemble.names)
        check_columns(self, X, new, reset=False)
        table = self._ensemble.translate(new)
        warn_of_unknown(self._ensemble, new, table)
        of_object = new.microclusters.of_object
        labels, sure = place_rows(self, table, with_confidence=return_confidence)
        labels = self._aligned(labels, align_to, fitted=self.labels_)
        placed = _validate.labels_like(flow.spread(labels, of_object), new.kind, new.index)
        return placed if sure is None else (placed, sure[of_object])

    @property
    def confidence_(self) -> FloatArray:
        """How sure the consensus is of each object's label, in [0, 1], by co-association.

        (a - b) / max(a, b), at least 0: a is the mean co-association with the other objects of its
        cluster, b the largest mean with the objects of another cluster. With a single cluster it
        is a.
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
        return confidence(sums, labels, sizes, to_itself)

    @property
    def cluster_consensus_(self) -> FloatArray:
        """Mean co-association of the pairs of objects in each cluster, in [0, 1]; 1 for one."""
        check_is_fitted(self, "labels_")
        self._check_has_votes()
        return cluster_consensus(self)

    @property
    def member_agreement_(self) -> FloatArray:
        """NMI (max) of each clustering with the consensus, over the objects it votes on."""
        check_is_fitted(self, "labels_")
        self._check_has_votes()
        return member_agreement(self)

    def __sklearn_tags__(self) -> Any:
        """Say that X holds labels of any kind, some perhaps missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # -- for the methods -----------------------------------------------------------------------

    def _begin(self, X: Any, member_weight: Any) -> Ensemble:
        """Check what was passed, and set what every fit sets."""
        owner = type(self).__name__
        self._asked = _validate.check_n_clusters_or_auto(owner, self.n_clusters)
        _validate.check_n_jobs(owner, self.n_jobs)
        ensemble = as_ensemble(X, n_jobs=self.n_jobs)
        check_columns(self, X, ensemble, reset=True)
        ensemble.check_ids()
        weight = _validate.check_member_weight(
            owner, member_weight, ensemble.microclusters, ensemble.names
        )
        if weight is not None and not weight.all():
            ensemble = ensemble.without_votes_of(weight == 0)
        n = len(ensemble.microclusters.sizes)
        if self._asked is not None:
            default = signature(type(self)).parameters["n_clusters"].default
            _validate.check_enough_groups(owner, self._asked, n, default)
        if getattr(self, "level", None) == "objects":
            _validate.check_objects_known(owner, ensemble.n_objects, ensemble.microclusters)
        self._ensemble, self._from_similarity = ensemble, False
        self.member_weight_ = weight
        self.microclusters_ = ensemble.microclusters
        self.n_microclusters_ = n
        return ensemble

    def _finish(self, unit_of_object: NDArray[np.int32] | None = None) -> Self:
        """Cut at `n_clusters`, or at the k that is chosen, and give every object its label.

        `unit_of_object` says which of the labels of `_cut` is an object's, if not the one of its
        microcluster. A microcluster is then known, to `predict`, by the label most of its objects
        have.
        """
        of_object = self.microclusters_.of_object
        self._unit_of_object = of_object if unit_of_object is None else unit_of_object
        k = self._asked = self._wanted_k()
        self._warn_if_no_structure()
        with one_blas_thread:
            labels = by_first_appearance(self._cut(k))
        self.labels_ = flow.spread(labels, self._unit_of_object)
        self.n_clusters_ = int(labels.max()) + 1
        self._micro_labels = (
            labels if unit_of_object is None else most_frequent(self.labels_, of_object)
        )
        self._confidence = None
        self._warn_if_fewer(labels, k)
        return self

    def _with_seed(self, seed: int) -> Self | None:
        """Return a copy that cuts with another seed; None where no cut draws random numbers."""
        if not hasattr(self, "_seed"):
            return None
        other = copy(self)
        other._seed = seed
        return other

    def _number_by_size(self) -> Self:
        """Give the clusters that were found numbers by size, the largest 0; `cut` does not."""
        sizes = self.microclusters_.sizes
        weights = sizes if len(self.labels_) == len(sizes) else None
        new = np.empty(self.n_clusters_, dtype=np.int64)
        new[self.labels_] = ranked_by_size(self.labels_, weights)
        self.labels_, self._micro_labels = new[self.labels_], new[self._micro_labels]
        self._by_size = True
        return self

    # -- inside --------------------------------------------------------------------------------

    def _cuts_a_tree(self) -> bool:
        """Tell whether a method with these parameters needs a `linkage_matrix_` to be cut."""
        return False

    def _why_no_tree(self) -> str:
        """Return why a method without a `linkage_matrix_` has none."""
        return "it does not merge step by step"

    def _check_has_votes(self) -> None:
        """Refuse to tell of members where there were none."""
        if self._from_similarity:
            raise AttributeError(
                f"This {type(self).__name__} was fitted on a similarity (affinity='precomputed'),"
                f" so there are no votes to tell of."
            )

    def _wanted_k(self) -> int:
        """Return `n_clusters`; where it is "auto", choose, and keep why."""
        if self._asked is not None:
            return self._asked
        self.k_choice_ = choose(self._cuts())
        return self.k_choice_.k

    def _warn_if_no_structure(self) -> None:
        choice = vars(self).get("k_choice_")
        if choice is not None and choice.k == 1 and self.n_microclusters_ > 1:
            message = Message(
                "{owner} was asked to choose the number of clusters and formed one. {reason} Pass"
                " {k} to form more.",
                owner=type(self).__name__,
                reason=choice.reasons[0],
                k=Parameter("n_clusters"),
            )
            _validate.warn(message, _validate.NoStructureWarning)

    def _cuts(self) -> Cuts:
        """Return what `ensemblage.metrics.choose_k` needs to know."""
        return cuts_of(self)

    def _cut_microclusters(self, n_clusters: int) -> NDArray[np.int64]:
        """Return a label of each microcluster: of most of its objects, if these are cut."""
        labels = by_first_appearance(self._cut(n_clusters))
        of_object = self.microclusters_.of_object
        if self._unit_of_object is of_object:
            return labels
        return by_first_appearance(
            most_frequent(flow.spread(labels, self._unit_of_object), of_object)
        )

    def _warn_if_fewer(self, labels: NDArray[np.int64], n_clusters: int) -> None:
        found = int(labels.max()) + 1
        if found < n_clusters:
            _validate.warn(
                f"{type(self).__name__} was asked for {n_clusters} clusters and found {found}:"
                f" {self._why_fewer}.",
                _validate.FewerClustersWarning,
            )

    def _aligned(
        self,
        labels: NDArray[np.int64],
        align_to: Any,
        fitted: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Return labels with the numbers of earlier ones, if there are any."""
        owner, ensemble = type(self).__name__, self._ensemble
        if align_to is not None:
            _validate.check_each_object(owner, len(self.labels_), ensemble.n_objects)
        return aligned(owner, labels, align_to, ensemble.index, fitted=fitted)

    def _as_given(self, labels: NDArray[np.int64]) -> Any:
        ensemble = self._ensemble
        return _validate.labels_like(labels, ensemble.kind, ensemble.index)
