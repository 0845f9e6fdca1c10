"""What objects are called: ids as text, and ids of several files as one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNITS = ("D", "s", "ms", "us", "ns")


def as_texts(ids: NDArray[Any]) -> list[str]:
    """Return ids as text files spell them; equal texts are equal ids.

    Examples
    --------
    >>> as_texts(np.array([7, 8])), as_texts(np.array(["2020-01-02"], dtype="datetime64[ns]"))
    (['7', '8'], ['2020-01-02'])
    """
    values = iso_dates(ids).tolist() if ids.dtype.kind == "M" else ids.tolist()
    return ["" if value is None else str(value) for value in values]


def iso_dates(dates: NDArray[Any]) -> NDArray[Any]:
    """Return dates as ISO 8601 texts, as fine as the finest of them needs."""
    known = dates[~np.isnat(dates)]
    unit = next(unit for unit in _UNITS if (known.astype(f"datetime64[{unit}]") == known).all())
    texts = np.datetime_as_string(dates.astype(f"datetime64[{unit}]"))
    return np.where(np.isnat(dates), "", texts)


def joined_ids(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids of several files as one array: as text where they are of different kinds."""
    if len({part.dtype.kind for part in parts}) == 1:
        return np.concatenate(parts)
    return np.array([text for part in parts for text in as_texts(part)], dtype=object)
