"""Reading a table of votes, or one labelling, from a file of any known format."""

from __future__ import annotations

import warnings
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage._messages import Message, Parameter
from ensemblage.files._arrays import labels_from_arrays, load_arrays, table_from_arrays
from ensemblage.files._csv import read_csv
from ensemblage.files._errors import FileFormatError, OptionError
from ensemblage.files._formats import ARRAYS, TEXT, called, format_to_read
from ensemblage.files._parquet import read_parquet
from ensemblage.files._separators import KNOWN, suspect
from ensemblage.files._source import opened, seekable
from ensemblage.files._stack import stack_tables
from ensemblage.files._table import Origin, VoteTable, columns_of, n_objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TRUTH_NAMES = ("truth", "gt", "label", "labels", "class")
_SAMPLE = 1000


class Labels(NamedTuple):
    """One labelling: a label for each object, and the ids where the file has them."""

    labels: NDArray[Any]
    ids: NDArray[Any] | None


def read_table(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - what the command calls it too
    id_column: str | int | None = "auto",
    header: bool | str = "auto",
    key: str | None = None,
) -> VoteTable:
    r"""Read votes: a row for each object, a column for each clustering.

    Parameters
    ----------
    path : str or path-like
        A file, plain or gzip, or ``-`` for standard input.
    format : {"csv", "tsv", "parquet", "npy", "npz", "mat"}, optional
        By default told from the name, else from the first bytes, else CSV.
    id_column : str, int or None, default="auto"
        The column that names the objects, by name or by place counted from 0; None for no such
        column. "auto" takes a column called ``id``, ``index``, ``barcode`` or ``row``; the index
        that pandas wrote; one called ``name``, ``object``, ``sample``, ``cell`` or like
        ``cell_id`` if no two of its values are equal; or the first column if no two of its values
        are equal while every other column repeats some. Arrays have none unless it is named.
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
        Where `header` or `key` was given, and the format has no use for it.
    OSError
        Where the file cannot be opened.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "votes.csv")
    ...     _ = file.write_text("id,first,second\na,1,1\nb,1,2\nc,,2\n")
    ...     table = read_table(file)
    >>> table.names, table.ids.tolist()
    (['first', 'second'], ['a', 'b', 'c'])
    >>> table.matrix
    array([[ 1,  1],
           [ 1,  2],
           [-1,  2]], dtype=int8)
    """
    path = fspath(path)
    name = called(path)
    with opened(path) as stream:
        chosen = format_to_read(path, stream.peek(16)[:16], format)
        complain_of_options(chosen, name, header=header, key=key)
        if chosen in TEXT:
            table = read_csv(stream, path=name, format=chosen, header=header, id_column=id_column)
        elif chosen == "parquet":
            table = read_parquet(seekable(stream), path=name, id_column=id_column)
        else:
            arrays = load_arrays(seekable(stream), format=chosen, path=name)
            table = table_from_arrays(arrays, path=name, id_column=id_column, key=key)
    if not table.origin:
        table = table._replace(origin=(Origin(name, 1, n_objects(table)),))
    if chosen in TEXT:
        _warn_of_separator(table, name)
    return table


def read_tables(
    paths: Sequence[str | PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002
    id_column: str | int | None = "auto",
    header: bool | str = "auto",
    key: str | None = None,
) -> VoteTable:
    """Read several files as one table, in the order given.

    Every file must have the columns of the first. Parameters are those of `read_table`; what is
    recognised as ids in the first file is looked for in the others.

    Returns
    -------
    VoteTable
        The rows of all files, one file after another.
    """
    tables: list[VoteTable] = []
    for path in paths:
        asked = tables[0].id_name if tables and id_column == "auto" else id_column
        tables.append(read_table(path, format=format, id_column=asked, header=header, key=key))
    return stack_tables(tables, [called(fspath(path)) for path in paths])


def read_arrays(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> dict[str, NDArray[Any]]:
    """Read all arrays of an NPY, NPZ or MAT file by their names; that of NPY is ``array``.

    Nothing is unpickled. Parameters and errors are those of `read_table`.
    """
    path = fspath(path)
    name = called(path)
    with opened(path) as stream:
        chosen = format_to_read(path, stream.peek(16)[:16], format)
        if chosen not in ARRAYS:
            raise FileFormatError(
                f"{name} is read as {chosen.upper()}, but arrays are in NPY, NPZ or MAT files."
            )
        return load_arrays(seekable(stream), format=chosen, path=name)


def read_labels(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    key: str | None = None,
) -> Labels:
    """Read one labelling: a file with a single column of labels, beside ids or not.

    Parameters
    ----------
    path : str or path-like
        As for `read_table`. Of several columns, one called ``truth``, ``gt``, ``label`` or
        ``class`` is taken; of NPZ and MAT, an array of such a name or the only vector.
    format, key : str, optional
        As for `read_table`.

    Returns
    -------
    Labels
        The labels as integers (-1 missing) or names (None missing), and the ids or None.
    """
    path = fspath(path)
    name = called(path)
    with opened(path) as stream:
        chosen = format_to_read(path, stream.peek(16)[:16], format)
        complain_of_options(chosen, name, header="auto", key=key)
        if chosen in ARRAYS:
            arrays = load_arrays(seekable(stream), format=chosen, path=name)
            return Labels(labels_from_arrays(arrays, path=name, key=key), None)
        if chosen == "parquet":
            table = read_parquet(seekable(stream), path=name, id_column="auto")
        else:
            table = read_csv(stream, path=name, format=chosen, header="auto", id_column="auto")
    columns = dict(zip(table.names, columns_of(table), strict=True))
    known = [label for label in _TRUTH_NAMES if label in columns]
    if len(columns) > 1 and not known:
        raise FileFormatError(
            f"{name} has {len(columns)} columns of labels ({', '.join(table.names[:5])}, ...), and"
            f" none called {', '.join(_TRUTH_NAMES)}. Give a file with one."
        )
    return Labels(columns[known[0] if len(columns) > 1 else table.names[0]], table.ids)


def complain_of_options(chosen: str, path: str, *, header: bool | str, key: str | None) -> None:
    """Refuse what would be ignored without a word."""
    wrong = {
        "key": ("NPZ and MAT", key is not None and chosen not in ("npz", "mat")),
        "header": ("CSV and TSV", header != "auto" and chosen not in TEXT),
    }
    for option, (formats, is_wrong) in wrong.items():
        if is_wrong:
            message = Message(
                "{option} is for {formats}, but {path} is read as {chosen}. Leave it out.",
                option=Parameter(option),
                formats=formats,
                path=path,
                chosen=chosen.upper(),
            )
            raise OptionError(message)


def _warn_of_separator(table: VoteTable, path: str) -> None:
    """Warn of an only column whose names could be rows that were not taken apart."""
    columns = columns_of(table)
    if len(columns) > 1 or table.ids is not None or columns[0].dtype != object:
        return
    found = suspect([name for name in columns[0][:_SAMPLE].tolist() if name is not None])
    if found is not None:
        warnings.warn(
            f"{path} was read as one clustering, and all its names have equally many {found.called}"
            f" in them. If these separate votes, save it in another way. {KNOWN}.",
            UserWarning,
            stacklevel=3,
        )
