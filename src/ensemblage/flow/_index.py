"""The index of microclusters: rows of votes packed into words, and hashed.

Exact, O(N·M), and *mergeable*: the index of one part of the data and that of the next merge into
the index of the whole. Chunks, threads and machines are three uses of that one property.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.flow import _hashing
from ensemblage.flow._packing import (
    Layout,
    blocks,
    fingerprints,
    fits,
    layout_of,
    offsets_of,
    ranges,
    renumber,
)
from ensemblage.flow._threads import in_threads, n_threads, row_ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray

_ROWS_TO_GUESS_RANGES = 4096
_ROWS_WORTH_A_THREAD = 1 << 16
_MANY_KEYS = 1 << 20
_NO_ROWS = np.zeros(0, dtype=np.int64)


class MicroclusterIndex:
    """The microclusters of the rows seen so far, in order of first appearance.

    Votes are integers of any dtype; columns must not span 2⁶³ or more. However the rows are cut
    into chunks, and whether chunks are added or separate indices merged in order, the result is
    the same.

    Examples
    --------
    >>> import numpy as np
    >>> index = MicroclusterIndex(n_clusterings=2)
    >>> index.add(np.array([[1, 1], [1, 2], [1, 1]]))
    array([0, 1, 0], dtype=int32)
    >>> index.add(np.array([[7, 1], [1, 2]]))
    array([2, 1], dtype=int32)
    >>> table, sizes = index.finish()
    >>> table
    array([[1, 1],
           [1, 2],
           [7, 1]])
    >>> sizes
    array([2, 2, 1])
    >>> index.lookup(np.array([[7, 1], [7, 7]]))
    array([ 2, -1], dtype=int32)
    """

    def __init__(self, n_clusterings: int, room: int = 1024) -> None:
        self.n_clusterings = n_clusterings
        self._n_known: int
        self._known: NDArray[np.uint64]  # the packed rows, by number
        self._sizes: NDArray[np.int64]
        self._slots: NDArray[np.uint64]  # the hash table: fingerprint and number + 1 in turn
        self._spare_bits: np.uint64
        nothing = np.zeros(n_clusterings, dtype=np.int64)
        self._room = room
        self._use_layout(layout_of(nothing, nothing), _NO_ROWS.reshape(0, n_clusterings), _NO_ROWS)

    def __len__(self) -> int:
        return self._n_known

    def add(self, rows: IntArray, *, n_jobs: int | None = None) -> NDArray[np.int32]:
        """Add rows of votes; return the microcluster of each."""
        self._check_width(rows)
        numbers = np.empty(len(rows), dtype=np.int32)
        head = min(len(rows), _ROWS_WORTH_A_THREAD)
        self._add_serially(rows[:head], numbers[:head])
        n_parts = min(n_threads(n_jobs), (len(rows) - head) // _ROWS_WORTH_A_THREAD)
        if n_parts > 1 and self._few_expected(head, len(rows)):
            self._add_in_threads(rows[head:], numbers[head:], n_parts)
        else:
            self._add_serially(rows[head:], numbers[head:])
        return numbers

    def merge(self, other: MicroclusterIndex) -> NDArray[np.int32]:
        """Add the microclusters of the following rows; return their numbers here."""
        return self.add_groups(*other.finish())

    def add_groups(self, table: IntArray, sizes: NDArray[np.int64]) -> NDArray[np.int32]:
        """Add rows of votes that occur ``sizes`` times each; return the microcluster of each."""
        self._check_width(table)
        numbers = np.empty(len(table), dtype=np.int32)
        self._add_serially(table, numbers)
        # Each row of the table was counted once above.
        np.add.at(self._sizes, numbers, sizes - 1)
        return numbers

    def finish(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the votes and the size of each microcluster. The index stays usable."""
        return self._decode(), self.sizes()

    def sizes(self) -> NDArray[np.int64]:
        """Return how many rows each microcluster has."""
        return self._sizes[: self._n_known].copy()

    def lookup(self, rows: IntArray) -> NDArray[np.int32]:
        """Return the microcluster of each row, -1 for a row of votes that was never added."""
        self._check_width(rows)
        numbers = np.empty(len(rows), dtype=np.int32)
        low, high = self._layout.low, self._layout.high
        for start, stop in blocks(rows):
            block, own = rows[start:stop], numbers[start:stop]
            keys, prints = self._pack(block)
            _hashing.look_up(prints, keys, self._slots, self._spare_bits, self._known, own)
            if not fits(block, low, high):
                # A vote out of range may have matched another one.
                wide = block.astype(np.int64)
                own[((wide < low) | (wide > high)).any(axis=1)] = -1
        return numbers

    def codes(self) -> tuple[NDArray[np.int32], list[NDArray[np.int64]]]:
        """Return the votes as codes 0, 1, ... by first appearance, and the label of each code.

        Codes are counted in each clustering; -1, the missing vote, stays -1.
        """
        codes = np.empty((self._n_known, self.n_clusterings), dtype=np.int32)
        labels = []
        for word, column in self._places():
            keys = self._known[: self._n_known, word]
            found, codes[:, column] = renumber(
                keys, self._layout.shift[column], self._layout.bits[column],
                np.uint64((-1 - int(self._layout.low[column])) % 2**64),
            )  # fmt: skip
            labels.append(found.view(np.int64) + self._layout.low[column])
        return codes, labels

    def _check_width(self, rows: IntArray) -> None:
        if rows.ndim != 2 or rows.shape[1] != self.n_clusterings:
            raise ValueError(
                f"rows must have {self.n_clusterings} votes, got an array of shape {rows.shape}"
            )

    # -- the packed representation ------------------------------------------------------------

    def _few_expected(self, n_seen: int, n_rows: int) -> bool:
        """Estimate from repetitions among the first rows whether merging threads' work is faster.

        Among s rows drawn from D equally likely ones, s² / 2D repeat an earlier row.
        """
        repeated = max(n_seen - self._n_known, 1)
        return n_seen**2 / (2 * repeated) < n_rows / 8

    def _add_in_threads(self, rows: IntArray, numbers: NDArray[np.int32], n_parts: int) -> None:
        """Let threads index contiguous parts, then merge in order: same as adding one by one."""
        parts = row_ranges(len(rows), -(-len(rows) // n_parts))
        # As many keys as were seen so far will recur: each index starts with room for them.
        room = len(self._known)
        indices = [self, *(MicroclusterIndex(self.n_clusterings, room) for _ in parts[1:])]

        def build(part: int) -> None:
            span = slice(*parts[part])
            indices[part]._add_serially(rows[span], numbers[span])

        in_threads(build, range(len(parts)), n_parts)
        number_here = [self.merge(index) for index in indices[1:]]

        def number(part: int) -> None:
            span = slice(*parts[part])
            _hashing.take(number_here[part - 1], numbers[span], numbers[span])

        in_threads(number, range(1, len(parts)), n_parts)

    def _add_serially(self, rows: IntArray, numbers: NDArray[np.int32]) -> None:
        if self._n_known == 0 and len(rows):
            self._widen(rows[:_ROWS_TO_GUESS_RANGES])
        for start, stop in blocks(rows):
            if not fits(rows[start:stop], self._layout.low, self._layout.high):
                self._widen(rows[start:])
            keys, prints = self._pack(rows[start:stop])
            self._insert(prints, keys, numbers[start:stop])
        _hashing.count(numbers, self._sizes)

    def _pack(self, rows: IntArray) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return rows as words, and a fingerprint of each: the word itself if there is only one."""
        layout = self._layout
        keys = np.empty((len(rows), layout.n_words), dtype=np.uint64)
        _hashing.pack(rows, layout.shift, layout.base, layout.first_column, keys)
        return keys, fingerprints(keys)

    def _insert(
        self, prints: NDArray[np.uint64], keys: NDArray[np.uint64], numbers: NDArray[np.int32]
    ) -> None:
        done = 0
        while True:
            done, self._n_known = _hashing.insert(
                prints, keys, done, self._slots, self._spare_bits, self._known, self._n_known,
                numbers,
            )  # fmt: skip
            if done == len(keys):
                return
            self._allocate(2 * len(self._known))

    def _allocate(self, capacity: int) -> None:
        """Make room for `capacity` keys. NumPy allocates, because it asks for huge pages."""
        known = np.empty((capacity, self._layout.n_words), dtype=np.uint64)
        sizes = np.zeros(capacity, dtype=np.int64)
        known[: self._n_known] = self._known[: self._n_known]
        sizes[: self._n_known] = self._sizes[: self._n_known]
        self._known, self._sizes = known, sizes
        # At a load of 1/4 most searches end at their first slot; large tables must be smaller.
        slots_per_key = 4 if capacity <= _MANY_KEYS else 2
        slot_bits = (slots_per_key * capacity - 1).bit_length()
        self._spare_bits = np.uint64(64 - slot_bits)
        self._slots = np.zeros(2 << slot_bits, dtype=np.uint64)
        prints = fingerprints(known[: self._n_known])
        _hashing.fill_slots(prints, self._slots, self._spare_bits)

    def _use_layout(
        self, layout: Layout, table: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> None:
        """Start again with `layout` and the microclusters given."""
        self._layout = layout
        self._n_known = len(table)
        self._known, self._sizes = self._pack(table)[0], sizes
        self._allocate(max(self._room, len(table)))

    def _widen(self, rows: IntArray) -> None:
        """Change the layout so that it holds the votes of `rows` as well."""
        low, high = ranges(rows)
        table, sizes = self.finish()
        if len(table):
            low, high = np.minimum(low, self._layout.low), np.maximum(high, self._layout.high)
        self._use_layout(layout_of(low, high), table, sizes)

    def _places(self) -> list[tuple[int, int]]:
        """Return (word, column) for every column."""
        ends = self._layout.first_column
        return [(w, m) for w in range(self._layout.n_words) for m in range(ends[w], ends[w + 1])]

    def _decode(self) -> NDArray[np.int64]:
        table = np.empty((self._n_known, self.n_clusterings), dtype=np.int64)
        for word, column in self._places():
            keys = self._known[: self._n_known, word]
            offsets = offsets_of(keys, self._layout.shift[column], self._layout.bits[column])
            table[:, column] = offsets.view(np.int64) + self._layout.low[column]
        return table
