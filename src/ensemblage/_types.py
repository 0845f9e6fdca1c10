"""Data types that are passed between stages, without behaviour."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.float64]
#: Weight of each row: often the number of objects it represents.
Weights = FloatArray | IntArray


class Microclusters(NamedTuple):
    """Groups of objects with identical votes, and the group of each object.

    Attributes
    ----------
    table : ndarray of shape (n_microclusters, n_clusterings), int32
        The votes shared by the objects of a microcluster. Clusters are numbered by first appearance
        in each clustering; -1 is a missing vote. Rows are in order of first appearance.
    sizes : ndarray of shape (n_microclusters,), int64
        Number of objects in each microcluster.
    of_object : ndarray of shape (n_objects,), int32
        The row of `table` of each object, so ``table[of_object]`` are the votes.

    Examples
    --------
    >>> import ensemblage as en
    >>> groups = en.microclusters([[0, 0], [0, 0], [1, 0]])
    >>> groups.sizes, groups.of_object
    (array([2, 1]), array([0, 0, 1], dtype=int32))
    """

    table: NDArray[np.int32]
    sizes: NDArray[np.int64]
    of_object: NDArray[np.int32]


class Columns(NamedTuple):
    """A label matrix as one array per clustering, for tables with columns of several types."""

    names: list[str]
    arrays: list[NDArray[Any]]
