"""What an experiment is, and how it looks at the records that it is rendered from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ensemblage.experiments.grids import Cell, mean_cell
from ensemblage.experiments.protocol import DATASETS
from ensemblage.experiments.sources import AUTHORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ensemblage.experiments.grids import Grid
    from ensemblage.experiments.protocol import Plan
    from ensemblage.experiments.records import Record, Task


@dataclass(frozen=True)
class Picture:
    """A figure: its file name, what it shows in words, and how to draw it."""

    name: str
    caption: str
    draw: Callable[[], Any]


@dataclass
class Results:
    """What the records of an experiment come to."""

    grids: list[Grid] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    `protocol` says in words what is run, `tasks` lists it for a plan, `results` makes tables and
    pictures of records alone. An experiment that measures time runs `alone`, one task at a time;
    its `skip` may name a reason not to run a task, given the records so far.
    """

    name: str
    title: str
    protocol: str
    tasks: Callable[[Plan], Iterable[Task]]
    results: Callable[[Evidence], Results]
    alone: bool = False
    skip: Callable[[Task, dict[str, Record]], str | None] | None = None


class Evidence:
    """The records, one pool for each dataset: the authors' unless own ones are asked for.

    Of several own pools that were drawn from, the largest counts.
    """

    def __init__(self, records: Iterable[Record], paper: dict[str, Any], pools: str | None) -> None:
        self.paper = paper
        self._records: dict[tuple[str, str], list[Record]] = defaultdict(list)
        found: dict[str, set[str]] = defaultdict(set)
        for record in records:
            what = record["what"]
            self._records[what["kind"], what["dataset"]].append(record)
            if "pool" in what:
                found[what["dataset"]].add(what["pool"])
        self._pools = {name: _preferred(names, pools) for name, names in found.items()}

    def datasets(self, *kinds: str) -> list[str]:
        """Return the datasets that all these kinds have records of, in the paper's order."""
        known = [name for name in DATASETS if all(self.select(kind, name) for kind in kinds)]
        others = {dataset for kind, dataset in self._records if kind in kinds} - set(DATASETS)
        return known + sorted(others)

    def select(
        self, kind: str, dataset: str, *, skipped: bool = False, **words: Any
    ) -> list[Record]:
        """Return the records of one kind whose tasks have these words."""
        pool = self._pools.get(dataset)
        return [
            record
            for record in self._records[kind, dataset]
            if record["what"].get("pool") in (None, pool)
            and ("skipped" in record) == skipped
            and all(record["what"].get(word) == value for word, value in words.items())
        ]

    def cell(
        self, score: str, kind: str, dataset: str, *, paper: float | None = None, **words: Any
    ) -> Cell:
        """Return the mean of one score over all draws."""
        records = self.select(kind, dataset, **words)
        found = (record["scores"].get(score) for record in records)
        values = [value for value in found if isinstance(value, int | float)]
        skipped = self.select(kind, dataset, skipped=True, **words)
        return mean_cell(values, paper, skipped[0]["skipped"] if skipped else "")

    def of_paper(self, *path: str) -> Any:
        """Return a number of the paper's tables; None where it has none, or is not at hand."""
        found: Any = self.paper
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        return found

    def is_of_authors(self, dataset: str) -> bool:
        """Tell whether the ensembles of a dataset came from the authors' pool."""
        return self._pools.get(dataset) == AUTHORS

    def origin(self, names: Iterable[str]) -> str:
        """Return in words which pools the ensembles came from."""
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


def counts_in_words(grid: Grid) -> str:
    """Return how many runs the cells of a grid are means of."""
    by_row = {
        row: sorted({grid.cell(row, column).runs for column in grid.columns} - {0})
        for row in grid.rows
    }
    usual = max(
        (counts for counts in by_row.values() if counts),
        key=lambda counts: sum(other == counts for other in by_row.values()),
        default=[],
    )
    if not usual:
        return "No runs yet."
    odd = [
        f"{row} {_range(counts)}" for row, counts in by_row.items() if counts and counts != usual
    ]
    return f"Runs: {_range(usual)}" + (f"; {', '.join(odd)}" if odd else "") + "."


def _range(counts: list[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def differences_in_words(grid: Grid) -> str:
    """Return how far a grid is from the paper's."""
    sizes = [abs(value) for value in grid.differences()]
    if not sizes:
        return ""
    return (
        f"Against the paper ({len(sizes)} cells): mean absolute difference"
        f" {sum(sizes) / len(sizes):.4f}, largest {max(sizes):.4f}."
    )
