"""Labels that keep the numbers of an earlier clustering of the same objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array

from ensemblage import _validate
from ensemblage._ensemble import grouped
from ensemblage._types import Columns
from ensemblage.metrics._earlier_labels import check_earlier_labels, index_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def align(labels: Any, to: Any) -> Any:
    """Renumber labels to match an earlier clustering of the same objects.

    Clusters and earlier clusters are matched one to one so that as many objects as possible keep
    their number (the Hungarian method). A cluster without a partner gets a new number, above all
    earlier ones.

    Parameters
    ----------
    labels : array-like of shape (n_objects,)
        The new clustering, labels of any type; -1, NaN and None are missing.
    to : array-like of shape (n_objects,)
        The earlier clustering: integers; -1, NaN and None are missing. If both are pandas Series,
        objects are matched by index, so the objects may differ.

    Returns
    -------
    ndarray or Series of shape (n_objects,)
        Integers, and -1 for a missing label. A Series keeps its index and its name.

    See Also
    --------
    by_size : labels numbered by the size of clusters.

    Notes
    -----
    Every consensus method takes earlier labels as `align_to` in `fit_predict`, `predict` and `cut`.

    Examples
    --------
    >>> from ensemblage.metrics import align
    >>> align([0, 0, 1, 1, 1, 2], to=[4, 4, 7, 7, 0, 7])
    array([4, 4, 7, 7, 7, 8])
    """
    array = _validate.as_array(labels)
    if array.ndim != 1:
        raise ValueError(
            f"Labels must be a single column, got an array of shape {array.shape}. Pass one"
            " clustering."
        )
    index = index_of(labels)
    earlier = check_earlier_labels("align", "to", to, len(array), index)
    if len(array) == 0:
        return np.zeros(0, dtype=np.int64)
    groups, _ = grouped(_validate.check_votes(Columns(["labels"], [array])))
    codes = groups.table[groups.of_object, 0].astype(np.int64)
    numbers = numbers_kept(codes, earlier)
    numbered = np.append(numbers, -1)[codes]
    if index is not None:
        return type(labels)(numbered, index=labels.index, name=labels.name)
    return numbered


def numbers_kept(labels: NDArray[np.int64], earlier: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of each label 0, 1, ...; -1 is a missing label on either side."""
    known, code = np.unique(earlier, return_inverse=True)
    both = (labels >= 0) & (earlier != -1)
    n_labels = int(labels.max(initial=-1)) + 1
    shape = n_labels, len(known)
    pairs = np.ones(int(both.sum())), (labels[both], code[both])
    shared = coo_array(pairs, shape=shape).toarray()
    rows, columns = linear_sum_assignment(shared, maximize=True)
    kept = shared[rows, columns] > 0
    numbers = np.full(n_labels, -1, dtype=np.int64)
    is_new = np.ones(n_labels, dtype=bool)
    numbers[rows[kept]], is_new[rows[kept]] = known[columns[kept]], False
    numbers[is_new] = max(int(known.max(initial=-1)), -1) + 1 + np.arange(int(is_new.sum()))
    return numbers


def aligned(
    owner: str,
    labels: NDArray[np.int64],
    align_to: Any,
    index: Any = None,
    *,
    fitted: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return labels 0, 1, ... of a fitted method with earlier numbers; unchanged without any.

    If `labels` are those of new objects, `fitted` are those of the objects that `align_to` and
    `index` belong to.
    """
    if align_to is None:
        return labels
    fitted = labels if fitted is None else fitted
    earlier = check_earlier_labels(owner, "align_to", align_to, len(fitted), index)
    return numbers_kept(fitted, earlier)[labels]
