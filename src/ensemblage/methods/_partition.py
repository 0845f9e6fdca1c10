"""Interface to the graph partitioners: graphs and hypergraphs in, balanced parts out.

Two libraries are supported and imported on first use. ``"mtkahypar"`` is a dependency and gives the
same result on every system; ``"metis"`` (recursive bisection, graphs only) needs the extra of that
name. Both only bisect, and the sides are bisected again, as in pmetis and shmetis, with which the
methods were defined: a limit on the heavier side is then also a limit on the lighter one. The
guarantees are enforced here, because the libraries differ: every part has a vertex, sides keep to
`ensemblage.flow.side_limits`, and equal input and seed give equal parts in any thread and process.

mtkahypar's deterministic mode takes no seed (its results do not change with ``set_seed``), so the
seed permutes the vertices. It runs on one thread: its thread count is a setting of the whole
process, and threads hardly help at the sizes of a consensus. It holds the GIL while it works.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ensemblage import _validate, flow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray

PARTITIONERS = ("mtkahypar", "metis")

#: One partition at a time: both libraries have global state (a thread pool, random numbers).
_LOCK = threading.Lock()


def check_partitioner(owner: str, partitioner: Any, *, hypergraph: bool = False) -> None:
    """Raise an error if a partitioner is unknown, unsuitable or missing, before any work starts."""
    _validate.check_choice(owner, "partitioner", partitioner, PARTITIONERS)
    if partitioner != "metis":
        return
    if hypergraph:
        raise ValueError(
            f"{owner} partitions a hypergraph, and METIS partitions graphs only."
            f" Use partitioner='mtkahypar'."
        )
    if find_spec("pymetis") is None:
        raise ImportError(
            f"{owner} with partitioner='metis' needs pymetis, which is not installed."
            f" Run: pip install \"ensemblage[metis]\". partitioner='mtkahypar' needs no extra."
        )


def partition_graph(
    graph: Any,
    vertex_weights: IntArray,
    n_parts: int,
    *,
    partitioner: str,
    tolerance: float,
    seed: int,
) -> NDArray[np.int64]:
    """Return parts of nearly equal weight that cut edges of small weight.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Symmetric, integer weights from 1 up (their sum below 2**31), nothing on the diagonal.
    vertex_weights : ndarray of shape (n,)
        Integers from 0 up, their sum below 2**31.
    n_parts : int
        With n parts or more, every vertex is a separate part.
    partitioner : {"mtkahypar", "metis"}
        The library.
    tolerance : float
        Share of the total weight by which a side of a bisection may exceed its target, unless half
        of the heaviest vertex is more.
    seed : int
        Equal seeds give equal parts.

    Returns
    -------
    ndarray of shape (n,)
        Parts 0..n_parts-1.
    """
    rng = np.random.default_rng(seed)
    return _partition(_Graph(graph, partitioner), vertex_weights, n_parts, tolerance, rng)


def partition_hypergraph(
    nets: Any,
    vertex_weights: IntArray,
    net_weights: IntArray,
    n_parts: int,
    *,
    tolerance: float,
    seed: int,
) -> NDArray[np.int64]:
    """Return parts of nearly equal weight such that nets of small weight are cut.

    Parameters
    ----------
    nets : sparse array of shape (n, n_nets)
        Which vertices (rows) are in which nets. Nets of one vertex cannot be cut and nets of all
        vertices always are: both are ignored.
    vertex_weights, net_weights : ndarray
        Integers from 0 and from 1 up, each with a sum below 2**31.
    n_parts, tolerance, seed
        As for `partition_graph`.

    Returns
    -------
    ndarray of shape (n,)
        Parts 0..n_parts-1.
    """
    rng = np.random.default_rng(seed)
    return _partition(_Hypergraph(nets, net_weights), vertex_weights, n_parts, tolerance, rng)


def objects_in_order(row: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of objects sorted, and the place of each object among them."""
    order = np.argsort(row, kind="stable")
    return row[order], np.argsort(order)


# -- shared ---------------------------------------------------------------------------------------


class _Structure(Protocol):
    """A graph or hypergraph as input of `_partition`."""

    def among(self, vertices: IntArray) -> _Structure:
        """Return the subgraph of these vertices, in their order."""
        ...

    def is_empty(self) -> bool: ...
    def bisect(
        self, weights: IntArray, n_parts: tuple[int, int], limits: IntArray, seed: int
    ) -> Any: ...
    def gains(self, sides: IntArray) -> flow.Gains: ...


def _partition(
    structure: _Structure,
    weights: IntArray,
    n_parts: int,
    tolerance: float,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    n = len(weights)
    if n_parts == 1:
        return np.zeros(n, dtype=np.int64)
    if n_parts >= n:
        return np.arange(n)
    if structure.is_empty():
        return flow.spread_by_weight(weights, n_parts)
    # Vertices heavier than a part are separate parts; the others share the remaining parts.
    first = flow.giants(weights, n_parts)
    if len(first):
        groups, shares = [first, np.delete(np.arange(n), first)], (len(first), n_parts - len(first))
    else:
        shares = (n_parts // 2, n_parts - n_parts // 2)
        sides = _bisect(structure, weights, shares, tolerance, rng)
        groups = [np.flatnonzero(sides == side) for side in (0, 1)]
    parts = np.empty(n, dtype=np.int64)
    for group, share, before in zip(groups, shares, (0, shares[0]), strict=True):
        parts[group] = before + _partition(
            structure.among(group), weights[group], share, tolerance, rng
        )
    return parts


def _bisect(
    structure: _Structure,
    weights: IntArray,
    n_parts: tuple[int, int],
    tolerance: float,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    aims, limits = flow.side_limits(weights, n_parts, tolerance)
    order, seed = rng.permutation(len(weights)), int(rng.integers(2**31))
    shuffled = structure.among(order)
    sides = np.empty(len(weights), dtype=np.int64)
    with _LOCK:
        sides[order] = shuffled.bisect(weights[order], n_parts, aims, seed)
    return flow.settle(sides, weights, n_parts, limits, structure.gains(sides))


# -- graphs ----------------------------------------------------------------------------------------


class _Graph:
    def __init__(self, matrix: Any, partitioner: str) -> None:
        self.matrix = matrix
        self.partitioner = partitioner

    def among(self, vertices: IntArray) -> _Graph:
        return _Graph(self.matrix[vertices][:, vertices], self.partitioner)

    def is_empty(self) -> bool:
        return self.matrix.nnz == 0

    def bisect(
        self, weights: IntArray, n_parts: tuple[int, int], limits: IntArray, seed: int
    ) -> Any:
        if self.partitioner == "metis":
            return self._metis(weights, n_parts, seed)
        return self._mtkahypar(weights, limits)

    def gains(self, sides: IntArray) -> flow.Gains:
        return _GraphGains(self.matrix, sides)

    def _mtkahypar(self, weights: IntArray, limits: IntArray) -> Any:
        n = len(weights)
        rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(self.matrix.indptr))
        once = rows < self.matrix.indices
        edges = np.column_stack([rows[once], self.matrix.indices[once]])
        library, context = _mtkahypar(limits)
        graph = library.create_graph(context, n, len(edges), edges, weights, self.matrix.data[once])
        return graph.partition(context).get_partition()

    def _metis(self, weights: IntArray, n_parts: tuple[int, int], seed: int) -> Any:
        import pymetis

        _, sides = pymetis.part_graph(
            2,
            pymetis.CSRAdjacency(self.matrix.indptr, self.matrix.indices),
            vweights=weights,
            eweights=self.matrix.data,
            tpwgts=[parts / sum(n_parts) for parts in n_parts],
            recursive=True,
            options=pymetis.Options(seed=seed),
        )
        return sides


class _GraphGains:
    """Links of every vertex to both sides, kept up to date."""

    def __init__(self, matrix: Any, sides: IntArray) -> None:
        self._matrix = matrix
        self._sides = sides.copy()
        self._ties: FloatArray = matrix @ _in_side(sides)

    def of(self, vertices: IntArray) -> FloatArray:
        own = self._sides[vertices]
        gain: FloatArray = self._ties[vertices, 1 - own] - self._ties[vertices, own]
        return gain

    def move(self, vertex: int) -> None:
        edges = slice(*self._matrix.indptr[vertex : vertex + 2])
        neighbours, weights = self._matrix.indices[edges], self._matrix.data[edges]
        own = self._sides[vertex]
        self._ties[neighbours, own] -= weights
        self._ties[neighbours, 1 - own] += weights
        self._sides[vertex] = 1 - own


# -- hypergraphs -----------------------------------------------------------------------------------


class _Hypergraph:
    def __init__(self, nets: Any, net_weights: IntArray) -> None:
        nets = nets.tocsc()
        pins = np.diff(nets.indptr)
        matters = np.flatnonzero((pins > 1) & (pins < nets.shape[0]))
        self.nets = nets[:, matters]
        self.net_weights = net_weights[matters]

    def among(self, vertices: IntArray) -> _Hypergraph:
        # A net that is not wholly among them is cut already and no longer matters.
        nets = self.nets.tocsr()[vertices].tocsc()
        uncut = np.flatnonzero(np.diff(nets.indptr) == np.diff(self.nets.indptr))
        return _Hypergraph(nets[:, uncut], self.net_weights[uncut])

    def is_empty(self) -> bool:
        return self.nets.nnz == 0

    def bisect(
        self,
        weights: IntArray,
        n_parts: tuple[int, int],  # noqa: ARG002
        limits: IntArray,
        seed: int,  # noqa: ARG002
    ) -> Any:
        library, context = _mtkahypar(limits)
        pins = np.split(self.nets.indices, self.nets.indptr[1:-1])
        hypergraph = library.create_hypergraph(
            context, len(weights), len(pins), pins, weights, self.net_weights
        )
        return hypergraph.partition(context).get_partition()

    def gains(self, sides: IntArray) -> flow.Gains:
        return _HypergraphGains(self, sides)


class _HypergraphGains:
    """Weight of the nets that a move makes whole, minus the weight of those it cuts."""

    def __init__(self, hypergraph: _Hypergraph, sides: IntArray) -> None:
        self._of_vertex = hypergraph.nets.tocsr()
        self._net_weights = hypergraph.net_weights[:, None].astype(np.float64)
        self._n_pins = np.diff(hypergraph.nets.indptr)[:, None]
        self._sides = sides.copy()
        self._pins_in: FloatArray = hypergraph.nets.T @ _in_side(sides)

    def of(self, vertices: IntArray) -> FloatArray:
        own = self._sides[vertices]
        rows, places = self._of_vertex[vertices], np.arange(len(vertices))
        whole = rows @ (self._net_weights * (self._pins_in == self._n_pins))
        nearly = rows @ (self._net_weights * (self._pins_in == self._n_pins - 1))
        gain: FloatArray = nearly[places, 1 - own] - whole[places, own]
        return gain

    def move(self, vertex: int) -> None:
        nets = self._of_vertex[[vertex]].indices
        own = self._sides[vertex]
        self._pins_in[nets, own] -= 1
        self._pins_in[nets, 1 - own] += 1
        self._sides[vertex] = 1 - own


def _in_side(sides: IntArray) -> FloatArray:
    """Return the members of both sides, as two columns of 0 and 1."""
    return (sides[:, None] == np.arange(2)).astype(np.float64)


# -- mtkahypar -------------------------------------------------------------------------------------


@cache
def _library() -> tuple[Any, Any]:
    """Import mtkahypar and start it: once in a process."""
    import mtkahypar

    return mtkahypar, mtkahypar.initialize(1, print_warnings=False)


def _mtkahypar(limits: IntArray) -> tuple[Any, Any]:
    """Return the library and a context: deterministic, silent, two sides with these limits."""
    module, library = _library()
    context = library.context_from_preset(module.PresetType.DETERMINISTIC)
    context.logging = False
    context.set_partitioning_parameters(2, 0.0, module.Objective.CUT)
    context.set_individual_target_block_weights(limits.tolist())
    return library, context
