"""Base class of all consensus estimators: votes in, labels for any number of clusters out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ensemblage import _validate, flow
from ensemblage._ensemble import Ensemble, as_ensemble
from ensemblage._messages import Message, Parameter
from ensemblage.flow import one_blas_thread
from ensemblage.methods._chance import warn_of_chance
from ensemblage.methods._checks import check_columns, check_takes_weight
from ensemblage.methods._choosing import cuts_of
from ensemblage.methods._fitted import Fitted
from ensemblage.methods._numbering import by_first_appearance, most_frequent
from ensemblage.methods._reliability import warn_if_unreliable
from ensemblage.methods._savable import Savable
from ensemblage.methods.fresh import fresh
from ensemblage.metrics.choosing import Cuts, choose
from ensemblage.metrics.sizes import ranked_by_size

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray


class ConsensusClusterer(Fitted, Savable, ClusterMixin, BaseEstimator, ABC):
    """Base class. Subclasses define how to fit and how to cut.

    `_fit` of a method reads: `_begin`, the stages of its paper, `_finish`.
    """

    n_clusters: int | str
    _unit_of_object: NDArray[np.int32]
    #: The number of clusters; None until one is chosen.
    _asked: int | None
    #: Whether the method accepts weights of clusterings.
    _takes_member_weight: ClassVar[bool] = False
    #: Why a method may return fewer clusters than requested.
    _why_fewer: ClassVar[str] = "the votes do not support more"
    #: Why the result may be worse than that of the default method; None if it is not compared.
    _why_unreliable: ClassVar[str | None] = None
    #: Whether the method itself defines how to join groups that no vote links.
    _joins_groups: ClassVar[bool] = False
    #: Whether to warn if the votes do not determine the clusters.
    _warns_of_chance = True
    #: Whether such groups are joined by a fixed rule; otherwise arbitrarily, which
    #: resampling cannot reproduce.
    _by_rule = True
    #: Whether this is the start of another method, on a part of its clusterings.
    _sees_a_part = False

    @abstractmethod
    def _fit(self, X: Any, member_weight: Any) -> Self:
        """Check the parameters, compute the consensus of the votes X, return the estimator."""

    @abstractmethod
    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return labels from 0 at `n_clusters`, of microclusters or of the units of `_finish`."""

    # -- public methods ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, member_weight: Any = None) -> Self:  # noqa: ARG002
        """Compute the consensus of the votes X.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow table, dict, list or Ensemble, (n_objects, n_clusterings)
            One column of labels for each clustering; -1, NaN, None and null are missing votes. The
            items of a list are columns where they are arrays of one dimension, Series or fitted
            clusterers, and rows where they are lists.
        y : None
            Ignored.
        member_weight : array-like of shape (n_clusterings,), dict or Series, optional
            Weight of each clustering, at least 0: 2 counts it twice, 0 ignores it. A dict, or a
            Series with its own index, is matched by the names of the clusterings. Methods without
            support for weights raise an error.

        Returns
        -------
        self
            The fitted estimator.
        """
        with fresh(self):
            check_takes_weight(type(self), member_weight)
            self._fit(X, member_weight)
            if self._why_unreliable is not None:
                warn_if_unreliable(self, type(self).__name__)
        return self

    def fit_predict(
        self, X: Any, y: Any = None, *, member_weight: Any = None, align_to: Any = None
    ) -> Any:
        """Fit, and return the consensus labels in the column type of X.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow table or Ensemble of shape (n_objects, n_clusterings)
            Votes.
        y : None
            Ignored.
        member_weight : array-like of shape (n_clusterings,), dict or Series, optional
            Weight of each clustering, as for `fit`.
        align_to : array-like of shape (n_objects,), optional
            Earlier labels of the objects, integers. Clusters that share most of their objects with
            an earlier one keep its number and new clusters get new numbers, as in
            :func:`ensemblage.metrics.align`. A Series is matched by the index of X. `labels_` keeps
            its own numbers.

        Returns
        -------
        ndarray, Series or Arrow array of shape (n_objects,)
        """
        labels = self.fit(X, y, member_weight=member_weight).labels_.copy()
        return self._as_given(self._aligned(labels, align_to))

    def cut(self, n_clusters: int, *, align_to: Any = None) -> Any:
        """Return the labels at another number of clusters without refitting.

        Parameters
        ----------
        n_clusters : int
            At most `n_microclusters_`.
        align_to : array-like of shape (n_objects,), optional
            Earlier labels of the objects; clusters keep their numbers, as in `fit_predict`.

        Returns
        -------
        ndarray, Series or Arrow array of shape (n_objects,)
            The labels that ``fit_predict`` with that `n_clusters` would return.
        """
        check_is_fitted(self, "labels_")
        owner = type(self).__name__
        k = _validate.check_n_clusters(owner, n_clusters)
        _validate.check_enough_groups(owner, k, self.n_microclusters_)
        with one_blas_thread:
            labels = by_first_appearance(self._cut_or_join(k))
        self._warn_if_fewer(labels, k)
        warn_of_chance(self, k)
        labels = flow.spread(labels, self._unit_of_object)
        return self._as_given(self._aligned(labels, align_to))

    def __sklearn_tags__(self) -> Any:
        """Declare that X holds labels of any type, possibly missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    # -- for subclasses -------------------------------------------------------------------------

    def _begin(self, X: Any, member_weight: Any) -> Ensemble:
        """Check the input, and set the attributes common to all fits."""
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
        """Cut at `n_clusters`, or at the chosen k, and label every object.

        `unit_of_object` maps each object to a label of `_cut`, if that is not the label of its
        microcluster. `predict` then represents a microcluster by the most frequent label of its
        objects.
        """
        of_object = self.microclusters_.of_object
        self._unit_of_object = of_object if unit_of_object is None else unit_of_object
        k = self._asked = self._wanted_k()
        self._warn_if_no_structure()
        with one_blas_thread:
            labels = by_first_appearance(self._cut_or_join(k))
        self.labels_ = flow.spread(labels, self._unit_of_object)
        self.n_clusters_ = int(labels.max()) + 1
        self._micro_labels = (
            labels if unit_of_object is None else most_frequent(self.labels_, of_object)
        )
        self._confidence = None
        self._warn_if_fewer(labels, k)
        warn_of_chance(self, k)
        return self

    def _with_seed(self, seed: int) -> Self | None:
        """Return a copy that cuts with another seed; None if cuts are deterministic."""
        if not hasattr(self, "_seed"):
            return None
        other = copy(self)
        other._seed = seed
        return other

    def _number_by_size(self) -> Self:
        """Renumber the clusters by size, the largest 0; `cut` does not."""
        sizes = self.microclusters_.sizes
        weights = sizes if len(self.labels_) == len(sizes) else None
        new = np.empty(self.n_clusters_, dtype=np.int64)
        new[self.labels_] = ranked_by_size(self.labels_, weights)
        self.labels_, self._micro_labels = new[self.labels_], new[self._micro_labels]
        self._by_size = True
        return self

    # -- private --------------------------------------------------------------------------------

    def _cuts_a_tree(self) -> bool:
        """Tell whether cutting with these parameters needs a `linkage_matrix_`."""
        return False

    def _has_rule_for_groups(self) -> bool:
        """Tell whether the method itself defines how to join groups that no vote links."""
        return self._joins_groups or not self._by_rule

    def _why_no_tree(self) -> str:
        """Return why a method has no `linkage_matrix_`."""
        return "it does not merge step by step"

    def _wanted_k(self) -> int:
        """Return `n_clusters`; if it is "auto", choose it and keep the reasons."""
        if self._asked is not None:
            return self._asked
        self.k_choice_ = choose(self._cuts())
        return self.k_choice_.k

    def _warn_if_no_structure(self) -> None:
        choice = vars(self).get("k_choice_")
        if choice is not None and choice.k == 1 and self.n_microclusters_ > 1:
            message = Message(
                "{owner} formed a single cluster. {reason} Pass {k} to form more.",
                owner=type(self).__name__,
                reason=choice.reasons[0],
                k=Parameter("n_clusters"),
            )
            _validate.warn(message, _validate.NoStructureWarning)

    def _cuts(self) -> Cuts:
        """Return the input of `ensemblage.metrics.choose_k`."""
        return cuts_of(self)

    def _cut_microclusters(self, n_clusters: int) -> NDArray[np.int64]:
        """Return a label of each microcluster: the most frequent one if objects are cut."""
        labels = by_first_appearance(self._cut_or_join(n_clusters))
        of_object = self.microclusters_.of_object
        if self._unit_of_object is of_object:
            return labels
        return by_first_appearance(
            most_frequent(flow.spread(labels, self._unit_of_object), of_object)
        )

    def _cut_or_join(self, n_clusters: int) -> NDArray[np.int64]:
        """Cut, or join unlinked groups by a fixed rule if the cut would join them arbitrarily."""
        if self._has_rule_for_groups() or not self._leaves_to_chance(n_clusters):
            return self._cut(n_clusters)
        return self._joined(n_clusters)

    def _joined(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the largest groups that votes link as clusters; all others form the last one."""
        links = self._ensemble.links
        labels = flow.join_smallest(links, self._groups_in_order(), n_clusters)
        of_object = self.microclusters_.of_object
        return labels if self._unit_of_object is of_object else labels[of_object]

    def _leaves_to_chance(self, n_clusters: int) -> bool:
        """Tell whether votes link the objects into more groups than there will be clusters."""
        if n_clusters == 1 or self._from_similarity:
            return False
        return n_clusters < self._ensemble.links.n_groups

    def _is_tied(self, n_clusters: int) -> bool:  # noqa: ARG002
        """Tell whether other clusters are as good because parts are equally similar."""
        return False

    def _groups_in_order(self) -> NDArray[np.int64]:
        table, sizes, _ = self.microclusters_
        return flow.groups_in_order(self._ensemble.links, sizes, flow.structure(table, sizes))

    def _warn_if_fewer(self, labels: NDArray[np.int64], n_clusters: int) -> None:
        n_found = int(labels.max()) + 1
        if n_found < n_clusters:
            _validate.warn(
                f"{type(self).__name__} found {n_found} of the {n_clusters} requested clusters:"
                f" {self._why_fewer}.",
                _validate.FewerClustersWarning,
            )
