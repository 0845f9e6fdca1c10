"""How much memory columns that have types take, by the metadata of their file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ensemblage.tables.files import File

_BYTES_OF_NAME = 16


def bytes_of_vote(kind: Any) -> int:
    """Return about how many bytes a vote of this type takes."""
    return _width(kind) or _BYTES_OF_NAME


def table_bytes(kinds: Iterable[Any], n_rows: int, n_bytes: int) -> int:
    """Return about how many bytes votes or long texts take in memory, with their reading.

    `kinds` are the types of the columns, and `n_bytes` what the file says that its values take.
    """
    return int(max(n_rows * (2 * sum(map(bytes_of_vote, kinds)) + 64), 2 * n_bytes))


def parquet_bytes(file: File, size: int) -> int:
    """Return about how many bytes the votes or long texts of a Parquet file take in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with file.for_arrow() as content, pq.ParquetFile(content) as opened:
            metadata = opened.metadata
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            n_bytes = sum(group.total_byte_size for group in groups)
            return table_bytes(opened.schema_arrow.types, metadata.num_rows, n_bytes)
    except (pa.ArrowException, OSError):  # reading it raises
        return size


def sizes_of_texts(file: Any, groups: list[Any]) -> Counter[str]:
    """Return the uncompressed bytes of each column without a fixed width.

    pyarrow ends the process where it is asked for damaged metadata of a column, but raises an error
    where it reads the column. A row of each is therefore read first.
    """
    names = [field.name for field in file.schema_arrow if _width(field.type) is None]
    places = {file.schema.column(i).path: i for i in range(len(file.schema))}
    names = [name for name in names if name in places]
    sizes: Counter[str] = Counter()
    for i, group in enumerate(groups if names else []):
        if group.num_rows > 0:
            next(file.iter_batches(1, [i], names, use_threads=False), None)
            for name in names:
                sizes[name] += group.column(places[name]).total_uncompressed_size
    return sizes


def _width(kind: Any) -> int | None:
    """Return how many bytes each value of this type takes, if it is always as many."""
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:
        return None
