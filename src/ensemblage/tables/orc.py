"""ORC files, by stripes."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage._validate import check_memory
from ensemblage.tables.arrow import ArrowSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_COPIES = 3  # of names, while a stripe is decoded
_BYTES_OF_VALUE = 8
#: Numbers of fields in the footer: those of a file, a stripe, a column and its texts or bytes.
_FOOTER, _STRIPES, _STATISTICS, _N_ROWS = 2, 3, 7, 5
_TOTALS = {4: 3, 8: 1}


class OrcSource(ArrowSource):
    """An ORC file, by stripes."""

    called, called_part = "ORC", "stripe"

    def _look(self) -> Any:
        import pyarrow as pa
        from pyarrow import orc

        with self.file.for_arrow() as content:
            file = orc.ORCFile(content)
            schema, n_rows, tail = file.schema, file.nrows, file.reader.serialized_file_tail()
        sizes = _sizes(tail)
        if sum(sizes.n_rows) != n_rows:
            raise pa.ArrowInvalid(f"{sum(sizes.n_rows)} rows in stripes where {n_rows} are listed")
        self._ends = [0, *accumulate(sizes.n_rows)]
        self._claimed = _COPIES * sizes.n_bytes + _BYTES_OF_VALUE * n_rows * len(schema.names)
        largest = self._claimed * max(sizes.n_rows, default=0) // max(1, n_rows)
        check_memory(largest, f"A stripe of {self.path}", "Save the file with shorter names.")
        return schema

    @contextmanager
    def _parts_of(self, columns: list[str], threads: int) -> Iterator[Callable[[int], Any]]:  # noqa: ARG002
        from pyarrow import orc

        with self.file.for_arrow() as content:
            file = orc.ORCFile(content)
            yield lambda place: file.read_stripe(place, columns)


class _Sizes(NamedTuple):
    """The rows of each stripe, and the bytes of all texts when they are decoded."""

    n_rows: list[int]
    n_bytes: int


def _sizes(tail: bytes) -> _Sizes:
    """Return the sizes that the end of a file states. pyarrow gives the end, not what is in it."""
    import pyarrow as pa

    n_rows, n_bytes = [], 0
    try:
        for footer in _all(tail, _FOOTER):
            n_rows += [_all(stripe, _N_ROWS)[0] for stripe in _all(footer, _STRIPES)]
            for column in _all(footer, _STATISTICS):
                for kind, total in _TOTALS.items():
                    # Signed numbers are in zigzag: 0, -1, 1, -2, ...
                    n_bytes += sum(n >> 1 for s in _all(column, kind) for n in _all(s, total))
        sum(n_rows)  # all are numbers
    except (IndexError, TypeError) as error:
        raise pa.ArrowInvalid(f"a footer that makes no sense: {error}") from error
    return _Sizes(n_rows, n_bytes)


def _all(message: bytes, wanted: int) -> list[Any]:
    """Return the values of a field of a protobuf message: numbers, or bytes."""
    found: list[Any] = []
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        if key & 7 == 0:
            value, place = _varint(message, place)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, place = _varint(message, place)
            value, place = message[place : place + size], place + size
        if key >> 3 == wanted:
            found.append(value)
    return found


def _varint(message: bytes, place: int) -> tuple[Any, int]:
    number = shift = 0
    while True:
        byte = message[place]
        number |= (byte & 127) << shift
        shift, place = shift + 7, place + 1
        if byte < 128:
            return number, place
