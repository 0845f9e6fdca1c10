"""Scores of all cuts of a consensus, from small tables of clusters and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import linkage

from ensemblage import flow
from ensemblage.methods import PTA
from ensemblage.metrics.agreement import ari_of_table, nmi_of_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

    Counts = NDArray[np.int64]


#: Similarities that differ by less are tied.
_DECIMALS = 12


def spanning_tree(estimator: Any) -> FloatArray:
    """Return the tree of single link along a minimum spanning tree grown from the first row.

    Of equal links, the one found first merges first.
    """
    distance = np.round(1.0 - estimator.similarity_, _DECIMALS)
    tree: FloatArray = linkage(distance[np.triu_indices(len(distance), 1)], "single")
    return tree


def relinked(estimator: Any, link: str, ties: str) -> FloatArray:
    """Return the tree of another linkage on the similarity of a fitted method.

    Means are over objects; those of PTA count microclusters.
    """
    sizes = None if isinstance(estimator, PTA) else estimator.microclusters_.sizes
    return flow.agglomerate(1.0 - estimator.similarity_, link, sizes, ties)


def best_and_true(
    estimator: Any,
    tree: FloatArray | None,
    truth: NDArray[np.int64],
    k: int,
    numbers: tuple[int, ...],
) -> dict[str, float | int | None]:
    """Return NMI and ARI at k, and the largest of each over k and `numbers`, if there are any."""
    most = estimator.n_microclusters_
    wanted = sorted({k, *(number for number in numbers if number <= most)})
    shared = _of_tree(tree, estimator, truth, wanted) if tree is not None else None
    tables = shared if shared is not None else _of_cuts(estimator, truth, k, wanted)
    nmi, ari = {}, {}
    for number, table in tables:
        nmi[number], ari[number] = nmi_of_table(table), ari_of_table(table)
    best = max(wanted, key=lambda number: (nmi[number], -number))
    return {
        "nmi_true": nmi[k],
        "ari_true": ari[k],
        "nmi_best": nmi[best] if numbers else None,
        "ari_best": max(ari.values()) if numbers else None,
        "k_best": best if numbers else None,
    }


def counts_by_class(units: NDArray[Any], truth: NDArray[np.int64]) -> Counts:
    """Return the number of objects of each class in each unit (a cluster, a microcluster)."""
    n_classes = int(truth.max()) + 1
    codes = units.astype(np.int64) * n_classes + truth
    counts = np.bincount(codes, minlength=(int(units.max()) + 1) * n_classes)
    return counts.reshape(-1, n_classes)


def _of_cuts(
    estimator: Any, truth: NDArray[np.int64], k: int, wanted: list[int]
) -> Iterator[tuple[int, Counts]]:
    for number in wanted:
        labels = estimator.labels_ if number == k else estimator.cut(number)
        yield number, counts_by_class(labels, truth)


def _of_tree(
    tree: FloatArray, estimator: Any, truth: NDArray[np.int64], wanted: list[int]
) -> Iterator[tuple[int, Counts]]:
    """Yield the table of every cut: the classes of each node are summed once."""
    n = len(tree) + 1
    groups = estimator.microclusters_
    units = groups.of_object if n == len(groups.sizes) else np.arange(len(truth))
    leaves = counts_by_class(units, truth)
    counts = np.concatenate([leaves, np.empty((n - 1, leaves.shape[1]), dtype=np.int64)])
    pairs = tree[:, :2].astype(np.int64)
    for node, (a, b) in enumerate(pairs.tolist(), start=n):
        counts[node] = counts[a] + counts[b]
    for number in wanted:
        alive = np.ones(2 * n - number, dtype=np.bool_)
        alive[pairs[: n - number].ravel()] = False
        yield number, counts[: 2 * n - number][alive]
