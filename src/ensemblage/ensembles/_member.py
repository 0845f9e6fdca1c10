"""One base clustering: drawn, fitted, and able to label new objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.ensembles._estimators import fit_estimator, one_thread
from ensemblage.ensembles._view import View, count_distinct, draw_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray
    from ensemblage.ensembles._plan import Plan


@dataclass(frozen=True)
class Member:
    """A base clustering of an ensemble.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,)
        Labels from 0 in order of first appearance, -1 for a missing vote.
    method : str
        "kmeans", "kmeans++", "rpcl", or the class of an estimator.
    centres : ndarray of shape (n_clusters, n_dimensions) or None
        Centre of each cluster, in the features of this member; for the methods with a name.
    estimator : estimator or None
        The fitted estimator, if the method is one.

    Examples
    --------
    >>> import ensemblage as en
    >>> features = [[0.0], [0.1], [5.0], [5.1]]
    >>> model = en.EnsembleClustering(2, n_members=3, random_state=0).fit(features)
    >>> member = model.members_[0]
    >>> member.method, len(member.labels)
    ('kmeans', 4)
    """

    labels: IntArray
    method: str
    centres: FloatArray | None
    estimator: Any
    _view: View
    _names: NDArray[Any]  # the method's own labels of the clusters 0, 1, ...

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self._names)

    @property
    def needs_objects(self) -> bool:
        """Whether new objects are labelled by the nearest object of the fit."""
        return self.centres is None and not hasattr(self.estimator, "predict")

    def place(
        self, plan: Plan, features: NDArray[Any], *, n_jobs: int | None = None
    ) -> NDArray[np.int64]:
        """Return the cluster of objects, given their scaled features.

        The cluster of the nearest centre; or the prediction of the estimator; or, if it cannot
        predict, the label of the nearest object of this member.
        """
        seen = self._view.of(features)
        if self.centres is not None:
            # In the order of fit, so that ties go to the lowest centre again.
            order = np.argsort(self._names)
            return order[flow.nearest(seen, self.centres[order], n_jobs=n_jobs)]
        if not self.needs_objects:
            with one_thread():
                return _known(self.estimator.predict(seen.copy()), self._names)
        learnt = self._view.of_objects(plan.features).astype(np.float64, copy=False)
        labels = self.labels if self._view.rows is None else self.labels[self._view.rows]
        return labels[flow.nearest(seen, learnt, n_jobs=n_jobs)].astype(np.int64)


def fit_member(plan: Plan, index: int) -> Member:
    """Make member `index`: draw the number of clusters, its view, then the input of its method."""
    rng = plan.generator(index)
    low, high = plan.n_clusters_range
    n_clusters = int(rng.integers(low, high + 1))
    view = draw_view(plan, rng)
    rows = view.of_objects(plan.features)
    # Equal objects cannot be separated: there are at most as many clusters as distinct rows.
    n_clusters = count_distinct(rows, n_clusters)
    method = plan.methods[index % len(plan.methods)]
    centres = estimator = None
    if method == "kmeans":
        starts = rng.choice(len(rows), n_clusters, replace=False)
        centres, raw = flow.bounded_lloyd(rows, starts, max_iter=100)
    elif method == "kmeans++":
        starts = flow.spread_starts(rows, n_clusters, rng)
        centres, raw = flow.bounded_lloyd(rows, starts, max_iter=100)
    elif method == "rpcl":
        centres, raw = _rpcl(rows, n_clusters, rng)
    else:
        estimator, raw = fit_estimator(method, rows, n_clusters, rng)
    labels, names = _numbered(raw)
    if centres is not None:
        centres, method = centres[names], str(method)
    else:
        method = type(method).__name__
    if view.rows is not None:
        seen, labels = labels, np.full(len(plan.features), -1, dtype=labels.dtype)
        labels[view.rows] = seen
    return Member(labels, method, centres, estimator, view, names)


def _rpcl(
    rows: NDArray[Any], n_clusters: int, rng: np.random.Generator
) -> tuple[FloatArray, NDArray[np.int64]]:
    starts = rng.choice(len(rows), n_clusters, replace=False)
    rate = rng.uniform(0.01, 0.1)
    n_epochs = int(rng.integers(10, 21))
    return flow.rpcl(rows, starts, rng, rate=rate, n_epochs=n_epochs)


def _numbered(labels: NDArray[Any]) -> tuple[IntArray, NDArray[Any]]:
    """Return labels 0, 1, ... in order of appearance, and the original ones; -1 is missing."""
    voted = ~_is_missing(labels)
    values, first, inverse = np.unique(labels[voted], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(values), dtype=smallest_type(len(values)))
    rank[order] = np.arange(len(values))
    numbered = np.full(len(labels), -1, dtype=rank.dtype)
    numbered[voted] = rank[inverse]
    return numbered, values[order]


def _is_missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which labels are missing: -1, NaN, None."""
    if labels.dtype.kind in "iuf":
        return (labels == -1) | (labels != labels)  # NaN differs from itself
    if labels.dtype.kind != "O":
        return np.zeros(len(labels), dtype=bool)
    return np.array([one is None or one == -1 or one != one for one in labels])


def smallest_type(n_labels: int) -> Any:
    """Return the smallest signed type that holds labels below `n_labels`."""
    return np.min_scalar_type(-max(n_labels, 1))


def _known(labels: Any, names: NDArray[Any]) -> NDArray[np.int64]:
    """Return an estimator's labels as numbers; -1 for one that did not occur in fit."""
    labels = np.asarray(labels)
    codes = np.full(len(labels), -1, dtype=np.int64)
    for number, name in enumerate(names):
        codes[labels == name] = number
    return codes
