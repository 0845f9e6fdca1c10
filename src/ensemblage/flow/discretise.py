"""The normalised cut of a graph, and the partition nearest its eigenvectors (Yu and Shi 2003)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._eigen import LeadingVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_NO_LINK = 1e-6
_OFFSET = 0.5
_ROUNDS = 20


class NormalisedCut:
    """A graph prepared for normalised cuts into any number of parts.

    Parameters
    ----------
    Z : ndarray of shape (n, n)
        Symmetric nonnegative link weights; those below 1e-6 are dropped.

    Notes
    -----
    As in the authors' program, 1/2 is added to the diagonal and 1 to the degrees: d_u is the sum of
    row u of Z, plus 1. With D the diagonal matrix of these degrees, the eigenvectors are those of
    D^(-½) (Z + I/2) D^(-½).
    """

    def __init__(self, Z: FloatArray) -> None:
        links = np.where(Z < _NO_LINK, 0.0, Z)
        degree = links.sum(axis=1) + 2 * _OFFSET
        links[np.diag_indices_from(links)] += _OFFSET
        self._root_degree = np.sqrt(degree)
        roots = np.multiply.outer(self._root_degree, self._root_degree)
        self._leading = LeadingVectors(links / roots)

    def eigenvalues(self, n_parts: int) -> FloatArray:
        """Return the leading eigenvalues, the largest first."""
        return self._leading(n_parts)[0][:n_parts]

    def embedding(self, n_parts: int) -> FloatArray:
        """Return unit rows in min(n_parts, n) dimensions; a row without direction stays 0."""
        rows = self._leading(n_parts)[1][:, :n_parts] / self._root_degree[:, None]
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: FloatArray = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
        return unit


def discretise(rows: FloatArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the partition nearest to `rows` turned by the best rotation R.

    R starts from a random row and then the rows most orthogonal to those before. Assigning each
    row to the largest entry of rows·R, and turning R towards that assignment, alternate until the
    distance no longer changes. Parts may be empty.
    """
    n, k = rows.shape
    R = np.empty((k, k))
    R[:, 0] = rows[rng.integers(n)]
    taken = np.zeros(n)
    for j in range(1, k):
        taken += np.abs(rows @ R[:, j - 1])
        R[:, j] = rows[taken.argmin()]
    last = 0.0
    for _ in range(_ROUNDS):
        labels: NDArray[np.int64] = (rows @ R).argmax(axis=1)
        assigned = np.zeros((k, k))
        np.add.at(assigned, labels, rows)
        U, singular, Vt = np.linalg.svd(assigned)
        distance = 2.0 * (n - singular.sum())
        if abs(distance - last) < np.finfo(float).eps:
            break
        last = distance
        R = (U @ Vt).T
    return labels


def part_shares(membership: Any, part: NDArray[np.int64]) -> FloatArray:
    """Return the share of each part's columns that hold a row; 0 for a part without columns.

    `membership` is the sparse 0/1 matrix of rows × columns, ``part[j]`` the part of column j.
    """
    n_columns = np.bincount(part)
    columns = np.zeros((len(part), len(n_columns)))
    columns[np.arange(len(part)), part] = 1.0
    shares: FloatArray = (membership @ columns) / np.maximum(n_columns, 1)
    return shares
