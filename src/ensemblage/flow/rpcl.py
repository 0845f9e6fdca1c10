"""Rival penalised competitive learning: units that win move closer, their rivals move away.

L. Xu, A. Krzyzak, E. Oja, "Rival penalized competitive learning for clustering analysis, RBF net,
and curve detection", IEEE Transactions on Neural Networks 4(4), 1993, pp. 636-649. Units that keep
losing are driven away from the objects, so that there may be fewer clusters than units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow._nearest import nearest, squared_distance, two_least

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Ratio of the learning rate of the winner to the de-learning rate of the rival.
PENALTY = 25.0
#: Learning ends after an epoch in which a smaller share of the rows changed their winner.
SETTLED = 0.001


def rpcl(
    rows: NDArray[Any],
    starts: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    rate: float,
    n_epochs: int = 15,
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the units after learning from `rows`, and the number of each row's nearest unit.

    Units start at the rows `starts`. In each epoch every row x is shown once, in random order. Of
    the units w_j, which have won c_j times, the winner has the least c_j·|x - w_j|², the rival
    the second least. The winner moves by ``rate (x - w)`` towards x, the rival by a 25th of that
    away from it; `rate` falls linearly to 0 over the epochs.

    A rival that is already farther from the mean of all rows than any row stays in place:
    otherwise, as the second of two units, it would diverge.
    """
    units = rows[starts].astype(np.float64)
    mean = rows.mean(axis=0, dtype=np.float64)
    reach = _largest_distance(rows, mean)
    wins = np.ones(len(units))
    winners = np.full(len(rows), -1, dtype=np.int32)
    n_steps = n_epochs * len(rows)
    for epoch in range(n_epochs):
        order = rng.permutation(len(rows))
        changed = _learn(
            rows, order, units, wins, winners, mean, reach, rate, epoch * len(rows), n_steps
        )
        if changed < SETTLED * len(rows):
            break
    return units, nearest(rows, units)


@kernel
def _largest_distance(rows: Any, mean: Any) -> float:
    """Return the largest squared distance of a row from the mean."""
    largest = 0.0
    for i in range(len(rows)):
        largest = max(largest, squared_distance(rows[i], mean))
    return largest


@kernel
def _learn(
    rows: Any,
    order: Any,
    units: Any,
    wins: Any,
    winners: Any,
    mean: Any,
    reach: Any,
    rate: Any,
    step: Any,
    n_steps: Any,
) -> int:
    """Show every row once; return the number of rows with another winner than in the last epoch."""
    changed = 0
    n_dimensions = rows.shape[1]
    for i in order:
        # Shares of wins are counts divided by the same sum: comparing counts is equivalent.
        winner, rival, _, _ = two_least(rows, i, units, wins)
        pull = rate * (1.0 - step / n_steps)
        for d in range(n_dimensions):
            units[winner, d] += pull * (rows[i, d] - units[winner, d])
        if rival >= 0 and squared_distance(units[rival], mean) <= reach:
            push = pull / PENALTY
            for d in range(n_dimensions):
                units[rival, d] -= push * (rows[i, d] - units[rival, d])
        wins[winner] += 1.0
        step += 1
        if winners[i] != winner:
            changed += 1
            winners[i] = winner
    return changed
