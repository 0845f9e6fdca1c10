"""Checks of earlier labels of the same objects, for `align_to`."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import ParameterError, counted
from ensemblage._validate.tables import is_series
from ensemblage._validate.votes import as_array
from ensemblage.flow.codes import is_missing, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Beyond this, new clusters could have numbers that 64 bits do not hold.
_LARGEST = 2**63 - 2**40
_EXPECTED = "the earlier labels of the objects, integers"


def index_of(labels: Any) -> Any:
    """Return the index of a pandas Series, None for anything else."""
    return labels.index if is_series(labels) else None


def check_earlier_labels(
    owner: str, name: str, earlier: Any, n_objects: int, index: Any = None
) -> NDArray[np.int64]:
    """Return earlier labels as integers, -1 for an object without one.

    A Series is matched by `index`, the names of the objects, if they have one.
    """
    if index is not None and is_series(earlier):
        if not earlier.index.is_unique:
            twice = earlier.index[earlier.index.duplicated()][0]
            hint = "Objects are matched by index. Drop duplicates, or pass an array."
            expected = f"{_EXPECTED}, one for each"
            raise ParameterError(owner, name, expected, f"several for {twice!r}", hint)
        place = earlier.index.get_indexer(index)
        labels = _whole(owner, name, as_array(earlier))
        return np.where(place < 0, -1, np.append(labels, -1)[place])
    labels = as_array(earlier)
    if labels.shape != (n_objects,):
        expected = f"{_EXPECTED}, one for each of {counted(n_objects, 'object')}"
        hint = "Pass Series with an index if the objects have changed."
        raise ParameterError(owner, name, expected, f"an array of shape {labels.shape}", hint)
    return _whole(owner, name, labels)


def _whole(owner: str, name: str, labels: NDArray[Any]) -> NDArray[np.int64]:
    whole: Any = None
    if labels.dtype.kind in "iu":
        whole = labels
    elif labels.dtype.kind == "f":
        whole = whole_numbers(labels)
    elif labels.dtype.kind == "O":
        whole = _integers(labels.tolist())
    if whole is None:
        odd = next((label for label in labels.tolist() if isinstance(label, str)), None)
        got = odd if odd is not None else labels.dtype.name
        raise ParameterError(owner, name, _EXPECTED, got, "Convert other labels to integers first.")
    far = max(int(whole.max()), int(whole.min()), key=abs) if len(whole) else 0
    if abs(far) >= _LARGEST:
        expected = f"{_EXPECTED} below 2**63 - 2**40"
        raise ParameterError(owner, name, expected, far, "New clusters get larger numbers.")
    return np.asarray(whole, dtype=np.int64)


def _integers(values: list[Any]) -> NDArray[Any] | None:
    """Return integers of any size and floats that are exact as objects; None for others."""
    whole = np.full(len(values), -1, dtype=object)
    for place, value in enumerate(values):
        exact = isinstance(value, float) and value.is_integer() and abs(value) <= 2.0**53
        if exact or (isinstance(value, Integral) and not isinstance(value, bool)):
            whole[place] = int(value)
        elif not is_missing(value):
            return None
    return whole
