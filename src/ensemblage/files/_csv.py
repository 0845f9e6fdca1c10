"""Votes in text: CSV and TSV, one parser for all of them.

Rows are split by the csv module, in blocks that stay in the processor's cache. A column keeps its
distinct cells and a code for each row, so that each distinct label is understood once, and the
complaint about a bad cell can still quote it.
"""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate import check_memory
from ensemblage.files._cells import Kind, column_of_votes, mostly
from ensemblage.files._column import Column
from ensemblage.files._errors import FileFormatError
from ensemblage.files._layout import find_id, has_header
from ensemblage.files._rows import split_rows
from ensemblage.files._separators import KNOWN, suspect
from ensemblage.files._table import Origin, VoteTable, table_of
from ensemblage.files._values import FEATURES

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from numpy.typing import NDArray

_BLOCK = 4096
_BLOCKS_TO_A_CHECK = 64
_SAMPLE = 1000  # rows that are looked at for separators that are not known


def read_csv(
    stream: io.BufferedReader,
    *,
    path: str,
    format: str,  # noqa: A002 - the word of the public function
    header: bool | str,
    id_column: str | int | None,
) -> VoteTable:
    """Return the votes of a text file. See `ensemblage.files.read_table` for what is recognised."""
    with closing(split_rows(stream, path, preferred="\t" if format == "tsv" else ",")) as rows:
        first = checked_first(next(rows, None), path)
        columns = [Column() for _ in first]
        _read_body(rows, columns, path)

    names, named = name_columns(first, columns, path, header=header)
    if columns[0].n_rows == 0:
        raise FileFormatError(
            f"{path} has a header and no rows. If its only row holds votes, say that it has no"
            " header."
        )
    return _assemble(names, columns, id_column, path, named=named)


def name_columns(
    first: list[str], columns: list[Column], path: str, *, header: bool | str
) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the first row has them; else it joins them."""
    named = _decide_header(first, columns, path, header=header)
    if named:
        names = [cell.strip() or f"c{place}" for place, cell in enumerate(first, 1)]
        names[0] = first[0].strip()
        complain_of_names(names, path)
    else:
        names = [f"c{place}" for place in range(1, len(first) + 1)]
        for column, cell in zip(columns, first, strict=True):
            column.prepend(cell)
    if len(columns) == 1:
        _complain_of_separator(columns[0], first, path)
    return names, named


def _read_body(rows: Iterator[list[str]], columns: list[Column], path: str) -> None:
    """Read all rows but the first into the columns."""
    done = 1
    while block := list(islice(rows, _BLOCK)):
        if set(map(len, block)) != {len(columns)}:
            block = [whole_row(row, len(columns), done + i, path) for i, row in enumerate(block, 1)]
        for column, cells in zip(columns, zip(*block, strict=True), strict=True):
            column.add(cells)
        if done == 1 and len(block) == _BLOCK:
            _complain_of_features(columns, path)
        done += len(block)
        check_rows(done, len(columns), path)


def check_rows(done: int, n_bytes: int, path: str) -> None:
    """Stop before a file fills the memory: what is read is copied once more in the end.

    How long a file will be shows at its end only: gzip packs equal rows to a thousandth.
    """
    if done // _BLOCK % _BLOCKS_TO_A_CHECK == 0:
        check_memory(
            done * n_bytes,
            f"The rows of {path}, {done} so far,",
            "The command ensemblage consensus --engine stream reads them in batches.",
        )


def checked_first(row: list[str] | None, path: str, wanted: str = "A table of votes") -> list[str]:
    """Return the first row, if there is one and it is not blank."""
    if row is None:
        raise FileFormatError(f"{path} is empty. {wanted} has a row for each object.")
    if not row:
        raise FileFormatError(
            f"{path} begins with a blank line. Remove it: the first row has the names of the"
            " columns, or is an object."
        )
    return row


def whole_row(row: list[str], width: int, number: int, path: str) -> list[str]:
    """Return a row that has as many cells as the first, or say that it has not."""
    if len(row) == width:
        return row
    if not row and width == 1:
        return [""]
    found = "is blank" if not row else f"has {_cells(len(row))}"
    raise FileFormatError(
        f"{path}, row {number} {found}, but the first row has {_cells(width)}. Every row needs as"
        " many cells as there are columns; a missing vote is an empty cell between two separators."
    )


def _cells(count: int) -> str:
    return f"{count} cell{'s' if count > 1 else ''}"


def _complain_of_features(columns: list[Column], path: str) -> None:
    """Stop early where a large file holds measurements: their distinct values would fill memory."""
    if all(column.kinds()[Kind.FRACTION] > _BLOCK // 2 for column in columns[1:]) and columns[1:]:
        raise FileFormatError(f"The columns of {path} hold no labels. {FEATURES}")


def _complain_of_separator(column: Column, first: list[str], path: str) -> None:
    """Refuse a file whose rows are one cell each only because their separator is not known."""
    if column.n_rows and mostly(column.kinds()) is not Kind.NAME:
        return
    found = suspect(column.texts()[:_SAMPLE] or first)
    if found is not None and found.is_sure:
        raise FileFormatError(
            f"{path} was read as one column, but {found.called} part its rows into equally many"
            f" values. {KNOWN}: save the file with one of these."
        )


def _decide_header(
    first: list[str], columns: list[Column], path: str, *, header: bool | str
) -> bool:
    if header != "auto":
        return bool(header)
    numbers = [
        mostly(kinds) is not Kind.NAME and kinds.total() > kinds[Kind.MISSING]
        for kinds in (column.kinds() for column in columns)
    ]
    occurs = [column.holds(cell) for column, cell in zip(columns, first, strict=True)]
    if has_header(first, numbers, occurs):
        return True
    if len(first) > 2 and first == [str(place) for place in range(len(first))]:
        warnings.warn(
            f"The first row of {path} reads 0, 1, 2, ...: it was taken for votes. If these are the"
            " names of the columns, say that the file has a header.",
            UserWarning,
            stacklevel=2,
        )
    return False


def complain_of_names(names: list[str], path: str) -> None:
    """Refuse two columns of one name."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        places = [str(place) for place, name in enumerate(names, 1) if name == repeated[0]]
        raise FileFormatError(
            f"{path} has several columns called {repeated[0]!r} (columns {', '.join(places)})."
            " Give each column a name of its own, or say that the file has no header."
        )


def _assemble(
    names: list[str], columns: list[Column], id_column: str | int | None, path: str, *, named: bool
) -> VoteTable:
    """Return the table: ids taken out, every other column as votes."""
    place = find_id(
        names,
        id_column,
        path=path,
        n_rows=columns[0].n_rows,
        is_unique=lambda place: columns[place].is_unique() and not columns[place].has_fractions(),
        named=named,
    )
    votes = [other for other in range(len(columns)) if other != place]
    if not votes:
        raise FileFormatError(f"{path} has an id column and no votes beside it.")
    arrays = []
    for other in votes:
        texts, codes = columns[other].coded()
        arrays.append(
            column_of_votes(
                texts, codes, column=names[other], path=path, first_row=2 if named else 1
            )
        )
    ids = None if place is None else ids_of_texts(columns[place].texts())
    id_name = None if place is None else names[place]
    table = table_of([names[other] for other in votes], arrays, ids=ids, id_name=id_name)
    return table._replace(origin=(Origin(path, 2 if named else 1, columns[0].n_rows),))


def ids_of_texts(texts: list[str]) -> NDArray[Any]:
    """Return ids as integers where writing these gives the same texts, else as they stand."""
    try:
        numbers = np.fromiter(map(int, texts), dtype=np.int64, count=len(texts))
    except (ValueError, OverflowError):
        return np.array(texts, dtype=object)
    same = all(map(str.__eq__, map(str, numbers.tolist()), texts))
    return numbers if same else np.array(texts, dtype=object)
