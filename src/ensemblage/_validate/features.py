"""Features: a table of finite numbers, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage._validate.memory import check_memory
from ensemblage._validate.parameters import places_of
from ensemblage._validate.tables import (
    check_shape,
    foreign_table,
    is_pandas,
    is_series,
    is_sparse,
    refuse_strangers,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Kinds of numbers that kernels read as they are; others are converted once.
_READ_AS_THEY_ARE = (np.uint8, np.float32, np.float64)
#: Beyond this the square of a difference may leave the range of float64.
LARGEST = 1e140
_ROWS = 4096
_RESHAPE = "a single feature is X.reshape(-1, 1), a single object X.reshape(1, -1)"
_RESHAPE_SERIES = "a single feature is X.to_frame(), a single object X.to_frame().T"
_SAMPLE = 1000  # cells of a column that are looked at for numbers stored as text


class Features(NamedTuple):
    """Checked features: C-contiguous uint8, float32 or float64, and the names of columns."""

    matrix: NDArray[Any]
    index: Any
    kind: str | None = None
    names: list[Any] | None = None


def check_features(X: Any) -> Features:
    """Return features as a matrix that kernels can read, copied only where it must be."""
    names, index, kind = None, None, None
    if isinstance(X, Features):
        names, X = X.names, X.matrix
    refuse_strangers(X, as_features=True)
    if is_sparse(X):
        raise TypeError(
            "Sparse data was passed, but features are a dense table of objects × features. Pass"
            " X.toarray() where that fits in memory, or reduce the dimensions first, for example"
            " with TruncatedSVD of scikit-learn."
        )
    if isinstance(X, Mapping):
        raise TypeError(
            "A dict was passed, but features are a table of objects × features. Pass"
            " pandas.DataFrame(X)."
        )
    table = foreign_table(X, numbers=True)
    if table is not None:
        kind, names = table.kind, table.names
        shape: tuple[int, ...] = (len(table.columns[0]) if names else 0, len(names))
        check_shape(shape, "Features", "features", _RESHAPE)
        array = np.column_stack(table.columns)
    elif is_pandas(X):
        names, index, kind = list(X.columns), X.index, "pandas"
        check_shape(X.shape, "Features", "features", _RESHAPE)
        array = _frame_array(X)
    else:
        array = _plain_array(X)
        reshape = _RESHAPE_SERIES if is_series(X) else _RESHAPE
        check_shape(array.shape, "Features", "features", reshape)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: features must be real numbers.")
    if array.dtype.kind in "mM":
        raise ValueError(
            f"Features must be numbers, but times ({array.dtype}) were passed. Convert them, for"
            " example to days since the first: (X - X.min()) / numpy.timedelta64(1, 'D')."
        )
    if array.dtype.kind not in "biuf":
        array = _as_numbers(array, names)
    matrix = _readable(array)
    _check_finite(matrix, names)
    return Features(matrix, index, kind, names)


def check_named_features(X: Any) -> Features:
    """Return features whose names, if they have any, differ: they are matched by name later."""
    features = check_features(X)
    names = features.names or []
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(
            f"Features have several columns called {twice!r}. Give each feature a name of its own,"
            f" or pass X.to_numpy()."
        )
    return features


def in_order_of(features: Features, names: list[Any] | None) -> Features:
    """Return features in the order of these names, where both have the same names."""
    places = places_of(names, features.names)
    if places is None:
        return features
    matrix = np.ascontiguousarray(features.matrix[:, places])
    return features._replace(matrix=matrix, names=names)


def _plain_array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        if np.ma.is_masked(X):
            raise ValueError(
                "Features must be finite numbers, but some entries are masked. Fill them first,"
                " for example with SimpleImputer of scikit-learn, or leave those objects out."
            )
        return X.data
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(
            "Features must be a table in which every object has as many cells as there are"
            " features, but rows of different lengths were passed."
        ) from error


def _frame_array(frame: Any) -> NDArray[Any]:
    """Return a DataFrame as one array, refusing columns that do not hold numbers."""
    for place, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        kind = getattr(dtype, "kind", "O")
        numeric = kind in "biuf" or (kind == "O" and isinstance(dtype, np.dtype))
        if not numeric:
            raise ValueError(
                f"Features must be numbers, but column {name!r} (number {place}, counted from 0)"
                f" holds {dtype}. {_advice(frame.iloc[:_SAMPLE, place].dropna(), f'X[{name!r}]')}"
            )
    if all(isinstance(dtype, np.dtype) for dtype in frame.dtypes):
        array: NDArray[Any] = frame.to_numpy()
        return array
    # Nullable columns: a missing value becomes NaN, which is refused below with its place.
    wide: NDArray[Any] = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    return wide


def _as_numbers(array: NDArray[Any], names: list[Any] | None) -> NDArray[np.float64]:
    """Return objects or texts that are numbers as numbers, or name the first that is not one."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        (row, column), value = _first_wrong(array)
        kind = TypeError if isinstance(error, TypeError) else ValueError
        reason = f" ({error})" if kind is TypeError else ""  # a word needs no reason
        raise kind(
            f"Features must be numbers, but {_place(row, column, names)} is {value!r}{reason}."
            f" {_advice([value], 'column' if names is None else f'X[{names[column]!r}]')}"
        ) from error


def _advice(values: Any, column: str) -> str:
    """Return how to make numbers of the values of a column, which are not numbers."""
    texts = [value for value in values if isinstance(value, str)]
    if texts and len(texts) == len(values):
        if all(map(is_number, texts)):
            return (
                "These look like numbers stored as text: convert them with"
                f" pandas.to_numeric({column})."
            )
        if all(is_number(text.replace(",", ".", 1)) for text in texts):
            return (
                "These look like numbers with decimal commas: convert them with"
                f" pandas.to_numeric({column}.str.replace(',', '.'))."
            )
    return (
        "Leave the column out, or turn words into numbers first, for example with OneHotEncoder of"
        " scikit-learn."
    )


def is_number(value: Any) -> bool:
    """Tell whether a value, such as a text, can be read as a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _first_wrong(array: NDArray[Any]) -> tuple[Any, Any]:
    """Return the place of the first value that is not a number, and the value."""
    for place, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            return place, value.item() if isinstance(value, np.generic) else value
    return (0, 0), array[0, 0]


def _readable(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in one of the types that kernels read, copying only where it must."""
    wanted: np.dtype[Any] = array.dtype.newbyteorder("=")
    if array.dtype.kind == "b":
        wanted = np.dtype(np.uint8)
    elif wanted not in _READ_AS_THEY_ARE:  # float32 holds every integer of 16 bits
        wanted = np.dtype(np.float32 if array.dtype.itemsize <= 2 else np.float64)
    if array.dtype != wanted or not array.flags.c_contiguous:
        check_memory(
            array.size * wanted.itemsize,
            f"A copy of the features ({array.shape[0]} × {array.shape[1]}) as {wanted}",
            "Features of type float64, float32 or uint8 whose rows lie one after the other in"
            " memory (order C) are not copied.",
        )
    return np.ascontiguousarray(array, dtype=wanted)


def _check_finite(matrix: NDArray[Any], names: list[Any] | None) -> None:
    if matrix.dtype.kind != "f":
        return
    for start in range(0, len(matrix), _ROWS):
        part = matrix[start : start + _ROWS]
        least, largest = float(part.min()), float(part.max())  # NaN where there is any
        if least >= -LARGEST and largest <= LARGEST:
            continue
        row, column = np.argwhere(~(np.abs(part.astype(np.float64)) <= LARGEST))[0]
        place = _place(start + row, column, names)
        if np.isnan(part[row, column]):
            raise ValueError(
                f"Features must be finite numbers, but {place} is NaN. Fill gaps first, for example"
                f" with SimpleImputer of scikit-learn, or leave those objects out."
            )
        if np.isinf(part[row, column]):
            raise ValueError(f"Features must be finite numbers, but {place} is infinity (inf).")
        raise ValueError(
            f"Features must not exceed {LARGEST:g}, beyond which squared distances leave the range"
            f" of numbers, but {place} is {part[row, column]:g}. Rescale them first."
        )


def _place(row: int, column: int, names: list[Any] | None) -> str:
    name = f"column {column}" if names is None else f"column {names[column]!r}"
    return f"row {row} of {name}, counted from 0," if names is None else f"row {row} of {name}"
