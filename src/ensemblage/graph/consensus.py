"""Communities of a graph by consensus: many runs, agreement along the edges, one last run."""

from __future__ import annotations

import importlib.util
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ensemblage import _validate
from ensemblage._ensemble import ensemble_of_members
from ensemblage._messages import ParameterError
from ensemblage.graph._edges import (
    Edges,
    SimpleGraph,
    check_clusterer,
    check_edges,
    check_graph,
    edge_weights,
    simple_graph,
)
from ensemblage.graph._kinds import adjacency, as_labels, each_alone, like, permuted
from ensemblage.graph.agreement import agreement_of, check_rule, weighted
from ensemblage.graph.scores import scores_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: Number of members of each rule in its publication.
_N_MEMBERS = {"ecg": 16, "threshold": 10}
#: Seeds are drawn from this many numbers.
_N_SEEDS = 2**31
_OWNER = "graph.consensus"


class GraphConsensus(NamedTuple):
    """Communities of a graph, with scores.

    Attributes
    ----------
    labels : ndarray of shape (n_vertices,), int64
        The community of each vertex, 0, 1, ... in order of first appearance. Vertices are in the
        order of the rows of the matrix, of igraph's numbers, or of ``list(graph)`` in networkx.
    strength : float
        Community strength, as in `GraphScores`.
    refusal, outside : ndarray of shape (n_vertices,)
        Scores of each vertex, as in `GraphScores`.
    graph : sparse matrix, igraph.Graph or networkx.Graph
        The weighted graph of the last run, as returned by `reweight`.
    votes : ndarray of shape (n_vertices, n_members), int64
        The clusterings of the members.

    Examples
    --------
    >>> import ensemblage as en
    >>> from scipy.sparse.csgraph import connected_components
    >>> edges = [[0, 1], [1, 2], [3, 4]]
    >>> found = en.graph.consensus(edges, lambda graph: connected_components(graph)[1], n_members=2)
    >>> found.labels, found.strength
    (array([0, 0, 0, 1, 1]), 1.0)
    """

    labels: NDArray[np.int64]
    strength: float
    refusal: FloatArray
    outside: FloatArray
    graph: Any
    votes: NDArray[np.int64]

    def __repr__(self) -> str:
        n_communities = int(self.labels.max()) + 1
        return (
            f"GraphConsensus({n_communities:,} communities of {len(self.labels):,} vertices from"
            f" {self.votes.shape[1]:,} members, strength={self.strength:.3f})"
        )


def consensus(
    edges: Any,
    clusterer: Any = "louvain",
    n_members: int | str = "auto",
    rule: str = "ecg",
    random_state: Any = None,
    *,
    member_clusterer: Any = None,
    resolution: float = 1.0,
    min_weight: float = 0.05,
    threshold: float = 0.8,
    n_vertices: int | None = None,
    n_jobs: int | None = None,
) -> GraphConsensus:
    """Find communities that many runs of a clusterer agree on.

    The clusterer runs `n_members` times, each time with another seed and another order of the
    vertices. Edges are then weighted by the share of these runs that put their ends together, and
    the clusterer runs once more on the weighted graph.

    Parameters
    ----------
    edges : sparse matrix, array-like of shape (n_edges, 2), igraph.Graph or networkx.Graph
        The graph. Weights are the entries of the matrix or the attribute "weight". Of a directed
        graph the larger weight of both directions counts; loops are ignored.
    clusterer : {"louvain", "leiden"}, callable or object with fit_predict, default="louvain"
        "louvain" and "leiden" are those of scikit-network, which must be installed. A callable gets
        the graph, in the type that was passed (a sparse array for an array of edges; with the
        attribute "weight" in igraph and networkx), and returns labels in the order of the vertices,
        a dict of labels by vertex, a list of sets of vertices, or an object with `membership`. If
        it has a parameter `seed` or `random_state`, an integer is passed there.
    n_members : int or "auto", default="auto"
        Runs before the last one. "auto" is the published number: 16 with the rule "ecg", 10 with
        "threshold".
    rule : {"ecg", "threshold"}, default="ecg"
        How agreements are converted to weights, as in `reweight`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the orders of vertices and of the clusterer. Equal seeds give equal results if the
        clusterer takes a seed or is deterministic.
    member_clusterer : callable, object with fit_predict, str or None, default=None
        The clusterer of the members, if not `clusterer`. None with the rule "ecg" and a built-in
        clusterer is the first level of Louvain, as in ECG.
    resolution : float, default=1.0
        Of the built-in clusterers: higher values give more and smaller communities.
    min_weight, threshold : float
        Parameters of the rules, as in `reweight`.
    n_vertices : int, optional
        Number of vertices, if `edges` is an array and the last ones have no edge.
    n_jobs : int or None, default=None
        Threads for the agreement of edges; results do not depend on it.

    Returns
    -------
    GraphConsensus

    Warns
    -----
    NoStructureWarning
        If the rule drops every edge. Every vertex is then a separate community.

    Notes
    -----
    Vertices without an edge in the weighted graph, and those without a label of the clusterer (-1,
    NaN or None, not in the dict or in no set), are separate communities.

    References
    ----------
    V. Poulin, F. Théberge, "Ensemble clustering for graphs: comparisons and applications", Applied
    Network Science 4:51, 2019 (ECG).

    Y. Tabatabaee, E. Wedell, M. Park, T. Warnow, "FastEnsemble: scalable ensemble clustering on
    large networks", PLOS Complex Systems, 2025.

    Examples
    --------
    Any function of a graph is a clusterer, here connected components:

    >>> from scipy.sparse.csgraph import connected_components
    >>> from ensemblage.graph import consensus
    >>> edges = [[0, 1], [0, 2], [1, 2], [3, 4], [3, 5], [4, 5]]
    >>> found = consensus(edges, lambda graph: connected_components(graph)[1], n_members=3)
    >>> found
    GraphConsensus(2 communities of 6 vertices from 3 members, strength=1.000)
    >>> found.labels
    array([0, 0, 0, 1, 1, 1])
    """
    min_weight, threshold = check_rule(_OWNER, rule, min_weight, threshold)
    _validate.check_n_jobs(_OWNER, n_jobs)
    resolution = _validate.check_number(_OWNER, "resolution", resolution)
    if isinstance(n_members, str) and n_members == "auto":
        n_members = _N_MEMBERS[rule]
    n_members = _check_n_members(n_members)
    if n_vertices is not None:
        n_vertices = _validate.check_whole(_OWNER, "n_vertices", n_vertices, 1)
    last = _clusterer("clusterer", clusterer, resolution)
    each = last
    if member_clusterer is not None:
        each = _clusterer("member_clusterer", member_clusterer, resolution)
    elif rule == "ecg" and isinstance(clusterer, str):
        each = _built_in("louvain", resolution, n_aggregations=1)
    checked_edges = check_edges(_OWNER, edges, n_vertices, of_votes=False)
    _check_room(checked_edges.n_vertices, n_members)
    graph = simple_graph(checked_edges, edge_weights(_OWNER, checked_edges))
    check_graph(_OWNER, graph)
    rng = np.random.default_rng(_validate.check_random_state(_OWNER, random_state))
    *seeds, last_seed = rng.integers(_N_SEEDS, size=n_members + 1).tolist()

    votes = np.column_stack([_member(each, checked_edges, graph, seed) for seed in seeds])
    ensemble = ensemble_of_members(votes, n_jobs=n_jobs)
    agreement = agreement_of(ensemble, graph.rows, graph.columns, n_jobs=n_jobs)
    agreed = weighted(graph, agreement, rule, min_weight, threshold)
    if len(graph.rows) and not len(agreed.rows):
        _warn_of_no_edges(rule, min_weight, threshold)
    labels = _numbered(_labels(last, checked_edges, agreed, np.arange(graph.n_vertices), last_seed))
    sure = scores_of(graph, agreement, labels)
    return GraphConsensus(labels, *sure, like(checked_edges, agreed), votes)


def _check_n_members(value: Any) -> int:
    expected = f"'auto' or a whole number from 1 to {_N_SEEDS - 1}"
    n_members = _validate.check_whole(_OWNER, "n_members", value, 1, expected)
    if n_members >= _N_SEEDS:
        raise ParameterError(_OWNER, "n_members", expected, value)
    return n_members


def _check_room(n_vertices: int, n_members: int) -> None:
    """Reject more members than fit in memory, with their seeds, their labels and the table."""
    _validate.check_memory(
        n_members * (16 * n_vertices + 200),
        f"{n_members:,} clustering(s) of {n_vertices:,} vertices",
        "Number the vertices from 0 without gaps, as in names, edges = numpy.unique(edges,"
        " return_inverse=True), or use fewer members.",
    )


class _Clusterer(NamedTuple):
    """A function of a graph and a seed; with `matrix` it accepts a sparse matrix only."""

    run: Callable[[Any, int], Any]
    matrix: bool = False


def _clusterer(name: str, value: Any, resolution: float) -> _Clusterer:
    value = check_clusterer(_OWNER, name, value)
    if isinstance(value, str):
        return _built_in(value, resolution)
    if hasattr(value, "fit_predict"):
        return _Clusterer(lambda graph, _: value.fit_predict(graph), matrix=True)
    seed_name = _name_of_seed(value)
    if seed_name is None:
        return _Clusterer(lambda graph, _: value(graph))
    return _Clusterer(lambda graph, seed: value(graph, **{seed_name: seed}))


def _name_of_seed(function: Any) -> str | None:
    """Return the name of a function's parameter for a seed, if it has one."""
    try:
        parameters = signature(function).parameters
    except ValueError:  # compiled functions may have no signature
        return None
    return next((name for name in ("seed", "random_state") if name in parameters), None)


def _built_in(name: str, resolution: float, n_aggregations: int = -1) -> _Clusterer:
    """Return a clusterer of scikit-network."""
    if importlib.util.find_spec("sknetwork") is None:
        raise ImportError(
            f"The clusterer {name!r} of {_OWNER} needs scikit-network, which is not installed. Run:"
            ' pip install "ensemblage[graph]", or pass a function of a graph that returns labels.'
        )
    from sknetwork import clustering

    kind = {"louvain": clustering.Louvain, "leiden": clustering.Leiden}[name]

    def run(graph: Any, seed: int) -> Any:
        made = kind(
            resolution=resolution,
            n_aggregations=n_aggregations,
            return_probs=False,
            return_aggregate=False,
            random_state=seed,
        )
        return made.fit_predict(graph)

    return _Clusterer(run, matrix=True)


def _member(
    clusterer: _Clusterer, edges: Edges, graph: SimpleGraph, seed: int
) -> NDArray[np.int64]:
    """Return the labels of one run on the vertices in a random order."""
    order = np.random.default_rng(seed).permutation(graph.n_vertices)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return _numbered(_labels(clusterer, edges, permuted(graph, place), order, seed)[place])


def _labels(
    clusterer: _Clusterer,
    edges: Edges,
    graph: SimpleGraph,
    order: NDArray[np.int64],
    seed: int,
) -> NDArray[np.int64]:
    """Return labels of the vertices of `graph`, -1 for those that are alone.

    Vertex p of `graph` is vertex ``order[p]`` of `edges`.
    """
    n = graph.n_vertices
    labels = np.full(n, -1, dtype=np.int64)
    if len(graph.rows) == 0:
        return labels
    argument = csr_matrix(adjacency(graph)) if clusterer.matrix else like(edges, graph, order)
    names = None if edges.nodes is None else [edges.nodes[vertex] for vertex in order.tolist()]
    subject = f"The result of the clusterer of {_OWNER}"
    codes = as_labels(subject, clusterer.run(argument, seed), names, n)
    joined = np.zeros(n, dtype=bool)
    joined[graph.rows] = joined[graph.columns] = True
    labels[joined] = codes[joined]
    return labels


def _numbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels 0, 1, ... by first appearance, another one for each vertex that is alone."""
    _, first, inverse = np.unique(each_alone(labels), return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _warn_of_no_edges(rule: str, min_weight: float, threshold: float) -> None:
    used, advice = f"threshold={threshold}", "Lower the threshold"
    if rule == "ecg":
        used, advice = f"min_weight={min_weight}", "Raise min_weight"
    _validate.warn(
        f"The rule {rule!r} with {used} drops every edge, so every vertex is a separate community."
        f" {advice}, or check that the members agree better than by chance.",
        _validate.NoStructureWarning,
    )
