"""Which of the methods behind `Consensus` gives the labels, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The methods: the weighted tree, and the graph.
TREE, GRAPH = "lwea", "lwgp"
#: The graph's labels are used if their agreement with the members exceeds that of the tree by this
#: factor.
MUCH_BETTER = 1.2
#: Small clusters are mentioned if the tree without a least size agrees better by this factor.
_BETTER = 1.05


class Opinion(NamedTuple):
    """Labels of microclusters at some k, their method, and agreements with the members.

    `clear_group` has the size of the smallest clear group if that lowered the least size.
    """

    labels: NDArray[np.int64]
    method: str
    of_tree: float
    of_graph: float
    without_least_size: float
    clear_group: int | None


def reasons(opinion: Opinion) -> str:
    """Return the reasons for the choice, a sentence or two on each line."""
    tree, graph = f"{opinion.of_tree:.3f}", f"{opinion.of_graph:.3f}"
    if opinion.method == GRAPH:
        return (
            "The locally weighted graph (LWGP) was used instead of the default tree (LWEA): its"
            f" clusters have a mean NMI of {graph} with the clusterings, those of the tree only"
            f" {tree}.\nOutliers, or independent errors of the clusterings, misled the tree."
        )
    why = (
        "The locally weighted tree (LWEA), the default, was used: its clusters have a mean NMI"
        f" of {tree} with the clusterings, those of the graph (LWGP) {graph}."
    )
    if opinion.clear_group is not None:
        why += (
            f"\nmin_cluster_size was lowered to {opinion.clear_group}, the size of a group that is"
            " clearly apart from the others."
        )
    elif opinion.without_least_size > _BETTER * opinion.of_tree:
        why += (
            "\nClusters with fewer objects than min_cluster_size were not formed. With"
            f" min_cluster_size=1 the mean NMI is {opinion.without_least_size:.3f}: small clusters"
            " may be real."
        )
    return why
