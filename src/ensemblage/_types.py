"""The shapes of data that travel between stages. No behaviour."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.float64]
#: How much each row counts: often how many objects it stands for.
Weights = FloatArray | IntArray


class Microclusters(NamedTuple):
    """Groups of objects that no clustering tells apart, and where each object went.

    Attributes
    ----------
    table : ndarray of shape (n_microclusters, n_clusterings), int32
        The votes that the objects of a microcluster share. Clusters are numbered by first
        appearance in each clustering; -1 stands for a missing vote. Rows are in order of first
        appearance too.
    sizes : ndarray of shape (n_microclusters,), int64
        How many objects each microcluster holds.
    of_object : ndarray of shape (n_objects,), int32
        The row of `table` that an object belongs to, so ``table[of_object]`` are the votes.
    """

    table: NDArray[np.int32]
    sizes: NDArray[np.int64]
    of_object: NDArray[np.int32]


class Columns(NamedTuple):
    """A label matrix as one array per clustering, for tables whose columns differ in type."""

    names: list[str]
    arrays: list[NDArray[Any]]
