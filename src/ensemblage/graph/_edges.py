"""Graphs: the edges of a sparse matrix, an array of pairs, or a graph of igraph or networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ensemblage._messages import ParameterError
from ensemblage.flow.codes import whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

RULES = ("ecg", "threshold")
#: Clusterers of graphs that are available by name.
CLUSTERERS = ("louvain", "leiden")
_KINDS = "a SciPy sparse matrix, an (n_edges, 2) array, or a graph of igraph or networkx"
_OTHERWISE = "Remove such edges, or pass edges without weights."


class Edges(NamedTuple):
    """The edges of a graph in the order given, loops and both directions included.

    `weights` are as given, None if edges have none. `kind` is "sparse", "array", "igraph" or
    "networkx"; `nodes` are the names of vertices in networkx. `given` is the input; for a sparse
    matrix, its nonzero entries as CSR, in the order of the edges.
    """

    n_vertices: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: Any
    kind: str
    given: Any
    nodes: list[Any] | None = None


class SimpleGraph(NamedTuple):
    """A graph without loops and directions: each edge once, rows < columns, in order."""

    n_vertices: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: FloatArray


def check_edges(
    owner: str, edges: Any, n_vertices: int | None = None, *, of_votes: bool = True
) -> Edges:
    """Return the edges of a graph; `n_vertices` is the number of rows of the votes, if known.

    Without `of_votes` it is the parameter of that name, or None.
    """
    if sparse.issparse(edges):
        checked = _of_sparse(edges)
    elif _is_of(edges, "igraph"):
        checked = _of_igraph(edges)
    elif _is_of(edges, "networkx"):
        checked = _of_networkx(edges)
    else:
        hint = "Number the vertices as the rows of the votes."
        if not of_votes:
            hint = "Number the vertices from 0, and pass a larger n_vertices, or None."
        return _of_array(owner, edges, n_vertices, hint)
    if n_vertices is not None and checked.n_vertices != n_vertices:
        if not of_votes:
            expected = f"{checked.n_vertices}, the number of vertices of this graph"
            raise ParameterError(owner, "n_vertices", expected, n_vertices, optional=True)
        raise ValueError(
            f"{owner} needs a row of votes for each vertex, but the graph has"
            f" {checked.n_vertices:,} vertices and the votes have {n_vertices:,} rows. Pass the"
            f" votes on the vertices of this graph, in their order."
        )
    return checked


def _is_of(edges: Any, package: str) -> bool:
    """Tell whether an object belongs to a package, without importing it."""
    return any(cls.__module__.partition(".")[0] == package for cls in type(edges).__mro__)


def _of_sparse(edges: Any) -> Edges:
    if edges.ndim != 2 or edges.shape[0] != edges.shape[1]:
        raise ValueError(
            f"A sparse matrix of edges must be square, a row and a column for each vertex, got"
            f" shape {edges.shape}. Pass the adjacency matrix."
        )
    matrix = edges.tocsr().copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(matrix.indptr))
    return Edges(n, rows, matrix.indices.astype(np.int64), matrix.data, "sparse", matrix)


def _of_igraph(edges: Any) -> Edges:
    pairs = np.array(edges.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = edges.es["weight"] if "weight" in edges.edge_attributes() else None
    return Edges(edges.vcount(), pairs[:, 0], pairs[:, 1], weights, "igraph", edges)


def _of_networkx(edges: Any) -> Edges:
    nodes = list(edges)
    place = {node: at for at, node in enumerate(nodes)}
    listed = list(edges.edges(data="weight", default=1.0))
    pairs = np.array([(place[u], place[v]) for u, v, _ in listed], dtype=np.int64).reshape(-1, 2)
    weights = [weight for *_, weight in listed]
    return Edges(len(nodes), pairs[:, 0], pairs[:, 1], weights, "networkx", edges, nodes)


def _of_array(owner: str, edges: Any, n_vertices: int | None, hint: str) -> Edges:
    array = np.asarray(edges)
    if array.size == 0 and array.ndim <= 2:
        array = np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        advice = "Pass one row for each edge, the numbers of its two vertices."
        if array.ndim == 2 and array.shape[0] == 2:
            advice = "Pass the transpose, edges.T."
        elif array.ndim == 2 and array.shape[0] == array.shape[1]:
            advice = "Pass a dense adjacency matrix as scipy.sparse.csr_array(matrix)."
        elif array.ndim == 2 and array.shape[1] == 3:
            advice = "Pass edges with weights as a sparse matrix."
        got = f"shape {array.shape}" if array.ndim else type(edges).__name__
        raise ValueError(f"The edges of {owner} must be {_KINDS}, got {got}. {advice}")
    whole = array if array.dtype.kind in "iu" else None
    if array.dtype.kind == "f":
        whole = whole_numbers(array)
    if whole is None:
        raise ValueError(
            f"The edges of {owner} must be the numbers of vertices, counted from 0, got values such"
            f" as {array.ravel().tolist()[0]!r}. Convert names first: names, edges ="
            f" numpy.unique(edges, return_inverse=True)."
        )
    highest = int(whole.max()) if len(whole) else -1
    known = "from 0 up" if n_vertices is None else f"0 to {n_vertices - 1}"
    if n_vertices is None:
        n_vertices = highest + 1
    if len(whole) and (int(whole.min()) < 0 or highest >= n_vertices):
        wrong = int(np.flatnonzero(((whole < 0) | (whole >= n_vertices)).any(axis=1))[0])
        raise ValueError(
            f"The edges of {owner} must join vertices {known}, but edge {wrong},"
            f" counted from 0, is {tuple(whole[wrong].tolist())}. {hint}"
        )
    pairs = whole.astype(np.int64, copy=False)
    return Edges(n_vertices, pairs[:, 0], pairs[:, 1], None, "array", edges)


def edge_weights(owner: str, edges: Edges) -> FloatArray | None:
    """Return the weights of edges as numbers, None if they have none."""
    if edges.weights is None:
        return None
    try:
        weights = np.asarray(edges.weights)
        if weights.dtype.kind == "c":  # NumPy would drop the imaginary part
            weights = weights.astype(object)
        return np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"The weights of the edges of {owner} must be finite numbers above 0, got others"
            f" ({error}). {_OTHERWISE}"
        ) from error


def simple_graph(edges: Edges, weights: FloatArray | None = None) -> SimpleGraph:
    """Return the graph without loops; of several edges between two vertices the heaviest counts."""
    n, rows, columns = edges.n_vertices, edges.rows, edges.columns
    proper = rows != columns
    low, high = np.minimum(rows, columns)[proper], np.maximum(rows, columns)[proper]
    keys, place = np.unique(low * n + high, return_inverse=True)
    heaviest = np.ones(len(keys))
    if weights is not None:
        heaviest = np.full(len(keys), -np.inf)
        with np.errstate(invalid="ignore"):  # NaN stays NaN
            np.maximum.at(heaviest, place, weights[proper])
    return SimpleGraph(n, keys // max(n, 1), keys % max(n, 1), heaviest)


def check_graph(owner: str, graph: SimpleGraph) -> None:
    """Reject a graph without vertices, and weights that clusterers of graphs cannot use."""
    if graph.n_vertices == 0:
        raise ValueError(
            f"The graph passed to {owner} has no vertices. Pass edges, or n_vertices with an empty"
            f" array of edges."
        )
    wrong = np.flatnonzero(~(np.isfinite(graph.weights) & (graph.weights > 0)))
    if len(wrong):
        first = int(wrong[0])
        raise ValueError(
            f"The weights of the edges of {owner} must be finite numbers above 0, but that of edge"
            f" ({graph.rows[first]}, {graph.columns[first]}) is {graph.weights[first]}."
            f" {_OTHERWISE}"
        )


def check_clusterer(owner: str, name: str, value: Any) -> Any:
    """Return a clusterer of graphs: a name, a callable, or an object with fit_predict."""
    if isinstance(value, str) and value.lower() in CLUSTERERS:
        return value.lower()
    of_labels = not isinstance(value, type) and _takes_labels(value)
    known = hasattr(value, "fit_predict") or callable(value)
    if known and not of_labels and not isinstance(value, type | str):
        return value
    expected = (
        f"one of {', '.join(map(repr, CLUSTERERS))}, a function of a graph that returns labels, or"
        " an object with fit_predict"
    )
    hint = (
        "It takes labels, not a graph. To combine clusterings of the vertices along the edges, use"
        " graph.reweight(votes, edges)."
    )
    raise ParameterError(owner, name, expected, value, hint if of_labels else "")


def _takes_labels(clusterer: Any) -> bool:
    """Tell whether an estimator takes labels, as a consensus method does."""
    if not hasattr(clusterer, "__sklearn_tags__"):
        return False
    takes = clusterer.__sklearn_tags__().input_tags
    return bool(takes.categorical and not takes.sparse)
