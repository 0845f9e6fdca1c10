"""Tables beside the votes: true labels, and features from files or a dataset."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage.cli.errors import UsageError, did_you_mean, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ensemblage.tables import FeatureTable, Labels, NamedColumn, VoteTable

_SHOWN = 5
_TRUTH_NAMES = {"gt", "truth", "ground_truth", "true_label", "y_true", "class"}


def take_truth(table: VoteTable, truth: str | None) -> tuple[VoteTable, NDArray[Any] | None]:
    """Return the votes without the true labels, and those labels.

    `truth` names a column of the votes, an array of the same file, or another file.
    """
    from ensemblage import tables

    if truth is None:
        warn_of_truth(table.names)
        return table, None
    if truth in table.names or truth in table.extra:
        labels, table = tables.take_column(table, truth)
    else:
        known = [*table.names, *table.extra]
        labels = read_truth(truth, table.ids, table.id_name, tables.n_objects(table), known)
    if tables.is_missing(labels).all():
        raise tables.FileFormatError(
            f"--truth {truth}: all of these labels are missing, so there is nothing to compare"
            " with. Leave --truth out."
        )
    return table, labels


def read_truth(
    truth: str, ids: NDArray[Any] | None, id_name: str | None, n: int, known: list[str]
) -> NDArray[Any]:
    """Return the true labels of a file in the order of the objects; `known` are the columns."""
    from ensemblage import tables

    if truth == id_name:
        raise UsageError(
            f"--truth {truth}: that column holds the ids of the objects. If it holds true labels,"
            " name another column with --id-column, or none."
        )
    if not Path(truth).exists():
        raise UsageError(
            f"--truth {truth}: there is neither a column nor a file of that name."
            f"{did_you_mean(truth, known)} The columns are {format_names(known)}."
        )
    return in_order(tables.read_labels(truth), ids, n, truth)


def format_names(names: Iterable[str]) -> str:
    """Return the first of some names."""
    names = list(names)
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def warn_of_truth(names: list[str]) -> None:
    """Warn of clusterings that have the name of true labels."""
    for name in names:
        if name.lower() in _TRUTH_NAMES:
            warn(f"column {name!r} counts as a clustering; --truth {name} would set it apart.")


def in_order(
    given: Labels, ids: NDArray[Any] | None, n: int, path: str, noun: str = "true label"
) -> NDArray[Any]:
    """Return labels in the order of the objects: by id if both files have ids."""
    import numpy as np

    from ensemblage import tables

    if given.ids is None or ids is None:
        if len(given.labels) != n:
            raise tables.FileFormatError(
                f"{path} has {len(given.labels)} {noun}s, but there are {n} objects. Give one for"
                " each, or ids in both files to match them by."
            )
        return given.labels
    if given.ids.dtype == ids.dtype and np.array_equal(given.ids, ids):
        return given.labels
    known, wanted = tables.as_texts(given.ids), tables.as_texts(ids)
    times = Counter(known)
    for name in wanted:
        if times[name] != 1:
            has = f"several {noun}s" if times[name] else f"no {noun}"
            raise tables.FileFormatError(
                f"{path} has {has} for the object {name!r} of the votes. It must have one for each."
            )
    place_of = {name: place for place, name in enumerate(known)}
    return given.labels[[place_of[name] for name in wanted]]


class Features(NamedTuple):
    """The matrix, the names of its columns, the names of its rows, their true classes.

    `id_name` is None if rows have only numbers. `scale` is how the paper's authors scaled the data.
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
        Whether the output keeps classes apart from votes; those of a dataset are then included
        without being named.
    can_drop : bool
        Whether the verb has options to leave columns out, which errors then recommend.
    **reading
        Options of `ensemblage.tables.read_features`.
    """
    from ensemblage import tables

    scale = None
    if _is_dataset(data):
        table, scale = _dataset(data[0])
        if truth is None and classes_apart:
            truth = "truth"
    else:
        table = tables.read_features(data, **reading)
    columns = dict(table.columns)
    for name in drop:
        if name not in columns:
            raise UsageError(
                f"--drop {name}: there is no such column.{did_you_mean(name, columns)} The columns"
                f" are {format_names(columns)}."
            )
        del columns[name]
    classes = None if truth is None else _take_truth(truth, table, columns)
    matrix = _matrix(columns, table, can_drop=can_drop)
    return Features(matrix, list(columns), _ids(table), classes, table.id_name, scale)


def _is_dataset(data: list[str]) -> bool:
    from ensemblage import datasets

    return len(data) == 1 and not Path(data[0]).exists() and datasets.is_name(data[0])


def _dataset(name: str) -> tuple[FeatureTable, str | None]:
    """Return a dataset as if it were a file: its true classes are an array called truth."""
    from ensemblage import datasets, tables

    dataset = datasets.load(name)
    width = dataset.features.shape[1]
    names = dataset.feature_names or [f"c{place}" for place in range(1, width + 1)]
    columns = dict(zip(names, dataset.features.T, strict=True))
    return tables.FeatureTable(columns, None, None, {"truth": dataset.truth}), dataset.scale


def _take_truth(truth: str, table: FeatureTable, columns: dict[str, NDArray[Any]]) -> NamedColumn:
    """Return the true classes; a column that holds them is removed."""
    from ensemblage import tables

    name = truth
    if truth in columns:
        labels = _as_classes(columns.pop(truth), truth)
    elif truth in table.extra:
        labels = table.extra[truth]
    else:
        known = [*columns, *table.extra]
        labels = read_truth(truth, table.ids, table.id_name, _n_rows(table), known)
        name = "truth"
    if tables.is_missing(labels).all():
        raise tables.FileFormatError(f"--truth {truth}: all of these classes are missing.")
    return tables.NamedColumn(name, labels)


def _as_classes(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return a column as whole numbers, -1 if one is missing, or as names."""
    import numpy as np

    from ensemblage import tables

    if values.dtype == object:
        return values
    filled = np.where(np.isnan(values), -1, values)
    fractions = filled[filled != np.floor(filled)]
    if len(fractions):
        raise tables.FileFormatError(
            f"--truth {name}: true classes must be whole numbers or names, got {fractions[0]:g}."
        )
    return filled.astype(np.int64)


def _matrix(
    columns: dict[str, NDArray[Any]], table: FeatureTable, *, can_drop: bool
) -> NDArray[Any]:
    """Return the columns as one array of finite numbers."""
    import numpy as np

    from ensemblage import tables

    if not columns:
        raise tables.FileFormatError(
            "No features are left: every column holds ids or true classes, or was dropped."
        )
    texts = [name for name, values in columns.items() if values.dtype == object]
    if texts:
        raise tables.FileFormatError(_text_message(columns[texts[0]], texts, can_drop=can_drop))
    matrix = np.column_stack(list(columns.values()))
    finite = np.isfinite(matrix)
    if not finite.all():
        row, place = (int(index[0]) for index in np.nonzero(~finite))
        name = list(columns)[place]
        state = "missing" if np.isnan(matrix[row, place]) else "infinite"
        more = int((~finite).sum()) - 1
        drop = f"--drop {name}" if can_drop else "leave this column out of the file"
        raise tables.FileFormatError(
            f"{_where(table, row)}, column {name!r} is {state}, and {more} more. Features must be"
            f" finite numbers: fill the gaps, leave out these rows, or {drop}."
        )
    return matrix


def _text_message(values: NDArray[Any], texts: list[str], *, can_drop: bool) -> str:
    """Return the message for columns of texts; `values` are those of the first."""
    from ensemblage import tables

    name, shown = texts[0], [value for value in values.tolist() if value is not None]
    comma = next((value for value in shown if tables.has_decimal_comma(str(value))), None)
    if comma is not None:
        return (
            f"Column {name!r} holds {comma!r}, a number with a decimal comma. Write the file with"
            " decimal points."
        )
    advice = "Leave such columns out of the file."
    if can_drop:
        drops = " ".join(f"--drop {text}" for text in texts[:_SHOWN])
        advice = (
            f"Leave such columns out with {drops}{' ...' if len(texts) > _SHOWN else ''}, or say"
            f" what they are: --id-column {name}, --truth {name}."
        )
    return (
        f"Column {name!r} holds text, such as {str(shown[0])[:40]!r}, but features must be numbers."
        f" {advice}"
    )


def _ids(table: FeatureTable) -> NamedColumn:
    import numpy as np

    from ensemblage import tables

    if table.ids is None or table.id_name is None:
        return tables.NamedColumn("row", np.arange(_n_rows(table)))
    return tables.NamedColumn(table.id_name or "id", table.ids)


def _n_rows(table: FeatureTable) -> int:
    return len(next(iter([*table.columns.values(), *table.extra.values()])))


def _where(table: FeatureTable, row: int) -> str:
    for part in table.origin:
        if row < part.n_rows:
            return f"{part.path}, row {row + part.first_row}"
        row -= part.n_rows
    return f"Row {row + 1}"
