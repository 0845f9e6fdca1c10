"""Conversion of graphs to the type that was passed, and of the results of clusterers to labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ensemblage.graph._edges import Edges, SimpleGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def as_labels(subject: str, found: Any, names: list[Any] | None, n_vertices: int) -> Any:
    """Return communities as an array with a label for each vertex, -1 for one without.

    Accepts arrays and lists of labels, a dict of labels by vertex, communities as a list of sets of
    vertices, and clusterings of igraph and leidenalg, which have a membership. `subject` is the
    subject of an error.
    """
    found = getattr(found, "membership", found)
    names = list(range(n_vertices)) if names is None else names
    if not np.iterable(found):
        raise TypeError(
            f"{subject} must be a label for each of the {n_vertices:,} vertices, got {found!r}."
            f" Return an array or a list of labels, a dict by vertex, or a list of vertex sets."
        )
    if not isinstance(found, np.ndarray | dict) and not hasattr(found, "dtype"):
        found = list(found)
        if found and all(isinstance(part, set | frozenset) for part in found):
            found = {name: label for label, part in enumerate(found) for name in part}
    if isinstance(found, dict):
        found = [found.get(name, -1) for name in names]
    labels = np.asarray(found)
    if labels.shape != (n_vertices,):
        raise ValueError(
            f"{subject} must be a label for each of the {n_vertices:,} vertices, got an array of"
            f" shape {labels.shape}. Use labels in the order of the vertices, a dict by vertex, or"
            f" a list of sets of vertices."
        )
    return labels
