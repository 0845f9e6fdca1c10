"""Data of the pictures of a report: heatmap, maps, tree. Numbers only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import flow
from ensemblage.flow import one_blas_thread
from ensemblage.methods import ConsensusClusterer
from ensemblage.report._facts import as_bytes, rounded
from ensemblage.report._layout import (
    map_of_features,
    map_of_similarity,
    order_by_cluster,
    spread_apart,
)
from ensemblage.report._sample import representatives

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.report._facts import Subject

_ROWS = 320  # of the heatmap
_POINTS = 2000
_PLACES = 600  # microclusters with a position in a map of the votes
_LEAVES = 40
_MOST_LEAVES = 80
_NEARLY_ONE = 0.99
_OWN_SIMILARITY = 20_000  # microclusters up to which the method's own similarity is computed


def heatmap(subject: Subject, sample: NDArray[np.int64]) -> dict[str, Any]:
    """Return the similarity of some objects, in the order of their clusters.

    `sample` holds objects of all clusters; "of" gives the positions in it that are shown, in order.
    """
    fitted = subject.fitted
    chosen = representatives(fitted.labels_[sample], _ROWS)
    objects = sample[chosen]
    groups, row = np.unique(fitted.microclusters_.of_object[objects], return_inverse=True)
    table = fitted.microclusters_.table[groups]
    votes = flow.coassociation(table, weights=fitted.member_weight_, n_jobs=fitted.n_jobs)
    if (table < 0).any():
        np.fill_diagonal(votes, 1.0)
    kinds = [("Votes together", votes)]
    own = _own_similarity(fitted, groups)
    if own is not None:
        largest = float(own.max())
        is_scaled = 0.0 < largest < _NEARLY_ONE  # weights make similarities small
        name = _name_of_similarity(fitted) + ", scaled to 1" * is_scaled
        kinds.append((name, own / largest if is_scaled else own))
    order = order_by_cluster(votes[np.ix_(row, row)], fitted.labels_[objects])
    at = np.ix_(row[order], row[order])
    return {
        "of": chosen[order].tolist(),
        "kinds": [{"title": title, "values": as_bytes(matrix[at])} for title, matrix in kinds],
    }


def _own_similarity(fitted: Any, groups: NDArray[np.int64]) -> FloatArray | None:
    """Return the similarity that the method uses; None if it is co-association."""
    n = len(fitted.microclusters_.sizes)
    same = type(fitted)._similarity_sums is ConsensusClusterer._similarity_sums
    if same or n > _OWN_SIMILARITY:
        return None
    columns = np.zeros((n, len(groups)))
    columns[groups, np.arange(len(groups))] = 1.0
    with one_blas_thread:
        similarity: FloatArray = fitted._similarity_sums(columns)[groups]
    return similarity if similarity.max() <= 1.0 + 1e-6 else None


def _name_of_similarity(fitted: Any) -> str:
    return "Random walks" if hasattr(fitted, "n_steps_") else f"{type(fitted).__name__} similarity"


def maps(subject: Subject, sample: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return positions of objects in the plane: by votes, and by features if there are any."""
    fitted = subject.fitted
    chosen = representatives(fitted.labels_[sample], _POINTS)
    microclusters = np.unique(fitted.microclusters_.of_object[sample[chosen]])
    if len(microclusters) > _PLACES:
        chosen = representatives(fitted.labels_[sample], _PLACES)
    objects = sample[chosen]
    groups, row = np.unique(fitted.microclusters_.of_object[objects], return_inverse=True)
    similarity = flow.coassociation(
        fitted.microclusters_.table[groups], weights=fitted.member_weight_, n_jobs=fitted.n_jobs
    )
    with one_blas_thread:
        places = spread_apart(map_of_similarity(similarity), row)
    shown = [_map("By votes", places, chosen, "Objects with similar votes are near each other.")]
    if subject.features is not None:
        chosen = representatives(fitted.labels_[sample], _POINTS)
        places, share = map_of_features(subject.features[sample[chosen]])
        text = (
            "Objects with similar features are near each other: these are the first two principal"
            f" components, with {100 * share:.0f} % of the variance. Votes do not matter here."
        )
        shown.append(_map("By features", places, chosen, text))
    return shown


def _map(title: str, places: FloatArray, of: NDArray[np.int64], note: str) -> dict[str, Any]:
    low = places.min(axis=0)
    size = max(float(np.ptp(places, axis=0).max()), 1e-300)
    x, y = ((places - low) / size).T
    return {"title": title, "x": rounded(x), "y": rounded(y), "of": of.tolist(), "note": note}


def tree(subject: Subject) -> dict[str, Any] | None:
    """Return the last merges of a method with a tree; None if there is none to draw."""
    fitted = subject.fitted
    merges = getattr(fitted, "linkage_matrix_", None)
    k = fitted.n_clusters_
    if merges is None or len(merges) < 1 or k > _MOST_LEAVES:
        return None
    n = len(merges) + 1
    by_group = n == len(fitted.microclusters_.sizes)
    sizes = fitted.microclusters_.sizes if by_group else np.ones(n, dtype=np.int64)
    labels = fitted._micro_labels if by_group else fitted.labels_
    shown = drawn_tree(merges, sizes, labels, min(n, max(_LEAVES, k)))
    return {**shown, "cut": _cut(merges, k) if _is_plain(merges, labels, k) else None}


def drawn_tree(
    merges: FloatArray, sizes: NDArray[np.int64], labels: NDArray[np.int64], n_leaves: int
) -> dict[str, Any]:
    """Return the top of a tree: leaves from left to right, then merges of two earlier nodes.

    Examples
    --------
    >>> import numpy as np
    >>> merges = np.array([[0, 1, 0.2, 2], [2, 3, 0.3, 2], [4, 5, 0.9, 4]])
    >>> drawn_tree(merges, np.array([5, 1, 1, 1]), np.array([0, 0, 1, 1]), 3)
    {'size': [6, 1, 1], 'cluster': [0, 1, 1], 'merges': [[1, 2, 0.3], [0, 3, 0.9]]}
    """
    n = len(merges) + 1
    left, right = merges[:, 0].astype(np.int64).tolist(), merges[:, 1].astype(np.int64).tolist()
    total = sizes.tolist()
    for a, b in zip(left, right, strict=True):
        total.append(total[a] + total[b])
    hidden = 2 * n - n_leaves  # nodes below this are not opened
    leaves, stack = [], [2 * n - 2]
    while stack:
        node = stack.pop()
        if node < hidden:
            leaves.append(node)
        else:
            stack += [right[node - n], left[node - n]]
    number = {node: place for place, node in enumerate(leaves)}
    shown = []
    for node in range(max(hidden, n), 2 * n - 1):
        shown.append(
            [number[left[node - n]], number[right[node - n]], round(float(merges[node - n, 2]), 5)]
        )
        number[node] = len(number)
    leaf_of = list(range(2 * n - 1))  # the drawn leaf of each row
    for node in range(min(hidden, 2 * n - 1) - 1, n - 1, -1):
        leaf_of[left[node - n]] = leaf_of[right[node - n]] = leaf_of[node]
    place = np.array([number[leaf] for leaf in leaf_of[:n]])
    counts = np.zeros((len(leaves), int(labels.max()) + 1))
    np.add.at(counts, (place, labels), sizes)
    return {
        "size": [total[node] for node in leaves],
        "cluster": counts.argmax(axis=1).tolist(),  # the most frequent, if small parts were moved
        "merges": shown,
    }


def _is_plain(merges: FloatArray, labels: NDArray[np.int64], k: int) -> bool:
    """Tell whether the clusters are the branches below one height of the tree."""
    pairs = np.column_stack([flow.cut_tree(merges, k), labels])
    return len(np.unique(pairs, axis=0)) == k


def _cut(merges: FloatArray, k: int) -> float:
    """Return a height between the merges made at k clusters and the others."""
    heights = merges[:, 2]
    n = len(heights) + 1
    below = heights[n - k - 1] if k < n else 0.0
    above = heights[n - k] if k > 1 else heights[-1] * 1.05
    return round(float((below + above) / 2), 5)
