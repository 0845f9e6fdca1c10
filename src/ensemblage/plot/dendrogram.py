"""The tree of merges of an agglomerative method, with its cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage._colours import GREY, cluster_colours
from ensemblage.metrics.explain import objects_per_label
from ensemblage.plot import canvas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray


def dendrogram(
    estimator: Any, k: int | None = None, *, max_leaves: int = 40, ax: Any = None
) -> Any:
    """Draw the tree of merges, and its cut into k clusters.

    Long legs above the cut line mean that the clusters are well separated at that k. With a least
    size of clusters (`min_cluster_size`, as in `Consensus`) the clusters may not end at one height;
    then there is no line, but a note in the title.

    Parameters
    ----------
    estimator : fitted estimator
        A method with a `linkage_matrix_`, such as PTA or EAC.
    k : int, optional
        Where to cut; by default the number of clusters of the fit.
    max_leaves : int, default=40
        With more microclusters only the last merges are drawn, at least `k` branches, and each leaf
        represents earlier merges, with a note in the title.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ax = en.plot.dendrogram(en.EAC(n_clusters=2).fit(votes), k=3)
    >>> ax.get_ylabel()
    '1 - similarity at the merge'
    """
    from scipy.cluster import hierarchy

    fitted = _validate.check_fitted("plot.dendrogram", estimator)
    _check_tree("plot.dendrogram", fitted)
    _validate.check_whole("plot.dendrogram", "max_leaves", max_leaves, 2)
    labels = np.asarray(fitted.labels_ if k is None else fitted.cut(k))
    n_clusters = int(labels.max()) + 1
    tree = fitted.linkage_matrix_.copy()
    # A completed similarity (ECMC) may exceed 1; SciPy does not draw below 0.
    tree[:, 2] = np.maximum(tree[:, 2], 0.0)
    ax = canvas.axes(ax, 7.2, 4.4)
    canvas.plain_frame(ax)
    ax.set_ylabel("1 - similarity at the merge")
    if len(tree) == 0:
        ax.set_xticks([])
        canvas.title(ax, "Tree of merges", "one microcluster: nothing to merge")
        return ax
    leaf_labels, leaf_sizes = _of_leaves(fitted, labels, len(tree) + 1)
    colour_of, size_of = _of_nodes(tree, leaf_labels, leaf_sizes, n_clusters)
    shown = min(len(tree) + 1, max(max_leaves, n_clusters))
    drawing = hierarchy.dendrogram(
        tree,
        p=shown,
        truncate_mode="lastp",
        link_color_func=colour_of.__getitem__,
        leaf_label_func=lambda node: f"{size_of[node]:,}",
        above_threshold_color=GREY,
        leaf_rotation=90 if shown > 12 else 0,
        leaf_font_size=8 if shown <= 60 else 5,
        ax=ax,
    )
    _colour_legs(ax, drawing["leaves"], colour_of)
    ax.set_xlabel("objects under each leaf")
    part = canvas.of_all(shown, len(tree) + 1, "branches, the rest merged below them")
    heights = [legs[1] for legs in drawing["dcoord"]]
    if _is_cut_at_one_height(tree, leaf_labels, n_clusters):
        height, tied = _cut_height(tree, n_clusters)
        _draw_cut(ax, height, n_clusters)
        heights.append(height)
        notes = [part, "heights tie at the cut" if tied else ""]
    else:
        notes = [part, "small branches joined larger clusters: no cut at one height"]
    _leave_out_empty_part(ax, min(heights), max(heights))
    canvas.title(ax, "Tree of merges", "; ".join(note for note in notes if note))
    return ax


def _draw_cut(ax: Any, height: float, n_clusters: int) -> None:
    """Draw the line that crosses one branch for each cluster."""
    ax.axhline(height, color="black", linestyle="--", linewidth=1)
    ax.annotate(
        f"{n_clusters} cluster{'s' if n_clusters > 1 else ''}",
        (1, height),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        annotation_clip=False,
        fontsize="small",
    )


def _leave_out_empty_part(ax: Any, lowest: float, top: float) -> None:
    """Start the axis near the lowest drawn merge if all of them are high up."""
    if lowest > 0.5 * top:
        margin = max(0.1 * (top - lowest), 0.001 * top)
        ax.set_ylim(lowest - margin, top + margin)


def _is_cut_at_one_height(tree: FloatArray, labels: NDArray[np.int64], n_clusters: int) -> bool:
    """Tell whether the labels result from undoing the last merges.

    With a least size of clusters (`min_cluster_size`) they may not be.
    """
    plain = flow.cut_tree(tree, n_clusters)
    return len(np.unique(plain * n_clusters + labels)) == n_clusters


def _of_leaves(
    fitted: Any, labels: NDArray[np.int64], n_leaves: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the label and the number of objects of each leaf: a microcluster, or an object."""
    _, sizes, of_object = fitted.microclusters_
    if n_leaves == len(sizes):
        _, first = np.unique(of_object, return_index=True)
        return labels[first], sizes
    return labels, objects_per_label(fitted)


def _of_nodes(
    tree: FloatArray, labels: NDArray[np.int64], sizes: NDArray[np.int64], n_clusters: int
) -> tuple[list[str], list[int]]:
    """Return the colour and the number of objects of every node, leaves first.

    A node has the colour of its cluster, or grey if it joins several.
    """
    from matplotlib.colors import to_hex

    colours = [to_hex(colour) for colour in cluster_colours(n_clusters)]
    cluster, size = labels.tolist(), sizes.tolist()
    for left, right in tree[:, :2].astype(np.int64).tolist():
        cluster.append(cluster[left] if cluster[left] == cluster[right] else -1)
        size.append(size[left] + size[right])
    return [GREY if c < 0 else colours[c] for c in cluster], size


def _colour_legs(ax: Any, leaves: list[int], colour_of: list[str]) -> None:
    """Give the names of leaves the colour of their cluster: single leaves have no line below."""
    for text, node in zip(ax.get_xticklabels(), leaves, strict=True):
        text.set_color(colour_of[node])


def _cut_height(tree: FloatArray, n_clusters: int) -> tuple[float, bool]:
    """Return a height between the merges that are kept and those undone, and whether they tie."""
    heights = np.sort(tree[:, 2])
    n_kept = len(heights) + 1 - n_clusters
    top = float(heights[-1]) or 1.0
    below = float(heights[n_kept - 1]) if n_kept else 0.0
    above = float(heights[n_kept]) if n_kept < len(heights) else 1.05 * top
    return (below + above) / 2, bool(0 < n_kept < len(heights) and below == above)


def _check_tree(owner: str, fitted: Any) -> None:
    """Raise an error if a fitted method has no tree."""
    if not hasattr(fitted, "linkage_matrix_"):
        raise ValueError(
            f"{owner} draws the tree of merges, but this {type(fitted).__name__} has none:"
            f" {fitted._why_no_tree()}. Methods with a parameter linkage (PTA, EAC, LWEA, ...) have"
            f" a linkage_matrix_."
        )
