"""Experiments, and their view of the records that they are rendered from."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ensemblage.experiments.grids import Cell, mean_cell
from ensemblage.experiments.protocol import DATASETS
from ensemblage.experiments.sources import AUTHORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ensemblage.experiments.grids import Grid
    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Record, Task

_SCORED = ("scores", "settings")
#: Value of `cuts` in records from before the best k was searched up to the root of N.
FIFTY = "fifty"


@dataclass(frozen=True)
class Picture:
    """A figure: its file name, its caption, and a function that draws it."""

    name: str
    caption: str
    draw: Callable[[], Any]


@dataclass
class Results:
    """The tables and pictures of an experiment."""

    grids: list[Grid] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    `protocol` describes the runs, `tasks` lists them for a plan, `results` makes tables and
    pictures from records alone. `places` are the numbers in the paper: "Table 9". An experiment
    that measures time runs `alone`, one task at a time; its `skip` may return a reason not to run a
    task, given the records so far.
    """

    name: str
    title: str
    protocol: str
    tasks: Callable[[Plan], Iterable[Task]]
    results: Callable[[Evidence], Results]
    places: tuple[str, ...] = ()
    alone: bool = False
    skip: Callable[[Task, dict[str, Record]], str | None] | None = None

    @property
    def heading(self) -> str:
        """Return the title with the paper's numbers."""
        if self.places:
            return f"{' and '.join(self.places)}: {self.title}"
        return self.title[0].upper() + self.title[1:]

    @property
    def aliases(self) -> tuple[str, ...]:
        """Return the paper's numbers as names: "table9"."""
        return tuple(place.lower().replace(" ", "") for place in self.places)


class Evidence:
    """The records, one pool for each dataset: the authors' unless own ones are requested.

    Of several own pools, the largest counts. Scores without the word `cuts` are left out: they come
    from an earlier version, with another rule for the best k.
    """

    def __init__(self, records: Iterable[Record], paper: dict[str, Any], pools: str | None) -> None:
        self.paper = paper
        #: By kind and dataset, and in these by method; None is that of all.
        self._records: dict[tuple[str, str], dict[Any, list[Record]]] = {}
        pools_of: dict[str, set[str]] = defaultdict(set)
        for record in records:
            what = record["what"]
            if what["kind"] in _SCORED and "cuts" not in what:
                continue
            place = self._records.setdefault((what["kind"], what["dataset"]), defaultdict(list))
            place[None].append(record)
            place[str(what.get("method"))].append(record)
            if "pool" in what:
                pools_of[what["dataset"]].add(what["pool"])
        self._pools = {name: _preferred(names, pools) for name, names in pools_of.items()}

    def datasets(self, *kinds: str) -> list[str]:
        """Return the datasets that all these kinds have records of, in the paper's order."""
        recorded = [name for name in DATASETS if all(self.select(kind, name) for kind in kinds)]
        others = {dataset for kind, dataset in self._records if kind in kinds} - set(DATASETS)
        return recorded + sorted(others)

    def select(
        self, kind: str, dataset: str, *, skipped: bool = False, **words: Any
    ) -> list[Record]:
        """Return the records of one kind whose tasks have these words."""
        pool = self._pools.get(dataset)
        place = self._records.get((kind, dataset), {})
        method = words.get("method")
        return [
            record
            for record in place.get(None if method is None else str(method), ())
            if record["what"].get("pool") in (None, pool)
            and ("skipped" in record) == skipped
            and all(record["what"].get(word) == value for word, value in words.items())
        ]

    def cell(
        self,
        score: str,
        kind: str,
        dataset: str,
        *,
        paper: float | None = None,
        first: int | None = None,
        **words: Any,
    ) -> Cell:
        """Return the mean of one score over all draws, or over the first ones."""
        records = self.scored(kind, dataset, first=first, **words)
        numbers = [record["scores"].get(score) for record in records]
        values = [value for value in numbers if isinstance(value, int | float)]
        skipped = self.select(kind, dataset, skipped=True, **words)
        cell = mean_cell(values, paper, skipped[0]["skipped"] if skipped else "")
        n_fifty = sum(record["what"].get("cuts") == FIFTY for record in records)
        if n_fifty and score.endswith("_best"):
            remark = f"best k up to 50 in {n_fifty} of {len(records)} draws"
            return replace(cell, remark=remark, mark="†")
        return cell

    def scored(
        self, kind: str, dataset: str, *, first: int | None = None, **words: Any
    ) -> list[Record]:
        """Return one record for each draw.

        If a draw was scored both with all numbers of clusters and, earlier, with those up to 50,
        the first counts.
        """
        records = self.select(kind, dataset, **words)
        if words.get("cuts") == "all":
            records = self.select(kind, dataset, **{**words, "cuts": FIFTY}) + records
        by_draw = {record["what"].get("draw", 0): record for record in records}
        draws = sorted(draw for draw in by_draw if first is None or draw < first)
        return [by_draw[draw] for draw in draws]

    def of_paper(self, *path: str) -> Any:
        """Return a number of the paper's tables; None if it has none, or is not available."""
        node: Any = self.paper
        for step in path:
            node = node.get(step) if isinstance(node, dict) else None
        return node

    def printed(self, *path: str) -> dict[str, float]:
        """Return a row or a line of the paper's numbers; empty if it has none."""
        numbers = self.of_paper(*path)
        return numbers if isinstance(numbers, dict) else {}

    def is_of_authors(self, dataset: str) -> bool:
        """Tell whether the ensembles of a dataset came from the authors' pool."""
        return self._pools.get(dataset) == AUTHORS

    def origin(self, names: Iterable[str]) -> str:
        """Return the pools of the ensembles, as a sentence."""
        by_pool: dict[str, list[str]] = defaultdict(list)
        for name in names:
            if name in self._pools:
                by_pool[self._pools[name]].append(name)
        parts = []
        for pool, members in sorted(by_pool.items()):
            where = (
                "the authors' pools"
                if pool == AUTHORS
                else f"own pools of {pool.removeprefix('own-')} members (k-means and RPCL)"
            )
            parts.append(f"{', '.join(members)} from {where}")
        return f"Ensembles: {'; '.join(parts)}." if parts else ""


def _preferred(names: set[str], pools: str | None) -> str:
    own = sorted((name for name in names if name != AUTHORS), key=lambda n: int(n.split("-")[1]))
    if AUTHORS in names and (pools != "own" or not own):
        return AUTHORS
    return own[-1]


def format_counts(grid: Grid) -> str:
    """Return the number of runs in the cells of a grid, as a sentence."""
    counts = Counter(grid.cell(row, column).runs for row in grid.rows for column in grid.columns)
    counts.pop(0, None)
    if not counts or grid.runs is None:
        return ""
    others = sum(number for runs, number in counts.items() if runs != grid.runs)
    few = f" n=… is the number of draws of a cell that has another number ({others} cells)."
    few = few if others else ""
    if any(grid.cell(row, column).mark for row in grid.rows for column in grid.columns):
        few += " † marks cells in some of whose draws the best k was searched up to 50 only."
    if not counts[grid.runs]:
        return f"The paper has {grid.runs} draws.{few}"
    return f"Cells are means of {grid.runs} draws ({counts[grid.runs]} cells).{few}"


def format_differences(grid: Grid) -> str:
    """Return the differences of a grid from the paper's, as a sentence."""
    sizes = [abs(value) for value in grid.differences()]
    if not sizes:
        return ""
    return (
        f"Against the paper ({len(sizes)} cells): mean absolute difference"
        f" {sum(sizes) / len(sizes):.4f}, largest {max(sizes):.4f}."
    )
