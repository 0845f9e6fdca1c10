"""Clusterers of scikit-learn, and compatible ones, as base clusterers."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from ensemblage.flow import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit an estimator to one thread, in this thread.

    Members run in parallel, and sums by several threads differ in the last digit. OpenMP keeps a
    limit for each thread, BLAS one for the process.
    """
    with one_blas_thread, threadpool_limits(limits=1, user_api="openmp"):
        yield


def fit_estimator(
    method: Any, rows: NDArray[Any], n_clusters: int, rng: np.random.Generator
) -> tuple[Any, NDArray[Any]]:
    """Return a fitted clone of an estimator, and its labels.

    It gets its own copy of the rows: some estimators work in place, and fail if they cannot
    (``copy=False``).
    """
    estimator = clone(method)
    estimator.set_params(**_own_params(estimator, n_clusters, rng))
    with one_thread():
        if hasattr(estimator, "fit_predict"):
            labels = estimator.fit_predict(rows.copy())
        else:
            estimator.fit(rows.copy())
            labels = getattr(estimator, "labels_", None)
            if labels is None and hasattr(estimator, "predict"):
                labels = estimator.predict(rows.copy())
    if labels is None:
        raise ValueError(
            f"{type(method).__name__} is not a clusterer that an ensemble can use: it has neither"
            f" fit_predict nor predict, nor labels_ after fit."
        )
    labels = np.asarray(labels)
    if labels.shape != (len(rows),):
        raise ValueError(
            f"{type(method).__name__} is not a clusterer that an ensemble can use: it returned"
            f" labels of shape {labels.shape} for {len(rows)} objects."
        )
    return estimator, labels


def _own_params(estimator: Any, n_clusters: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the parameters that differ between members.

    `random_state` wherever it occurs, also inside; the number of clusters, unless it is None, which
    means that a clusterer finds the number itself.
    """
    params = estimator.get_params(deep=True)
    own: dict[str, Any] = {
        name: int(rng.integers(2**31))
        for name in sorted(params)
        if name.rpartition("__")[2] == "random_state"
    }
    # In a pipeline only the last step clusters: others may also have numbers of clusters.
    inside = f"{estimator.steps[-1][0]}__" if hasattr(estimator, "steps") else ""
    counts = [name for name in params if name.startswith(inside) and _counts_clusters(name, params)]
    if counts:
        outermost = min(counts, key=lambda name: name.count("__"))
        if params[outermost] is not None:
            own[outermost] = n_clusters
    return own


def _counts_clusters(name: str, params: dict[str, Any]) -> bool:
    owner, _, last = name.rpartition("__")
    if last == "n_components":  # number of clusters of a mixture, but not of a PCA
        siblings = {other.rpartition("__")[2] for other in params if other.startswith(owner)}
        return "covariance_type" in siblings
    return last == "n_clusters"
