"""Arrays of any type as votes: integers in the smallest type that holds them, or strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.files._errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MISSING = -1
FEATURES = (
    "Numbers with a fraction are measurements, not cluster labels: features belong to the command"
    " ensemblage generate, or to ensemblage.EnsembleClustering, which make the votes."
)
_UNSIGNED = [np.dtype(name) for name in ("uint8", "uint16", "uint32", "uint64")]
_SIGNED = [np.dtype(name) for name in ("int8", "int16", "int32", "int64")]
_LARGEST_WHOLE = 2.0**53  # beyond it floats no longer tell neighbours apart


def smallest(values: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Return the same integers in the smallest type that holds them, unsigned where it can be.

    Examples
    --------
    >>> smallest(np.array([0, 255])).dtype, smallest(np.array([-1, 255])).dtype
    (dtype('uint8'), dtype('int16'))
    """
    return values.astype(smallest_type([values]), copy=False)


def smallest_type(arrays: list[NDArray[np.integer[Any]]]) -> np.dtype[Any] | None:
    """Return the smallest type that holds all these integers; None where not even int64 does."""
    low = min((int(array.min()) for array in arrays if array.size), default=0)
    high = max((int(array.max()) for array in arrays if array.size), default=0)
    types = _UNSIGNED if low >= 0 else _SIGNED
    return next((t for t in types if np.iinfo(t).min <= low and high <= np.iinfo(t).max), None)


def as_votes(values: NDArray[Any], place: Callable[[tuple[int, ...]], str]) -> NDArray[Any]:
    """Return votes as integers (-1 missing) or as objects that are str.

    Parameters
    ----------
    values : ndarray
        Votes of one kind: integers, booleans, floats that are whole (NaN is missing), strings.
    place : callable
        Tells in words where an index lies, as ``votes.npy, row 3, column 1``.
    """
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.uint8)
    if kind in "iu":
        return smallest(values)
    if kind == "f":
        return smallest(_whole(values, place))
    if kind in "US":
        try:
            return (values if kind == "U" else np.char.decode(values, "utf-8")).astype(object)
        except (UnicodeDecodeError, SystemError) as error:  # NumPy checks no code point
            raise FileFormatError(
                f"{place((0,) * values.ndim)} and on: these names are no text that Unicode knows."
                " Save them again as UTF-8, or number the clusters."
            ) from error
    start = (0,) * values.ndim
    raise FileFormatError(
        f"{place(start)}: values of type {values.dtype} are no cluster labels."
        " Votes are whole numbers or names."
    )


def _whole(
    values: NDArray[np.floating[Any]], place: Callable[[tuple[int, ...]], str]
) -> NDArray[np.int64]:
    missing = np.isnan(values)
    filled = np.where(missing, MISSING, values)
    wrong = (np.floor(filled) != filled) | (np.abs(filled) > _LARGEST_WHOLE)
    if wrong.any():
        index = np.unravel_index(int(wrong.argmax()), wrong.shape)
        found = float(values[index])
        reason = FEATURES
        if np.isinf(found):
            reason = "An empty cell or NaN means no vote."
        elif found.is_integer():
            reason = "Floats beyond 2**53 do not tell neighbours apart: save these as integers."
        raise FileFormatError(
            f"{place(tuple(map(int, index)))}: {found:g} is not a cluster label. {reason}"
        )
    return filled.astype(np.int64)
