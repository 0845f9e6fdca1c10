"""An ensemble: checked votes with their microclusters."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage._types import Microclusters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray


class Ensemble:
    """Validated votes and their microclusters, computed once and accepted by every ``fit``.

    Parameters
    ----------
    X : array-like, DataFrame, Arrow table, dict or list, (n_objects, n_clusterings)
        One column of labels for each clustering: integers, strings, categoricals, floats with
        integer values. -1, NaN, None, null and pandas' NA are missing votes. The items of a list
        are columns if they are arrays of one dimension, Series or fitted clusterers, and rows if
        they are lists.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    microclusters : Microclusters
        The distinct rows of votes, their counts, and the row of each object.
    labels : list of ndarray or list
        ``labels[m][code]`` is the label of `code` in clustering m.
    n_objects, n_clusterings : int
        The shape of the label matrix.
    names : list of str or None
        Names of the clusterings, from a DataFrame.
    index : pandas.Index or None
        Names of the objects, from a DataFrame.
    kind : {"pandas", "polars", "arrow"} or None
        Library of the table X; labels are returned in the same type.

    Examples
    --------
    >>> import ensemblage as en
    >>> ensemble = en.Ensemble([["a", 1], ["a", 1], ["b", 1], ["b", None]])
    >>> ensemble
    Ensemble(n_objects=4, n_clusterings=2, n_microclusters=3)
    >>> ensemble.microclusters.table
    array([[ 0,  0],
           [ 1,  0],
           [ 1, -1]], dtype=int32)
    """

    #: Whether a fit has warned of columns of ids, so that it is not repeated.
    checked_for_ids = False
    _scatter: tuple[bytes | None, FloatArray] | None = None

    def __init__(self, X: Any, *, n_jobs: int | None = None) -> None:
        _validate.check_n_jobs("Ensemble", n_jobs)
        if isinstance(X, Ensemble):
            raise TypeError("X is already an Ensemble. Use it directly.")
        self._group(_validate.check_votes(X), n_jobs)

    def _group(self, votes: _validate.Votes, n_jobs: int | None) -> None:
        self.microclusters, self.labels = grouped(votes, n_jobs=n_jobs)
        _validate.check_turnout(self.microclusters.table, self.microclusters.of_object)
        self.names, self.index, self.kind = votes.names, votes.index, votes.kind
        self.n_objects, self.n_clusterings = votes.matrix.shape

    @classmethod
    def of_groups(
        cls,
        table: NDArray[np.int32],
        sizes: NDArray[np.int64],
        labels: list[Any],
        names: list[str] | None = None,
    ) -> Ensemble:
        """Return an ensemble of microclusters only, without single objects.

        Votes that were grouped elsewhere (from a stream, on other machines) have no array with an
        entry for each object. Here each microcluster represents its objects: it counts by its size,
        and ``labels_`` and ``confidence_`` of a fitted method have one value for each.

        Parameters
        ----------
        table : ndarray of shape (n_microclusters, n_clusterings), int32
            Different rows of codes by first appearance, -1 for a missing vote.
        sizes : ndarray of shape (n_microclusters,), int64
            Number of objects with these votes.
        labels : list of ndarray or list
            ``labels[m][code]`` is the label of `code` in clustering m.
        names : list of str, optional
            Names of the clusterings.

        Examples
        --------
        >>> import numpy as np
        >>> import ensemblage as en
        >>> table = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
        >>> groups = en.Ensemble.of_groups(table, np.array([2, 1, 1]), [[1, 2], [1, 2]])
        >>> groups
        Ensemble(n_objects=4, n_clusterings=2, n_microclusters=3)
        >>> en.EAC(n_clusters=2).fit_predict(groups)
        array([0, 0, 1])
        """
        return cls.of_checked_groups(*_validate.check_groups(table, sizes, labels, names))

    @classmethod
    def of_checked_groups(
        cls,
        table: NDArray[np.int32],
        sizes: NDArray[np.int64],
        labels: list[Any],
        names: list[str] | None = None,
    ) -> Ensemble:
        """Return the result of `of_groups` without its checks, for groups made internally."""
        ensemble = cls.__new__(cls)
        of_object = np.arange(len(sizes), dtype=np.int32)
        _validate.check_turnout(table, of_object)
        ensemble.microclusters = Microclusters(table, sizes, of_object)
        ensemble.labels, ensemble.names = labels, names
        ensemble.index = ensemble.kind = None
        ensemble.n_objects, ensemble.n_clusterings = int(sizes.sum()), table.shape[1]
        return ensemble

    def __repr__(self) -> str:
        return (
            f"Ensemble(n_objects={self.n_objects}, n_clusterings={self.n_clusterings},"
            f" n_microclusters={len(self.microclusters.sizes)})"
        )

    def cluster_entropies(
        self, weights: FloatArray | None = None, *, n_jobs: int | None = None
    ) -> FloatArray:
        """Return `flow.cluster_entropies`, kept for the next method with these weights."""
        key = None if weights is None else weights.tobytes()
        if self._scatter is None or self._scatter[0] != key:
            table, sizes, _ = self.microclusters
            self._scatter = key, flow.cluster_entropies(table, sizes, weights, n_jobs=n_jobs)
        return self._scatter[1]

    @cached_property
    def links(self) -> flow.Links:
        """The groups of microclusters that votes link."""
        return flow.links_of(self.microclusters.table)

    @cached_property
    def firm_links(self) -> flow.Links:
        """The groups of microclusters that more than stray votes link."""
        return flow.firm_links_of(*self.microclusters[:2], self.links)

    def without_votes_of(self, silent: NDArray[np.bool_]) -> Ensemble:
        """Return the ensemble without the votes of some clusterings."""
        table, sizes, of_object = self.microclusters
        fewer, _ = flow.microclusters(np.where(silent, np.int32(-1), table))
        ensemble = copy(self)
        for name in ("_scatter", "links", "firm_links"):
            vars(ensemble).pop(name, None)
        ensemble.microclusters = Microclusters(
            fewer.table,
            np.bincount(fewer.of_object, sizes).astype(np.int64),
            fewer.of_object[of_object],
        )
        # Codes count first appearances, and remaining rows appear in the same order.
        ensemble.labels = [
            [] if no_votes else labels for no_votes, labels in zip(silent, self.labels, strict=True)
        ]
        return ensemble

    def in_order_of(self, names: list[Any] | None) -> Ensemble:
        """Return the ensemble with its clusterings in the order of these names.

        If the names are not those of this ensemble it is returned unchanged.
        """
        places = _validate.places_of(names, self.names)
        if names is None or places is None:
            return self
        ensemble = copy(self)
        ensemble.microclusters = self.microclusters._replace(
            table=np.ascontiguousarray(self.microclusters.table[:, places])
        )
        ensemble.labels, ensemble.names = [self.labels[place] for place in places], list(names)
        return ensemble

    def check_ids(self) -> None:
        """Warn, once, of clusterings that look like ids, and of labels for missing votes."""
        if not self.checked_for_ids:
            self.checked_for_ids = True
            table, sizes, _ = self.microclusters
            n_votes = [self.n_objects] * table.shape[1]
            for m in np.flatnonzero(table.min(axis=0, initial=0) < 0):
                n_votes[m] = int(sizes[table[:, m] >= 0].sum())
            _validate.warn_of_labels(self.names, self.labels, n_votes)

    def translate(self, other: Ensemble) -> NDArray[np.int32]:
        """Return the votes of another ensemble's microclusters in this one's codes.

        A label that does not occur in this ensemble gets a code past its last one: a vote for an
        unknown cluster. Votes in clusterings without votes here are ignored.
        """
        table = other.microclusters.table.copy()
        for m, (known, new) in enumerate(zip(self.labels, other.labels, strict=True)):
            if len(known) == 0:
                table[:, m] = -1
                continue
            code_of = {label: code for code, label in enumerate(plain(known))}
            codes = [code_of.get(label, len(code_of)) for label in plain(new)]
            table[:, m] = np.array([*codes, -1], dtype=np.int32)[table[:, m]]
        return table

    def differ_in_kind(self, other: Ensemble, places: list[int]) -> bool:
        """Tell whether the labels of both are of different types: numbers, strings, others."""
        return not any(_kinds(self.labels[m]) & _kinds(other.labels[m]) for m in places)


def grouped(
    votes: _validate.Votes, *, n_jobs: int | None = None
) -> tuple[Microclusters, list[Any]]:
    """Return the microclusters of checked votes, and the label of each code by clustering."""
    try:
        groups, numbers = flow.microclusters(votes.matrix, n_jobs=n_jobs)
    except OverflowError:
        votes = _validate.recode(votes)
        groups, numbers = flow.microclusters(votes.matrix, n_jobs=n_jobs)
    labels = [
        found if labels is None else [labels[number] for number in found]
        for found, labels in zip(numbers, votes.labels, strict=True)
    ]
    return groups, labels


def _kinds(labels: Any) -> set[Any]:
    """Return the types of labels; all numbers are one type, so 1, 1.0 and True are equal."""
    return {Real if isinstance(label, Real) else type(label) for label in plain(labels)}


def plain(labels: Any) -> list[Any]:
    """Return the labels of a clustering as Python values."""
    return labels.tolist() if isinstance(labels, np.ndarray) else labels


def as_ensemble(X: Any, *, n_jobs: int | None = None, new: bool = False) -> Ensemble:
    """Return X if it is an ensemble already, else the ensemble of these votes.

    `new` votes are for a model fitted on others, as in `check_votes`.
    """
    if isinstance(X, Ensemble):
        return X
    ensemble = Ensemble.__new__(Ensemble)
    ensemble._group(_validate.check_votes(X, new=new), n_jobs)
    return ensemble


def ensemble_of_members(votes: IntArray, *, n_jobs: int | None = None) -> Ensemble:
    """Return the ensemble of generated clusterings, without checks for ids."""
    ensemble = as_ensemble(votes, n_jobs=n_jobs, new=True)
    ensemble.checked_for_ids = True
    return ensemble


def microclusters(X: Any, *, n_jobs: int | None = None) -> Microclusters:
    """Return the microclusters of a label matrix: groups of objects with identical votes.

    Parameters
    ----------
    X : array-like, DataFrame, Arrow table, dict or Ensemble, (n_objects, n_clusterings)
        Votes, as for `Ensemble`.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Returns
    -------
    Microclusters
        ``table`` (votes as codes by first appearance), ``sizes`` and ``of_object``.

    Notes
    -----
    Rows are packed into 64-bit words and hashed: exact, O(N·M) time, 4 bytes an object.

    Examples
    --------
    >>> import ensemblage as en
    >>> groups = en.microclusters([[1, 1], [1, 1], [1, 2], [2, 2]])
    >>> groups.table
    array([[0, 0],
           [0, 1],
           [1, 1]], dtype=int32)
    >>> groups.sizes
    array([2, 1, 1])
    >>> groups.of_object
    array([0, 0, 1, 2], dtype=int32)
    """
    _validate.check_n_jobs("microclusters", n_jobs)
    return as_ensemble(X, n_jobs=n_jobs).microclusters


def trajectory_similarity(
    X: Any, n_neighbors: int | str = 5, n_steps: int | str = 5, *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Return the probability-trajectory similarity (PTS) of every pair of microclusters.

    Parameters
    ----------
    X : array-like, DataFrame, Arrow table, dict or Ensemble, (n_objects, n_clusterings)
        Votes, as for `Ensemble`.
    n_neighbors : int, "auto" or "all", default=5
        Elite neighbours of each microcluster, the paper's K.
    n_steps : int or "auto", default=5
        Steps of the random walk, the paper's T.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Returns
    -------
    ndarray of shape (n_microclusters, n_microclusters)
        Cosines of trajectories, in the row order of ``microclusters(X).table``. A microcluster
        without links is similar only to itself.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[1, 1], [1, 1], [1, 1], [1, 2], [2, 2], [2, 2], [2, 3], [2, 3]]
    >>> en.trajectory_similarity(votes, n_neighbors=1, n_steps=1).round(3)
    array([[1.   , 0.   , 0.447, 0.   ],
           [0.   , 1.   , 0.   , 0.555],
           [0.447, 0.   , 1.   , 0.   ],
           [0.   , 0.555, 0.   , 1.   ]])
    """
    owner = "trajectory_similarity"
    groups = microclusters(X, n_jobs=_validate.check_n_jobs(owner, n_jobs))
    n = len(groups.sizes)
    _validate.check_reach(owner, "n_neighbors", n_neighbors, words=("auto", "all"))
    _validate.check_reach(owner, "n_steps", n_steps)
    n_neighbors, n_steps = flow.reach(n_neighbors, n), flow.reach(n_steps, n)
    n_links = flow.expected_links(groups.table, n_neighbors)
    _validate.check_memory(
        8 * n * n + 72 * n_links,
        f"The similarity of {n} microclusters with about {n_links} links",
        "PTGP does not need that matrix.",
    )
    graph = flow.elite_graph(groups.table, n_neighbors, n_jobs=n_jobs)
    walk = flow.transition_matrix(graph, groups.sizes)
    return flow.trajectory_similarity(walk, n_steps, n_jobs=n_jobs)
