"""EnsembleClustering: features in, consensus labels out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ensemblage import _validate
from ensemblage.ensembles._checks import attainable
from ensemblage.ensembles._coarse import make_members, placed_by, votes_of, warn_if_nested
from ensemblage.ensembles._consensus import find_consensus, form_doubted
from ensemblage.ensembles._judged import judged
from ensemblage.ensembles._missed import without_missed_groups
from ensemblage.ensembles._parameters import check_consensus, check_enough_objects
from ensemblage.ensembles._plan import make_plan
from ensemblage.ensembles._saved import state_of_clustering
from ensemblage.methods.archive import write_archive
from ensemblage.methods.fresh import fresh
from ensemblage.methods.saving import preamble
from ensemblage.metrics.aligning import aligned

if TYPE_CHECKING:
    from os import PathLike
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray
    from ensemblage.ensembles._member import Member
    from ensemblage.metrics import KChoice


class EnsembleClustering(ClusterMixin, BaseEstimator):
    """Cluster features many times, and return the consensus.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`. Unless the
        evidence is strong, members of noise are made as well (methods with a name only). With equal
        support it is the number of groups of 5 objects or more that no member links, if noise has
        fewer; else moderate evidence becomes weak, and weak evidence one cluster and a warning.
    consensus : estimator or None, default=None
        A consensus method of this library, such as ``PTA()``; None is `Consensus`. It is cloned and
        gets `n_clusters`, and `random_state` and `n_jobs` if its own are None.
    n_members : int, default=20
        Number of base clusterings.
    method : "kmeans", "kmeans++", "rpcl", clusterer, or list of these, default="kmeans"
        Base clusterer, as in `ensemblage.ensembles.generate`. "kmeans" is replaced by "kmeans++" if
        its clusters miss compact groups (see Notes).
    n_clusters_range : (int, int) or None, default=None
        Smallest and largest number of clusters of a member. None is from ``2 * n_clusters`` to
        ``4 * n_clusters``, or to ``min(50, ceil(sqrt(n_objects) / 2))`` if that is more; fewer if
        clusters would have less than two objects. Members are finer than the consensus, which can
        join the clusters of a member but not split them. If members do not link the groups to join,
        one more member of `n_clusters` is made. With "auto" it is from 2 to that limit.
    scale : None, "minmax" or "standard", default=None
        Scale each feature to [0, 1], or to mean 0 and variance 1. Without it, features whose scales
        differ by more than a factor of 100 raise an `UnscaledFeaturesWarning`.
    subspace, projection, subsample : float, int or None, default=None
        Features and objects of each member, as in `ensemblage.ensembles.generate`. An object in
        none of the subsamples gets the votes that members predict for it.
    random_state : int, Generator, RandomState or None, default=None
        Equal integers give equal labels.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found; a warning is raised if it is lower than requested.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        Confidence in each object's label, in [0, 1].
    votes_ : ndarray of shape (n_objects, n_members or n_members + 1)
        Labels of the members, -1 for a missing vote.
    members_ : list of Member
        The base clusterings, with their centres or estimators.
    consensus_ : estimator
        The consensus method, fitted to `votes_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, from a DataFrame.

    See Also
    --------
    ensemblage.ensembles.generate : the base clusterings alone.

    Notes
    -----
    `predict` passes new objects to every member: to the nearest centre, or to the estimator's own
    `predict`, or to the nearest object of the fit; then the consensus method labels these votes.
    Objects of the fit get their own labels, unless `subsample` left out some of their votes or
    predictions of a base clusterer differ.

    With ``method="kmeans"`` the clusters of a sample are compared with those of k-means++. If they
    are more than twice as wide, the members missed compact groups, and "kmeans++" makes new ones.

    Examples
    --------
    >>> import ensemblage as en
    >>> from sklearn.datasets import make_blobs
    >>> features, _ = make_blobs(90, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> model = en.EnsembleClustering(n_clusters=3, random_state=0).fit(features)
    >>> model.votes_.shape
    (90, 20)
    >>> sorted(int(size) for size in np.bincount(model.labels_))
    [30, 30, 30]
    >>> bool((model.predict(features) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        consensus: Any = None,
        n_members: int = 20,
        method: Any = "kmeans",
        n_clusters_range: tuple[int, int] | None = None,
        scale: str | None = None,
        subspace: float | None = None,
        projection: float | None = None,
        subsample: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.consensus = consensus
        self.n_members = n_members
        self.method = method
        self.n_clusters_range = n_clusters_range
        self.scale = scale
        self.subspace = subspace
        self.projection = projection
        self.subsample = subsample
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Make the members and compute their consensus.

        Parameters
        ----------
        X : array-like, DataFrame or Arrow table of shape (n_objects, n_features)
            Finite numbers.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        with fresh(self):
            self._fit(X)
        return self

    def _fit(self, X: Any) -> None:
        owner = type(self).__name__
        n_clusters = _validate.check_n_clusters_or_auto(owner, self.n_clusters)
        n_members = _validate.check_whole(owner, "n_members", self.n_members, 1)
        _validate.check_n_jobs(owner, self.n_jobs)
        consensus = check_consensus(owner, self.consensus)
        seed = _validate.check_random_state(owner, self.random_state)
        features = _validate.check_named_features(X)
        validate_data(self, X=X, reset=True, skip_check_array=True)
        n = len(features.matrix)
        check_enough_objects(owner, n_clusters or 1, n)
        _validate.check_memory(n * n_members, f"Votes of {n_members} members", "Use fewer members.")
        self._index, self._kind = features.index, features.kind
        self._plan = make_plan(
            owner,
            features.matrix,
            method=self.method,
            n_clusters_range=self.n_clusters_range,
            scale=self.scale,
            subspace=self.subspace,
            projection=self.projection,
            subsample=self.subsample,
            seed=seed,
            n_clusters=n_clusters,
            names=features.names,
        )
        k = attainable(owner, self._plan.features, n_clusters)
        with _validate.held_warnings() as held:
            self._find(consensus, n_members, k, seed)
        plan = without_missed_groups(self._plan, self.consensus_, seed, is_chosen=k is None)
        if plan is None:
            for message, category in held:
                _validate.warn(message, category)
        else:
            self._plan = plan
            self._find(consensus, n_members, k, seed)
        if not any(member.needs_objects for member in self.members_):
            nothing = np.empty((0, self.n_features_in_), dtype=self._plan.features.dtype)
            self._plan = replace(self._plan, features=nothing)  # keep them out of pickles
        elif self._plan.scaling is None:  # the user may change this array
            self._plan = replace(self._plan, features=self._plan.features.copy())
        self.labels_: NDArray[np.int64] = self.consensus_.labels_
        self.n_clusters_: int = self.consensus_.n_clusters_

    def _find(self, consensus: Any, n_members: int, k: int | None, seed: int) -> None:
        """Make the members of the plan, and their consensus."""
        owner, known = type(self).__name__, k if self.n_clusters_range is None else None
        self.members_: list[Member] = make_members(self._plan, n_members, self.n_jobs, known)
        if k is None:
            warn_if_nested(owner, self.members_)
        self.votes_ = votes_of(owner, self.members_, self._plan, self.n_jobs)
        self.consensus_ = find_consensus(consensus, self.votes_, k or "auto", seed, self.n_jobs)
        self._choice: KChoice | None = judged(self.consensus_, self._plan, n_members, seed)
        form_doubted(owner, self.consensus_, self._choice)

    def fit_predict(self, X: Any, y: Any = None, *, align_to: Any = None) -> Any:
        """Fit, and return the consensus labels in the column type of X.

        Parameters
        ----------
        X : array-like, DataFrame or Arrow table of shape (n_objects, n_features)
            Finite numbers.
        y : None
            Ignored.
        align_to : array-like of shape (n_objects,), optional
            Earlier labels of the objects, integers. Clusters that share most of their objects with
            an earlier one keep its number and new clusters get new numbers, as in
            :func:`ensemblage.metrics.align`. A Series is matched by the index of X. `labels_` keeps
            its own numbers.

        Returns
        -------
        ndarray, Series or Arrow array of shape (n_objects,)
        """
        return self._as_given(self.fit(X, y).labels_.copy(), align_to)

    def predict(self, X: Any, *, return_confidence: bool = False, align_to: Any = None) -> Any:
        """Return the consensus label of new objects, from the predictions of the members.

        Parameters
        ----------
        X : array-like, DataFrame or Arrow table of shape (n_objects, n_features)
            The same features as in fit. Named columns may be in any order.
        return_confidence : bool, default=False
            Also return the confidence of each label, as defined by `confidence_`.
        align_to : array-like, optional
            Earlier labels of the objects of the fit; clusters keep their numbers, as in
            `fit_predict`.

        Returns
        -------
        labels : ndarray, Series or Arrow array of shape (n_objects,)
        confidence : ndarray of shape (n_objects,)
            Only with `return_confidence`.
        """
        check_is_fitted(self, "labels_")
        features = self._check_new(X)
        labels, sure = self.consensus_.predict(
            self._placed(features.matrix), return_confidence=True
        )
        owner = type(self).__name__
        labels = aligned(owner, labels, align_to, self._index, fitted=self.labels_)
        placed = _validate.labels_like(labels, features.kind, features.index)
        return (placed, sure) if return_confidence else placed

    def cut(self, n_clusters: int, *, align_to: Any = None) -> Any:
        """Return the labels at another number of clusters, from the same members.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        align_to : array-like of shape (n_objects,), optional
            Earlier labels of the objects; clusters keep their numbers, as in `fit_predict`.

        Returns
        -------
        ndarray, Series or Arrow array of shape (n_objects,)
        """
        check_is_fitted(self, "labels_")
        return self._as_given(self.consensus_.cut(n_clusters), align_to)

    @property
    def confidence_(self) -> FloatArray:
        """Confidence in each object's label, in [0, 1]."""
        check_is_fitted(self, "labels_")
        confidence: FloatArray = self.consensus_.confidence_
        return confidence

    @property
    def k_choice_(self) -> KChoice:
        """The chosen number of clusters and the reasons; only with ``n_clusters="auto"``."""
        check_is_fitted(self, "labels_")
        if self._choice is not None:
            return self._choice
        if not hasattr(self.consensus_, "k_choice_"):
            raise AttributeError(
                f"{type(self).__name__} has a k_choice_ only with n_clusters='auto', got"
                f" n_clusters={self.n_clusters!r}."
            )
        choice: KChoice = self.consensus_.k_choice_
        return choice

    def save(self, path: str | PathLike[str], *, objects: bool = True) -> None:
        """Save members and consensus to a file that `ensemblage.load` reads, without pickling.

        Parameters
        ----------
        path : str or path-like
            The file, usually ``*.ensemblage``. It is replaced only when the new one is complete.
        objects : bool, default=True
            Keep the votes and the microcluster of every object. Without them the loaded clusterer
            predicts the same, but has no ``votes_``, and ``labels_`` has one value for each
            microcluster.

        Notes
        -----
        Members of methods with a name are saved as their centres. Other estimators raise an error.
        """
        header, arrays = state_of_clustering(self, objects=objects)
        write_archive(path, preamble() | header, arrays)

    # -- private --------------------------------------------------------------------------------

    def _as_given(self, labels: NDArray[np.int64], align_to: Any) -> Any:
        labels = aligned(type(self).__name__, labels, align_to, self._index)
        return _validate.labels_like(labels, self._kind, self._index)

    def _check_new(self, X: Any) -> _validate.Features:
        """Return new features in the order of those of the fit."""
        names = getattr(self, "feature_names_in_", np.empty(0)).tolist()
        features = _validate.in_order_of(_validate.check_named_features(X), names)
        if not names or features.names != names:
            validate_data(self, X=X, reset=False, skip_check_array=True)
        return features

    def _votes_on(self, X: Any) -> IntArray:
        """Return the votes of the members on new objects."""
        return self._placed(self._check_new(X).matrix)

    def _placed(self, matrix: NDArray[Any]) -> IntArray:
        scaling = self._plan.scaling
        matrix = matrix if scaling is None else scaling.apply(matrix)
        return placed_by(self.members_, self._plan, matrix, self.n_jobs)
