"""A sample of the votes, in an order that does not depend on names and positions.

Halves of members and samples of objects are drawn at random. Equal votes must give an equal choice
in any order and with any names of clusters, so members and microclusters are first sorted by a
signature that depends on how they divide each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ensemblage.flow.links import mixed, renumbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

    Keys = NDArray[np.uint64]

#: How often signatures of clusters and rows are refined by each other.
_ROUNDS = 3


class Sample(NamedTuple):
    """Some objects of an ensemble, grouped by their votes.

    Attributes
    ----------
    table : ndarray of shape (n_rows, n_members)
        Votes, codes from 0 by first appearance, -1 if missing.
    sizes : ndarray of shape (n_rows,)
        Objects of each row.
    rows : ndarray of shape (n_rows,)
        The microcluster of each row.
    weight : ndarray of shape (n_members,) or None
        Weight of each member.
    """

    table: NDArray[np.int32]
    sizes: NDArray[np.int64]
    rows: NDArray[np.int64]
    weight: FloatArray | None


def draw(
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    weight: FloatArray | None,
    most: int,
    rng: np.random.Generator,
) -> Sample:
    """Return at most `most` objects, drawn without replacement, with the votes of all members."""
    of_rows, of_members = signatures(table, sizes, weight)
    columns = np.argsort(of_members, kind="stable")
    rows = np.argsort(of_rows, kind="stable")
    counts = sizes[rows]
    ends = np.cumsum(counts)
    if ends[-1] > most:
        drawn = rng.choice(int(ends[-1]), most, replace=False, shuffle=False)
        places, counts = np.unique(np.searchsorted(ends, drawn, side="right"), return_counts=True)
        rows = rows[places]
    votes = np.column_stack([renumbered(table[rows, m]) for m in columns])
    return Sample(votes, counts, rows, None if weight is None else weight[columns])


def signatures(
    table: NDArray[np.int32], sizes: NDArray[np.int64], weight: FloatArray | None = None
) -> tuple[Keys, Keys]:
    """Return a number for each row and each member that depends on how they divide each other.

    Clusters are described by their rows and rows by their clusters, repeatedly (colour refinement).
    Sums of whole numbers do not depend on their order, so neither do signatures. Rows or members
    with equal signatures are, except for rare cases, interchangeable.
    """
    n_members = table.shape[1]
    counts = sizes.astype(np.uint64)
    rows = mixed(counts)
    weights = np.ones(n_members) if weight is None else np.asarray(weight, dtype=np.float64)
    base = mixed(weights.view(np.uint64))
    members = base
    for _ in range(_ROUNDS):
        refined, members = rows.copy(), members.copy()
        for m in range(n_members):
            voted = np.flatnonzero(table[:, m] >= 0)
            codes = table[voted, m]
            clusters = np.zeros(int(table[:, m].max()) + 1, dtype=np.uint64)
            np.add.at(clusters, codes, rows[voted] * counts[voted])
            clusters = mixed(clusters + base[m])
            members[m] = clusters.sum(dtype=np.uint64)
            refined[voted] += mixed(clusters + members[m])[codes]
        rows = mixed(refined)
    return rows, members
