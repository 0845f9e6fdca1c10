"""Dates and times: as texts, and in the unit of other files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.tables.formats import FileFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNITS = ("D", "s", "us", "ns")  # as Python and pandas spell times


def iso_dates(dates: NDArray[Any]) -> NDArray[Any]:
    """Return dates as ISO 8601 texts, each as fine as it needs; "" for NaT.

    No text depends on other dates or on the unit of the type: ids of two files, or of two batches
    of one, could not be matched otherwise.
    """
    texts = np.full(dates.shape, "", dtype=object)
    left = ~np.isnat(dates)
    for unit in _UNITS:
        coarse = dates.astype(f"datetime64[{unit}]")
        same = left & (coarse == dates)
        texts[same] = np.datetime_as_string(coarse[same])
        left &= ~same
        if not left.any():
            break
    return texts


def clock_times(column: Any) -> list[Any]:
    """Return an Arrow column of times of a day as ISO 8601 texts, each as fine as it needs."""
    import pyarrow as pa

    texts = column.cast(pa.string()).to_pylist()
    return [text if text is None else _as_fine_as_needed(text) for text in texts]


def _as_fine_as_needed(text: str) -> str:
    clock, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    if not fraction:
        return clock
    return f"{clock}.{fraction:0<{6 if len(fraction) <= 6 else 9}}"


def values_of(column: Any) -> list[Any]:
    """Return the values of an Arrow column; times of a day as texts, since Python's are coarser."""
    import pyarrow as pa

    return clock_times(column) if pa.types.is_time(column.type) else list(column.to_pylist())


def check_times(whole: NDArray[Any], parts: list[NDArray[Any]]) -> None:
    """Raise where the times of several files overflowed as they were joined, in one unit."""
    start = 0
    for part in parts:
        stop = start + len(part)
        if not np.array_equal(whole[start:stop].astype(part.dtype), part, equal_nan=True):
            raise beyond("A file", np.datetime_data(whole.dtype)[0])
        start = stop


def beyond(where: str, unit: str) -> FileFormatError:
    """Return the error about times of several files that no unit holds."""
    return FileFormatError(
        f"{where} holds times that 64 bits do not hold in the unit {unit} of another file. Save all"
        " files with times of one unit."
    )
