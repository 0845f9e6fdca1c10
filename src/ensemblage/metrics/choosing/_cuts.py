"""The cuts, tree and eigenvalues of a consensus: input for choosing k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ensemblage.flow import links_at, n_large_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.flow import Links

    Cut = Callable[[int], NDArray[np.int64]]


@dataclass(frozen=True)
class Cuts:
    """A consensus of microclusters that can be cut at any k.

    Attributes that a method does not support are None.

    Attributes
    ----------
    name : str
        Name of the method.
    table : ndarray of shape (n_microclusters, n_clusterings)
        Their votes, codes from 0, -1 if missing.
    sizes : ndarray of shape (n_microclusters,)
        Number of objects in each.
    cut : callable
        ``cut(k)`` is the label of each microcluster, from 0, without gaps.
    similarity_sums : callable
        ``similarity_sums(weights, rows)`` is the co-association of some microclusters with all,
        times a matrix; of all for None.
    to_itself : float or ndarray of shape (n_microclusters,)
        The similarity of an object to itself.
    heights : ndarray or None
        Heights of the merges of a tree, in nondecreasing order.
    eigenvalues : callable or None
        ``eigenvalues(m)`` are the m largest of a cut by eigenvectors, the largest first.
    with_seed : callable or None
        ``with_seed(seed)`` cuts like `cut`, with other random numbers.
    of_members : callable
        ``of_members(columns)`` cuts a consensus of some members alone: the cut, with labels of the
        same microclusters (-1 without a vote of these members), and its largest k.
    tree : callable
        ``tree(table, sizes, weight)`` cuts a quick consensus of other votes: the cut, with labels
        of the rows of `table` (-1 without a vote), and its largest k.
    n_jobs : int or None
        Threads.
    links : Links or None
        The groups that votes link; None without votes.
    firm_links : Links or None
        The groups that more than stray votes link; None without votes.
    member_weight : ndarray of shape (n_clusterings,) or None
        Weight of each clustering; None if they are equal.
    least : callable
        ``least(k)`` is the number of objects below which a cluster does not count as one of k.
    """

    name: str
    table: NDArray[np.int32]
    sizes: NDArray[np.int64]
    cut: Cut
    similarity_sums: Callable[[FloatArray, NDArray[np.int64] | None], FloatArray]
    to_itself: FloatArray | float
    heights: FloatArray | None
    eigenvalues: Callable[[int], FloatArray] | None
    with_seed: Callable[[int], Cut] | None
    of_members: Callable[[NDArray[np.int64]], tuple[Cut, int]]
    tree: Callable[[NDArray[np.int32], NDArray[np.int64], FloatArray | None], tuple[Cut, int]]
    n_jobs: int | None
    links: Links | None
    firm_links: Links | None
    member_weight: FloatArray | None = None
    least: Callable[[int], int] = lambda _: 1

    @property
    def n_groups(self) -> int:
        """Return the number of groups that votes link, stray votes ignored; 1 without votes."""
        if self.links is None or self.firm_links is None:
            return 1
        return max(self.links.n_groups, n_large_groups(self.firm_links, self.sizes))

    @property
    def has_unlinked_groups(self) -> bool:
        """Tell whether no vote links some groups of at least five objects.

        Groups of any size count if the votes within each are equal, and most objects have equals.
        """
        if self.links is None:
            return False
        are_equal = 1 < self.links.n_groups == len(self.sizes)
        n_with_equals = int(self.sizes[self.sizes > 1].sum())
        are_most = 2 * n_with_equals > int(self.sizes.sum())
        return (are_equal and are_most) or n_large_groups(self.links, self.sizes) > 1

    @property
    def n_shared_groups(self) -> int:
        """Return the number of groups as `n_groups` does, without single objects."""
        if self.links is None or self.firm_links is None:
            return 1
        n_shared = int((np.bincount(self.links.of_row, self.sizes) > 1).sum())
        return max(n_shared, n_large_groups(self.firm_links, self.sizes))

    @property
    def are_equal(self) -> bool:
        """Tell whether every clustering has a cluster for each row of votes."""
        n_clusters = self.table[:, self.voters].max(axis=0) + 1
        return bool((n_clusters == len(self.sizes)).all())

    def links_at(self, n_clusters: int) -> Links | None:
        """Return the groups that matter for confidence in so many clusters, as in a fit."""
        if self.links is None or self.firm_links is None or n_clusters == 1:
            return None
        return links_at(self.links, self.firm_links, self.sizes, n_clusters)

    @property
    def voters(self) -> NDArray[np.intp]:
        """Return the clusterings with votes and positive weight."""
        votes = self.table.max(axis=0) >= 0
        return np.flatnonzero(votes if self.member_weight is None else votes * self.member_weight)

    @property
    def votes(self) -> tuple[NDArray[np.int32], NDArray[np.int64], FloatArray | None]:
        """Return the votes of these, the sizes of rows, and the weight of each member."""
        weight = self.member_weight
        return (
            self.table[:, self.voters],
            self.sizes,
            None if weight is None else weight[self.voters],
        )
