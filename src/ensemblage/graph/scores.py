"""Scores of communities: of a whole graph, and of each vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage.graph._edges import SimpleGraph, check_edges, simple_graph
from ensemblage.graph._kinds import as_labels
from ensemblage.graph.agreement import agreement_of, member_weights

if TYPE_CHECKING:
    from ensemblage._types import FloatArray


class GraphScores(NamedTuple):
    """Scores of the communities of a graph, from clusterings of its vertices.

    Attributes
    ----------
    strength : float
        Community strength (the CSI of ECG): 1 - 2 · mean of min(w, 1 - w) over the edges, w their
        agreement. 1 if the clusterings agree on every edge, 0 if they are evenly split on every
        edge; NaN for a graph without edges.
    refusal : ndarray of shape (n_vertices,)
        1 - mean agreement of the edges of each vertex, in [0, 1]: near 1 for a vertex without a
        community. NaN for a vertex without edges.
    outside : ndarray of shape (n_vertices,)
        The share of the agreement of its edges that leads to other communities, in [0, 1]: above
        0.5 for a vertex that fits other communities better. NaN if its edges have no agreement.

    Examples
    --------
    >>> import ensemblage as en
    >>> scores = en.graph.scores([[0, 0], [0, 0], [1, 1]], [[0, 1], [1, 2]], [0, 0, 1])
    >>> scores.strength, scores.refusal
    (1.0, array([0. , 0.5, 1. ]))
    """

    strength: float
    refusal: FloatArray
    outside: FloatArray

    def __repr__(self) -> str:
        refusing = int(np.sum(self.refusal > 0.5))
        claimed = int(np.sum(self.outside > 0.5))
        return (
            f"GraphScores(strength={self.strength:.3f}; of {len(self.refusal):,} vertices"
            f" {refusing:,} have a refusal and {claimed:,} an outside above 0.5)"
        )


def scores(
    votes: Any,
    edges: Any,
    labels: Any,
    member_weight: Any = None,
    *,
    n_jobs: int | None = None,
) -> GraphScores:
    """Return community strength, and two scores of each vertex.

    Parameters
    ----------
    votes : array-like, DataFrame, Arrow table, dict, list or Ensemble, (n_vertices, n_clusterings)
        Clusterings of the vertices, as for `edge_agreement`.
    edges : sparse matrix, array-like of shape (n_edges, 2), igraph.Graph or networkx.Graph
        The graph, as for `edge_agreement`. Loops and directions are ignored.
    labels : array-like of shape (n_vertices,), dict or list of sets
        The communities, as returned by a clusterer of the graph. A vertex without a label (-1, NaN
        or None, not in the dict or in no set) is a separate community. A Series of the vertices of
        a networkx graph, or of the objects of the votes, is matched by index.
    member_weight : array-like of shape (n_clusterings,), dict or Series, optional
        Weight of each clustering.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Returns
    -------
    GraphScores

    Examples
    --------
    >>> from ensemblage.graph import scores
    >>> votes = [[0, 0], [0, 0], [0, 1], [1, 1]]
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3]]
    >>> found = scores(votes, edges, labels=[0, 0, 0, 1])
    >>> found.strength
    0.25
    >>> found.refusal.round(3)
    array([0.25, 0.25, 0.5 , 0.5 ])
    >>> found.outside.round(3)
    array([0.   , 0.   , 0.333, 1.   ])
    """
    owner = "scores"
    _validate.check_n_jobs(owner, n_jobs)
    ensemble = as_ensemble(votes, n_jobs=n_jobs, new=True)
    weight = member_weights(owner, ensemble, member_weight)
    graph_edges = check_edges(owner, edges, len(ensemble.microclusters.of_object))
    graph = simple_graph(graph_edges)
    if graph_edges.nodes is None:
        labels = _validate.in_order_of_index(labels, ensemble.index)
    communities = as_labels(
        "The labels of scores", labels, graph_edges.nodes, graph_edges.n_vertices
    )
    agreement = agreement_of(ensemble, graph.rows, graph.columns, weight, n_jobs)
    return scores_of(graph, agreement, communities)


def scores_of(graph: SimpleGraph, agreement: FloatArray, labels: Any) -> GraphScores:
    """Return the scores of communities, given the agreement of the edges of a simple graph."""
    n, rows, columns, _ = graph
    return GraphScores(
        strength=flow.community_strength(agreement),
        refusal=flow.vertex_refusal(n, rows, columns, agreement),
        outside=flow.vertex_outside(rows, columns, agreement, labels),
    )
