"""Which of the methods behind `Consensus` gives the labels, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import flow
from ensemblage.metrics.agreement import nmi_with_members
from ensemblage.metrics.confidence import cluster_weights, confidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The methods: the weighted tree, and the graph.
TREE, GRAPH = "lwea", "lwgp"
#: The graph's labels are used if their agreement with the members exceeds that of the tree by this
#: factor.
MUCH_BETTER = 1.2
#: They are also used if what their mean confidence lacks to 1 is at most this part of what that of
#: the tree lacks,
MUCH_SURER = 0.6
#: if the mean confidence in the tree's labels is at most this,
SURE = 0.95
#: if the graph's smallest cluster has at most this part of the mean size, because only very unequal
#: sizes mislead the tree in this way,
MUCH_SMALLER = 0.25
#: and at least this number of objects, or `min_cluster_size` if that is a number: otherwise a
#: cluster of outliers would raise the confidence of all others.
FEWEST = 5
#: Small clusters are mentioned if the tree without a least size agrees better by this factor.
_BETTER = 1.05


class Opinion(NamedTuple):
    """Labels of microclusters at some k, their method, and agreements with the members.

    `surer` has the mean confidence by the tree and by the graph if that decided. `clear_group` has
    the size of the smallest clear group if that lowered the least size.
    """

    labels: NDArray[np.int64]
    method: str
    of_tree: float
    of_graph: float
    surer: tuple[float, float] | None
    without_least_size: float
    clear_group: int | None


def opinion_of(consensus: Any, tree: Any, graph: Any, n_clusters: int) -> Opinion:
    """Return the labels of the tree, or those of the graph if the votes support them much more."""
    of_tree = of_graph = tree._cut_microclusters(n_clusters)
    if n_clusters < consensus.n_microclusters_:  # otherwise each is a cluster, by both
        of_graph = graph._cut_microclusters(n_clusters)
    by_tree, by_graph = _agreement(tree, of_tree), _agreement(tree, of_graph)
    better = by_graph > MUCH_BETTER * by_tree
    fewest = FEWEST if tree._keeps_clear_groups else max(FEWEST, tree._least_size(n_clusters))
    surer = None if better else _mean_confidences(consensus, of_tree, of_graph, fewest)
    if surer is not None and not is_much_surer(*surer):
        surer = None
    takes_graph = better or surer is not None
    parts = tree._parts(n_clusters)
    return Opinion(
        of_graph if takes_graph else of_tree,
        GRAPH if takes_graph else TREE,
        by_tree,
        by_graph,
        surer,
        _agreement(tree, flow.cut_tree(tree.linkage_matrix_, n_clusters)),
        None if parts is None else parts.clear_group,
    )


def _agreement(tree: Any, labels: NDArray[np.int64]) -> float:
    """Return the mean NMI with the members, by the weights of the tree."""
    table, sizes, _ = tree.microclusters_
    return nmi_with_members(labels, table, sizes, tree.member_weight_)


def _mean_confidences(
    consensus: Any, of_tree: NDArray[np.int64], of_graph: NDArray[np.int64], fewest: int
) -> tuple[float, float] | None:
    """Return the mean confidence in both labels; None if the graph's clusters do not qualify."""
    sizes, k = consensus.microclusters_.sizes, int(of_tree.max()) + 1
    objects = np.bincount(of_graph, sizes)
    if k == 1 or len(objects) < k:
        return None
    if not fewest <= objects.min() <= MUCH_SMALLER * objects.mean():
        return None
    tree, graph = (
        float(np.average(confidence(sums, labels, sizes), weights=sizes))
        for labels in (of_tree, of_graph)
        for sums in [consensus._confidence_sums(cluster_weights(labels, sizes, k))]
    )
    return tree, graph


def is_much_surer(tree: float, graph: float) -> bool:
    """Tell whether objects are much surer of the graph's clusters, by mean confidence.

    Examples
    --------
    >>> is_much_surer(0.8, 0.99), is_much_surer(0.8, 0.85), is_much_surer(0.97, 1.0)
    (True, False, False)
    """
    return tree <= SURE and 1.0 - graph <= MUCH_SURER * (1.0 - tree)


def reasons(opinion: Opinion) -> str:
    """Return the reasons for the choice, a sentence or two on each line."""
    tree, graph = f"{opinion.of_tree:.3f}", f"{opinion.of_graph:.3f}"
    if opinion.surer is not None:
        return (
            "The locally weighted graph (LWGP) was used instead of the default tree (LWEA): the"
            f" objects have a mean confidence of {opinion.surer[1]:.3f} in its clusters, and only"
            f" {opinion.surer[0]:.3f} in those of the tree.\nClusters of very different size misled"
            " the tree."
        )
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
