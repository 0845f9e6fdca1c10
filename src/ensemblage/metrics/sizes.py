"""Clusters numbered by their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._ensemble import grouped
from ensemblage._types import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


def by_size(labels: Any) -> Any:
    """Renumber labels by the size of clusters: 0 is the largest.

    Consensus methods number clusters in order of first appearance, so that equal partitions have
    equal labels. Use this for tables and plots in which the largest should come first.

    Parameters
    ----------
    labels : array-like of shape (n_objects,)
        Labels of any type; -1, NaN and None are missing.

    Returns
    -------
    ndarray or Series of shape (n_objects,)
        Integers from 0, and -1 for a missing label. Clusters of equal size keep the order in which
        they first appear. A Series keeps its index and its name.

    Examples
    --------
    >>> from ensemblage.metrics import by_size
    >>> by_size(["b", "a", "a", None, "a", "c"])
    array([ 1,  0,  0, -1,  0,  2])
    """
    array = _validate.as_array(labels)
    if array.ndim != 1:
        raise ValueError(
            f"Labels must be a single column, got an array of shape {array.shape}. Pass one"
            " clustering."
        )
    if len(array) == 0:
        return np.zeros(0, dtype=np.int64)
    groups, _ = grouped(_validate.check_votes(Columns(["labels"], [array])))
    codes = groups.table[:, 0].astype(np.int64)
    numbered = ranked_by_size(codes, groups.sizes)[groups.of_object]
    if hasattr(labels, "index") and hasattr(labels, "iloc"):  # a Series
        return type(labels)(numbered, index=labels.index, name=labels.name)
    return numbered


def ranked_by_size(
    labels: NDArray[np.int64], sizes: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return labels 0, 1, ... of groups of objects, the largest cluster first; -1 stays.

    Clusters of equal size keep the order in which they first appear.
    """
    has = labels >= 0
    known, first, place = np.unique(labels[has], return_index=True, return_inverse=True)
    objects = np.bincount(
        place, weights=None if sizes is None else sizes[has], minlength=len(known)
    )
    rank = np.empty(len(known), dtype=np.int64)
    rank[np.lexsort((first, -objects))] = np.arange(len(known))
    numbered = np.full(len(labels), -1, dtype=np.int64)
    numbered[has] = rank[place]
    return numbered
