"""A grid of numbers with those of the paper: as CSV, as Markdown, as HTML."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Cell:
    """The mean of some runs, its standard error, and the paper's number.

    `remark` explains a missing number, or a `mark` on it.
    """

    ours: float | None = None
    error: float | None = None
    runs: int = 0
    paper: float | None = None
    remark: str = ""
    mark: str = ""

    @property
    def difference(self) -> float | None:
        """Return ours minus the paper's, if there are both."""
        return None if self.ours is None or self.paper is None else self.ours - self.paper


def mean_cell(values: Sequence[float], paper: float | None = None, remark: str = "") -> Cell:
    """Return the cell of some runs."""
    if not len(values):
        return Cell(paper=paper, remark=remark)
    error = float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else None
    return Cell(float(np.mean(values)), error, len(values), paper)


@dataclass
class Grid:
    """A table: cells by row and column.

    `decimals` is the number shown to readers (CSV keeps six), `column_decimals` that of single
    columns; `best` marks the highest numbers of each column, as the paper's table does. `runs` is
    the expected number of runs of a cell: others show theirs; None shows none.
    """

    name: str
    title: str
    corner: str
    rows: list[str]
    columns: list[str]
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    decimals: int = 3
    column_decimals: dict[str, int] = field(default_factory=dict)
    best: int = 0
    percent: bool = False
    runs: int | None = None

    def cell(self, row: str, column: str) -> Cell:
        """Return a cell; unfilled ones are empty."""
        return self.cells.get((row, column), Cell())

    def keep_columns_with(self, rows: Iterable[str]) -> None:
        """Leave out the columns in which none of these rows has a number of ours."""
        kept = list(rows)
        self.columns = [
            column
            for column in self.columns
            if any(self.cell(row, column).ours is not None for row in kept)
        ]

    def differences(
        self, rows: Iterable[str] | None = None, columns: Sequence[str] | None = None
    ) -> list[float]:
        """Return ours minus the paper's, for all cells with both."""
        chosen = self.rows if rows is None else rows
        places = self.columns if columns is None else columns
        differences = (self.cell(row, column).difference for row in chosen for column in places)
        return [value for value in differences if value is not None]

    def to_csv(self) -> str:
        """Return one line for each cell."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        header = ["ours", "standard_error", "runs", "paper", "difference", "remark"]
        writer.writerow([self.corner, "column", *header])
        for row in self.rows:
            for column in self.columns:
                cell = self.cell(row, column)
                numbers = (cell.ours, cell.error, cell.runs, cell.paper, cell.difference)
                writer.writerow([row, column, *map(_plain, numbers), cell.remark])
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return a table of "ours (paper's)"."""
        lines = [
            f"| {' | '.join(map(_in_markdown, [self.corner, *self.columns]))} |",
            f"|---|{'---:|' * len(self.columns)}",
        ]
        for row in self.rows:
            shown = (self._shown(row, column, "**{}**") for column in self.columns)
            lines.append(f"| {' | '.join([_in_markdown(row), *shown])} |")
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return the same table for a browser, with the error and the runs as tooltips."""
        head = "".join(f"<th>{escape(name)}</th>" for name in [self.corner, *self.columns])
        body = []
        for row in self.rows:
            cells = []
            for column in self.columns:
                hint = escape(self._hint(self.cell(row, column)), quote=True)
                shown = escape(self._shown(row, column, "{}"))
                mark = ' class="best"' if self._is_best(row, column) else ""
                cells.append(f'<td{mark} title="{hint}">{shown}</td>')
            body.append(f"<tr><th>{escape(row)}</th>{''.join(cells)}</tr>")
        return (
            f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )

    def _shown(self, row: str, column: str, emphasis: str) -> str:
        cell = self.cell(row, column)
        if cell.ours is None:
            ours = "–"
        else:
            ours = self._number(cell.ours, column) + cell.mark
            if self._is_best(row, column):
                ours = emphasis.format(ours)
        if cell.paper is not None:
            ours = f"{ours} ({self._number(cell.paper, column)})"
        odd = self.runs is not None and cell.ours is not None and cell.runs != self.runs
        return f"{ours} n={cell.runs}" if odd else ours

    def _number(self, value: float, column: str) -> str:
        if self.percent:
            return f"{100 * value:.1f}%"
        return f"{value:,.{self.column_decimals.get(column, self.decimals)}f}"

    def _is_best(self, row: str, column: str) -> bool:
        return row in top_rows(self, column, self.best)

    def _hint(self, cell: Cell) -> str:
        if cell.ours is None:
            return cell.remark or "not measured"
        error = "" if cell.error is None else f" ± {cell.error:.4g}"
        remark = f"; {cell.remark}" if cell.remark else ""
        return f"{cell.ours:.6g}{error}, {cell.runs} run(s){remark}"


def top_rows(grid: Grid, column: str, n_best: int, *, paper: bool = False) -> list[str]:
    """Return the rows with the highest numbers of a column, ties included."""
    values = {}
    for row in grid.rows:
        cell = grid.cell(row, column)
        value = cell.paper if paper else cell.ours
        if value is not None:
            values[row] = round(value, grid.decimals)
    if not n_best or not values:
        return []
    least = sorted(values.values(), reverse=True)[min(n_best, len(values)) - 1]
    return [row for row, value in values.items() if value >= least]


def _in_markdown(name: str) -> str:
    """Return a name escaped for Markdown."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")


def _plain(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.6f}"
