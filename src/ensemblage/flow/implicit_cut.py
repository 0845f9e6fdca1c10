"""The transfer cut of a graph that is too large to be made: only products with it are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._eigen import MORE, ProductVectors, batch_of_products
from ensemblage.flow.tcut import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from ensemblage._types import FloatArray

#: Steps until leading eigenvectors are right to single precision.
_STEPS = 8


class Here:
    """Arrays of the processor; `ensemblage._device.Library` is the same for a GPU."""

    arrays = np

    def sent(self, matrix: Any) -> Any:
        """Return a sparse matrix as one that `times` takes."""
        return matrix

    def times(self, matrix: Any, block: Any) -> Any:
        """Return a sparse matrix times an array, in double precision."""
        return matrix @ block.astype(np.float64, copy=False)

    def fetched(self, array: Any) -> Any:
        """Return an array as NumPy's."""
        return array


class ImplicitCut:
    """The transfer cut of B = similarity · V, of which only products are computed.

    Parameters
    ----------
    similarity_times : callable
        Returns the product of a symmetric similarity of the rows with an array.
    V : sparse array of shape (n_rows, n_columns)
        Nonnegative; every column has an entry. Single precision is enough and takes less memory.
    error : float
        How exact eigenvectors are; larger than the error of the products.
    on : Here or a library of a device
        Whose arrays are multiplied. They are not pickled.
    times_there : callable, optional
        `similarity_times` for the arrays of `on`.
    """

    def __init__(
        self,
        similarity_times: Callable[[FloatArray], FloatArray],
        V: Any,
        error: float,
        on: Any = None,
        times_there: Callable[[Any], Any] | None = None,
    ) -> None:
        self._similarity_times, self._times_there = similarity_times, times_there
        self._V = V.tocsr()
        self._use(Here() if on is None else on)
        ones = np.ones(V.shape[0])
        sums = np.column_stack([np.asarray(V.sum(axis=1)).ravel(), ones])
        sums = self._on.fetched(self._product(self._on.arrays.asarray(sums))).astype(np.float64)
        self._degree = np.where(sums[:, :1] > 0, sums[:, :1], 1e-10)
        self._root_degree = np.sqrt(self._V.T @ sums[:, 1:])
        self._leading = ProductVectors(self._multiply, self._root_degree[:, 0], error)
        self._coordinates: dict[int, FloatArray] = {}

    def _use(self, on: Any) -> None:
        self._on = on
        self._sent, self._sent_back = on.sent(self._V), on.sent(self._V.T)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_on": None, "_sent": None, "_sent_back": None, "_times_there": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._use(Here())

    def _product(self, block: Any) -> Any:
        """Return the similarity times an array of `on`."""
        times = self._similarity_times if self._times_there is None else self._times_there
        return times(block)

    def _multiply(self, block: FloatArray) -> FloatArray:
        product = self._on.times(self._sent_back, self._product(self._carried(block)))
        found: FloatArray = self._on.fetched(product) / self._root_degree
        return found

    def _carried(self, block: FloatArray) -> Any:
        """Return diag(1 / degree) B block, for a block that is divided by the root degree."""
        on = self._on
        scaled = on.arrays.asarray(block / self._root_degree)
        return self._product(on.times(self._sent, scaled)) / on.arrays.asarray(self._degree)

    def eigenvalues(self, n_clusters: int) -> FloatArray:
        """Return the leading eigenvalues, as `TransferCut.eigenvalues` does."""
        return self._leading(n_clusters)[0][:n_clusters]

    def embedding(self, n_clusters: int) -> FloatArray:
        """Return unit rows, as `TransferCut.embedding` does."""
        vectors = self._leading(n_clusters)[1]
        batch = vectors.shape[1]
        if batch not in self._coordinates:
            self._coordinates[batch] = self._on.fetched(self._carried(vectors))
        return unit_rows(self._coordinates[batch][:, :n_clusters])


def columns_of_implicit_cut(n_clusters: int) -> int:
    """Return with about how many columns a similarity is multiplied in an implicit cut."""
    batch = batch_of_products(n_clusters)
    return 2 * _STEPS * (batch + MORE) + batch
