"""Agreement of two clusterings: normalised mutual information and the adjusted Rand index.

The contingency table of two clusterings consists of the microclusters of the two-column label
matrix, so both measures take one pass over the objects (scikit-learn sorts them) and scale to tens
of millions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble, grouped, plain
from ensemblage._types import Columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._ensemble import Ensemble
    from ensemblage._types import FloatArray, IntArray, Microclusters

#: Up to this number of overlaps, all are computed at once.
_FEW_OVERLAPS = 1 << 20
_AVERAGES: dict[str, Callable[[float, float], float]] = {
    "max": max,
    "min": min,
    "geometric": lambda x, y: float(np.sqrt(x * y)),
    "arithmetic": lambda x, y: (x + y) / 2,
}


def nmi(a: Any, b: Any, average: str = "max") -> float:
    """Return the normalised mutual information of two clusterings.

    Parameters
    ----------
    a, b : array-like of shape (n_objects,)
        Labels of any type. Objects without a label in either (-1, NaN, None) are left out. Two
        pandas Series of the same objects are matched by index, anything else by position.
    average : {"max", "geometric", "arithmetic", "min"}, default="max"
        The mean of the two entropies by which the mutual information is divided. The paper uses
        "max"; scikit-learn's default is "arithmetic".

    Returns
    -------
    float
        0 (independent) to 1. Two clusterings with a single cluster each are equal, so 1; if only
        one of them has a single cluster, 0.

    Notes
    -----
    NMI = I(a; b) / mean(H(a), H(b)) with natural logarithms. O(N) time.

    Examples
    --------
    >>> from ensemblage.metrics import nmi
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.666667
    >>> nmi(["x", "x", "y", "y"], [7, 7, 3, 3])
    1.0
    """
    _validate.check_choice("nmi", "average", average, tuple(_AVERAGES))
    rows, columns, sizes = _contingency(a, b)
    return _nmi(rows, columns, sizes, average)


def ari(a: Any, b: Any) -> float:
    """Return the adjusted Rand index of two clusterings.

    Parameters
    ----------
    a, b : array-like of shape (n_objects,)
        Labels of any type. Objects without a label in either (-1, NaN, None) are left out. Two
        pandas Series of the same objects are matched by index, anything else by position.

    Returns
    -------
    float
        1 for equal partitions, about 0 for independent ones, negative for worse than chance.

    Notes
    -----
    Pairs of objects are counted in exact integers, so any number of objects is supported.

    Examples
    --------
    >>> from ensemblage.metrics import ari
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.571429
    """
    return _ari(*_contingency(a, b))


def nmi_of_groups(
    a: IntArray, b: IntArray, sizes: NDArray[np.int64], average: str = "max"
) -> float:
    """Return the NMI of two clusterings of groups of objects: codes from 0, -1 where missing."""
    return _nmi(*_cells(a, b, sizes), average)


def ari_of_groups(a: IntArray, b: IntArray, sizes: NDArray[np.int64]) -> float:
    """Return the adjusted Rand index of two clusterings of groups of objects."""
    return _ari(*_cells(a, b, sizes))


def nmi_of_table(shared: NDArray[np.int64], average: str = "max") -> float:
    """Return the NMI of two clusterings, given the sizes of all overlaps; 0 if there are none."""
    rows, columns = np.nonzero(shared)
    return _nmi(rows, columns, shared[rows, columns], average) if len(rows) else 0.0


def ari_of_table(shared: NDArray[np.int64]) -> float:
    """Return the adjusted Rand index, given the sizes of all overlaps."""
    rows, columns = np.nonzero(shared)
    return _ari(rows, columns, shared[rows, columns])


def _ari(rows: IntArray, columns: IntArray, sizes: NDArray[np.int64]) -> float:
    n = int(sizes.sum())
    together = _ordered_pairs(sizes)
    in_a, in_b = _ordered_pairs(_totals(rows, sizes)), _ordered_pairs(_totals(columns, sizes))
    only_a, only_b = in_a - together, in_b - together
    apart = n * (n - 1) - together - only_a - only_b
    if only_a == only_b == 0:
        return 1.0
    chance = (together + only_a) * (only_a + apart) + (together + only_b) * (only_b + apart)
    return 2.0 * (together * apart - only_a * only_b) / chance


def ensemble_nmi(labels: Any, X: Any, average: str = "max") -> float:
    """Return the mean NMI of a clustering with the members of an ensemble.

    Parameters
    ----------
    labels : array-like of shape (n_objects,)
        The clustering to score, usually a consensus. A Series of the same objects as X is matched
        by index.
    X : array-like, DataFrame or Ensemble of shape (n_objects, n_clusterings)
        The ensemble. Missing votes are left out, and so is a clustering without a vote on any
        labelled object.
    average : {"max", "geometric", "arithmetic", "min"}, default="max"
        As for `nmi`.

    Returns
    -------
    float

    Examples
    --------
    >>> from ensemblage.metrics import ensemble_nmi
    >>> round(ensemble_nmi([0, 0, 1, 1], [[0, 0], [0, 0], [1, 1], [1, 2]]), 6)
    0.833333
    """
    _validate.check_choice("ensemble_nmi", "average", average, tuple(_AVERAGES))
    label, votes, sizes, _ = beside_votes(labels, as_ensemble(X))
    heard = votes[:, ((votes >= 0) & (label >= 0)[:, None]).any(axis=0)]
    if heard.shape[1] == 0:
        raise ValueError("No object has both a label and a vote, so the score is undefined.")
    return float(np.mean([_nmi(*_cells(label, vote, sizes), average) for vote in heard.T]))


def nmi_with_members(
    labels: IntArray,
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    weight: FloatArray | None = None,
    average: str = "geometric",
) -> float:
    """Return the mean NMI of labels of microclusters with the members, by weight."""
    heard = table.max(axis=0) >= 0
    if weight is not None:
        heard &= weight > 0
    votes = table if heard.all() else table[:, heard]
    scores = _nmi_with_each(labels, votes, sizes, average)
    return float(np.average(scores, weights=None if weight is None else weight[heard]))


def _nmi_with_each(
    labels: IntArray, table: NDArray[np.int32], sizes: NDArray[np.int64], average: str
) -> FloatArray:
    """Return the NMI of labels with each column of votes, none of which is empty."""
    n_overlaps = (int(labels.max()) + 1) * int((table.max(axis=0) + 1).sum())
    if n_overlaps > max(_FEW_OVERLAPS, table.size):  # nearly all overlaps would be 0
        return np.array([nmi_of_groups(labels, votes, sizes, average) for votes in table.T])
    shared = flow.overlaps_with(labels, int(labels.max()) + 1, table, sizes)
    starts = np.append(0, np.cumsum(table.max(axis=0) + 1)[:-1])
    member = np.repeat(np.arange(table.shape[1]), table.max(axis=0) + 1)
    in_labels = np.add.reduceat(shared, starts, axis=1)
    in_clusters = shared.sum(axis=0)
    n = in_labels.sum(axis=0)
    if not n.all():
        raise ValueError("No object has a label in both clusterings, so they cannot be compared.")
    h_labels = -_plogp(in_labels / n).sum(axis=0)
    h_clusters = -np.add.reduceat(_plogp(in_clusters / n[member]), starts)
    expected = in_labels[:, member] / n[member] * in_clusters
    logs = np.log(np.divide(shared, expected, out=np.ones_like(shared), where=shared > 0))
    information = np.add.reduceat((shared * logs).sum(axis=0), starts) / n
    n_labels = np.count_nonzero(in_labels, axis=0)
    n_clusters = np.add.reduceat(in_clusters > 0, starts, dtype=np.int64)
    single = np.minimum(n_labels, n_clusters) == 1
    scale = np.array([_AVERAGES[average](a, b) for a, b in zip(h_labels, h_clusters, strict=True)])
    score = np.divide(information, scale, out=np.zeros_like(scale), where=~single)
    n_cells = np.add.reduceat(np.count_nonzero(shared, axis=0), starts)
    score[(n_cells == n_labels) & (n_cells == n_clusters)] = 1.0  # equal, but for rounding
    return np.where(single, n_labels == n_clusters, np.clip(score, 0.0, 1.0))


def _plogp(shares: FloatArray) -> FloatArray:
    logs: FloatArray = shares * np.log(np.where(shares > 0, shares, 1.0))
    return logs


def joint(a: Any, b: Any) -> tuple[Microclusters, list[Any]]:
    """Return the microclusters of two labellings of the same objects, and their labels.

    Two Series of the same objects are matched by index.
    """
    b = _validate.in_order_of_index(b, a.index if _validate.is_series(a) else None)
    a, b = (_validate.as_array(labels) for labels in (a, b))
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"Both clusterings must be labels of the same objects, got arrays of shapes {a.shape}"
            f" and {b.shape}."
        )
    return grouped(_validate.check_votes(Columns(["a", "b"], [a, b])))


def beside_votes(
    labels: Any, ensemble: Ensemble
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Return labels of the objects and their votes, as groups that are equal in both.

    The label and the votes of each group, its size, and the group of each label. Scores depend only
    on these few groups. A Series of the same objects is matched by index.
    """
    groups = ensemble.microclusters
    labels = _validate.in_order_of_index(labels, ensemble.index)
    both, names = joint(labels, groups.of_object)
    label, place = both.table.T
    sizes = both.sizes
    if len(groups.of_object) == len(groups.sizes):  # one label for each microcluster
        sizes = np.bincount(both.of_object, groups.sizes).astype(np.int64)
    return label, groups.table[np.asarray(names[1])[place]], sizes, both.of_object


def labels_and_shared(a: Any, b: Any) -> tuple[list[Any], list[Any], NDArray[np.int64]]:
    """Return the labels of two clusterings and the sizes of their overlaps.

    Objects without a label are counted under the label None, which is last.
    """
    groups, found = joint(a, b)
    labels = [list(plain(part)) for part in found]
    codes = groups.table.copy()
    for side, names in enumerate(labels):
        gaps = codes[:, side] < 0
        if gaps.any():
            codes[gaps, side] = len(names)
            names.append(None)
    shared = np.zeros((len(labels[0]), len(labels[1])), dtype=np.int64)
    np.add.at(shared, (codes[:, 0], codes[:, 1]), groups.sizes)
    return labels[0], labels[1], shared


def _contingency(a: Any, b: Any) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
    """Return the nonzero cells of the contingency table: row, column and count of each."""
    groups, _ = joint(a, b)
    return _cells(groups.table[:, 0], groups.table[:, 1], groups.sizes)


def _cells(
    rows: IntArray, columns: IntArray, sizes: NDArray[np.int64]
) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
    """Return each (row, column) once, with the sum of its sizes, without missing labels."""
    both = (rows >= 0) & (columns >= 0)
    if not both.any():
        raise ValueError("No object has a label in both clusterings, so they cannot be compared.")
    width = int(columns.max()) + 1
    cells, where = np.unique(
        rows[both].astype(np.int64) * width + columns[both], return_inverse=True
    )
    return cells // width, cells % width, _totals(where, sizes[both])


def _totals(codes: IntArray, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    totals = np.zeros(codes.max() + 1, dtype=np.int64)
    np.add.at(totals, codes, sizes)
    return totals


def _ordered_pairs(sizes: NDArray[np.int64]) -> int:
    return sum(size * (size - 1) for size in sizes.tolist())


def _nmi(rows: IntArray, columns: IntArray, sizes: NDArray[np.int64], average: str) -> float:
    """Return the NMI of a contingency table, given each nonzero cell once."""
    in_a, in_b = _totals(rows, sizes), _totals(columns, sizes)
    n = sizes.sum()
    h_a, h_b = _entropy(in_a / n), _entropy(in_b / n)
    if h_a == 0.0 or h_b == 0.0:
        return float(h_a == h_b)
    if len(sizes) == np.count_nonzero(in_a) == np.count_nonzero(in_b):
        return 1.0  # equal partitions, regardless of rounding
    joint = sizes / n
    information = float(np.sum(joint * np.log(sizes * (n / in_a[rows] / in_b[columns]))))
    return min(1.0, max(0.0, information / _AVERAGES[average](h_a, h_b)))


def _entropy(shares: FloatArray) -> float:
    shares = shares[shares > 0]
    return 0.0 if len(shares) == 1 else float(-np.sum(shares * np.log(shares)))
