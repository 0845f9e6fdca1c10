"""The only module that complains about user input.

Messages say who was asked for what, what was found, and what to do about it.
"""

from __future__ import annotations

import os
import sys
import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from quorate._types import Columns
from quorate.flow.agglomerate import LINKAGES
from quorate.flow.codes import factorize, whole_numbers

if TYPE_CHECKING:
    from types import FrameType

    from numpy.typing import NDArray

    from quorate._types import IntArray


class FeaturesAsVotesWarning(UserWarning):
    """Labels that are not whole numbers: features seem to stand where votes belong."""


class TransposedVotesWarning(UserWarning):
    """A label matrix that looks as if objects were its columns."""


class FewerClustersWarning(UserWarning):
    """A method ended with fewer clusters than it was asked for."""


class MemoryBudgetError(MemoryError):
    """A result that would not fit in memory, refused before any of it was taken."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line of the user's program that called quorate."""
    inside = __name__.partition(".")[0]
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == inside:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class Votes(NamedTuple):
    """A checked label matrix.

    `matrix` holds integers; ``labels[m]`` lists what the integers of clustering m stand for, None
    where they are the labels themselves. -1 is a missing vote.
    """

    matrix: IntArray
    labels: list[list[Any] | None]
    names: list[str] | None
    index: Any


# -- the label matrix ------------------------------------------------------------------------------


def check_votes(X: Any) -> Votes:
    """Return the label matrix as integers, or say what is wrong with it."""
    names, index = None, None
    if isinstance(X, Columns):
        names, parts = X.names, [np.asarray(array) for array in X.arrays]
        _check_shape((len(parts[0]) if parts else 0, len(parts)))
        matrix, labels = _join(parts)
    elif _is_dataframe(X):
        names, index = list(X.columns), X.index
        _check_shape(X.shape)
        _check_names(names)
        kinds = list(X.dtypes)
        if all(map(_is_numpy, kinds)) and np.result_type(*kinds).kind in "iu":
            matrix, labels = X.to_numpy(), [None] * X.shape[1]
        else:
            matrix, labels = _join([_series_array(X.iloc[:, m]) for m in range(X.shape[1])])
    else:
        array = as_array(X)
        _check_shape(array.shape)
        if array.dtype.kind in "iub":
            matrix, labels = array, [None] * array.shape[1]
        else:
            matrix, labels = _whole_matrix(array) or _join(list(array.T))
    if matrix.dtype.kind == "b":
        matrix = matrix.view(np.uint8)
    if not matrix.dtype.isnative:
        matrix = matrix.astype(matrix.dtype.newbyteorder("="))
    if matrix.dtype == np.uint64 and matrix.max() > np.iinfo(np.int64).max:
        return recode(Votes(matrix, labels, names, index))
    _warn_if_transposed(matrix)
    return Votes(matrix, labels, names, index)


def recode(votes: Votes) -> Votes:
    """Return votes whose integers are codes 0, 1, ..., for labels that span too many numbers."""
    codes = np.empty(votes.matrix.shape, dtype=np.int32)
    labels: list[list[Any] | None] = []
    for m, column in enumerate(votes.matrix.T):
        codes[:, m], found = factorize(column)
        old = votes.labels[m]
        labels.append(found if old is None else [old[code] for code in found])
    return Votes(codes, labels, votes.names, votes.index)


def as_array(X: Any) -> NDArray[Any]:
    """Return labels as an array that still tells them apart, and what is missing from the rest."""
    if type(X).__module__.startswith("scipy.sparse"):
        raise TypeError(
            "Sparse data was passed, but votes are a dense label matrix of objects × clusterings."
            " Pass labels, one column for each clustering; a 0/1 membership matrix is not needed."
        )
    if isinstance(X, np.ma.MaskedArray):
        labels: NDArray[Any] = X.data.astype(object)
        labels[np.ma.getmaskarray(X)] = None
        return labels
    try:
        array = np.asarray(X)
        if not isinstance(X, np.ndarray) and _has_lost_something(array):
            array = np.array(X, dtype=object)
    except ValueError as error:
        raise ValueError(
            "Votes must be a table in which every object has as many cells as there are"
            " clusterings, but rows of different lengths were passed. Fill the gaps with -1, which"
            " means no vote."
        ) from error
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: votes are labels, and complex ones came.")
    return array


def _has_lost_something(array: NDArray[Any]) -> bool:
    """Tell whether NumPy, given a list, may have made words of NaN or merged large integers."""
    if array.dtype.kind == "f":
        return bool(array.size) and bool(np.nanmax(np.abs(array), initial=0.0) >= 2.0**53)
    return array.dtype.kind in "US"


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"Votes must be a table of objects × clusterings (two dimensions), but an array of"
            f" {len(shape)} dimension(s) was passed, shape={tuple(shape)}. Reshape your data: one"
            f" clustering of many objects is votes.reshape(-1, 1), or stack several clusterings"
            f" with numpy.column_stack."
        )
    if shape[0] == 0:
        raise ValueError(
            f"Votes have no objects: found array with 0 sample(s) (shape={tuple(shape)}) while a"
            f" minimum of 1 is required."
        )
    if shape[1] == 0:
        raise ValueError(
            f"Votes have no clusterings: found array with 0 feature(s) (shape={tuple(shape)}) while"
            f" a minimum of 1 is required."
        )


def _check_names(names: list[Any]) -> None:
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise ValueError(
            f"Votes have several columns called {twice[0]!r}. Give each clustering a name of its"
            f" own."
        )


def _whole_matrix(array: NDArray[Any]) -> tuple[IntArray, list[list[Any] | None]] | None:
    """Return floats as one integer matrix if they are whole numbers."""
    if array.dtype.kind != "f":
        return None
    whole = whole_numbers(array)
    return None if whole is None else (whole, [None] * array.shape[1])


def _join(columns: list[NDArray[Any]]) -> tuple[IntArray, list[list[Any] | None]]:
    """Return columns of any kinds as one integer matrix, and what its codes stand for."""
    if len({len(column) for column in columns}) > 1:
        lengths = [len(column) for column in columns]
        raise ValueError(f"Votes must have equally long columns, but their lengths are {lengths}.")
    parts, labels = [], []
    for place, column in enumerate(columns):
        codes, meaning = _column_codes(column, place)
        parts.append(codes)
        labels.append(meaning)
    _warn_of_features(labels)
    dtype = np.result_type(*parts)
    matrix = np.empty((len(parts[0]), len(parts)), dtype=dtype if dtype.kind in "iu" else np.int64)
    for place, part in enumerate(parts):
        matrix[:, place] = part
    return matrix, labels


def _column_codes(column: NDArray[Any], place: int) -> tuple[IntArray, list[Any] | None]:
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
            f"Votes must be labels that can be told apart, such as a string or a number, but"
            f" clustering {place} holds something that has no hash ({error}). A label argument must"
            f" be a string or a number."
        ) from error
    numbers = [label for label in labels if isinstance(label, float)]
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"Votes must be labels, but clustering {place} holds infinity (inf). Use -1 or NaN"
            f" where an object has no vote."
        )
    return codes, labels


def _warn_of_features(labels: list[list[Any] | None]) -> None:
    """Warn once where labels are not whole numbers."""
    for place, found in enumerate(labels):
        fractions = [label for label in found or () if isinstance(label, float) and label % 1]
        if fractions:
            warn(
                f"Clustering {place} holds labels that are not whole numbers, such as"
                f" {fractions[0]!r}. Each distinct value is taken as a cluster of its own. If these"
                f" are features, cluster them first, or pass them to EnsembleClustering, which"
                f" takes features.",
                FeaturesAsVotesWarning,
            )
            return


def _is_dataframe(X: Any) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "columns")


def _is_numpy(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype)


def _series_array(series: Any) -> NDArray[Any]:
    """Return a pandas column as an array: categories as codes, extension types as objects."""
    if _is_numpy(series.dtype):
        array: NDArray[Any] = series.to_numpy()
    else:
        array = series.to_numpy(dtype=object)
    return array


def _warn_if_transposed(matrix: IntArray) -> None:
    """Warn where columns far outnumber rows and each row looks like a clustering of them."""
    n_rows, n_columns = matrix.shape
    if n_columns < 50 or n_columns < 5 * n_rows:
        return
    if all(len(np.unique(row)) <= n_columns // 2 for row in matrix[:100]):
        warn(
            f"Votes have {n_rows} rows and {n_columns} columns, so {n_columns} clusterings of"
            f" {n_rows} objects. If it is the other way round, pass the transpose, votes.T.",
            TransposedVotesWarning,
        )


def check_turnout(table: NDArray[np.int32], of_object: NDArray[np.int32]) -> None:
    """Refuse objects that no clustering voted on."""
    silent = np.flatnonzero((table < 0).all(axis=1))
    if len(silent):
        rows = np.flatnonzero(np.isin(of_object, silent))
        shown = ", ".join(str(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        raise ValueError(
            f"{len(rows)} object(s) have no vote in any clustering: row(s) {shown}, counted from"
            f" 0. Nothing can be said about them; leave these rows out."
        )


# -- parameters ------------------------------------------------------------------------------------


def _is_whole(value: Any) -> TypeGuard[int]:
    """Tell whether `value` is an integer of Python or NumPy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_n_clusters(owner: str, n_clusters: Any, n_microclusters: int | None = None) -> int:
    """Return the number of clusters asked for, if that many can be had."""
    if not _is_whole(n_clusters) or n_clusters < 1:
        raise ValueError(
            f"The 'n_clusters' parameter of {owner} must be a whole number from 1 up."
            f" Got {n_clusters!r} instead."
        )
    if n_microclusters is not None and n_clusters > n_microclusters:
        raise ValueError(
            f"{owner} was asked for n_clusters={n_clusters}, but the ensemble tells only"
            f" {n_microclusters} group(s) of objects apart. Ask for at most {n_microclusters}"
            f" cluster(s), or add clusterings that split the data further."
        )
    return int(n_clusters)


def check_reach(
    owner: str, name: str, value: Any, n_microclusters: int, *, all_allowed: bool = False
) -> int:
    """Return n_neighbors or n_steps as a number; "auto" is the authors' rule.

    Both are half of the root of the number of microclusters, at least 1 and at most 20.
    """
    if isinstance(value, str) and value == "auto":
        return max(1, min(20, int(n_microclusters**0.5 / 2)))
    if all_allowed and isinstance(value, str) and value == "all":
        return max(1, n_microclusters - 1)
    if not _is_whole(value) or value < 1:
        words = "'auto', 'all'" if all_allowed else "'auto'"
        raise ValueError(
            f"The {name!r} parameter of {owner} must be {words} or a whole number from 1 up."
            f" Got {value!r} instead."
        )
    return int(value)


def check_choice(owner: str, name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"The {name!r} parameter of {owner} must be one of {', '.join(map(repr, choices))}."
            f" Got {value!r} instead."
        )
    return value


def check_linkage(owner: str, value: Any) -> str:
    """Return the name of a linkage."""
    return check_choice(owner, "linkage", value, LINKAGES)


def check_number(owner: str, name: str, value: Any, *, zero_allowed: bool = False) -> float:
    """Return `value` if it is a finite number above 0, or 0 where that is allowed."""
    good = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not good or value < 0 or (value == 0 and not zero_allowed):
        words = "from 0 up" if zero_allowed else "above 0"
        raise ValueError(
            f"The {name!r} parameter of {owner} must be a number {words}. Got {value!r} instead."
        )
    return float(value)


def check_share(owner: str, name: str, value: Any) -> float:
    """Return `value` if it is a number from 0 to 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
        raise ValueError(
            f"The {name!r} parameter of {owner} must be a number from 0 to 1."
            f" Got {value!r} instead."
        )
    return float(value)


def check_whole(owner: str, name: str, value: Any, lowest: int) -> int:
    """Return `value` if it is a whole number from `lowest` up."""
    if not _is_whole(value) or value < lowest:
        raise ValueError(
            f"The {name!r} parameter of {owner} must be a whole number from {lowest} up."
            f" Got {value!r} instead."
        )
    return int(value)


def check_level(owner: str, value: Any) -> str:
    """Return what is clustered: microclusters, so that identical rows stay together, or objects."""
    return check_choice(owner, "level", value, ("microclusters", "objects"))


def check_n_jobs(owner: str, value: Any) -> int | None:
    """Return the number of threads asked for, None for all of them."""
    if value is None:
        return None
    if not _is_whole(value) or value == 0:
        raise ValueError(
            f"The 'n_jobs' parameter of {owner} must be None or a whole number other than 0."
            f" Got {value!r} instead."
        )
    return int(value)


def check_random_state(owner: str, value: Any) -> int:
    """Return a seed: the same for the same integer, a fresh one otherwise."""
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31))
    try:
        return int(np.random.default_rng(value).integers(2**63))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The 'random_state' parameter of {owner} must be None, a whole number from 0 up, or a"
            f" NumPy random generator."
        ) from error


# -- memory ----------------------------------------------------------------------------------------


def check_memory(n_bytes: int, what: str, instead: str) -> None:
    """Refuse what would not fit, before it is allocated."""
    limit = available_memory()
    if n_bytes > limit:
        raise MemoryBudgetError(
            f"{what} would take {_in_words(n_bytes)} of memory, and {_in_words(limit)} are"
            f" available. {instead}"
        )


def available_memory() -> int:
    """Return the memory in bytes that may still be taken; ``QUORATE_MEMORY`` overrides it."""
    override = os.environ.get("QUORATE_MEMORY", "")
    if override.isdigit():
        return int(override)
    limits = [_available_to_system(), _left_in_cgroup()]
    return min(limit for limit in limits if limit is not None)


def _available_to_system() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 8 << 30  # no way to ask: a size that most machines have


def _left_in_cgroup() -> int | None:
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as limit:  # noqa: PTH123
            most = int(limit.read())
        with open("/sys/fs/cgroup/memory.current", encoding="ascii") as used:  # noqa: PTH123
            return max(0, most - int(used.read()))
    except (OSError, ValueError):
        return None


def _in_words(n_bytes: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
