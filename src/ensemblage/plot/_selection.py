"""Input of plots: a sample of the objects of a fitted method, and their similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


_FEW = 200  # most leaves in optimal order, which takes cubic time


def similarity_of(fitted: Any, rows: NDArray[np.integer[Any]]) -> tuple[FloatArray, str]:
    """Return the method's own similarity of some microclusters, and its name."""
    return fitted._similarity_between(rows), fitted._similarity_name()


def coassociation_of(fitted: Any, rows: NDArray[np.integer[Any]]) -> tuple[FloatArray, str]:
    """Return the share of clusterings, by weight, that put some microclusters together."""
    table = fitted.microclusters_.table[rows]
    weights, n_jobs = fitted.member_weight_, getattr(fitted, "n_jobs", None)
    return flow.coassociation(table, weights=weights, n_jobs=n_jobs), "co-association"


def label_of_microclusters(fitted: Any) -> NDArray[np.int64]:
    """Return a label for each microcluster: that of its first object."""
    _, first = np.unique(fitted.microclusters_.of_object, return_index=True)
    labels: NDArray[np.int64] = np.asarray(fitted.labels_)[first]
    return labels


def confidence_of_microclusters(fitted: Any) -> FloatArray:
    """Return the confidence of each microcluster's objects."""
    _, first = np.unique(fitted.microclusters_.of_object, return_index=True)
    confidence: FloatArray = fitted.confidence_[first]
    return confidence


def drawn(weights: NDArray[np.int64], at_most: int, seed: int = 0) -> NDArray[np.int64]:
    """Return a sample of positions, in proportion to their weights; all if they are few."""
    n = len(weights)
    if n <= at_most:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    # The largest u^(1/w): a draw without replacement in proportion to the weights.
    keys = np.log(rng.random(n)) / weights
    return np.sort(np.argpartition(-keys, at_most)[:at_most])


def like_beside_like(
    similarity: FloatArray, rows: NDArray[np.integer[Any]] | None = None
) -> NDArray[np.int64]:
    """Return an order in which similar rows are adjacent: the leaves of an average-link tree.

    With `rows`, the order of these rows of the matrix, which may repeat; equal ones stay together.
    """
    n_all = len(similarity)
    units, of_row = (
        (np.arange(n_all),) * 2 if rows is None else np.unique(rows, return_inverse=True)
    )
    rank = np.arange(len(units))
    distance = np.clip(1.0 - similarity[np.ix_(units, units)], 0.0, None)
    best = len(units) <= _FEW
    rank[flow.leaf_order((distance + distance.T) / 2, best=best)] = np.arange(len(units))
    return np.argsort(rank[of_row], kind="stable")


def two_axes(columns: FloatArray) -> FloatArray:
    """Return the first two principal components of rows, each oriented to its longer side."""
    centred = columns - columns.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    components = np.zeros((len(columns), 2))
    part = centred @ directions[:2].T
    components[:, : part.shape[1]] = part
    return components * np.where(np.abs(components.min(axis=0)) > components.max(axis=0), -1.0, 1.0)
