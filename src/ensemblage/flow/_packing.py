"""Rows of votes packed into 64-bit words, and unpacked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage.flow import _hashing
from ensemblage.flow._threads import row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray

_BYTES_PER_BLOCK = 1 << 20  # a block's votes stay in the cache between its passes
_ROWS_SIDE_BY_SIDE = 64
_DENSE_BITS = 22


class Layout(NamedTuple):
    """Positions of each column's votes inside the packed words of a row."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    bits: NDArray[np.uint64]
    shift: NDArray[np.uint64]
    first_column: NDArray[np.int64]
    base: NDArray[np.uint64]

    @property
    def n_words(self) -> int:
        return len(self.base)


def layout_of(low: NDArray[np.int64], high: NDArray[np.int64]) -> Layout:
    """Return the layout of fewest words that holds votes from `low` to `high`, column by column."""
    bits = [(int(top) - int(bottom)).bit_length() for bottom, top in zip(low, high, strict=True)]
    if max(bits, default=0) > 63:
        raise OverflowError("the votes of a clustering span 2**63 or more")
    shift, first_column, base, used = [], [0], [0], 0
    for column, width in enumerate(bits):
        if used + width > 64:
            first_column.append(column)
            base.append(0)
            used = 0
        shift.append(used % 64)  # a column without bits may follow a full word
        base[-1] += int(low[column]) << shift[-1]
        used += width
    return Layout(
        low,
        high,
        np.array(bits, dtype=np.uint64),
        np.array(shift, dtype=np.uint64),
        np.array([*first_column, len(bits)], dtype=np.int64),
        np.array([word % 2**64 for word in base], dtype=np.uint64),
    )


def blocks(rows: IntArray) -> list[tuple[int, int]]:
    return row_ranges(len(rows), 1 + _BYTES_PER_BLOCK // (rows.itemsize * rows.shape[1]))


def _reduce_rows(reduce: np.ufunc, rows: IntArray) -> IntArray:
    """Return ``reduce.reduce(rows, axis=0)``, fast for many short rows.

    Short rows side by side are one long row, which NumPy reduces with vectors.
    """
    whole = len(rows) // _ROWS_SIDE_BY_SIDE * _ROWS_SIDE_BY_SIDE
    if rows.flags.c_contiguous and whole:
        wide = rows[:whole].reshape(-1, _ROWS_SIDE_BY_SIDE * rows.shape[1])
        reduced = reduce.reduce(wide, axis=0).reshape(_ROWS_SIDE_BY_SIDE, -1)
        rows = np.vstack([reduced, rows[whole:]])
    result: IntArray = reduce.reduce(rows, axis=0)
    return result


def ranges(rows: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest vote of each column (0 if that is lower still) and the highest.

    Starting at 0 costs a bit of the key at most, and lets `_fits` check one end only.
    """
    low = _reduce_rows(np.minimum, rows).astype(np.int64)
    high = _reduce_rows(np.maximum, rows).astype(np.int64)
    return np.where(low > high // 2, low, np.minimum(low, 0)), high


def fits(rows: IntArray, low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    """Tell whether every vote lies between `low` and `high`."""
    if not low.any():
        # As unsigned numbers, negative votes are the highest of all: above the range of these rows'
        # dtype, though maybe not above that of a wider one.
        unsigned = rows.view(rows.dtype.str.replace("i", "u"))
        most = np.minimum(high.astype(np.uint64), np.uint64(np.iinfo(rows.dtype).max))
        return bool((_reduce_rows(np.maximum, unsigned) <= most).all())
    lowest, highest = _reduce_rows(np.minimum, rows), _reduce_rows(np.maximum, rows)
    return bool((lowest >= low).all() and (highest <= high).all())


def fingerprints(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    if keys.shape[1] == 1:
        return keys[:, 0]
    prints = np.empty(len(keys), dtype=np.uint64)
    _hashing.fingerprints(keys, prints)
    return prints


def offsets_of(keys: NDArray[np.uint64], shift: np.uint64, bits: np.uint64) -> NDArray[np.uint64]:
    return (keys >> shift) & ((np.uint64(1) << bits) - np.uint64(1))


def renumber(
    keys: NDArray[np.uint64], shift: np.uint64, bits: np.uint64, missing: np.uint64
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return a column's distinct offsets in order of appearance, and its codes."""
    by_table = bits <= _DENSE_BITS
    return (_renumber_dense if by_table else _renumber_sorted)(keys, shift, bits, missing)


def _renumber_dense(
    keys: NDArray[np.uint64], shift: np.uint64, bits: np.uint64, missing: np.uint64
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Do that with a table of all offsets."""
    code_of = np.full(1 << int(bits), -1, dtype=np.int32)
    codes = np.empty(len(keys), dtype=np.int32)
    n_codes = _hashing.renumber(keys, shift, bits, missing, code_of, codes)
    offsets = np.empty(n_codes, dtype=np.uint64)
    seen = np.flatnonzero(code_of >= 0)
    offsets[code_of[seen]] = seen
    return offsets, codes


def _renumber_sorted(
    keys: NDArray[np.uint64], shift: np.uint64, bits: np.uint64, missing: np.uint64
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Do that by sorting, for columns whose range is too wide for a table."""
    values, first, inverse = np.unique(
        offsets_of(keys, shift, bits), return_index=True, return_inverse=True
    )
    voted = values != missing
    order = np.argsort(np.where(voted, first, len(keys)), kind="stable")[: voted.sum()]
    code_of = np.full(len(values), -1, dtype=np.int32)
    code_of[order] = np.arange(len(order), dtype=np.int32)
    return values[order], code_of[inverse]
