"""The sample of objects that a report shows. Equal input gives an equal sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def representatives(labels: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return at most about `most` objects, from each cluster in proportion, at least one of each.

    All objects if there are no more; in input order.

    Examples
    --------
    >>> import numpy as np
    >>> representatives(np.array([0] * 90 + [1] * 9 + [2]), 10).tolist()
    [5, 15, 25, 35, 45, 55, 65, 75, 85, 94, 99]
    """
    n = len(labels)
    if n <= most:
        return np.arange(n)
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    ends = np.cumsum(sizes)
    counts = np.minimum(sizes, np.maximum(1, np.round(sizes * (most / n)).astype(np.int64)))
    # Evenly spaced positions: no seed is needed, and sorted files are covered from end to end.
    places = [
        end - size + (size * (2 * np.arange(count) + 1)) // (2 * count)
        for end, size, count in zip(ends.tolist(), sizes.tolist(), counts.tolist(), strict=True)
        if count
    ]
    return np.sort(order[np.concatenate(places)])


def least_sure(confidence: FloatArray, most: int) -> NDArray[np.int64]:
    """Return the objects of lowest confidence, in input order.

    Examples
    --------
    >>> import numpy as np
    >>> least_sure(np.array([0.9, 0.1, 0.5, 0.2]), 2).tolist()
    [1, 3]
    """
    if len(confidence) <= most:
        return np.arange(len(confidence))
    return np.sort(np.argpartition(confidence, most)[:most])
