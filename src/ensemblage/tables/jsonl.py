"""JSON lines, all at once."""

from __future__ import annotations

import re
from contextlib import closing, contextmanager
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate import check_memory
from ensemblage.tables.arrow import ArrowSource
from ensemblage.tables.feed import Feed
from ensemblage.tables.formats import FileFormatError
from ensemblage.tables.labels import LARGEST_WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from ensemblage.tables.files import File
    from ensemblage.tables.layout import Choice

_LONGEST_ROW = 1 << 24
_MIXED = re.compile(r"Column\(/(.*?)\) changed from (\w+) to (\w+)")


class JsonSource(ArrowSource):
    """JSON lines: an object in braces on each line, a field for each column."""

    called = "JSON lines"

    def __init__(self, file: File, choice: Choice, chosen: str = "") -> None:
        super().__init__(file, choice, chosen)
        for name in self.carried_names:
            self._check_whole(name)

    def _look(self) -> Any:
        import pyarrow as pa

        self._table: Any = self._parsed(None)
        # Only texts are taken for times, and texts stay as they are.
        fields = self._table.schema
        times = [(f.name, pa.string()) for f in fields if pa.types.is_timestamp(f.type)]
        if times:
            self._table = None
            # Fields whose types are given would come first.
            self._table = self._parsed(pa.schema(times)).select(fields.names)
        self._ends = [0, self._table.num_rows]
        return self._table.schema

    def _parsed(self, schema: Any) -> Any:
        """Return the file as a table; `schema` has types that are not to be inferred."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        parse = arrow_json.ParseOptions(explicit_schema=schema)
        reading = arrow_json.ReadOptions(block_size=_LONGEST_ROW)
        with self.file.opened() as stream, closing(Feed(_parts(stream, self.path))) as feed:
            try:
                return arrow_json.read_json(feed.file(), reading, parse)
            except pa.ArrowInvalid as error:
                raise _explained(self.path, str(error)) or error from None

    def _check_different(self) -> None:
        self._check_whole(self.id_name)  # rounded ids may be equal
        super()._check_different()

    def _check_whole(self, name: Any) -> None:
        """Raise where a column has numbers too large for integers, which became rounded floats."""
        import pyarrow as pa

        if not pa.types.is_floating(self._type(name)):
            return
        numbers = self._table.column(name).to_numpy()
        large = numbers[np.abs(numbers) >= LARGEST_WHOLE]
        if len(large):
            raise FileFormatError(
                f"{self.place(name)}: {large[0]:g} is too large for a number: some of its digits"
                " would be lost. Write these values as text, in quotation marks."
            )

    @contextmanager
    def _parts_of(self, columns: list[str], threads: int) -> Iterator[Callable[[int], Any]]:  # noqa: ARG002
        yield lambda _: self._table.select(columns).combine_chunks().to_batches()[0]


def _parts(stream: IO[bytes], path: str) -> Generator[bytes]:
    n_bytes = 0
    while part := stream.read(_LONGEST_ROW):
        n_bytes += len(part)
        # The text of the last parts, and all values.
        check_memory(2 * n_bytes, f"The rows of {path}", "Save them as Parquet or CSV instead.")
        yield part


def _explained(path: str, reason: str) -> FileFormatError | None:
    """Return what is wrong with a file that is JSON, or None where it is damaged."""
    if mixed := _MIXED.search(reason):
        name, one, other = mixed.groups()
        return FileFormatError(
            f"{path}, column {name!r} holds values of the types {one} and {other}, and a column"
            " has one type. Write all of its values with quotation marks, or all without."
        )
    if "from object to array" in reason and "Column()" in reason:
        return FileFormatError(
            f"{path} holds a JSON array, but JSON lines have one object on each line, without"
            " brackets and commas. Write it so, for example with: jq -c '.[]'."
        )
    if "straddl" in reason:
        return FileFormatError(
            f"{path} has a row that is longer than {_LONGEST_ROW >> 20} MB. A row is one object on"
            " one line: end each row by a line break, and leave out other fields."
        )
    return None
