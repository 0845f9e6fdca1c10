"""Labels on their way out: which files, the parts of them that are finished, and whole files.

Parts are Arrow IPC, whatever the output will be: cheap to write, and to read again.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage._messages import printable_path
from ensemblage.scale._checkpoint import damaged
from ensemblage.tables import (
    ROW,
    TEXT,
    File,
    FileFormatError,
    check_target,
    csv_text,
    format_to_write,
    identity,
    is_remote,
    is_special,
    open_mapped,
    packing,
    rows_of_text,
    texts_of,
    types_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike
    from typing import IO

    from numpy.typing import NDArray

    from ensemblage.tables import Batch, Source

_ROWS_OF_GROUP = 1 << 20
_BYTES_OF_GROUP = 1 << 27  # fewer rows where ids are long
_DECIMALS = 6
#: The formats that labels are written in.
WRITTEN = (*TEXT, "parquet")


class Part(NamedTuple):
    """Some rows of the output that are finished, and the number of the first."""

    path: Path
    first_row: int


class Sheet:
    """Labels of objects as a table: ids or row numbers, the labels, the columns to keep.

    `answer` has the columns of labels, with a value for each microcluster.
    """

    def __init__(self, answer: dict[str, NDArray[Any]], sources: list[Source]) -> None:
        import pyarrow as pa

        self._answer = answer
        self._names = sources[0].carried_names
        n_ids = int(sources[0].id_name is not None)
        self._types = list(types_of(sources).values())
        carried = list(map(pa.field, self._names, self._types))
        labels = [
            pa.field(name, pa.float64() if values.dtype.kind == "f" else pa.int64())
            for name, values in answer.items()
        ]
        self._has_ids = bool(n_ids)
        ids = carried[:n_ids] or [pa.field(ROW, pa.int64())]
        self._schema = pa.schema([*ids, *labels, *carried[n_ids:]])

    def encode(self, source: Source, batch: Batch, numbers: NDArray[np.int32]) -> Any:
        """Return some rows, by the microclusters of their objects; rows are not numbered yet."""
        import pyarrow as pa

        arrays = source.carried_arrays(batch, self._types)
        columns = dict(zip(self._names, arrays, strict=True))
        for name, values in self._answer.items():
            columns[name] = pa.array(np.take(values, numbers))
        ordered = {name: columns[name] for name in self._schema.names if name in columns}
        return pa.RecordBatch.from_pydict(ordered)

    def write_part(self, stream: IO[bytes], encoded: Iterable[Any]) -> None:
        """Write the rows of a part."""
        import pyarrow as pa

        writer = None
        for batch in encoded:
            writer = writer or pa.ipc.new_file(stream, batch.schema)
            writer.write_batch(batch)
        if writer is not None:
            writer.close()

    def assemble(self, stream: IO[bytes], parts: list[Part], chosen: str) -> None:
        """Write a file from its parts."""
        if chosen == "parquet":
            self._write_parquet(stream, parts)
        else:
            self._write_text(stream, parts, "\t" if chosen == "tsv" else ",")

    def _write_parquet(self, stream: IO[bytes], parts: list[Part]) -> None:
        """Write row groups of equal size."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        whole = pa.types.is_integer(self._schema.field(0).type)
        with pq.ParquetWriter(
            stream,
            self._schema,
            use_dictionary=list(self._answer),
            column_encoding={self._schema.names[0]: "DELTA_BINARY_PACKED"} if whole else None,
        ) as writer:
            for group in _groups(self._batches(parts)):
                writer.write_table(pa.Table.from_batches(group), row_group_size=_ROWS_OF_GROUP)

    def _write_text(self, stream: IO[bytes], parts: list[Part], delimiter: str) -> None:
        stream.write(csv_text([self._schema.names], delimiter).encode())
        at_once = rows_of_text(len(self._schema))
        for batch in self._batches(parts):
            for start in range(0, batch.num_rows, at_once):
                part = batch.slice(start, at_once)
                rows = zip(*map(self._cells, part.columns, part.schema.names), strict=True)
                stream.write(csv_text(rows, delimiter).encode())

    def _cells(self, column: Any, name: str) -> list[Any]:
        if name in self._names:
            return texts_of(column, name)
        values = column.to_numpy(zero_copy_only=False)
        values = np.round(values, _DECIMALS) if values.dtype.kind == "f" else values
        return list(values.tolist())

    def _batches(self, parts: list[Part]) -> Iterator[Any]:
        """Yield the rows of parts, numbered where they have no ids, in the types of the output."""
        import pyarrow as pa

        for part in parts:
            row = part.first_row
            with open_mapped(str(part.path)) as mapped, _opened(mapped, part.path) as file:
                for place in range(file.num_record_batches):
                    batch = file.get_batch(place)
                    columns = list(batch.columns)
                    if not self._has_ids:
                        columns.insert(0, pa.array(np.arange(row, row + batch.num_rows)))
                        row += batch.num_rows
                    cast = [c.cast(f.type) for c, f in zip(columns, self._schema, strict=True)]
                    yield pa.RecordBatch.from_arrays(cast, schema=self._schema)


def _opened(mapped: Any, path: Path) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_file(mapped)
    except pa.ArrowInvalid as error:
        raise damaged(path, error) from error


def _groups(batches: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield batches together that have the rows of a row group."""
    group: list[Any] = []
    n_rows = n_bytes = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, _ROWS_OF_GROUP - n_rows)
            group.append(part)
            n_rows += part.num_rows
            n_bytes += part.nbytes
            start += part.num_rows
            if n_rows == _ROWS_OF_GROUP or n_bytes >= _BYTES_OF_GROUP:
                yield group
                group, n_rows, n_bytes = [], 0, 0
    if group:
        yield group


# -- which files -----------------------------------------------------------------------------------


class Target(NamedTuple):
    """A file of labels, and the places of the sources that it is for."""

    path: Path
    format: str
    sources: range


def parts_folder(output: str | PathLike[str]) -> Path:
    """Return the folder beside an output where finished work is kept."""
    where = Path(output)
    if where.name in ("", ".."):  # . and ..: their names are elsewhere
        where = where.resolve()
    if not where.name:
        raise ValueError(f"The output must be a folder with a name, got {where}. Name one in it.")
    return where.with_name(f"{where.name}.parts")


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make a folder; where what follows fails, remove it again, with its parents, if empty."""
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"{error.strerror}. Name another"
            if isinstance(error, FileExistsError):
                reason = "there is a file of that name. Name another, or the file without a slash"
            raise type(error)(f"The folder {folder} cannot be made: {reason}.") from error
        yield
    except BaseException:
        for one in new:
            with suppress(OSError):  # labels or finished work are in it
                one.rmdir()
        raise


def label_file(folder: str, source: str, asked: str | None) -> tuple[Path, str]:
    """Return the file in a folder for the labels of a file of votes, and its format.

    Control characters of the name are escaped, as they are in messages.
    """
    chosen = asked or File(source).format()
    chosen = chosen if chosen in TEXT else "parquet"
    stem = Path(source).with_suffix("") if packing(source) else Path(source)
    return Path(folder, printable_path(stem.with_suffix(f".{chosen}").name)), chosen


def targets_of(output: str, files: list[Source], asked: str | None, *, each: bool) -> list[Target]:
    """Return the files of labels to write, checked for whether they can be written."""
    if not each:
        check_target(output)
        chosen = format_to_write(output, None)
        if chosen not in WRITTEN or packing(output) or output == "-" or is_special(output):
            raise FileFormatError(
                f"Labels of a stream are written to .parquet, .csv or .tsv files, not to {output}."
            )
        targets = [Target(Path(output), chosen, range(len(files)))]
    else:
        targets = []
        for place, source in enumerate(files):
            named = label_file(output, source.path, asked)
            targets.append(Target(*named, range(place, place + 1)))
    _check_apart(targets, files, "folder" if each else "file")
    for target in targets:
        check_target(str(target.path))
    return targets


def _check_apart(targets: list[Target], files: list[Source], other: str) -> None:
    """Raise where two outputs have one name, or an output would replace an input."""
    inputs = {identity(source.path) for source in files if not is_remote(source.path)}
    source_of: dict[Any, str] = {}
    for target in targets:
        path, file = files[target.sources[0]].path, identity(str(target.path))
        if file in source_of:
            raise FileFormatError(
                f"{path} and {source_of[file]} would both get {target.path} as output. Rename one,"
                " or write to one file."
            )
        if file in inputs:
            raise FileFormatError(
                f"The output {target.path} is one of the inputs. Name another {other}."
            )
        source_of[file] = path


def check_outside(targets: list[Target], parts: Path) -> None:
    """Raise where an output is, or is in, the folder of finished work, deleted after the run."""
    for target in targets:
        path = target.path
        found = {identity(str(path)): "is", identity(str(path.parent)): "is in"}
        if (how := found.get(identity(str(parts)))) is not None:
            raise ValueError(
                f"The output {path} {how} the checkpoint folder, which is deleted after the run."
                " Name an output elsewhere."
            )


def first_rows_of(files: list[Source], targets: list[Target]) -> list[int]:
    """Return the number that the first row of each file has in the output."""
    if len(targets) > 1:
        return [0] * len(files)  # each of several files counts its own
    return np.cumsum([0, *(source.n_rows or 0 for source in files[:-1])]).tolist()
