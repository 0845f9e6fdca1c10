"""Conversion of graphs to the type that was passed, and of the results of clusterers to labels."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ensemblage import _validate
from ensemblage._messages import shown
from ensemblage.flow.codes import factorize
from ensemblage.graph._edges import Edges, SimpleGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_WAYS = "Use labels in the order of the vertices, a dict by vertex, or a list of sets of vertices."


def adjacency(graph: SimpleGraph) -> Any:
    """Return the weights of a graph as a symmetric sparse array."""
    n, rows, columns, weights = graph
    ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    return sparse.csr_array((np.concatenate([weights, weights]), ends), shape=(n, n))


def like(edges: Edges, graph: SimpleGraph, order: Any = None) -> Any:
    """Return a graph of the type of `edges`, with attribute "weight" if edges have attributes.

    Vertex p of `graph` is vertex ``order[p]`` of `edges`, with its name and its other attributes.
    """
    places = range(graph.n_vertices) if order is None else order.tolist()
    if edges.kind == "igraph":
        import igraph

        vertices = edges.given.vs
        return igraph.Graph(
            n=graph.n_vertices,
            edges=np.column_stack([graph.rows, graph.columns]).tolist(),
            edge_attrs={"weight": graph.weights.tolist()},
            vertex_attrs={
                name: [values[place] for place in places]
                for name, values in ((name, vertices[name]) for name in vertices.attributes())
            },
        )
    if edges.nodes is not None:
        import networkx

        names = [edges.nodes[place] for place in places]
        made = networkx.Graph()
        made.add_nodes_from((name, edges.given.nodes[name]) for name in names)
        pairs = zip(graph.rows.tolist(), graph.columns.tolist(), strict=True)
        made.add_weighted_edges_from(
            (names[i], names[j], weight)
            for (i, j), weight in zip(pairs, graph.weights.tolist(), strict=True)
        )
        return made
    matrix = adjacency(graph)
    old_kind = edges.kind == "sparse" and not isinstance(edges.given, sparse.sparray)
    return sparse.csr_matrix(matrix) if old_kind else matrix


def permuted(graph: SimpleGraph, place: NDArray[np.int64]) -> SimpleGraph:
    """Return the graph with vertex v at ``place[v]``, its edges in the new order."""
    rows, columns = place[graph.rows], place[graph.columns]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    order = np.lexsort((high, low))
    return SimpleGraph(graph.n_vertices, low[order], high[order], graph.weights[order])


def as_labels(
    subject: str, found: Any, names: list[Any] | None, n_vertices: int
) -> NDArray[np.int64]:
    """Return the number of the community of each vertex; one without a label is alone.

    Accepts arrays and lists of labels, a dict or Series of labels by vertex, communities as a list
    of sets of vertices, and clusterings of igraph and leidenalg, which have a membership. A label
    is missing where a vote would be. `subject` is the subject of an error.
    """
    found = getattr(found, "membership", found)
    by_vertex = names is not None and _validate.is_series(found) and found.index.is_unique
    if by_vertex and set(found.index) <= set(names or ()):
        found = found.to_dict()
    wanted = f"{subject} must be a label for each of the {n_vertices:,} vertices"
    if not np.iterable(found):
        raise TypeError(f"{wanted}, got {found!r}. {_WAYS}")
    if not isinstance(found, Mapping) and not hasattr(found, "__array__"):
        found = list(found)
        if found and all(isinstance(part, set | frozenset) for part in found):
            found = _by_vertex(subject, found)
    if isinstance(found, Mapping):
        found = _in_order(subject, found, range(n_vertices) if names is None else names)
    try:
        labels = _validate.as_array(found)
        codes, _ = factorize(labels)
    except (TypeError, ValueError):  # lists of vertices, for example
        raise ValueError(f"{wanted}, got {reprlib.repr(found)}. {_WAYS}") from None
    if labels.shape != (n_vertices,):
        raise ValueError(f"{wanted}, got an array of shape {labels.shape}. {_WAYS}")
    return each_alone(codes.astype(np.int64))


def each_alone(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels with a new one for each vertex whose label is negative."""
    alone = labels < 0
    return np.where(alone, labels.max(initial=-1) + np.cumsum(alone), labels)


def _by_vertex(subject: str, communities: list[Any]) -> dict[Any, int]:
    """Return the community of each vertex, given sets of vertices."""
    community_of: dict[Any, int] = {}
    for place, part in enumerate(communities):
        for vertex in part:
            other = community_of.setdefault(vertex, place)
            if other != place:
                raise ValueError(
                    f"{subject} must have each vertex in one community, but vertex {vertex!r} is in"
                    f" communities {other} and {place}, counted from 0. Remove it from one of them."
                )
    return community_of


def _in_order(subject: str, label_of: Mapping[Any, Any], names: Sequence[Any]) -> list[Any]:
    """Return labels by vertex in the order of the vertices, None for one without a label."""
    known = set(names)
    unknown = [vertex for vertex in label_of if vertex not in known]
    if unknown or not label_of:
        got = f"{unknown[0]!r}, which is none of them" if unknown else "an empty dict"
        raise ValueError(
            f"{subject} must be for vertices of the graph, got {got}. The vertices are"
            f" {shown(names)}."
        )
    return [label_of.get(name) for name in names]
