"""Dates and times: as texts, and in the unit of other files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.tables.formats import FileFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNITS = ("D", "s", "us", "ns")  # as Python and pandas spell times
_LONG = ("W", "D", "h", "m")
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_SECONDS_END = len("2020-01-01T00:00:00")


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


def texts_of_times(column: Any) -> list[Any]:
    """Return an Arrow column of times as texts that do not depend on its unit; None for null.

    Python's own times have no nanoseconds, so they give the whole seconds only.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_time(kind):
        texts = column.cast(pa.string()).to_pylist()
        parts = [("", "") if text is None else text.partition(".")[::2] for text in texts]
        return [clock + _fraction(digits) or None for clock, digits in parts]
    if not is_in_zone(kind) and not pa.types.is_duration(kind):
        return [text or None for text in iso_dates(column.to_numpy(zero_copy_only=False)).tolist()]
    per_second = 10 ** _DIGITS[kind.unit]
    numbers = column.cast(pa.int64()).to_pylist()
    seconds = [None if number is None else number // per_second for number in numbers]
    try:
        whole = pa.array(seconds, _in_seconds(kind)).to_pylist()
    except (ValueError, KeyError, OverflowError) as error:  # an unknown zone, or a far year
        raise pa.ArrowInvalid(f"times of the type {kind} without a text: {error}") from error
    fractions = (f"{(number or 0) % per_second:0{_DIGITS[kind.unit]}}" for number in numbers)
    pairs = zip(whole, map(_fraction, fractions), strict=True)
    return [None if time is None else _with_fraction(time, fraction) for time, fraction in pairs]


def texts_of_lengths(lengths: NDArray[Any]) -> NDArray[Any]:
    """Return lengths of time as texts that do not depend on the unit of their type; "" for NaT."""
    import pyarrow as pa

    unit = np.datetime_data(lengths.dtype)[0]
    if unit in _LONG:
        lengths = lengths.astype("timedelta64[s]")
    elif unit not in _DIGITS:  # months have no fixed length, and Arrow has no shorter units
        return np.array(["" if np.isnat(one) else str(one) for one in lengths], dtype=object)
    return np.array([text or "" for text in texts_of_times(pa.array(lengths))], dtype=object)


def has_times(kind: Any) -> bool:
    """Return whether an Arrow type is of dates, times or lengths of time; not of months."""
    import pyarrow as pa

    return bool(pa.types.is_temporal(kind)) and not pa.types.is_interval(kind)


def is_in_zone(kind: Any) -> bool:
    """Return whether an Arrow type is of times that have a time zone."""
    import pyarrow as pa

    return bool(pa.types.is_timestamp(kind)) and kind.tz is not None


def _in_seconds(kind: Any) -> Any:
    import pyarrow as pa

    return pa.timestamp("s", kind.tz) if is_in_zone(kind) else pa.duration("s")


def _with_fraction(time: Any, fraction: str) -> str:
    """Return a time, or a length of time, of Python as text, with a fraction of its seconds."""
    if not hasattr(time, "isoformat"):
        return f"{time}{fraction}"
    text = time.isoformat()
    return f"{text[:_SECONDS_END]}{fraction}{text[_SECONDS_END:]}"


def _fraction(digits: str) -> str:
    """Return a point and digits as Python and pandas write them: none, six or nine."""
    digits = digits.rstrip("0")
    return f".{digits:0<{6 if len(digits) <= 6 else 9}}" if digits else ""


def values_of(column: Any) -> list[Any]:
    """Return the values of an Arrow column, times as texts."""
    if has_times(column.type):
        return texts_of_times(column)
    return list(column.to_pylist())


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
