"""Votes: the label matrix as integers, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage._messages import Advice, Message, ParameterError, shown
from ensemblage._types import Columns, VoteTable
from ensemblage._validate.columns import columns_of_list, is_list_of_columns, side_by_side
from ensemblage._validate.notices import FeaturesAsVotesWarning, TransposedVotesWarning, warn
from ensemblage._validate.tables import (
    check_shape,
    foreign_table,
    is_pandas,
    is_series,
    is_sparse,
    one_column,
    refuse_strangers,
    series_array,
)
from ensemblage.flow.codes import factorize, holds_nan, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import IntArray, Microclusters

_RESHAPE = "one clustering of many objects is {}, or stack several clusterings with {}"
_OTHER_FILE = "write the file with a row for each object and a column for each clustering"
_ARRAYS = ("votes.reshape(-1, 1)", "numpy.column_stack")
_SERIES = ("votes.to_frame()", "pandas.concat([...], axis=1)")


class Votes(NamedTuple):
    """A checked label matrix.

    `matrix` holds integers; ``labels[m]`` lists what the integers of clustering m stand for, None
    where they are the labels themselves. -1 is a missing vote. `kind` is the library whose table
    this was, as for `labels_like`.
    """

    matrix: IntArray
    labels: list[list[Any] | None]
    names: list[str] | None
    index: Any
    kind: str | None = None


def check_votes(X: Any, *, new: bool = False) -> Votes:
    """Return the label matrix as integers, or say what is wrong with it.

    Of `new` votes, for a model, it does not ask whether rows and columns were exchanged.
    """
    names, index, named = None, None, True
    if isinstance(X, VoteTable):
        names, named = X.names if X.named else None, X.named
        X = Columns(X.names, X.columns or []) if X.matrix is None else X.matrix
    refuse_strangers(X)
    listed, in_lists = is_list_of_columns(X), False
    if listed:
        columns, named = columns_of_list(X)
        X, index = side_by_side(columns, _clustering, named=named, of="list")
    elif isinstance(X, Mapping) and not is_sparse(X):  # one of scipy's is a dict
        X, index = side_by_side(X, _clustering)
    kind = None if index is None else "pandas"
    table = foreign_table(X)
    if table is not None:
        kind, X = table.kind, Columns(table.names, table.columns)
        check_names(table.names)
    if isinstance(X, Columns):
        names, parts = X.names if named else None, [as_array(array) for array in X.arrays]
        _check_shape((len(parts[0]) if parts else 1, len(parts)))
        matrix, labels = _join(parts)
    elif is_pandas(X):
        names, index, kind = list(X.columns), X.index, "pandas"
        _check_shape(X.shape)
        check_names(names)
        kinds = list(X.dtypes)
        # Of integers alone: beside truth values or dates pandas would make objects of them.
        whole = all(isinstance(dtype, np.dtype) and dtype.kind in "iu" for dtype in kinds)
        if whole and np.result_type(*kinds).kind in "iu":
            matrix, labels = X.to_numpy(), [None] * X.shape[1]
        else:
            matrix, labels = _join([series_array(X.iloc[:, m]) for m in range(X.shape[1])])
    else:
        array, in_lists = as_array(X), isinstance(X, list | tuple)
        _check_shape(array.shape, _SERIES if is_series(X) else _ARRAYS)
        integers = whole_numbers(array) if array.dtype.kind == "f" else None
        if array.dtype.kind in "iub" or integers is not None:
            matrix, labels = array if integers is None else integers, [None] * array.shape[1]
        else:
            matrix, labels = _join(list(array.T))
        if in_lists and not new:
            _warn_of_short_lists(*array.shape)
    if matrix.dtype.kind == "b":
        matrix = matrix.view(np.uint8)
    if not matrix.dtype.isnative:
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    if matrix.dtype == np.uint64 and matrix.max() > np.iinfo(np.int64).max:
        return recode(Votes(matrix, labels, names, index, kind))
    if not new and not in_lists:
        advice = f"pass the transpose, {'numpy.array(votes)' if listed else 'votes.T'}"
        warn_if_transposed(matrix, len(matrix), Advice(advice, _OTHER_FILE))
    return Votes(matrix, labels, names, index, kind)


def recode(votes: Votes) -> Votes:
    """Return votes whose integers are codes 0, 1, ..., for labels that span too many numbers."""
    codes = np.empty(votes.matrix.shape, dtype=np.int32)
    labels: list[list[Any] | None] = []
    for m, column in enumerate(votes.matrix.T):
        codes[:, m], kinds = factorize(column)
        old = votes.labels[m]
        labels.append(kinds if old is None else [old[code] for code in kinds])
    return votes._replace(matrix=codes, labels=labels)


def as_array(X: Any) -> NDArray[Any]:
    """Return labels as an array that keeps different labels, and missing ones, different."""
    column = one_column(X)
    if column is not None:
        return column
    if is_sparse(X):
        raise TypeError(
            "Sparse data was passed, but votes are a dense label matrix of objects × clusterings."
            " Pass labels, one column for each clustering; a 0/1 membership matrix is not needed."
        )
    if isinstance(X, np.ma.MaskedArray):
        labels: NDArray[Any] = X.data.astype(object)
        labels[np.ma.getmaskarray(X)] = None
        return labels
    if hasattr(X, "__cuda_array_interface__") and hasattr(X, "get"):
        X = X.get()  # CuPy's arrays are copied only if that is asked for
    try:
        array = np.asarray(X)
        if not isinstance(X, np.ndarray) and _has_lost_something(array):
            array = np.array(X, dtype=object)
    except ValueError as error:
        if (cells := _cells(X)) is not None:
            return cells
        raise ValueError(
            "Votes must be a table in which every object has as many cells as there are"
            " clusterings, but rows of different lengths were passed. Fill the gaps with -1, which"
            " means no vote."
        ) from error
    if array.dtype.names is not None:
        raise TypeError(
            f"An array of records was passed, with the fields {shown(list(array.dtype.names))}, but"
            f" votes are a table of labels. Pass pandas.DataFrame(X)."
        )
    if array.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: votes are labels, but complex numbers were passed. Pass"
            " whole numbers or names."
        )
    return array


def _clustering(X: Any) -> NDArray[Any]:
    """Return the labels of one clustering as an array; tuples in a list are labels."""
    if isinstance(X, list | tuple) and any(isinstance(label, tuple) for label in X):
        labels = np.empty(len(X), dtype=object)
        labels[:] = X
        return labels
    return as_array(X)


def _cells(X: Any) -> NDArray[Any] | None:
    """Return rows of labels some of which are tuples, or None where rows differ in length."""
    if not isinstance(X, list | tuple) or not all(isinstance(row, list | tuple) for row in X):
        return None
    if len({len(row) for row in X}) != 1:
        return None
    cells = np.empty((len(X), len(X[0])), dtype=object)
    for place, row in enumerate(X):
        for column, label in enumerate(row):
            cells[place, column] = label
    return cells


def _has_lost_something(array: NDArray[Any]) -> bool:
    """Return whether NumPy, given a list, may have changed labels.

    It makes words of NaN, lengths of time of integers beside one, and merges large integers.
    """
    if array.dtype.kind == "f":
        return float(np.fmax.reduce(np.abs(array), axis=None, initial=0.0)) >= 2.0**53
    return array.dtype.kind in "USmM"


def _check_shape(shape: tuple[int, ...], reshape: tuple[str, str] = _ARRAYS) -> None:
    if not shape:
        raise ValueError(
            "Votes must be a table of objects × clusterings, but a single value (an array of 0"
            " dimension(s), shape=()) was passed. Pass an array, a DataFrame or a dict of lists;"
            " votes in a file are read by ensemblage.tables.read."
        )
    check_shape(shape, "Votes", "clusterings", _RESHAPE.format(*reshape))


def check_names(names: list[Any]) -> None:
    """Reject clusterings of the same name."""
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise ValueError(
            f"Votes have several columns called {twice[0]!r}. Give each clustering a name of its"
            f" own."
        )


def _join(columns: list[NDArray[Any]]) -> tuple[IntArray, list[list[Any] | None]]:
    """Return columns of any kinds as one integer matrix, and what its codes stand for."""
    if len({len(column) for column in columns}) > 1:
        lengths = [len(column) for column in columns]
        raise ValueError(f"Votes must have equally long columns, but their lengths are {lengths}.")
    parts, labels = [], []
    for place, column in enumerate(columns):
        codes, meaning = column_codes(column, place)
        parts.append(codes)
        labels.append(meaning)
    warn_of_features(labels)
    dtype = np.result_type(*parts)
    matrix = np.empty((len(parts[0]), len(parts)), dtype=dtype if dtype.kind in "iu" else np.int64)
    for place, part in enumerate(parts):
        matrix[:, place] = part
    return matrix, labels


def column_codes(column: NDArray[Any], place: int) -> tuple[IntArray, list[Any] | None]:
    """Return one clustering as integers; its labels too, unless they are the integers."""
    kind = column.dtype.kind
    if kind == "b":
        return column.astype(np.uint8), None
    if kind in "iu" and column.dtype != np.uint64:
        return column, None
    if kind == "f":
        whole = whole_numbers(column)
        if whole is not None:
            return whole, None
    try:
        codes, labels = factorize(column)
    except TypeError as error:
        raise TypeError(
            f"Votes must be labels that can be compared, such as strings or numbers, but"
            f" clustering {place} holds something that has no hash ({error}). A label argument must"
            f" be a string or a number."
        ) from error
    unlike = next(filter(holds_nan, labels), None)
    if unlike is not None:
        raise ValueError(
            f"Votes must be labels that can be compared, but clustering {place} holds {unlike!r},"
            f" and NaN is not equal to itself. Use None in place of NaN there."
        )
    numbers = [label for label in labels if isinstance(label, float)]
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"Votes must be labels, but clustering {place} holds infinity (inf). Use -1 or NaN"
            f" where an object has no vote."
        )
    return codes, labels


def warn_of_features(labels: list[list[Any] | None]) -> None:
    """Warn once where labels are not whole numbers."""
    for place, known in enumerate(labels):
        fractions = [label for label in known or () if isinstance(label, float) and label % 1]
        if fractions:
            warn(
                f"Clustering {place} holds labels that are not whole numbers, such as"
                f" {fractions[0]!r}. Each distinct value is taken as a cluster of its own. If these"
                f" are features, cluster them first, or pass them to EnsembleClustering, which"
                f" takes features.",
                FeaturesAsVotesWarning,
            )
            return


def warn_if_transposed(matrix: IntArray, n_rows: int, advice: Advice | str = _OTHER_FILE) -> None:
    """Warn where columns far outnumber rows and each row looks like a clustering of them.

    Of `n_rows` rows, `matrix` has the different ones at least.
    """
    n_columns = matrix.shape[1]
    if n_columns < 50 or n_columns < 5 * n_rows:
        return
    if all(len(np.unique(row)) <= n_columns // 2 for row in matrix[:100]):
        warn(
            Message(
                "Votes have {rows} rows and {columns} columns, so {columns} clusterings of {rows}"
                " objects. If it is the other way round, {how}.",
                rows=n_rows,
                columns=n_columns,
                how=advice,
            ),
            TransposedVotesWarning,
        )


def _warn_of_short_lists(n_rows: int, n_columns: int) -> None:
    """Warn of a list of lists with fewer rows than columns, in both readings."""
    if n_rows < n_columns:
        warn(
            f"A list of {n_rows} list(s) of {n_columns} labels was read as rows: {n_rows}"
            f" object(s), {n_columns} clusterings. If each list is a clustering of {n_columns}"
            f" objects, pass arrays, [numpy.array(labels) for labels in votes], which are read as"
            f" columns. To keep this reading without a warning, pass numpy.array(votes).",
            TransposedVotesWarning,
        )


def check_turnout(table: NDArray[np.int32], of_object: NDArray[np.int32]) -> None:
    """Reject objects that no clustering voted on."""
    silent = np.flatnonzero((table < 0).all(axis=1))
    if len(silent):
        count, rows = listed_rows(silent, of_object)
        raise ValueError(
            f"{count} object(s) have no vote in any clustering: {rows}. Nothing can be said about"
            f" them; leave these rows out."
        )


def listed_rows(groups: NDArray[np.intp], of_object: NDArray[np.int32]) -> tuple[int, str]:
    """Return how many objects are in some microclusters, and the first of their rows as text."""
    rows = np.flatnonzero(np.isin(of_object, groups))
    return len(rows), f"row(s) {shown(rows, 5, str)}, counted from 0"


def check_objects_known(owner: str, n_objects: int, groups: Microclusters) -> None:
    """Raise for work on objects where only their microclusters are known."""
    if len(groups.of_object) != n_objects:
        hint = (
            f"Of these {n_objects} objects only the {len(groups.sizes)} microclusters are known:"
            " they come from a stream, or from elsewhere. Or pass votes in memory."
        )
        raise ParameterError(owner, "level", "'microclusters' here", "objects", hint)
