"""Clusterers of scikit-learn, and others of their shape, as base clusterers."""

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
    """Let an estimator use one thread, in this thread.

    Members run side by side, and sums by several threads differ in the last digit. OpenMP keeps a
    limit for each thread, BLAS one for the process.
    """
    with one_blas_thread, threadpool_limits(limits=1, user_api="openmp"):
        yield


def fit_estimator(
    method: Any, rows: NDArray[Any], n_clusters: int, rng: np.random.Generator
) -> tuple[Any, NDArray[Any]]:
    """Return a fitted clone of an estimator, and its labels.

    It gets rows of its own: some work in place, and fail where they cannot (``copy=False``).
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
            f"{type(method).__name__} is no clusterer that an ensemble can use: it has neither"
            f" fit_predict nor predict, nor labels_ after fit."
        )
    labels = np.asarray(labels)
    if labels.shape != (len(rows),):
        raise ValueError(
            f"{type(method).__name__} gave labels of shape {labels.shape} for {len(rows)} objects:"
            f" it is no clusterer that an ensemble can use."
        )
    return estimator, labels


def _own_params(estimator: Any, n_clusters: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the parameters that differ from member to member.

    `random_state` wherever it occurs, also inside; the number of clusters, unless it is None, by
    which a clusterer says that it finds the number itself.
    """
    params = estimator.get_params(deep=True)
    own: dict[str, Any] = {
        name: int(rng.integers(2**31))
        for name in sorted(params)
        if name.rpartition("__")[2] == "random_state"
    }
    # What clusters in a pipeline is its last step: others may have numbers of clusters, too.
    inside = f"{estimator.steps[-1][0]}__" if hasattr(estimator, "steps") else ""
    counts = [name for name in params if name.startswith(inside) and _counts_clusters(name, params)]
    if counts:
        outermost = min(counts, key=lambda name: name.count("__"))
        if params[outermost] is not None:
            own[outermost] = n_clusters
    return own


def _counts_clusters(name: str, params: dict[str, Any]) -> bool:
    owner, _, last = name.rpartition("__")
    if last == "n_components":  # of a mixture it does, of a PCA it does not
        siblings = {other.rpartition("__")[2] for other in params if other.startswith(owner)}
        return "covariance_type" in siblings
    return last == "n_clusters"
