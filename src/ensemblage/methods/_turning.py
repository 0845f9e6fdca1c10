"""Draws of a clustering in rows, turned so that each is a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._ensemble import Ensemble
from ensemblage._messages import ParameterError
from ensemblage._types import VoteTable
from ensemblage._validate.tables import foreign_table, is_pandas, refuse_strangers

if TYPE_CHECKING:
    from numpy.typing import NDArray


def turned(owner: str, X: Any) -> Any:
    """Return votes with one clustering in each row as votes with one in each column.

    An Ensemble, and a list with a Series or an array for each clustering, are returned as they are.
    """
    if isinstance(X, Ensemble) or _validate.is_list_of_columns(X):
        return X
    if isinstance(X, VoteTable):
        return X.matrix.T if X.matrix is not None else _rows(_alike(X.columns or []))
    refuse_strangers(X)
    if isinstance(X, Mapping):
        hint = "Each entry of a dict is a clustering."
        raise ParameterError(owner, "draws", "'columns' for a dict", "rows", hint)
    if is_pandas(X):  # pandas would join integers and floats as floats
        return X.T if len(set(X.dtypes)) == 1 else X.astype(object).T
    table = foreign_table(X)
    return _validate.as_array(X).T if table is None else _rows(table.columns)


def _rows(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Return columns as rows of one array, in which different labels stay different."""
    alike = len({column.dtype for column in columns}) <= 1
    return np.array(columns if alike else [column.astype(object) for column in columns])


def _alike(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return columns of a file as texts: what is 1 in one column is "1" beside a text."""
    texts = [np.full(len(column), None, dtype=object) for column in columns]
    for text, column in zip(texts, columns, strict=True):
        integers = column.dtype.kind in "iu"
        for row, label in enumerate(column.tolist()):
            if label is not None and not (integers and label == -1):
                text[row] = str(label)
    return texts
