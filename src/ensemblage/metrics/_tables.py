"""Summaries that print as a small table and convert to a data frame."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROWS = 10
_WIDEST = 32


class Table:
    """Base of the summaries: `to_frame`, and a short text."""

    __slots__ = ()

    def _heading(self) -> str:
        """Return the heading of the table."""
        raise NotImplementedError

    def _index(self) -> tuple[str, Any]:
        """Return the name of the rows, and the name of each."""
        raise NotImplementedError

    def _columns(self) -> dict[str, Any]:
        """Return the columns by name."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return the summary as a pandas DataFrame, a row for each entry.

        Returns
        -------
        DataFrame
        """
        if importlib.util.find_spec("pandas") is None:
            raise ImportError("to_frame needs pandas. Install it with: pip install pandas")
        import pandas as pd

        name, rows = self._index()
        return pd.DataFrame(self._columns(), index=pd.Index(rows, name=name))

    def __repr__(self) -> str:
        name, rows = self._index()
        return f"{self._heading()}\n{as_text({name: rows, **self._columns()})}"

    def _repr_html_(self) -> str | None:
        """Return the table for notebooks, None if pandas is missing."""
        if importlib.util.find_spec("pandas") is None:
            return None
        html: str = self.to_frame().to_html(max_rows=_ROWS)
        return html


def as_text(columns: Mapping[str, Any]) -> str:
    """Return the first rows of a table, aligned: text left, numbers right.

    Examples
    --------
    >>> print(as_text({"name": ["a", "b"], "share": [0.5, 1 / 3], "n": [10, 2]}))
    name  share   n
    a     0.500  10
    b     0.333   2
    """
    shown = {name: [_cell(value) for value in values[:_ROWS]] for name, values in columns.items()}
    parts = []
    for name, cells in shown.items():
        values = columns[name]
        left = len(values) > 0 and isinstance(values[0], str)
        width = max(map(len, [name, *cells]))
        parts.append([f"{cell:{'<' if left else '>'}{width}}" for cell in [name, *cells]])
    lines = ["  ".join(line).rstrip() for line in zip(*parts, strict=True)]
    n_rows = len(next(iter(columns.values())))
    if n_rows > _ROWS:
        lines.append(f"... {n_rows - _ROWS:,} more; to_frame() has all")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.3f}"
    text = str(value)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
