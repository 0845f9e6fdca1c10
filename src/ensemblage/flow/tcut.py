"""The transfer cut (Li, Wu, Chang 2012): spectral clustering of a bipartite graph's small side.

B links n rows (microclusters) with n_c columns (clusters), n_c usually far below n. Eigenvectors
of the n_c × n_c graph B' diag(1/d) B carry over to the rows, so no n × n matrix is needed:
O(n·n_c²) for that product, far less where B is sparse, and O(n_c³) at most for the eigenvectors.
Beyond 1,000 columns the small graph is not built: only its products with blocks of vectors are.
If all eigenvectors are needed and there are fewer rows than columns, the graph of the rows is
decomposed instead.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import diags_array, issparse

from ensemblage.flow._eigen import (
    FIRST_BATCH,
    NO_EIGENVALUE,
    CarriedVectors,
    LeadingVectors,
    ProductVectors,
)
from ensemblage.flow._jit import kernel
from ensemblage.flow._symmetry import mirror
from ensemblage.flow._threads import in_threads, n_threads, row_ranges
from ensemblage.flow.compiling import worth_a_kernel

if TYPE_CHECKING:
    from ensemblage._types import FloatArray, Weights

#: With more columns the small graph is multiplied with vectors: LAPACK takes O(n_c³).
MOST_DECOMPOSED = 1000
#: With more columns, or more links a row, it is not even built: B is multiplied. That takes some 30
#: products of B with each vector; building it takes one for each column, or link of a row.
MOST_COLUMNS = 6000
_MOST_COLUMNS_OF_DENSE = 2000
_MOST_LINKS = 100
_ROWS_PER_BLOCK = 8192
_ROWS_PER_PRODUCT = 1024  # copied to float64 at a time
_ROWS_PER_ITEM = 8 * _ROWS_PER_BLOCK  # of float32; few sums of blocks are held at a time


class TransferCut:
    """A bipartite graph prepared for cuts into any number of parts.

    Parameters
    ----------
    B : ndarray or sparse array of shape (n_rows, n_columns)
        Nonnegative link weights; every column has a link, and a row without one is put at the
        origin. Not copied. An array of float32 is multiplied as such, block by block; the sums of
        blocks and all that follows are float64.
    multiplicity : ndarray of shape (n_rows,), optional
        How many identical objects each row stands for.
    hidden_rows : ndarray of shape (any, n_columns), optional
        Further rows of the graph, once each, that are not in any embedding.
    first_batch : int
        Number of eigenvectors to compute first; later batches double it.
    n_jobs : int or None
        Threads; the graph does not depend on it.
    """

    def __init__(
        self,
        B: Any,
        multiplicity: Weights | None = None,
        *,
        hidden_rows: FloatArray | None = None,
        first_batch: int = FIRST_BATCH,
        n_jobs: int | None = None,
    ) -> None:
        self._B = _by_rows(B)
        self._degree = _degrees(self._B)
        self._leading: LeadingVectors | ProductVectors | CarriedVectors
        few = hidden_rows is None and first_batch <= FIRST_BATCH
        if few and not _makes_graph(self._B):
            scale = _scale(self._degree, multiplicity)
            self._root_degree = np.sqrt(_column_sums(self._B, scale * self._degree))
            multiply = _Product(self._B, scale, self._root_degree, n_jobs)
            self._leading = ProductVectors(multiply, self._root_degree)
            return
        if hidden_rows is None and not few and B.shape[0] < B.shape[1]:
            self._leading = self._by_rows(multiplicity, n_jobs)
            return
        small = _small_graph(self._B, self._degree, multiplicity, n_jobs)
        if hidden_rows is not None:
            small += _small_graph(hidden_rows, _degrees(hidden_rows), None, n_jobs)
        self._root_degree = np.sqrt(small.sum(axis=1))
        small /= np.outer(self._root_degree, self._root_degree)
        small = (small + small.T) / 2
        if few and B.shape[1] > MOST_DECOMPOSED:
            self._leading = ProductVectors(functools.partial(np.matmul, small), self._root_degree)
        else:
            self._leading = LeadingVectors(small, first_batch)

    def _by_rows(self, multiplicity: Weights | None, n_jobs: int | None) -> CarriedVectors:
        """Return the vectors of the small graph A'A from those of the graph AA' of the rows."""
        scale = _scale(self._degree, multiplicity)
        self._root_degree = np.sqrt(_column_sums(self._B, scale * self._degree))
        rows = diags_array(np.sqrt(scale)) @ self._B
        transposed = _by_rows(rows.T)
        products = _small_graph(transposed, self._root_degree**2, None, n_jobs)
        return CarriedVectors(rows @ diags_array(1.0 / self._root_degree), products)

    def eigenvalues(self, n_clusters: int | None = None) -> FloatArray:
        """Return the leading eigenvalues of the small graph, or all, the largest first."""
        wanted = len(self._leading) if n_clusters is None else n_clusters
        return self._leading(wanted)[0][:wanted]

    def coordinates(self, n_clusters: int) -> FloatArray:
        """Return the leading eigenvectors of the small graph carried over to the rows of B."""
        vectors = self._leading(n_clusters)[1][:, :n_clusters] / self._root_degree[:, None]
        if _is_single(self._B):
            blocks = row_ranges(len(self._B), _ROWS_PER_BLOCK)
            carried = np.concatenate([self._B[slice(*some)] @ vectors for some in blocks])
        else:
            carried = self._B @ vectors
        rows: FloatArray = carried / self._degree[:, None]
        return rows

    def embedding(self, n_clusters: int) -> FloatArray:
        """Return unit rows, one for each row of B, in min(n_clusters, n_columns) dimensions."""
        return unit_rows(self.coordinates(n_clusters))

    def both_sides(self, n_clusters: int) -> tuple[FloatArray, FloatArray]:
        """Return unit rows for the rows of B and for its columns, as one embedding of both.

        These are the eigenvectors of the whole bipartite graph, whose part for the rows is the
        transferred one divided by the root of the eigenvalue. There are at most as many
        dimensions as B has rank.
        """
        values, vectors = self._leading(n_clusters)
        rank = np.count_nonzero(values[:n_clusters] > NO_EIGENVALUE)
        rows = self.coordinates(n_clusters)[:, :rank] / np.sqrt(values[:rank])
        return unit_rows(rows), unit_rows(vectors[:, :rank])


def unit_rows(rows: FloatArray, offset: float = 0.0) -> FloatArray:
    """Return rows scaled to length 1; a row of zeros stays one.

    An `offset` is added to lengths, as in the authors' programs, which avoid a division by 0 by it.
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True) + offset
    scaled: FloatArray = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def _makes_graph(B: Any) -> bool:
    """Tell whether the small graph is worth building, for leading eigenvectors."""
    n_rows, n_columns = B.shape
    if n_columns <= MOST_DECOMPOSED:
        return True
    if issparse(B):
        return bool(n_columns <= MOST_COLUMNS and B.nnz <= _MOST_LINKS * n_rows)
    return bool(n_columns <= _MOST_COLUMNS_OF_DENSE)


def _by_rows(B: Any) -> Any:
    """Return B with contiguous rows, those of a sparse one sorted by column."""
    if not issparse(B):
        return B
    rows = B.tocsr()
    rows.sort_indices()
    return rows


def _degrees(B: Any) -> FloatArray:
    """Return the sum of each row, a tiny number instead of 0."""
    degree: FloatArray = np.asarray(B.sum(axis=1, dtype=np.float64))
    return np.where(degree > 0, degree, 1e-10)


def _scale(degree: FloatArray, multiplicity: Weights | None) -> FloatArray:
    """Return the weight of each row in the small graph."""
    return 1.0 / degree if multiplicity is None else multiplicity / degree


def _column_sums(B: Any, weights: FloatArray) -> FloatArray:
    """Return B' weights, in float64 for any type of B."""
    if issparse(B):
        sums: FloatArray = B.T @ weights
        return sums
    parts = [
        weights[slice(*rows)] @ B[slice(*rows)].astype(np.float64)
        for rows in row_ranges(len(B), _ROWS_PER_PRODUCT)
    ]
    return functools.reduce(np.add, parts)


class _Product:
    """Multiplies blocks of vectors with the normalised small graph, which is never built."""

    def __init__(
        self, B: Any, scale: FloatArray, root_degree: FloatArray, n_jobs: int | None
    ) -> None:
        self._B = B
        self._transposed = B.T.tocsr() if issparse(B) else None
        self._scale = scale[:, None]
        self._root_degree = root_degree[:, None]
        self._n_jobs = n_jobs

    def __call__(self, block: FloatArray) -> FloatArray:
        block = block / self._root_degree
        if self._transposed is not None:
            product = self._transposed @ (self._scale * (self._B @ block))
        else:

            def part(rows: tuple[int, int]) -> FloatArray:
                some = self._B[slice(*rows)].astype(np.float64, copy=False)
                result: FloatArray = some.T @ (self._scale[slice(*rows)] * (some @ block))
                return result

            # Summed in a fixed order, for any number of threads.
            ranges = row_ranges(len(self._B), _ROWS_PER_PRODUCT)
            product = functools.reduce(np.add, in_threads(part, ranges, self._n_jobs))
        normalised: FloatArray = product / self._root_degree
        return normalised


def _small_graph(
    B: Any, degree: FloatArray, multiplicity: Weights | None, n_jobs: int | None
) -> FloatArray:
    """Return B' diag(multiplicity / degree) B."""
    scale = _scale(degree, multiplicity)
    if issparse(B):
        sparse = _sparse_graph(B, scale, n_jobs)
        mirror(sparse)
        return sparse

    scale = scale.astype(B.dtype, copy=False)

    def part(rows: tuple[int, int]) -> FloatArray:
        some = B[slice(*rows)]
        product: FloatArray = some.T @ (some * scale[slice(*rows), None])
        return product

    def few_parts(rows: tuple[int, int]) -> FloatArray:
        blocks = row_ranges(rows[1] - rows[0], _ROWS_PER_BLOCK)
        products = (part((rows[0] + first, rows[0] + last)) for first, last in blocks)
        return functools.reduce(np.add, (product.astype(np.float64) for product in products))

    # Summed block by block in a fixed order, for any number of threads.
    if _is_single(B):
        parts = in_threads(few_parts, row_ranges(len(B), _ROWS_PER_ITEM), n_jobs)
    else:
        parts = in_threads(part, row_ranges(len(B), _ROWS_PER_BLOCK), n_jobs)
    return functools.reduce(np.add, parts)


def _sparse_graph(B: Any, scale: FloatArray, n_jobs: int | None) -> FloatArray:
    """Return B' diag(scale) B, of which the lower triangle is valid."""
    if not worth_a_kernel(B.nnz * B.nnz // max(B.shape[0], 1)):
        product: FloatArray = (B.T.tocsr() @ B.multiply(scale[:, None]).tocsr()).toarray()
        return product
    n_columns, n_parts = B.shape[1], n_threads(n_jobs)
    graph: FloatArray = np.zeros((n_columns, n_columns))
    # Each thread adds to rows of its own, so all cells are summed in the order of the rows of B.
    # The work grows with the square of the row.
    bounds = (n_columns * np.sqrt(np.arange(n_parts + 1) / n_parts)).astype(np.int64)

    def add(part: int) -> None:
        _add_products(B.indptr, B.indices, B.data, scale, bounds[part], bounds[part + 1], graph)

    in_threads(add, range(n_parts), n_jobs)
    return graph


@kernel
def _add_products(
    starts: Any, columns: Any, values: Any, scale: Any, first: Any, last: Any, graph: Any
) -> None:
    """Add the products of columns from `first` to before `last` with all up to them."""
    for i in range(len(scale)):
        for p in range(starts[i], starts[i + 1]):
            if columns[p] < first:
                continue
            if columns[p] >= last:
                break
            row, value = graph[columns[p]], values[p]
            for q in range(starts[i], p + 1):
                row[columns[q]] += value * (values[q] * scale[i])


def _is_single(B: Any) -> bool:
    return not issparse(B) and B.dtype == np.float32
