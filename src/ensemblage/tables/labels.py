"""What a vote is: missing, a whole number or a name. THE rule for every format and engine.

None, null, NaN and -1 are missing, floats must be whole numbers, and text is a name. In text files
an empty cell, ``NA``, ``NaN`` and ``nan`` are missing too, and a column in which at least half of
the votes are whole numbers must hold nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage._messages import Message
from ensemblage.flow.codes import MISSING, whole_numbers
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.stored import as_numbers_or_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from ensemblage._types import IntArray

#: From here on neighbouring floats are equal.
LARGEST_WHOLE = 2.0**53
#: Cells of text files that mean "no vote".
NO_VOTE = ("", "NA", "NaN", "nan")
NUMBERS, NAMES = "numbers", "names"
FEATURES = (
    "Numbers with a fraction are measurements, not cluster labels: features belong to the command"
    " ensemblage generate, or to ensemblage.EnsembleClustering, which make the votes."
)
_WHOLE = re.compile(r"[+-]?[0-9]+(\.0*)?")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INT64 = np.iinfo(np.int64)
_UNSIGNED = [np.dtype(name) for name in ("uint8", "uint16", "uint32", "uint64")]
_SIGNED = [np.dtype(name) for name in ("int8", "int16", "int32", "int64")]
_TEXTS = ("string", "large_string", "string_view")


# -- cells of text ---------------------------------------------------------------------------------


class Kind(Enum):
    """The four things a cell can be."""

    MISSING = auto()
    WHOLE = auto()
    FRACTION = auto()
    NAME = auto()


class Cell(NamedTuple):
    """A cell and what it was understood as; the value of a missing vote is -1."""

    kind: Kind
    value: int | float | str


@lru_cache(maxsize=1 << 16)
def understand(text: str) -> Cell:
    """Return what a cell of a text file means."""
    text = text.strip()
    if text in NO_VOTE:
        return Cell(Kind.MISSING, MISSING)
    if _WHOLE.fullmatch(text):
        number = _int64(text)
        if number is None:
            return Cell(Kind.NAME, text)
        return Cell(Kind.MISSING if number == MISSING else Kind.WHOLE, number)
    if _NUMBER.fullmatch(text):
        value = float(text)
        if not value.is_integer() or abs(value) >= LARGEST_WHOLE:
            return Cell(Kind.FRACTION, value)
        return Cell(Kind.MISSING if value == MISSING else Kind.WHOLE, int(value))
    return Cell(Kind.NAME, text)


def is_empty(text: str) -> bool:
    """Return whether a cell is empty, NA, NaN or nan."""
    return text.strip() in NO_VOTE


def count_kinds(texts: Iterable[str], counts: Iterable[int]) -> Counter[Kind]:
    """Return how many cells are of each kind, from distinct cells and how often each occurs."""
    kinds: Counter[Kind] = Counter()
    for text, count in zip(texts, counts, strict=True):
        kinds[understand(text).kind] += count
    return kinds


def distinct(column: Any) -> tuple[list[str], list[int]]:
    """Return the different cells of an Arrow column of text, and how often each occurs."""
    if not hasattr(column, "dictionary"):
        column = column.dictionary_encode()
    texts = column.dictionary.to_pylist()
    return texts, np.bincount(column.indices.to_numpy(), minlength=len(texts)).tolist()


def mostly(kinds: Counter[Kind]) -> str:
    """Return what a column of text holds: names where these are more than half, else numbers."""
    return NAMES if kinds[Kind.NAME] > kinds[Kind.WHOLE] + kinds[Kind.FRACTION] else NUMBERS


def cell_votes(
    texts: Sequence[str], kind: str, codes: Callable[[list[Any]], IntArray]
) -> IntArray | None:
    """Return an integer for each of some cells; None where one is not a label of this kind.

    A number in a column of names is a name, as it is written.
    """
    cells = [understand(text) for text in texts]
    if kind == NAMES:
        named = zip(cells, texts, strict=True)
        return codes([None if cell.kind is Kind.MISSING else text.strip() for cell, text in named])
    if any(cell.kind in (Kind.NAME, Kind.FRACTION) for cell in cells):
        return None
    return np.array([cell.value for cell in cells], dtype=np.int64)


def _int64(text: str) -> int | None:
    """Return the whole number that a text spells, or None where 64 bits do not hold it."""
    digits = text.lstrip("+-").partition(".")[0].lstrip("0") or "0"
    if len(digits) > 19:  # also because int() refuses very long texts
        return None
    number = -int(digits) if text.startswith("-") else int(digits)
    return number if _INT64.min <= number <= _INT64.max else None


def bad_cell(
    text: str, kinds: Counter[Kind], where: str, hint: str | None = None
) -> FileFormatError:
    """Return the error about a cell that is not a label of its column."""
    text, voted = text.strip(), sum(kinds.values()) - kinds[Kind.MISSING]
    number, whole = _NUMBER.fullmatch(text), _WHOLE.fullmatch(text)
    if number and (whole or abs(float(text)) >= LARGEST_WHOLE):
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        limit = f"numbers go up to {_INT64.max} (64 bits)"
        if not whole:
            limit = f"numbers with a fraction or an exponent stay below {LARGEST_WHOLE:.0f}"
        return FileFormatError(
            f"{where}: {shown} is too large for a label: {limit}. Number the clusters from 0, or"
            " give them names."
        )
    if kinds[Kind.FRACTION] > kinds[Kind.WHOLE]:
        error = (
            f"{where}: {text} is not a cluster label, and {kinds[Kind.FRACTION]} of {voted} values"
            f" in this column are not whole numbers. {FEATURES}"
        )
    else:
        error = (
            f"{where}: {text!r} is not a whole number, but {kinds[Kind.WHOLE]} of {voted} labels in"
            " this column are. Correct the cell, or leave it empty if the vote is missing."
        )
    return FileFormatError(
        error if hint is None else Message("{error} {hint}", error=error, hint=hint)
    )


# -- values ----------------------------------------------------------------------------------------


def as_votes(values: NDArray[Any], place: Callable[[tuple[int, ...]], str]) -> NDArray[Any]:
    """Return an array as votes: integers (-1 missing) in the smallest type, or str objects.

    `place` returns where an index lies, such as ``votes.npy, row 3, column 1``.
    """
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(np.uint8)
    if kind in "iu":
        return smallest(values)
    if kind == "f":
        whole = whole_numbers(values)
        if whole is None:
            raise _bad_number(values, place)
        return smallest(whole)
    start = (0,) * values.ndim
    if kind in "US":
        try:
            return (values if kind == "U" else np.char.decode(values, "utf-8")).astype(object)
        except (UnicodeDecodeError, SystemError) as error:  # NumPy checks no code point
            raise FileFormatError(
                f"{place(start)} and on: these names are not valid Unicode text. Save them again"
                " as UTF-8, or number the clusters."
            ) from error
    raise _bad_type(place(start), values.dtype)


def _bad_type(where: str, kind: Any) -> FileFormatError:
    return FileFormatError(
        f"{where}: values of type {kind} are not cluster labels. Votes are whole numbers or names:"
        " save it so, or leave the column out."
    )


def _bad_number(
    values: NDArray[np.floating[Any]], place: Callable[[tuple[int, ...]], str]
) -> FileFormatError:
    """Return the error about the first float that is not a whole number."""
    wrong = (np.floor(values) != values) & ~np.isnan(values) | (np.abs(values) > LARGEST_WHOLE)
    index = np.unravel_index(int(wrong.argmax()), wrong.shape)
    number = float(values[index])
    reason = FEATURES
    if np.isinf(number):
        reason = "An empty cell or NaN means no vote."
    elif number.is_integer():
        reason = "Floats beyond 2**53 do not tell neighbours apart: save these as integers."
    where = place(tuple(map(int, index)))
    return FileFormatError(f"{where}: {number:g} is not a cluster label. {reason}")


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell where a column of votes, or of labels, has none."""
    missing: NDArray[np.bool_] = column == (None if column.dtype == object else MISSING)
    return missing


def smallest(values: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Return the same integers in the smallest type, unsigned where it can be."""
    return values.astype(smallest_type([values]), copy=False)


def smallest_type(arrays: list[NDArray[np.integer[Any]]]) -> np.dtype[Any] | None:
    """Return the smallest type that holds all these integers; None where not even int64 does."""
    low = min((int(array.min()) for array in arrays if array.size), default=0)
    high = max((int(array.max()) for array in arrays if array.size), default=0)
    types = _UNSIGNED if low >= 0 else _SIGNED
    return next((t for t in types if np.iinfo(t).min <= low and high <= np.iinfo(t).max), None)


def joined_numbers(name: Any, parts: list[NDArray[np.integer[Any]]]) -> NDArray[np.integer[Any]]:
    """Return parts of a column as one, in the smallest type that holds all of them."""
    common = smallest_type(parts)
    if common is None:
        raise FileFormatError(
            f"Column {name!r} holds numbers above {_INT64.max} in one of the files, and missing"
            " votes or negative numbers in another: no 64-bit integer holds both. Number the"
            " clusters from 0."
        )
    return np.concatenate(parts, dtype=common, casting="unsafe")


def with_missing(values: IntArray, missing: NDArray[np.bool_], where: str) -> IntArray:
    """Return integers with -1 where a vote is missing, in the smallest type that has room."""
    if missing.any():
        largest = int(values[~missing].max(initial=0))
        if largest > _INT64.max:
            raise _no_room(largest, where)
        values = values.astype(np.int64)
        values[missing] = MISSING
    return smallest(values)


# -- columns of Arrow ------------------------------------------------------------------------------


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is one of the types of text."""
    return str(kind) in _TEXTS


def arrow_votes(
    column: Any, codes: Callable[[list[Any]], IntArray], where: str, first: int = 0
) -> tuple[IntArray, str]:
    """Return an Arrow column as integers, -1 for a missing vote, and which kind it holds.

    `codes` returns the codes of names. Messages name `where`; its first value is in row `first`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    given, column = column.type, as_numbers_or_text(column)
    kind = column.type
    if pa.types.is_dictionary(kind):
        values, called = arrow_votes(column.dictionary, codes, where, first)
        bounds = pc.min_max(column.indices).as_py()
        if bounds["min"] is not None and not 0 <= bounds["min"] <= bounds["max"] < len(values):
            raise FileFormatError(
                f"{where} cannot be read (codes up to {bounds['max']} of {len(values)} names). Make"
                " or fetch the file again."
            )
        return take(values, column.indices, where), called
    if pa.types.is_null(kind):
        return np.full(len(column), MISSING, dtype=np.int8), NUMBERS
    if is_text(kind):
        if str(kind) == "string_view":
            column = column.cast(pa.large_string())
        encoded = column.dictionary_encode()
        return take(codes(encoded.dictionary.to_pylist()), encoded.indices, where), NAMES
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    if pa.types.is_integer(column.type):
        return _integers(column, where), NUMBERS
    if pa.types.is_floating(kind):
        values = column.to_numpy(zero_copy_only=False)
        return as_votes(values, lambda index: f"{where}, row {first + index[0] + 1}"), NUMBERS
    raise _bad_type(where, given)


def _integers(column: Any, where: str) -> IntArray:
    """Return integers as numpy's, a null as -1 in a type that has room for it."""
    if column.null_count:
        import pyarrow as pa
        import pyarrow.compute as pc

        largest = pc.max(column).as_py()
        if largest is not None and largest > _INT64.max:
            raise _no_room(largest, where)
        column = column.cast(pa.int64()).fill_null(MISSING)
    values: IntArray = column.to_numpy(zero_copy_only=False)
    return values


def _no_room(largest: int, where: str) -> FileFormatError:
    return FileFormatError(
        f"{where}: {largest} and missing votes are in one column, and no 64-bit integer type holds"
        f" both; labels go up to {_INT64.max} there. Number the clusters from 0."
    )


def take(values: IntArray, indices: Any, where: str) -> IntArray:
    """Return the values of a dictionary at Arrow's indices; a null index is a missing vote."""
    import pyarrow as pa

    if not len(values):
        return np.full(len(indices), MISSING, dtype=np.int8)
    if indices.null_count:
        largest = int(values.max())
        if largest > _INT64.max:
            raise _no_room(largest, where)
        values = np.append(values.astype(np.int64), MISSING)
    if values.dtype.itemsize == 8 and np.can_cast(smallest_type([values]) or np.int64, np.int32):
        values = values.astype(np.int32)
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(len(values) - 1)
    taken: IntArray = np.take(values, indices.to_numpy(zero_copy_only=False))
    return taken
