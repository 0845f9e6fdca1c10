"""The graph of elite neighbours, laid out in the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage._colours import cluster_colours
from ensemblage.plot import canvas
from ensemblage.plot._selection import drawn, label_of_microclusters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROUNDS = 150


def graph(estimator: Any, *, max_nodes: int = 300, ax: Any = None) -> Any:
    """Draw the strongest links of a consensus: every microcluster and its elite neighbours.

    Coherent clusters are dense knots; check a cluster in two knots, or two clusters in one.

    Parameters
    ----------
    estimator : fitted estimator
        A consensus method, or `EnsembleClustering`. PTA and PTGP walk on this graph; for other
        methods it is the graph that PTA would use with ``n_neighbors="auto"``.
    max_nodes : int, default=300
        With more microclusters a sample is drawn, in proportion to size, and linked with elite
        neighbours in the sample, with a note in the title.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    A point is a microcluster, its area grows with the number of objects. Positions come from the
    leading eigenvectors of the graph, loosened by springs; they have no unit.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> ax = en.plot.graph(en.PTGP(n_clusters=2, random_state=0).fit(votes))
    >>> ax.get_title(loc="left")
    'Elite neighbours'
    """
    from matplotlib.collections import LineCollection

    fitted = _validate.check_fitted("plot.graph", estimator)
    _validate.check_has_votes("plot.graph", fitted)
    _validate.check_whole("plot.graph", "max_nodes", max_nodes, 2)
    table, sizes, _ = fitted.microclusters_
    nodes = drawn(sizes, max_nodes)
    n_neighbors = _n_neighbors(fitted, len(nodes))
    links = flow.elite_graph(
        table[nodes], n_neighbors, weights=fitted.member_weight_, n_jobs=fitted.n_jobs
    ).tocoo()
    labels, sizes = label_of_microclusters(fitted)[nodes], sizes[nodes]
    places = layout(links.toarray())
    colours = cluster_colours(fitted.n_clusters_)

    ax = canvas.axes(ax, 6.4, 5.6)
    once = links.row < links.col
    ends = np.stack([links.row[once], links.col[once]], axis=1)
    weights = links.data[once]
    shades = np.zeros((len(weights), 4))
    shades[:, 3] = 0.08 + 0.35 * weights
    ax.add_collection(LineCollection(places[ends], colors=shades, linewidths=0.7, zorder=1))
    ax.scatter(
        places[:, 0],
        places[:, 1],
        s=12 + 160 * np.sqrt(sizes / sizes.max()),
        color=colours[labels],
        edgecolors="white",
        linewidths=0.6,
        zorder=2,
    )
    canvas.number_clusters(ax, places, labels, sizes)
    canvas.no_frame(ax)
    ax.margins(0.06)
    ax.set_aspect("equal")
    part = canvas.of_all(len(nodes), len(table), "microclusters, linked among themselves")
    canvas.title(ax, "Elite neighbours", part)
    return ax


def _n_neighbors(fitted: Any, n_nodes: int) -> int:
    """Return the method's number of neighbours, at most that of "auto" for a sample."""
    auto = flow.reach("auto", n_nodes)
    if n_nodes < len(fitted.microclusters_.sizes):
        return auto
    return int(getattr(fitted, "n_neighbors_", auto))


def layout(weights: FloatArray) -> FloatArray:
    """Return a position in the plane for each node of a graph, given its weights.

    The second and third eigenvectors of the normalised graph place linked nodes together, and nodes
    in the same position are separated: links then attract and all pairs repel each other
    (Fruchterman and Reingold), in decreasing steps.
    """
    n = len(weights)
    if n == 1:
        return np.zeros((1, 2))
    root = np.sqrt(np.maximum(weights.sum(axis=1), 1e-12))
    _, vectors = np.linalg.eigh(weights / root[:, None] / root[None, :])
    places = np.zeros((n, 2))
    positions = vectors[:, ::-1][:, 1:3]
    places[:, : positions.shape[1]] = positions / np.maximum(np.abs(positions).max(axis=0), 1e-12)
    places += np.random.default_rng(0).normal(scale=0.05, size=(n, 2))
    distance = 1.4 / np.sqrt(n)
    for step in np.linspace(0.12, 0.005, _ROUNDS):
        places += _moves(places, weights, distance, step)
    return places


def _moves(places: FloatArray, weights: FloatArray, distance: float, step: float) -> NDArray[Any]:
    """Return the displacement of each node, at most `step`."""
    apart = places[:, None, :] - places[None, :, :]
    length = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
    # A pull to the middle keeps unconnected parts on one page.
    force = (distance**2 / length**2 - weights * length / distance)[:, :, None] * apart
    push = force.sum(axis=1) - 0.5 * places
    size = np.maximum(np.linalg.norm(push, axis=1, keepdims=True), 1e-12)
    moves: NDArray[Any] = push / size * np.minimum(size, step)
    return moves
