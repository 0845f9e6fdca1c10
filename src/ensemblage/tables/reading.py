"""Reading a table of votes, or one labelling: all batches of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import Message, Parameter
from ensemblage._types import Origin, VoteTable
from ensemblage.tables.choice import Choice, check_options
from ensemblage.tables.columns import Codes
from ensemblage.tables.files import File, resolve
from ensemblage.tables.formats import ARRAYS, FileFormatError, OptionError, load
from ensemblage.tables.ids import check_ids_differ
from ensemblage.tables.labels import is_missing, joined_numbers
from ensemblage.tables.layout import no_rows, open_sources
from ensemblage.tables.paths import kind_of, path_of
from ensemblage.tables.source import carried_of, types_of
from ensemblage.tables.table import (
    Labels,
    columns_of,
    in_order,
    n_objects,
    table_of,
    take_column,
    unknown_column,
)
from ensemblage.tables.text import RereadError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from ensemblage.tables.source import Batch, Source

LAYOUTS = ("wide", "long", "members")
_TRUTH_NAMES = ("truth", "gt", "label", "labels", "class")


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
        column. "auto" takes a column called ``id``, ``index``, ``barcode`` or ``row``; the index
        that pandas wrote; one called ``name``, ``object``, ``sample``, ``cell`` or like
        ``cell_id`` if no two of its values are equal; or the first column if no two of its values
        are equal while every other column repeats some. The first rows decide. An id that then
        occurs twice in a file is an error; a column that is named here may have repeated ids.
        Arrays have none unless it is named.
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


def read_labels(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    key: str | None = None,
    header: bool | str = "auto",
    id_column: str | int | None = "auto",
    id_name: str | None = None,
    _hold_names: Any = None,
) -> Labels:
    """Read one labelling: a file with a single column of labels, beside ids or not.

    Parameters
    ----------
    path : str or path-like
        As for `read`, one file. Of several columns, one called ``truth``, ``gt``, ``label`` or
        ``class`` is taken; of NPZ and MAT, an array of such a name or the only vector.
    format, key, header, id_column : optional
        As for `read`.
    id_name : str, optional
        What the ids of the votes are called. With ``id_column="auto"``, a column of that name
        holds the ids, even if some are equal.

    Returns
    -------
    Labels
        The labels as integers (-1 missing) or names (None missing), and the ids or None.
    """
    choice = Choice(id_column=id_column, header=header, whole=True, repeats=True)
    choice = choice.checked("read_labels")._replace(hold_names=_hold_names)
    file = File(path_of(path))
    chosen = file.format(format)
    check_options(chosen, file.name, header=header, key=key)
    if chosen in ARRAYS:
        arrays = read_arrays(path, format=chosen)
        labels = load("arrays.labels_from_arrays")(arrays, path=file.name, key=key)
        return Labels(labels, None)
    (source,) = open_sources([file], choice, format=chosen)
    if id_column == "auto" and source.named and id_name in source.names and len(source.names) > 1:
        (source,) = open_sources([file], choice._replace(id_column=id_name), format=chosen)
    known = [name for name in _TRUTH_NAMES if name in source.names]
    if len(source.names) > 1 and not known:
        raise FileFormatError(
            f"{file.name} has {len(source.names)} columns of labels"
            f" ({', '.join(source.names[:5])}, ...), and none called {', '.join(_TRUTH_NAMES)}."
            " Rename the column of true labels to one of these."
        )
    source.names = known[:1] or source.names
    table = read_sources([source])
    return Labels(columns_of(table)[0], table.ids)


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


def take_truth(table: VoteTable, truth: str) -> tuple[VoteTable, NDArray[Any]]:
    """Return a table without its true labels, and those labels.

    `truth` is a column of the votes, an array of the same file, or another file.
    """
    if truth in table.names or truth in table.extra:
        labels, table = take_column(table, truth)
    else:
        known = [*table.names, *table.extra]
        labels = read_truth(truth, table.ids, table.id_name, n_objects(table), known)
    if is_missing(labels).all():
        message = Message(
            "{truth}: all of these labels are missing, so there is nothing to compare with. Leave"
            " {option} out.",
            truth=Parameter("truth", truth),
            option=Parameter("truth"),
        )
        raise FileFormatError(message)
    return table, labels


def read_truth(
    truth: str, ids: NDArray[Any] | None, id_name: str | None, n: int, known: Sequence[str]
) -> NDArray[Any]:
    """Return the true labels of a file in the order of `n` objects; `known` are the columns."""
    if truth == id_name:
        message = Message(
            "{truth}: that column holds the ids of the objects. If it holds true labels, name"
            " another column with {id_column}, or none.",
            truth=Parameter("truth", truth),
            id_column=Parameter("id_column"),
        )
        raise OptionError(message)
    if not kind_of(truth):
        raise OptionError(
            unknown_column(
                Parameter("truth", truth),
                "there is neither a column nor a file of that name",
                known,
            )
        )
    return in_order(read_labels(truth, id_name=id_name), ids, n, truth)


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
