"""Agreement of clusterings on the two ends of each edge, and graphs weighted by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ensemblage import _validate, flow
from ensemblage._ensemble import Ensemble, as_ensemble
from ensemblage.graph._edges import RULES, SimpleGraph, check_edges, simple_graph
from ensemblage.graph._kinds import like

if TYPE_CHECKING:
    from ensemblage._types import FloatArray, IntArray


def edge_agreement(
    votes: Any, edges: Any, member_weight: Any = None, *, n_jobs: int | None = None
) -> Any:
    """Return the share of clusterings that put the two ends of each edge together.

    Parameters
    ----------
    votes : array-like, DataFrame, Arrow table, dict, list or Ensemble, (n_vertices, n_clusterings)
        One column of labels for each clustering of the vertices; -1, NaN, None and null are
        missing votes. Rows are in the order of the vertices.
    edges : sparse matrix, array-like of shape (n_edges, 2), igraph.Graph or networkx.Graph
        The graph. Entries of a sparse matrix other than 0 are edges. An array holds the numbers of
        vertices, counted from 0.
    member_weight : array-like of shape (n_clusterings,), dict or Series, optional
        Weight of each clustering.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Returns
    -------
    sparse matrix or ndarray of shape (n_edges,)
        For a sparse matrix its edges with agreements instead of weights, as CSR: an agreement of 0
        is a stored 0. For any other graph an array in the order of its edges. An agreement is the
        weight of the clusterings in which both ends have the same label, divided by the weight of
        those in which both have one; 0 if there are none, 1 for a loop.

    See Also
    --------
    reweight : the graph weighted by these agreements.
    scores : community strength, and scores of each vertex.

    Notes
    -----
    O(n_edges · n_clusterings) time, in blocks of edges. Edges are independent, so they may be
    passed in parts: make an `ensemblage.Ensemble` of the votes once and pass it with each part.

    Examples
    --------
    >>> from ensemblage.graph import edge_agreement
    >>> votes = [[0, 0, 0], [0, 0, 1], [1, 0, 1]]
    >>> edge_agreement(votes, [[0, 1], [1, 2]]).round(3)
    array([0.667, 0.667])
    """
    owner = "edge_agreement"
    _validate.check_n_jobs(owner, n_jobs)
    ensemble = as_ensemble(votes, n_jobs=n_jobs, new=True)
    weight = member_weights(owner, ensemble, member_weight)
    graph = check_edges(owner, edges, len(ensemble.microclusters.of_object))
    agreement = agreement_of(ensemble, graph.rows, graph.columns, weight, n_jobs)
    if graph.kind != "sparse":
        return agreement
    kind = sparse.csr_array if isinstance(graph.given, sparse.sparray) else sparse.csr_matrix
    return kind((agreement, graph.given.indices, graph.given.indptr), shape=graph.given.shape)


def reweight(
    votes: Any,
    edges: Any,
    rule: str = "ecg",
    *,
    min_weight: float = 0.05,
    threshold: float = 0.8,
    member_weight: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the graph weighted by the agreement of clusterings on each edge.

    One run of a clusterer on it gives the communities of the consensus.

    Parameters
    ----------
    votes : array-like, DataFrame, Arrow table, dict, list or Ensemble, (n_vertices, n_clusterings)
        Clusterings of the vertices, as for `edge_agreement`.
    edges : sparse matrix, array-like of shape (n_edges, 2), igraph.Graph or networkx.Graph
        The graph, as for `edge_agreement`. Its weights, if any, are not used. Directions and loops
        are ignored.
    rule : {"ecg", "threshold"}, default="ecg"
        "ecg" gives an edge with agreement w the weight ``min_weight + (1 - min_weight) * w``, and
        `min_weight` outside the 2-core of the graph, where edges connect tree-like parts.
        "threshold" gives it the weight w and drops edges with an agreement below `threshold`.
    min_weight : float, default=0.05
        The lowest weight under the rule "ecg", from 0 to 1. An edge of weight 0 is dropped.
    threshold : float, default=0.8
        The lowest agreement under the rule "threshold", from 0 to 1; 1 keeps edges that all
        clusterings agree on.
    member_weight : array-like of shape (n_clusterings,), dict or Series, optional
        Weight of each clustering.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Returns
    -------
    sparse matrix, igraph.Graph or networkx.Graph
        The weighted graph in the type that was passed, symmetric, without loops; a sparse array for
        an array of edges. In igraph and networkx the weights are the attribute "weight".

    References
    ----------
    V. Poulin, F. Théberge, "Ensemble clustering for graphs: comparisons and applications", Applied
    Network Science 4:51, 2019 (ECG).

    Y. Tabatabaee, E. Wedell, M. Park, T. Warnow, "FastEnsemble: scalable ensemble clustering on
    large networks", PLOS Complex Systems, 2025.

    Examples
    --------
    >>> from ensemblage.graph import reweight
    >>> votes = [[0, 0], [0, 0], [0, 1], [1, 1]]
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3]]
    >>> reweight(votes, edges).toarray().round(3)
    array([[0.   , 1.   , 0.525, 0.   ],
           [1.   , 0.   , 0.525, 0.   ],
           [0.525, 0.525, 0.   , 0.05 ],
           [0.   , 0.   , 0.05 , 0.   ]])
    """
    owner = "reweight"
    min_weight, threshold = check_rule(owner, rule, min_weight, threshold)
    _validate.check_n_jobs(owner, n_jobs)
    ensemble = as_ensemble(votes, n_jobs=n_jobs, new=True)
    weight = member_weights(owner, ensemble, member_weight)
    given_edges = check_edges(owner, edges, len(ensemble.microclusters.of_object))
    graph = simple_graph(given_edges)
    agreement = agreement_of(ensemble, graph.rows, graph.columns, weight, n_jobs)
    return like(given_edges, weighted(graph, agreement, rule, min_weight, threshold))


def check_rule(owner: str, rule: Any, min_weight: Any, threshold: Any) -> tuple[float, float]:
    """Check a rule for weights and return its two parameters."""
    _validate.check_choice(owner, "rule", rule, RULES)
    lowest = _validate.check_share(owner, "min_weight", min_weight)
    return lowest, _validate.check_share(owner, "threshold", threshold)


def member_weights(owner: str, ensemble: Ensemble, member_weight: Any) -> FloatArray | None:
    """Return the weights of the clusterings, None if all are equal."""
    return _validate.check_member_weight(
        owner, member_weight, ensemble.microclusters, ensemble.names
    )


def agreement_of(
    ensemble: Ensemble,
    rows: IntArray,
    columns: IntArray,
    weight: FloatArray | None = None,
    n_jobs: int | None = None,
) -> FloatArray:
    """Return the agreement of the ends of edges between objects of an ensemble."""
    table, _, of_object = ensemble.microclusters
    return flow.edge_agreement(table, of_object[rows], of_object[columns], weight, n_jobs=n_jobs)


def weighted(
    graph: SimpleGraph,
    agreement: FloatArray,
    rule: str,
    min_weight: float,
    threshold: float,
) -> SimpleGraph:
    """Return the graph with the weights of a rule, without the edges that it drops."""
    n, rows, columns, _ = graph
    if rule == "threshold":
        weights, stays = agreement, (agreement >= threshold) & (agreement > 0)
    else:
        core = flow.two_core(n, rows, columns)
        agreed = np.where(core[rows] & core[columns], agreement, 0.0)
        weights = min_weight + (1.0 - min_weight) * agreed
        stays = weights > 0
    return SimpleGraph(n, rows[stays], columns[stays], weights[stays])
