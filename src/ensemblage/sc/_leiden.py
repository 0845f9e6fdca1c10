"""One run of Leiden on a neighbour graph, by igraph on the CPU or by cuGraph on a GPU."""

from __future__ import annotations

import random
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLAVORS = ("igraph", "rapids")
_GPU = "pip install cugraph-cu12 (it needs an NVIDIA GPU), or use flavor='igraph'"
_NEEDED = {"igraph": ("igraph", "pip install igraph"), "rapids": ("cugraph", _GPU)}


class Run(NamedTuple):
    """One run: its name, and its parameters."""

    name: str
    resolution: float
    seed: int
    subsample: float | None
    n_iterations: int
    flavor: str


def check_flavor_installed(owner: str, flavor: str) -> None:
    """Raise an error with the command to install the missing package of a flavor."""
    package, how = _NEEDED[flavor]
    if find_spec(package) is None:
        raise ImportError(
            f"{owner} with flavor={flavor!r} needs {package}, which is not installed. Run: {how}"
        )


def labels_of_run(graph: Any, run: Run) -> NDArray[np.int64]:
    """Return a label for each cell of an upper triangle of weights, -1 for cells not drawn."""
    labels = np.full(graph.shape[0], -1, dtype=np.int64)
    cells = _drawn(len(labels), run)
    part = graph if len(cells) == len(labels) else sparse.csr_matrix(graph[cells][:, cells])
    labels[cells] = {"igraph": _by_igraph, "rapids": _by_cugraph}[run.flavor](part.tocoo(), run)
    return labels


def _drawn(n_cells: int, run: Run) -> NDArray[np.int64]:
    """Return the cells of a run, which depend only on its seed and resolution."""
    if run.subsample is None or run.subsample == 1:
        return np.arange(n_cells)
    bits = int(np.float64(run.resolution).view(np.uint64))
    rng = np.random.default_rng([run.seed, bits])
    n_drawn = max(1, round(run.subsample * n_cells))
    return np.sort(rng.choice(n_cells, n_drawn, replace=False))


def _by_igraph(edges: Any, run: Run) -> Any:
    import igraph

    graph = igraph.Graph(n=edges.shape[0], edges=np.column_stack([edges.row, edges.col]))
    igraph.set_random_number_generator(random.Random(run.seed))
    try:
        communities = graph.community_leiden(
            objective_function="modularity",
            weights=edges.data.tolist(),
            resolution=run.resolution,
            n_iterations=run.n_iterations,
        )
    finally:
        igraph.set_random_number_generator(random)
    return communities.membership


def _by_cugraph(edges: Any, run: Run) -> Any:
    import cudf
    import cugraph

    frame = cudf.DataFrame({"source": edges.row, "destination": edges.col, "weight": edges.data})
    graph = cugraph.Graph()
    graph.from_cudf_edgelist(frame, source="source", destination="destination", weight="weight")
    parts, _ = cugraph.leiden(graph, resolution=run.resolution, random_state=run.seed)
    parts_frame = parts.to_pandas()
    labels = np.full(edges.shape[0], -1, dtype=np.int64)
    labels[parts_frame["vertex"].to_numpy()] = parts_frame["partition"].to_numpy()
    alone = labels < 0  # cells without an edge, which cuGraph leaves out
    labels[alone] = labels.max(initial=-1) + 1 + np.arange(alone.sum())
    return labels
