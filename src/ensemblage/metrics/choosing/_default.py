"""Numbers of clusters that are compared by default, and where none need to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.metrics.choosing._choice import KChoice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.metrics.choosing._cuts import Cuts

#: Microclusters times clusters up to which more than fifty clusters are compared by default.
_MOST_ENTRIES = 20_000_000
#: And up to which the clusters of equal clusterings are the answer, without curves.
_MOST_OF_EQUAL = 50_000_000


def default_ks(cuts: Cuts) -> NDArray[np.int64]:
    """Return 2 to 20, or higher if members are finer, and the groups that votes link.

    See `choose_k`.
    """
    n = len(cuts.sizes)
    largest = largest_default_k(cuts.table[:, cuts.voters])
    ks = np.arange(min(2, n), largest + 1)
    more = largest < cuts.n_groups <= _MOST_ENTRIES // n
    return np.append(ks, cuts.n_groups) if more else ks


def largest_default_k(table: NDArray[np.int32]) -> int:
    """Return the largest number of clusters compared by default, for votes of microclusters."""
    of_members = int(np.quantile(table.max(axis=0) + 1, 0.9, method="inverted_cdf"))
    return min(len(table), max(20, min(50, of_members)))


def are_the_answer(cuts: Cuts) -> bool:
    """Tell whether clusterings are equal, and finer than all that is compared by default.

    Halves of equal clusterings give the same clusters, so that no coarser cut has more support.
    """
    n = len(cuts.sizes)
    if n <= largest_default_k(cuts.table[:, cuts.voters]) or n * n > _MOST_OF_EQUAL:
        return False
    return cuts.are_equal and cuts.has_unlinked_groups and bool(cuts.sizes.min() >= cuts.least(n))


def of_equal_clusterings(cuts: Cuts, names: tuple[str, ...]) -> KChoice:
    """Return the choice of the number of clusters of equal clusterings."""
    k, n_voters = len(cuts.sizes), len(cuts.voters)
    evidence = "strong" if n_voters > 1 else "weak"
    why = "all clusterings are equal" if n_voters > 1 else "there is only one clustering"
    reason = f"{evidence.capitalize()} evidence for {k} clusters: {why}, with {k} clusters."
    absent = dict.fromkeys(names, f"{why[0].upper()}{why[1:]}, so nothing was compared.")
    return KChoice(k, np.array([k]), None, {}, {}, [reason], [], absent, evidence=evidence)
