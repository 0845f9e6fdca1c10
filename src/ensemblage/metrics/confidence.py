"""Confidence of a consensus in the label of each object."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROUNDING = 1e-12


def cluster_weights(
    labels: NDArray[np.int64], sizes: NDArray[np.int64], n_clusters: int
) -> FloatArray:
    """Return the matrix whose product with a similarity sums it over the objects of each cluster.

    Entry (i, c) is the number of objects in microcluster i if its label is c, else 0.
    """
    weights = np.zeros((len(labels), n_clusters))
    weights[np.arange(len(labels)), labels] = sizes
    return weights


def confidence(
    sums: Any,
    labels: Any,
    sizes: Any,
    to_itself: FloatArray | float = 1.0,
    *,
    objects: FloatArray | None = None,
) -> FloatArray:
    """Return the confidence of each microcluster's objects in their label, in [0, 1].

    Parameters
    ----------
    sums : array-like of shape (n_microclusters, n_clusters)
        Similarity of an object to the objects of each cluster, summed, itself included.
    labels : array-like of shape (n_microclusters,)
        Consensus labels 0..k-1.
    sizes : array-like of shape (n_microclusters,)
        Objects in each microcluster.
    to_itself : float or ndarray of shape (n_microclusters,), default=1.0
        The contribution of an object's similarity to itself to `sums`.
    objects : ndarray of shape (n_clusters,), optional
        Objects of each cluster, if these are not all microclusters.

    Notes
    -----
    (a - b) / max(a, b), clipped to [0, 1]: a is the mean similarity to the *other* objects of the
    own cluster, b the largest mean similarity to those of another one. An object alone in its
    cluster has 0, as has 0/0; with a single cluster it is a.

    Examples
    --------
    Three objects, the first two alike and together:

    >>> import numpy as np
    >>> sums = np.array([[1.8, 0.2], [1.8, 0.4], [0.6, 1.0]])
    >>> confidence(sums, np.array([0, 0, 1]), np.array([1, 1, 1]))
    array([0.75, 0.5 , 0.  ])
    """
    sums, labels, sizes = _checked(sums, labels, sizes)
    n, n_clusters = sums.shape
    expected = "a number, or one for each row of sums"
    to_itself = _numbers("to_itself", to_itself, [(), (n,)], expected)
    own = np.arange(n), labels
    if objects is None:
        objects = np.bincount(labels, weights=sizes, minlength=n_clusters).astype(np.float64)
    else:
        expected = f"{n_clusters} numbers, the objects of each cluster"
        objects = _numbers("objects", objects, [(n_clusters,)], expected, least=0.0)
    others = objects[labels] - 1
    mean = np.divide(sums, objects, out=np.zeros_like(sums), where=objects > 0)
    # The remainder of the own cluster without the object may be a zero with rounding error.
    rest = sums[own] - to_itself
    rest[rest < _ROUNDING * sums[own]] = 0.0
    mean[own] = np.divide(rest, others, out=np.zeros(n), where=others > 0)
    return margin(mean, labels)


def _checked(
    sums: Any, labels: Any, sizes: Any
) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
    """Return what confidence is computed from as arrays, or raise `ParameterError`."""
    expected = "a table with a row for each microcluster and a column for each cluster"
    sums = _numbers("sums", sums, None, expected)
    if sums.ndim != 2 or sums.shape[1] == 0:
        got = f"an array of shape {sums.shape}"
        raise ParameterError("confidence", "sums", expected, got)
    n, n_clusters = sums.shape
    labels = np.asarray(labels)
    whole = labels.shape == (n,) and labels.dtype.kind in "iu"
    if not whole or (n and not 0 <= labels.min() <= labels.max() < n_clusters):
        expected = f"{n} integers from 0 to {n_clusters - 1}, one for each row of sums"
        raise ParameterError("confidence", "labels", expected, reprlib.repr(labels.tolist()))
    expected = f"{n} numbers from 0 up, one for each row of sums"
    sizes = _numbers("sizes", sizes, [(n,)], expected, least=0.0)
    return sums, labels.astype(np.int64, copy=False), sizes


def _numbers(
    parameter: str,
    value: Any,
    shapes: list[tuple[int, ...]] | None,
    expected: str,
    least: float = -np.inf,
) -> FloatArray:
    """Return a parameter as an array of finite numbers, of one of these shapes."""
    try:
        numbers: FloatArray = np.asarray(value, dtype=np.float64)
        fits = shapes is None or numbers.shape in shapes
        if fits and (np.isfinite(numbers) & (numbers >= least)).all():
            return numbers
    except (TypeError, ValueError, OverflowError):  # texts, or rows of different lengths
        pass
    raise ParameterError("confidence", parameter, expected, reprlib.repr(value))


def margin(mean: FloatArray, labels: NDArray[np.int64]) -> FloatArray:
    """Return (a - b) / max(a, b), clipped to [0, 1]; a with a single cluster.

    `mean` holds the mean similarity to each cluster: a is that to the own, b the largest other.

    Examples
    --------
    >>> import numpy as np
    >>> margin(np.array([[0.8, 0.2, 0.4], [0.1, 0.5, 0.0]]), np.array([0, 0]))
    array([0.5, 0. ])
    """
    n, n_clusters = mean.shape
    own = np.arange(n), labels
    a = mean[own]
    if n_clusters == 1:
        return np.clip(a, 0.0, 1.0)
    others = mean.copy()
    others[own] = -np.inf
    b = others.max(axis=1)
    largest = np.maximum(a, b)
    ratio = np.divide(a - b, largest, out=np.zeros(n), where=largest > 0)
    return np.clip(ratio, 0.0, 1.0)
