"""Clusterings that `Consensus` leaves out, because they would mislead its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage import flow
from ensemblage._messages import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Of fewer objects it is common that all are alone.
_FEWEST_ALONE = 10
#: Clusterings that are not finer than this number of times the median are always kept: whether
#: they are random makes little difference, and they may be the only ones that show a cluster.
_MUCH_FINER = 2.0
#: Clusterings are compared with at least this number of coarser ones.
_FEWEST_COMPARED = 2


class Excluded(NamedTuple):
    """Which clusterings leave every object alone, and which are as good as random."""

    alone: NDArray[np.bool_]
    at_chance: NDArray[np.bool_]


def excluded_members(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> Excluded:
    """Return the clusterings to leave out.

    If all objects are alone, each cluster of the other clusterings seems scattered. So it does in
    a random clustering with many clusters, whose own small clusters cannot seem scattered. A fine
    clustering is random if it agrees with no coarse one more than by chance, unless no coarse one
    agrees with another either.
    """
    alone = _alone(table, sizes)
    if alone.all():
        alone[:] = False
    numbers = table.max(axis=0) + 1
    at_chance = np.zeros(len(numbers), dtype=bool)
    counting = ~alone & (numbers > 1)  # one cluster has no information
    if counting.any():
        typical = np.sort(numbers[counting])[(counting.sum() - 1) // 2]
        fine = counting & (numbers >= _MUCH_FINER * typical)
        coarse = counting & ~fine  # copies of a random clustering agree with each other
        if coarse.sum() >= _FEWEST_COMPARED:
            at_chance = flow.at_chance(table, sizes, np.flatnonzero(fine), coarse)
        if at_chance.any():
            kept = np.flatnonzero(coarse)
            at_chance &= not flow.at_chance(table, sizes, kept, coarse)[kept].all()
    return Excluded(alone, at_chance)


def reasons_of_exclusion(excluded: Excluded) -> str:
    """Return a line for each kind of clusterings that do not count."""
    lines = []
    if excluded.alone.any():
        number = counted(int(excluded.alone.sum()), "clustering")
        lines.append(f"\n{number} in which every object is alone did not count.")
    if excluded.at_chance.any():
        n = int(excluded.at_chance.sum())
        number = counted(n, "clustering")
        lines.append(
            f"\n{number} with many clusters that agree{'s' if n == 1 else ''} with no coarser one"
            " more than by chance did not count."
        )
    return "".join(lines)


def _alone(table: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which clusterings leave each of their objects, ten or more, alone."""
    numbers = table.max(axis=0) + 1
    alone: NDArray[np.bool_] = numbers >= _FEWEST_ALONE
    for m in np.flatnonzero(alone):
        voted = table[:, m] >= 0
        alone[m] = voted.sum() == numbers[m] == sizes[voted].sum()
    return alone
