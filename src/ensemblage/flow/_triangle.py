"""A symmetric matrix of which half is stored, laid out for fast reading of rows.

Entries lie in tiles of 8 × 8, those on and below the diagonal, tile row after tile row. Half of a
row lies in rows of tiles, the other half in columns of tiles, and a tile of sixteen-bit numbers is
two cache lines either way: reading a row touches an eighth of the lines that it would in a plain
triangle, where every entry below the diagonal has a line to itself. Tiles on the diagonal are
stored whole.

n² + 8n bytes for n rows in sixteen bits. Rows from n up to the next multiple of 8 are padding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.flow._jit import kernel

SIDE = 8
_ENTRIES = SIDE * SIDE


def n_entries(n: int) -> int:
    """Return how many numbers the triangle of an n × n matrix takes."""
    n_tiles = -(-n // SIDE)
    return n_tiles * (n_tiles + 1) // 2 * _ENTRIES


def padded(n: int) -> int:
    """Return n, rounded up to whole tiles."""
    return -(-n // SIDE) * SIDE


@kernel
def read_row(values: Any, i: Any, row: Any) -> None:
    """Copy row i of the matrix to `row`, which is as long as the padded matrix."""
    n_tiles = len(row) // SIDE
    tile, inside = i // SIDE, i % SIDE
    at = tile * (tile + 1) // 2 * _ENTRIES + inside * SIDE
    for left in range(0, (tile + 1) * SIDE, SIDE):
        for c in range(SIDE):
            row[left + c] = values[at + c]
        at += _ENTRIES
    for below in range(tile + 1, n_tiles):
        at = (below * (below + 1) // 2 + tile) * _ENTRIES + inside
        for c in range(SIDE):
            row[below * SIDE + c] = values[at + c * SIDE]


@kernel
def write_row(values: Any, i: Any, row: Any) -> None:
    """Write `row` to row i of the matrix, and so to its column i."""
    n_tiles = len(row) // SIDE
    tile, inside = i // SIDE, i % SIDE
    at = tile * (tile + 1) // 2 * _ENTRIES + inside * SIDE
    for left in range(0, (tile + 1) * SIDE, SIDE):
        for c in range(SIDE):
            values[at + c] = row[left + c]
        at += _ENTRIES
    for below in range(tile, n_tiles):  # the tile on the diagonal is whole: its column too
        at = (below * (below + 1) // 2 + tile) * _ENTRIES + inside
        for c in range(SIDE):
            values[at + c * SIDE] = row[below * SIDE + c]


@kernel
def compact(values: Any, kept: Any) -> None:
    """Keep the rows and columns `kept`, in rising order, as the first ones, in place.

    Tiles are written in storage order. The sources of a tile lie in itself or in later ones, so it
    is gathered before it is written, and nothing that is still needed is lost.
    """
    n = len(kept)
    tile = np.zeros(_ENTRIES, dtype=values.dtype)
    at = 0
    for top in range(0, n, SIDE):
        for left in range(0, top + 1, SIDE):
            for r in range(SIDE):
                for c in range(SIDE):
                    if top + r < n and left + c < n:
                        i, j = kept[top + r], kept[left + c]
                        i, j = max(i, j), min(i, j)
                        a, b = i // SIDE, j // SIDE
                        source = (a * (a + 1) // 2 + b) * _ENTRIES
                        tile[r * SIDE + c] = values[source + (i % SIDE) * SIDE + j % SIDE]
            for e in range(_ENTRIES):
                values[at + e] = tile[e]
            at += _ENTRIES


def widen(values: Any, n: int) -> Any:
    """Return the n × n triangle at the start of 16-bit `values` as float32, in the same memory.

    It has to be at most half of the whole. It is converted from the end, so that entries are read
    before they are overwritten.
    """
    wide = values.view(np.float32)
    block = 1 << 20
    for start in reversed(range(0, n_entries(n), block)):
        stop = min(start + block, n_entries(n))
        wide[start:stop] = values[start:stop].copy()
    return wide[: n_entries(n)]
