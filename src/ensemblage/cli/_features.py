"""Features for a verb: from files or a dataset, with the true classes and what is dropped apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ensemblage.cli._errors import WrongCall
from ensemblage.cli._truth import in_order
from ensemblage.cli._words import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ensemblage.files import FeatureTable, NamedColumn

_SHOWN = 5


class Features(NamedTuple):
    """What is clustered, its columns' names, what its rows are called, their true classes.

    `id_name` is None where rows have numbers only, `scale` what the paper's authors clustered with.
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
    truth: str | None,
    drop: Sequence[str],
    input_format: str | None,
    id_column: str,
    header: bool | None,
    key: str | None,
    classes_apart: bool,
    can_drop: bool = True,
) -> Features:
    """Read the features of files, or of the dataset that is called so where there is no such file.

    `truth` names a column, an array that came along, or a file, and is no feature; `drop` names
    columns that are none either. The classes of a dataset need not be named where they are kept
    apart from the votes (`classes_apart`), since nobody can take them for one. Without `can_drop`
    the command has no options to leave columns out, and none is advised.
    """
    from ensemblage import files

    scale = None
    if _is_dataset(data):
        table, scale = _dataset(data[0])
        if truth is None and classes_apart:
            truth = "truth"
    else:
        table = files.read_features(
            data,
            format=input_format,
            id_column=id_column,
            header="auto" if header is None else header,
            key=key,
            keep=[] if truth is None else [truth],
        )
    columns = dict(table.columns)
    for name in drop:
        if name not in columns:
            raise WrongCall(
                f"--drop {name}: there is no such column.{did_you_mean(name, columns)} The columns"
                f" are {_listed(columns)}."
            )
        del columns[name]
    classes = None if truth is None else _take_truth(truth, table, columns)
    matrix = _matrix(columns, table, can_drop=can_drop)
    return Features(matrix, list(columns), _ids(table), classes, table.id_name, scale)


def _is_dataset(data: list[str]) -> bool:
    from ensemblage import datasets

    name = data[0]
    return len(data) == 1 and not Path(name).exists() and datasets.is_name(name)


def _dataset(name: str) -> tuple[FeatureTable, str | None]:
    """Return a dataset as if it were a file: its true classes are an array called truth."""
    from ensemblage import datasets, files

    found = datasets.load(name)
    width = found.features.shape[1]
    names = found.feature_names or [f"c{place}" for place in range(1, width + 1)]
    columns = dict(zip(names, found.features.T, strict=True))
    return files.FeatureTable(columns, None, None, {"truth": found.truth}), found.scale


def _take_truth(truth: str, table: FeatureTable, columns: dict[str, NDArray[Any]]) -> NamedColumn:
    """Return the true classes; a column that holds them is taken out."""
    from ensemblage import files

    if truth in columns:
        name, labels = truth, _as_classes(columns.pop(truth), truth)
    elif truth in table.extra:
        name, labels = truth, table.extra[truth]
    elif truth == table.id_name:
        raise WrongCall(
            f"--truth {truth}: that column holds the ids of the objects. If it holds true classes,"
            " name another column with --id-column, or none."
        )
    elif Path(truth).exists():
        name = "truth"
        labels = in_order(files.read_labels(truth), table.ids, _n_rows(table), truth)
    else:
        known = [*columns, *table.extra]
        raise WrongCall(
            f"--truth {truth}: there is neither a column nor a file of that name."
            f"{did_you_mean(truth, known)} The columns are {_listed(known)}."
        )
    if files.is_missing(labels).all():
        raise files.FileFormatError(f"--truth {truth}: all of these classes are missing.")
    return files.NamedColumn(name, labels)


def _as_classes(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return a column as whole numbers, -1 where one is missing, or as names."""
    import numpy as np

    from ensemblage import files

    if values.dtype == object:
        return values
    missing = np.isnan(values)
    filled = np.where(missing, -1, values)
    if not np.array_equal(filled, np.floor(filled)):
        wrong = float(filled[filled != np.floor(filled)][0])
        raise files.FileFormatError(
            f"--truth {name}: {wrong:g} is no class. True classes are whole numbers or names."
        )
    return filled.astype(np.int64)


def _matrix(
    columns: dict[str, NDArray[Any]], table: FeatureTable, *, can_drop: bool
) -> NDArray[Any]:
    """Return the columns as one array of numbers, or name what is none."""
    import numpy as np

    from ensemblage import files

    if not columns:
        raise files.FileFormatError(
            "No features are left: every column holds ids, true classes, or was dropped."
        )
    texts = [name for name, values in columns.items() if values.dtype == object]
    if texts:
        shown = [value for value in columns[texts[0]].tolist() if value is not None]
        comma = next((value for value in shown if files.has_decimal_comma(str(value))), None)
        if comma is not None:
            raise files.FileFormatError(
                f"Column {texts[0]!r} holds {comma!r}, a number with a decimal comma. Numbers have"
                " a point: write the file with decimal points."
            )
        drops = " ".join(f"--drop {name}" for name in texts[:_SHOWN])
        advice = (
            f"Leave such columns out with {drops}{' ...' if len(texts) > _SHOWN else ''},"
            f" or say what they are: --id-column {texts[0]}, --truth {texts[0]}."
        )
        raise files.FileFormatError(
            f"Column {texts[0]!r} holds text, such as {str(shown[0])[:40]!r}, but features are"
            f" numbers. {advice if can_drop else 'Leave such columns out of the file.'}"
        )
    matrix = np.column_stack(list(columns.values()))
    finite = np.isfinite(matrix)
    if not finite.all():
        row, place = (int(index[0]) for index in np.nonzero(~finite))
        name = list(columns)[place]
        found = "is missing" if np.isnan(matrix[row, place]) else "is infinite"
        raise files.FileFormatError(
            f"{_where(table, row)}, column {name!r} {found}, and {int((~finite).sum()) - 1} more."
            f" Features must be finite numbers: fill the gaps, leave out these rows, or"
            f" {f'--drop {name}' if can_drop else 'leave this column out of the file'}."
        )
    return matrix


def _ids(table: FeatureTable) -> NamedColumn:
    import numpy as np

    from ensemblage import files

    if table.ids is None or table.id_name is None:
        return files.NamedColumn("row", np.arange(_n_rows(table)))
    return files.NamedColumn(table.id_name or "id", table.ids)


def _n_rows(table: FeatureTable) -> int:
    return len(next(iter([*table.columns.values(), *table.extra.values()])))


def _where(table: FeatureTable, row: int) -> str:
    for part in table.origin:
        if row < part.n_rows:
            return f"{part.path}, row {row + part.first_row}"
        row -= part.n_rows
    return f"Row {row + 1}"


def _listed(names: Sequence[str] | dict[str, Any]) -> str:
    names = list(names)
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
