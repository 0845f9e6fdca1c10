"""Reading a table of votes, or one labelling: all batches of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._types import Origin, VoteTable
from ensemblage.tables.choice import Choice
from ensemblage.tables.columns import Codes
from ensemblage.tables.files import File, resolve
from ensemblage.tables.formats import ARRAYS, FileFormatError, OptionError, load
from ensemblage.tables.ids import check_ids_differ
from ensemblage.tables.labels import joined_numbers
from ensemblage.tables.layout import no_rows, open_sources
from ensemblage.tables.paths import path_of
from ensemblage.tables.source import carried_of, types_of
from ensemblage.tables.table import (
    table_of,
)
from ensemblage.tables.text import RereadError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from ensemblage.tables.source import Batch, Source

LAYOUTS = ("wide", "long", "members")


def read(
    sources: Any,
    *,
    format: str | None = None,  # noqa: A002 - what the command calls it too
    columns: Sequence[str] | None = None,
    id_column: str | int | None = "auto",
    truth: str | None = None,
    keep: Collection[str] = (),
    layout: str = "wide",
    header: bool | str = "auto",
    key: str | None = None,
    _hold_names: Any = None,
) -> VoteTable:
    r"""Read votes: a row for each object, a column for each clustering.

    Parameters
    ----------
    sources : str, path-like or list of these
        A file, plain or compressed (gzip, zstd), ``-`` for standard input, a folder, a pattern
        such as ``votes/*.csv``, or a URI that ``pyarrow.fs`` opens (``s3://``, ``gs://``,
        ``file://``). Several are one table, in the order given, and must have the same columns.
        Files of a folder whose names begin with ``.`` or ``_`` are left out.
    format : str, optional
        "csv", "tsv", "parquet", "arrow", "orc", "json", "npy", "npz", "mat" or "xlsx"; by default
        inferred from the name, else from the first bytes, else CSV.
    columns : list of str, optional
        The clusterings, by name or by patterns such as ``leiden_*``; by default all columns but
        the ids, `truth` and those to `keep`. All other columns are ignored.
    id_column : str, int or None, default="auto"
        The column that names the objects, by name or by place counted from 0; None for no such
        column. A text that is the name of one column and the place of another is an error. "auto"
        takes a column called ``id``, ``index``, ``barcode`` or ``row``; the index that pandas
        wrote; one called ``name``, ``object``, ``sample``, ``cell`` or like ``cell_id`` if no two
        of its values are equal; or the first column if no two of its values are equal while every
        other column repeats some. The first rows decide. An id that then occurs twice in a file
        is an error; a column that is named here may have repeated ids. Arrays have none unless it
        is named.
    truth : str, optional
        A column of true labels, which is not a clustering; the result has it in ``extra``.
    keep : list of str, optional
        Columns to pass through, by name or pattern; the result has them in ``kept``.
    layout : {"wide", "long", "members"}, default="wide"
        "wide" has a column for each clustering. "long" has a row for each vote: columns for the
        object, the clustering and the label. "members" has a file for each clustering, each with
        a column of labels; objects are matched by id where all files have ids, else by position.
    header : bool or "auto", default="auto"
        Whether the first row of CSV or TSV holds names. "auto": names stand over numbers, or are
        met nowhere else in their column.
    key : str, optional
        Which array of NPZ or MAT holds the votes; by default ``votes``, ``members``,
        ``labels`` or the only 2-D one.

    Returns
    -------
    VoteTable
        Missing votes (an empty cell, ``NA``, ``NaN``, ``nan``, null, -1) are -1 in columns of
        integers and None in columns of names.

    Raises
    ------
    FileFormatError
        Where the content is not a table of votes; the message names the row and the column.
    OptionError
        Where an option does not apply to the format.
    OSError
        Where a file cannot be opened.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "votes.csv")
    ...     _ = file.write_text("id,first,second\na,1,1\nb,1,2\nc,,2\n")
    ...     table = read(file)
    >>> table.names, table.ids.tolist()
    (['first', 'second'], ['a', 'b', 'c'])
    >>> table.matrix
    array([[ 1,  1],
           [ 1,  2],
           [-1,  2]], dtype=int8)
    """
    if layout not in LAYOUTS:
        raise OptionError(f"Unknown layout {layout!r}. Known: {', '.join(LAYOUTS)}.")
    choice = Choice(columns, id_column, truth, keep, header, whole=True, hold_names=_hold_names)
    choice = choice.checked("read")
    if layout != "wide":
        shape = load(f"shapes.read_{layout}")
        return shape(sources, choice, format, key)
    files = [File(path) for path in resolve(sources)]
    return read_sources(open_sources(files, choice, format=format, key=key))


def read_arrays(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> dict[str, NDArray[Any]]:
    """Read all arrays of an NPY, NPZ or MAT file by their names; that of NPY is ``array``.

    Nothing is unpickled. Parameters and errors are those of `read`.
    """
    file = File(path_of(path))
    chosen = file.format(format)
    if chosen not in ARRAYS:
        raise FileFormatError(
            f"{file.name} is read as {chosen.upper()}, but arrays are in NPY, NPZ or MAT files."
        )
    with file.seekable() as stream:
        arrays: dict[str, NDArray[Any]] = load("arrays.load_arrays")(
            stream, format=chosen, path=file.name
        )
    return arrays


def table_of_arrays(
    arrays: dict[str, NDArray[Any]], *, path: str, key: str | None = None
) -> VoteTable:
    """Return the votes among arrays that were read; see `read` for `key`."""
    source = load("arrays.ArraySource")(File(path), Choice(id_column=None), "", key, arrays)
    return read_sources([source])


# -- all rows ------------------------------------------------------------------------------------


def read_sources(sources: list[Source]) -> VoteTable:
    """Return all rows of sources as one table."""
    while True:
        try:
            return _read_sources(sources)
        except RereadError:
            continue


def _read_sources(sources: list[Source]) -> VoteTable:
    first = sources[0]
    if len(sources) == 1 and first.matrix is not None:
        whole = VoteTable(first.names, first.matrix, None, None, None, dict(first.extra))
        rows = (Origin(first.path, 1, len(first.matrix)),)
        return whole._replace(origin=rows, named=first.named)
    codes = [Codes(name) for name in first.label_names]
    parts: list[list[NDArray[Any]]] = [[] for _ in codes]
    carried: list[tuple[Source, list[Batch]]] = []
    origin = []
    for source in sources:
        source.check_fits()
        n_rows, kept = 0, []
        for batch in source.batches(carried=True, truth=True, threads=2):
            for column, votes in zip(parts, source.votes(batch, codes), strict=True):
                column.append(votes)
            kept.append(batch._replace(columns=[]))
            n_rows += batch.n_rows
        if source.ids_differ:
            check_ids_differ(source.path, source.id_name, [source.ids(batch) for batch in kept])
        carried.append((source, kept))
        origin.append(Origin(source.path, source.n_before + 1, n_rows))
    if not sum(part.n_rows for part in origin):
        raise no_rows(first.path, header=bool(first.n_before))
    columns = [_joined(known, part) for known, part in zip(codes, parts, strict=True)]
    types = types_of(sources)  # those of text are known now
    others = dict(zip(types, carried_of(carried, list(types.values())), strict=True))
    table = table_of(first.names, columns[: len(first.names)])._replace(
        ids=others.get(first.id_name),
        id_name=first.id_name,
        extra=_joined_extra(sources),
        origin=tuple(origin),
        kept={name: others[name] for name in first.kept},
        types=types,
        named=any(source.named for source in sources),
    )
    if first.truth is not None:
        table.extra[first.truth] = columns[-1]
    return table


def _joined(codes: Codes, parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the votes of all batches as one column: names, or integers in the smallest type."""
    if codes.holds_names:
        names = np.array([*codes.labels(), None], dtype=object)
        return np.take(names, np.concatenate(parts))
    return joined_numbers(codes.name, parts)


def _joined_extra(sources: list[Source]) -> dict[str, NDArray[Any]]:
    """Return the labels that came along in every file, in the same kind."""
    extra = {}
    for name in sources[0].extra:
        parts = [source.extra[name] for source in sources if name in source.extra]
        kinds = {part.dtype == object for part in parts}
        if len(parts) == len(sources) and len(kinds) == 1:
            extra[name] = np.concatenate(parts)
    return extra
