"""Element-centric similarity: the similarity of clusterings around each object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage.metrics.agreement import beside_votes, joint

if TYPE_CHECKING:
    from ensemblage._types import FloatArray


def ecs(a: Any, b: Any, *, per_object: bool = False) -> Any:
    """Return the element-centric similarity of two clusterings.

    Parameters
    ----------
    a, b : array-like of shape (n_objects,)
        Labels of any type. Objects without a label in either (-1, NaN, None) are left out. Two
        pandas Series of the same objects are matched by index, anything else by position.
    per_object : bool, default=False
        Return the similarity around each object instead of its mean.

    Returns
    -------
    float or ndarray of shape (n_objects,)
        0 to 1; 1 for equal partitions. NaN for an object without a label in either. Objects are in
        the order of `a`.

    Notes
    -----
    The similarity around object i is o / max(a, b): a and b are the sizes of its two clusters and o
    is the size of their overlap. The published definition compares personalised PageRank of two
    graphs; for partitions it is this number, for any restart probability. O(N) time.

    References
    ----------
    A. J. Gates, I. B. Wood, W. P. Hetrick, Y.-Y. Ahn, "Element-centric clustering comparison
    unifies overlaps and hierarchy", Scientific Reports 9, 2019, 8574.

    Examples
    --------
    >>> from ensemblage.metrics import ecs
    >>> ecs([0, 0, 0, 1], [0, 0, 1, 1])
    0.5416666666666666
    >>> ecs([0, 0, 0, 1], [0, 0, 1, 1], per_object=True).round(3)
    array([0.667, 0.667, 0.333, 0.5  ])
    """
    (table, sizes, of_object), _ = joint(a, b)
    both = (table >= 0).all(axis=1)
    if not both.any():
        raise ValueError("No object has a label in both clusterings, so they cannot be compared.")
    in_a, in_b, shared = *table[both].T, sizes[both]
    larger = np.maximum(np.bincount(in_a, shared)[in_a], np.bincount(in_b, shared)[in_b])
    if not per_object:
        return float(shared @ (shared / larger) / shared.sum())
    around = np.full(len(sizes), np.nan)
    around[both] = shared / larger
    return around[of_object]


def consistency(X: Any, labels: Any = None, *, n_jobs: int | None = None) -> FloatArray:
    """Return how consistently the clusterings of an ensemble treat each object.

    The mean element-centric similarity around the object, over all pairs of clusterings; with
    `labels`, of these with each clustering.

    Parameters
    ----------
    X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
        Votes.
    labels : array-like of shape (n_objects,), optional
        A clustering to compare with each member, usually a consensus. It costs less: O(n·M). A
        Series of the same objects as X is matched by index.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Returns
    -------
    ndarray of shape (n_objects,)
        0 to 1. A pair of clusterings counts for the objects with a vote in both; an object without
        such a pair is NaN.

    See Also
    --------
    ecs : of two clusterings.

    Notes
    -----
    Element-wise consistency (ECC) as in ClustAssess. With n microclusters and M clusterings:
    O(n·M²) time.

    Examples
    --------
    >>> from ensemblage.metrics import consistency
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> consistency(votes).round(3)
    array([0.778, 0.778, 0.5  , 0.639, 0.639, 0.444])
    >>> consistency(votes, labels=[0, 0, 0, 1, 1, 1]).round(3)
    array([0.889, 0.889, 0.75 , 0.806, 0.806, 0.694])
    """
    _validate.check_n_jobs("consistency", n_jobs)
    ensemble = as_ensemble(X, n_jobs=n_jobs)
    groups = ensemble.microclusters
    if labels is None:
        if groups.table.shape[1] < 2:
            raise ValueError(
                "consistency needs at least two clusterings to compare, got one. Pass more"
                " clusterings, or labels to compare with."
            )
        around = flow.element_similarity(groups.table, groups.sizes, n_jobs=n_jobs)
        return around[groups.of_object]
    label, votes, sizes, of_object = beside_votes(labels, ensemble)
    around = flow.similarity_to_one(label, votes, sizes, n_jobs=n_jobs)
    return around[of_object]
