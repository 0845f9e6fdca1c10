"""Labels on their way out: which files, parts while they are found, whole files in the end.

Parts of what becomes Parquet are Arrow IPC, which is cheap to write and read again. Parts of what
becomes text are text.
"""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.scale._checkpoint import damaged
from ensemblage.tables import (
    TEXT,
    File,
    FileFormatError,
    check_target,
    common_type,
    format_to_write,
    identity,
    is_remote,
    open_mapped,
    packing,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike
    from typing import IO

    from numpy.typing import NDArray

    from ensemblage.tables import Batch, Source

_ROWS_OF_GROUP = 1 << 20
_DECIMALS = 6
ROW = "row"
#: The formats that labels are written in.
WRITTEN = (*TEXT, "parquet")


class Part(NamedTuple):
    """Some rows of the output that are finished, and the number of the first."""

    path: Path
    first_row: int


class Answer:
    """The columns of labels: a value for each microcluster, to be looked up for each object."""

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        self.columns = columns

    def of(self, numbers: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """Return the columns for objects, of which the microclusters are given."""
        return {name: np.take(values, numbers) for name, values in self.columns.items()}


def answer_of(
    labels: dict[str, NDArray[np.int64]], confidence: NDArray[np.float64] | None
) -> Answer:
    """Return the columns to write; labels in the smallest type that holds them."""
    columns: dict[str, NDArray[Any]] = {
        name: values.astype(np.min_scalar_type(int(values.max())))
        for name, values in labels.items()
    }
    if confidence is not None:
        columns["confidence"] = confidence
    return Answer(columns)


class ParquetTarget:
    """Labels as Parquet."""

    def __init__(self, answer: Answer, sources: list[Source]) -> None:
        import pyarrow as pa

        self._answer = answer
        self._names = sources[0].carried_names
        self._has_ids = sources[0].id_name is not None
        kinds = zip(*(source.carried_types() for source in sources), strict=True)
        self._types = [common_type(list(kind)) for kind in kinds]
        rows = [] if self._has_ids else [pa.field(ROW, pa.int64())]
        carried = list(map(pa.field, self._names, self._types))
        labels = [
            pa.field(name, pa.float64() if values.dtype.kind == "f" else pa.int64())
            for name, values in answer.columns.items()
        ]
        n_ids = int(self._has_ids)
        self._schema = pa.schema([*rows, *carried[:n_ids], *labels, *carried[n_ids:]])

    def encode(self, source: Source, batch: Batch, numbers: NDArray[np.int32], row: int) -> Any:
        """Return some rows of a part."""
        import pyarrow as pa

        del row  # counted when parts are put together
        arrays = source.carried_arrays(batch, self._types)
        columns = dict(zip(self._names, arrays, strict=True))
        columns |= {name: pa.array(values) for name, values in self._answer.of(numbers).items()}
        ordered = {name: columns[name] for name in self._schema.names if name in columns}
        return pa.RecordBatch.from_pydict(ordered)

    def write_part(self, stream: IO[bytes], encoded: Iterable[Any]) -> None:
        """Write the rows of a part."""
        import pyarrow as pa

        writer = None
        for batch in encoded:
            if writer is None:
                writer = pa.ipc.new_file(stream, batch.schema)
            writer.write_batch(batch)
        if writer is not None:
            writer.close()

    def assemble(self, stream: IO[bytes], parts: list[Part]) -> None:
        """Write a file from its parts, in row groups of equal size."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        labels = list(self._answer.columns)
        whole = pa.types.is_integer(self._schema.field(0).type)
        encoding = {self._schema.names[0]: "DELTA_BINARY_PACKED"} if whole else None
        with pq.ParquetWriter(
            stream, self._schema, use_dictionary=labels, column_encoding=encoding
        ) as writer:
            for group in _groups(self._batches(parts)):
                writer.write_table(pa.Table.from_batches(group), row_group_size=_ROWS_OF_GROUP)

    def _batches(self, parts: list[Part]) -> Iterator[Any]:
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
                    columns = [
                        column.cast(field.type)
                        for column, field in zip(columns, self._schema, strict=True)
                    ]
                    yield pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _opened(mapped: Any, path: Path) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_file(mapped)
    except pa.ArrowInvalid as error:
        raise damaged(path, error) from error


class TextTarget:
    """Labels as CSV or TSV."""

    def __init__(self, answer: Answer, sources: list[Source], delimiter: str) -> None:
        self._answer = answer
        self._names = sources[0].carried_names
        self._n_ids = int(sources[0].id_name is not None)
        self._delimiter = delimiter

    def encode(self, source: Source, batch: Batch, numbers: NDArray[np.int32], row: int) -> bytes:
        """Return some rows of a part."""
        carried = source.carried_texts(batch)
        ids: Any = carried[0] if self._n_ids else range(row, row + batch.n_rows)
        columns = [
            (np.round(values, _DECIMALS) if values.dtype.kind == "f" else values).tolist()
            for values in self._answer.of(numbers).values()
        ]
        return self._text(zip(ids, *columns, *carried[self._n_ids :], strict=True))

    def write_part(self, stream: IO[bytes], encoded: Iterable[bytes]) -> None:
        """Write the rows of a part."""
        stream.writelines(encoded)

    def assemble(self, stream: IO[bytes], parts: list[Part]) -> None:
        """Write a file from its parts."""
        ids, kept = self._names[: self._n_ids] or [ROW], self._names[self._n_ids :]
        stream.write(self._text([[*ids, *self._answer.columns, *kept]]))
        for part in parts:
            with part.path.open("rb") as rows:
                shutil.copyfileobj(rows, stream, 1 << 20)

    def _text(self, rows: Iterable[Any]) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self._delimiter, lineterminator="\n").writerows(rows)
        return text.getvalue().encode()


def _groups(batches: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield batches together that have the rows of a row group."""
    group: list[Any] = []
    n_rows = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, _ROWS_OF_GROUP - n_rows)
            group.append(part)
            n_rows += part.num_rows
            start += part.num_rows
            if n_rows == _ROWS_OF_GROUP:
                yield group
                group, n_rows = [], 0
    if group:
        yield group


# -- which files -----------------------------------------------------------------------------------


class Target(NamedTuple):
    """A file of labels, and the places of the sources that it is for."""

    path: Path
    format: str
    sources: range


def parts_folder(output: str | PathLike[str]) -> Path:
    """Return the folder beside an output where what is finished is kept."""
    where = Path(output)
    return where.with_name(f"{where.name}.parts")


def targets_of(output: str, files: list[Source], asked: str | None, *, each: bool) -> list[Target]:
    """Return the files of labels to write, checked for whether they can be written."""
    if not each:
        check_target(output)
        chosen = format_to_write(output, None)
        if chosen not in WRITTEN or packing(output) or output == "-":
            raise FileFormatError(
                f"Labels of a stream are written to .parquet, .csv or .tsv files, not to {output}."
            )
        targets = [Target(Path(output), chosen, range(len(files)))]
        _check_inputs(targets, files, "file")
    else:
        folder = Path(output)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise type(error)(f"The folder {folder} cannot be made: {error.strerror}.") from error
        targets = []
        for place, source in enumerate(files):
            chosen = asked or File(source.path).format()
            chosen = chosen if chosen in TEXT else "parquet"
            stem = Path(source.path).with_suffix("") if packing(source.path) else Path(source.path)
            name = stem.with_suffix(f".{chosen}").name
            targets.append(Target(folder / name, chosen, range(place, place + 1)))
        _check_names(targets, files)
    for target in targets:
        check_target(str(target.path))
    return targets


def _check_names(targets: list[Target], files: list[Source]) -> None:
    """Refuse two outputs of one name, and an output that is an input."""
    source_of: dict[Any, str] = {}
    for target, source in zip(targets, files, strict=True):
        file = identity(str(target.path))
        if file in source_of:
            raise FileFormatError(
                f"{source.path} and {source_of[file]} would both get {target.path} as"
                " output. Rename one, or write to one file."
            )
        source_of[file] = source.path
    _check_inputs(targets, files, "folder")


def _check_inputs(targets: list[Target], files: list[Source], other: str) -> None:
    """Refuse an output that would replace an input."""
    inputs = {identity(source.path) for source in files if not is_remote(source.path)}
    for target in targets:
        if identity(str(target.path)) in inputs:
            raise FileFormatError(
                f"The output {target.path} is one of the inputs. Name another {other}."
            )


def first_rows_of(files: list[Source], targets: list[Target]) -> list[int]:
    """Return the number that the first row of each file has in the output."""
    if len(targets) > 1:
        return [0] * len(files)  # each of several files counts its own
    return np.cumsum([0, *(source.n_rows or 0 for source in files[:-1])]).tolist()


def sheet_of(chosen: str, answer: Answer, files: list[Source]) -> ParquetTarget | TextTarget:
    """Return what encodes labels in a format."""
    if chosen == "parquet":
        return ParquetTarget(answer, files)
    return TextTarget(answer, files, "\t" if chosen == "tsv" else ",")
