"""A dataset: features, true classes, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features of objects with their true classes; immutable.

    Attributes
    ----------
    name : str
        The name in the paper.
    features : ndarray of shape (n_objects, n_features)
        float32 or float64, so that differences of pixels do not overflow; read-only.
    truth : ndarray of shape (n_objects,)
        The true classes as int64, 0 to n_classes - 1; read-only.
    feature_names, class_names : tuple of str, or None
        In the order of the columns, and of the numbers in `truth`.
    scale : {"minmax"} or None
        The scaling that the paper's authors clustered with; None for raw features.
    categories : dict of str to tuple of str, or None
        For features that are codes of strings: the strings, in the order of their codes.

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.datasets import Dataset
    >>> Dataset("small", np.zeros((2, 3)), np.array([0, 1]))
    Dataset(small: 2 objects, 3 features, 2 classes)
    """

    name: str
    features: NDArray[Any]
    truth: NDArray[np.int64]
    feature_names: tuple[str, ...] | None = None
    class_names: tuple[str, ...] | None = None
    scale: str | None = None
    categories: dict[str, tuple[str, ...]] | None = None

    def __repr__(self) -> str:
        n, d = self.features.shape
        return f"Dataset({self.name}: {n} objects, {d} features, {self.n_classes} classes)"

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.truth.max()) + 1


def numbered(labels: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return labels as numbers from 0 in the order of the sorted labels, and those labels.

    Examples
    --------
    >>> numbered(np.array([7, 1, 1, 3]))
    (array([2, 0, 0, 1]), [1, 3, 7])
    """
    found, numbers = np.unique(labels, return_inverse=True)
    return numbers.reshape(-1).astype(np.int64), found.tolist()


def locked(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, made read-only."""
    array.flags.writeable = False
    return array
