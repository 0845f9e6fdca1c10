"""Labels of any type as integers, and integers as codes 0, 1, 2, ...

A label matrix may hold integers, floats, strings or any hashable values. Later stages use integers
only, with -1 for a missing vote.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._membership import membership

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray

MISSING = -1
_EXACT = np.float64(2.0**53)  # not a float of Python, which float16 cannot be compared with
_NUMBERS = (int, float, np.number, Decimal, Fraction)
_WITH_NAN = (float, complex, np.inexact, Decimal, np.datetime64, np.timedelta64)


def whole_numbers(values: NDArray[np.floating[Any]]) -> IntArray | None:
    """Return floats as integers, NaN as -1; None where a value is not a whole number.

    Infinity and numbers past 2**53 (where floats are no longer exact) are not whole.
    """
    missing = np.isnan(values)
    filled = np.where(missing, MISSING, values)
    if filled.size and not (np.abs(filled) <= _EXACT).all():
        return None
    whole: IntArray = filled.astype(np.int64)
    return whole if np.array_equal(whole, filled) else None


def factorize(values: NDArray[Any]) -> tuple[NDArray[np.int32], list[Any]]:
    """Return codes by first appearance and the label of each code; missing votes are -1.

    None, NaN, NaT, pandas' NA, and -1 as a number of any type are missing.
    """
    first_seen: dict[Any, int] = {}
    items = _times(values) if values.dtype.kind in "mM" else values.tolist()
    raw = np.fromiter(
        (first_seen.setdefault(item, len(first_seen)) for item in items), np.int64, len(items)
    )
    labels = list(first_seen)
    code_of = np.full(len(labels), MISSING, dtype=np.int32)
    voted = [place for place, label in enumerate(labels) if not is_missing(label)]
    code_of[voted] = np.arange(len(voted), dtype=np.int32)
    return code_of[raw], [labels[place] for place in voted]


def _times(values: NDArray[Any]) -> list[Any]:
    """Return times as Python objects; those between two microseconds as NumPy's; NaT as None.

    Equal times are then equal labels in any unit of storage, and none is a number.
    """
    coarse = values.astype(f"{values.dtype.kind}8[us]")
    exact = coarse.astype(values.dtype) == values
    return [
        None if missing else time if same else value
        for missing, same, time, value in zip(
            np.isnat(values).tolist(), exact.tolist(), coarse.tolist(), values, strict=True
        )
    ]


def is_missing(label: Any) -> bool:
    """Tell whether a single label is missing."""
    if label is None or type(label).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(label, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(label))
    if isinstance(label, Decimal) and label.is_nan():
        return True
    if isinstance(label, _NUMBERS) and not isinstance(label, bool):
        return bool(label != label or label == MISSING)
    return False


def holds_nan(label: Any) -> bool:
    """Tell whether a label is or holds NaN or NaT, so that a copy of it is not equal to it."""
    if isinstance(label, (tuple, frozenset)):
        return any(map(holds_nan, label))
    return isinstance(label, _WITH_NAN) and bool(label != label)


def cluster_means(table: NDArray[np.int32], *, by_rows: bool = False) -> Any:
    """Return the membership matrix with every column divided by its number of rows.

    A similarity times this matrix is the mean similarity to the rows of each cluster. It is in
    compressed columns, or rows.
    """
    n_rows = np.concatenate([np.bincount(column[column >= 0]) for column in table.T])
    return membership(table, 1.0 / np.maximum(n_rows, 1), by_rows=by_rows)
