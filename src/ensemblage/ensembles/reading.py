"""Features of objects from files or a dataset, with true classes and dropped columns apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import datasets, tables
from ensemblage._messages import Message, Parameter
from ensemblage._validate import is_number
from ensemblage.tables import FileFormatError, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage.tables import FeatureTable, NamedColumn

_SHOWN = 5


class Features(NamedTuple):
    """The matrix, the names of its columns, the names of its rows, their true classes.

    `id_name` is None if rows have only numbers. `scale` is the scaling of the paper's authors.
    """

    matrix: NDArray[Any]
    names: list[str]
    ids: NamedColumn
    truth: NamedColumn | None
    id_name: str | None
    scale: str | None


def read_features(
    data: list[str],
    *,
    truth: str | None = None,
    drop: Sequence[str] = (),
    classes_apart: bool = False,
    can_drop: bool = True,
    **reading: Any,
) -> Features:
    """Read the features of files, or of a dataset if there is no file of that name.

    Parameters
    ----------
    data : list of str
        Files, or the name of one dataset.
    truth : str or None
        A column, an array of the same file, or another file; it is not a feature.
    drop : sequence of str
        Columns that are not features.
    classes_apart : bool
        Whether the true classes of a dataset are included by default.
    can_drop : bool
        Whether errors suggest to leave columns out by `drop`, `truth` and `id_column`.
    **reading
        Options of `ensemblage.tables.read_features`.

    Returns
    -------
    Features
        The matrix has finite numbers only.
    """
    scale = None
    if len(data) == 1 and not Path(data[0]).exists() and datasets.is_name(data[0]):
        table, scale = _dataset(data[0])
        truth = "truth" if truth is None and classes_apart else truth
    else:
        table = tables.read_features(data, **reading)
    columns = dict(table.columns)
    for name in drop:
        if name not in columns:
            problem = "there is no such column"
            raise OptionError(
                tables.unknown_column(Parameter("drop", name), problem, list(columns))
            )
        del columns[name]
    classes = None if truth is None else _take_truth(truth, table, columns)
    matrix = _matrix(columns, table, can_drop=can_drop)
    return Features(matrix, list(columns), _ids(table), classes, table.id_name, scale)


def _dataset(name: str) -> tuple[FeatureTable, str | None]:
    """Return a dataset as if it were a file: its true classes are an array called truth."""
    dataset = datasets.load(name)
    width = dataset.features.shape[1]
    names = dataset.feature_names or [f"c{place}" for place in range(1, width + 1)]
    columns = dict(zip(names, dataset.features.T, strict=True))
    return tables.FeatureTable(columns, None, None, {"truth": dataset.truth}), dataset.scale


def _take_truth(truth: str, table: FeatureTable, columns: dict[str, NDArray[Any]]) -> NamedColumn:
    """Return the true classes; a column that holds them is removed."""
    name = truth
    if truth in columns:
        labels = _as_classes(columns.pop(truth), truth)
    elif truth in table.extra:
        labels = table.extra[truth]
    else:
        known = [*columns, *table.extra]
        paths = [part.path for part in table.origin]
        tables.check_beside(Parameter("truth", truth), paths, noun="features")
        labels = tables.read_truth(truth, table.ids, table.id_name, _n_rows(table), known)
        name = "truth"
    if tables.is_missing(labels).all():
        message = "{truth}: all of these classes are missing."
        raise FileFormatError(Message(message, truth=Parameter("truth", truth)))
    return tables.NamedColumn(name, labels)


def _as_classes(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return a column as integers, -1 if missing, or as names."""
    if values.dtype == object:
        return values
    filled = np.where(np.isnan(values), -1, values)
    fractions = filled[filled != np.floor(filled)]
    if len(fractions):
        message = "{truth}: true classes must be integers or names, got {wrong:g}."
        raise FileFormatError(
            Message(message, truth=Parameter("truth", name), wrong=float(fractions[0]))
        )
    return filled.astype(np.int64)


def _matrix(
    columns: dict[str, NDArray[Any]], table: FeatureTable, *, can_drop: bool
) -> NDArray[Any]:
    """Return the columns as one array of finite numbers."""
    if not columns:
        raise FileFormatError(
            "No features are left: every column holds ids or true classes, or was dropped."
        )
    texts = [name for name, values in columns.items() if values.dtype == object]
    if texts:
        raise FileFormatError(_text_message(columns[texts[0]], texts, table, can_drop=can_drop))
    matrix = np.column_stack(list(columns.values()))
    finite = np.isfinite(matrix)
    if not finite.all():
        row, place = (int(index[0]) for index in np.nonzero(~finite))
        state = " is missing" if np.isnan(matrix[row, place]) else " is infinite"
        state += _others(int((~finite).sum()) - 1, "missing or infinite")
        name = list(columns)[place]
        raise FileFormatError(_cell_message(table, row, name, state, can_drop=can_drop))
    return matrix


def _cell_message(
    table: FeatureTable, row: int, name: str, state: str, *, can_drop: bool
) -> Message:
    """Return the message for a cell that is not a finite number."""
    where, hint = _where(table, row)
    return Message(
        "{where}, column {name!r}{state}. Features must be finite numbers: fill the gaps, leave out"
        " these rows, or {drop}.{hint}",
        where=where,
        name=name,
        state=state,
        drop=Parameter("drop", [name]) if can_drop else "leave this column out of the file",
        hint=Message(" {hint}", hint=hint) if hint else "",
    )


def _others(count: int, what: str) -> str:
    """Return how many further cells are wrong, to follow the first of them."""
    cells = "cell is" if count == 1 else "cells are"
    return f" ({count:,} further {cells} {what})" if count else ""


def _text_message(
    values: NDArray[Any], texts: list[str], table: FeatureTable, *, can_drop: bool
) -> str:
    """Return the message for columns of texts; `values` are those of the first."""
    name, shown = texts[0], [value for value in values.tolist() if value is not None]
    odd = [row for row, value in enumerate(values) if value is not None and not is_number(value)]
    comma = next((value for value in shown if tables.has_decimal_comma(str(value))), None)
    if comma is not None:
        return (
            f"Column {name!r} holds {comma!r}, a number with a decimal comma. Write the file with"
            " decimal points, and without commas between thousands."
        )
    if 0 < 2 * len(odd) < len(shown):  # a few among numbers
        state = f": {str(values[odd[0]])[:40]!r} is not a number"
        state += _others(len(odd) - 1, "none either")
        return _cell_message(table, odd[0], name, state, can_drop=can_drop)
    advice = "Leave such columns out of the file."
    if can_drop:
        advice = Message(
            "Leave such columns out with {drop}{more}, or declare them: {id_column}, {truth}.",
            drop=Parameter("drop", texts[:_SHOWN]),
            more=" ..." if len(texts) > _SHOWN else "",
            id_column=Parameter("id_column", name),
            truth=Parameter("truth", name),
        )
    return Message(
        "Column {name!r} holds text, such as {shown!r}, but features must be numbers. {advice}",
        name=name,
        shown=str(shown[0])[:40],
        advice=advice,
    )


def _ids(table: FeatureTable) -> NamedColumn:
    if table.ids is None or table.id_name is None:
        return tables.NamedColumn("row", np.arange(_n_rows(table)))
    return tables.NamedColumn(table.id_name or "id", table.ids)


def _n_rows(table: FeatureTable) -> int:
    return len(next(iter([*table.columns.values(), *table.extra.values()])))


def _where(table: FeatureTable, row: int) -> tuple[str, str]:
    """Return what a message calls a row, and what to do if it is the header of its file."""
    for part in table.origin:
        if row < part.n_rows:
            return f"{part.path}, row {row + part.first_row}", "" if row else part.hint
        row -= part.n_rows
    return f"Row {row + 1}", ""
