"""Clusterings in a list: arrays, Series and fitted clusterers are columns, lists are rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ensemblage._validate.notices import TransposedVotesWarning, warn
from ensemblage._validate.tables import is_column

#: What a row is made of; a list of these cannot be one of columns.
_PLAIN = {list, tuple, int, float, str, bool, type(None)}


def is_clusterer(item: Any) -> bool:
    """Tell whether this is an estimator, fitted or not."""
    if isinstance(item, type | Mapping) or hasattr(type(item), "__array__"):
        return False  # a column of a DataFrame may be called labels_
    return hasattr(item, "labels_") or (hasattr(item, "fit") and hasattr(item, "get_params"))


def is_list_of_columns(X: Any) -> bool:
    """Tell whether X is a list or tuple of clusterings: arrays, Series, fitted clusterers.

    A single one among lists is enough: it would be an odd row.
    """
    if not isinstance(X, list | tuple) or hasattr(X, "_fields"):  # tuples with names are no lists
        return False
    if set(map(type, X)) <= _PLAIN:  # at once, for lists of millions of rows
        return False
    return any(is_column(item) or is_clusterer(item) for item in X)


def columns_of_list(X: list[Any] | tuple[Any, ...]) -> tuple[dict[Any, Any], bool]:
    """Return the clusterings of a list by name, and True; or by place, and False.

    Names are those of the Series, where all have one and they differ.
    """
    for place, item in enumerate(X):
        shape = getattr(item, "shape", ())
        if isinstance(shape, tuple) and len(shape) > 1:
            raise ValueError(
                f"A list of clusterings holds one column in each item, but item {place}, counted"
                f" from 0, has the shape {shape}. Put tables side by side first, with numpy.hstack"
                f" or pandas.concat(..., axis=1)."
            )
    names = [getattr(item, "name", None) if is_column(item) else None for item in X]
    if all(name not in (None, "") for name in names) and len(set(names)) == len(names):
        return dict(zip(names, X, strict=True)), True
    return dict(enumerate(X)), False


def labels_of(item: Any, called: str) -> Any:
    """Return the labels of a fitted clusterer, and anything else as it is."""
    if isinstance(item, type) and hasattr(item, "fit"):
        raise TypeError(
            f"Votes hold fitted clusterers, but {called} is the class {item.__name__}. Make one"
            f" and fit it first: {item.__name__}(...).fit(features)."
        )
    if not is_clusterer(item):
        return item
    last = item.steps[-1][1] if hasattr(item, "steps") else item
    labels = getattr(item, "labels_", getattr(last, "labels_", None))
    if labels is None:
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"Votes hold fitted clusterers, but {called}, a {type(last).__name__}, has no labels_."
            f" Call its fit(features) first. Of a clusterer without labels_, such as a mixture,"
            f" pass what fit_predict(features) returns."
        )
    return labels


def warn_of_short_lists(n_rows: int, n_columns: int) -> None:
    """Warn of a list of lists with fewer rows than columns, in both readings."""
    if n_rows < n_columns:
        warn(
            f"A list of {n_rows} list(s) of {n_columns} labels was read as rows: {n_rows}"
            f" object(s), {n_columns} clusterings. If each list is a clustering of {n_columns}"
            f" objects, pass arrays, [numpy.array(labels) for labels in votes], which are read as"
            f" columns. To keep this reading without a warning, pass numpy.array(votes).",
            TransposedVotesWarning,
        )
