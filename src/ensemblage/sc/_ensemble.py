"""Many Leiden runs on one neighbour graph, as columns of ``.obs``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import closing
from importlib.metadata import version
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ensemblage import _validate
from ensemblage._messages import ParameterError
from ensemblage._progress import counting
from ensemblage.sc._columns import (
    check_adata,
    check_key,
    check_restriction,
    restricted,
    restriction,
)
from ensemblage.sc._leiden import FLAVORS, Run, check_flavor_installed, labels_of_run
from ensemblage.sc._neighbours import check_connectivities

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

_OWNER = "leiden_ensemble"
#: Runs at each resolution, each of which is a column.
_MOST_SEEDS = 1_000_000


def leiden_ensemble(
    adata: Any,
    resolutions: float | Iterable[float] = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0),
    seeds: int | Iterable[int] = 10,
    subsample: float | None = None,
    neighbors_key: str | None = None,
    flavor: str = "igraph",
    *,
    key_added: str = "leiden_ensemble",
    restrict_to: tuple[str, Iterable[str]] | None = None,
    n_iterations: int = 2,
    n_jobs: int | None = None,
    progress: bool = True,
    copy: bool = False,
) -> Any:
    """Cluster cells with Leiden at several resolutions, from several seeds.

    Parameters
    ----------
    adata : AnnData
        Cells with a neighbour graph, as of ``scanpy.pp.neighbors``. MuData and tables of
        SpatialData are accepted as well.
    resolutions : float or iterable of float, default=(0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
        Higher values give more and smaller clusters.
    seeds : int or iterable of int, default=10
        Seeds of the runs at each resolution; an integer n means 0 to n - 1.
    subsample : float, optional
        Share of the cells that each run clusters, drawn at random. The others have no label in that
        run (NaN).
    neighbors_key : str, optional
        The neighbour graph: an entry of ``.uns`` or a matrix in ``.obsp``. None is scanpy's
        default.
    flavor : {"igraph", "rapids"}, default="igraph"
        The implementation: igraph, or cuGraph on a GPU. Both maximise modularity.
    key_added : str, default="leiden_ensemble"
        Prefix of the columns, and name of the parameters.
    restrict_to : (str, list of str), optional
        A column of ``adata.obs`` and some of its groups: only these cells are clustered.
    n_iterations : int, default=2
        Iterations of igraph's Leiden; -1 runs until convergence. cuGraph has its own rule.
    n_jobs : int or None, default=None
        Parallel runs, in separate processes (igraph only). None is one, unless an active
        `joblib.parallel_config` sets another number; labels do not depend on it.
    progress : bool, default=True
        Show a bar on standard error, if that is a terminal.
    copy : bool, default=False
        Return a copy with the result instead of changing `adata`.

    Returns
    -------
    AnnData or None
        The copy, or None. It has

        - ``.obs[f"{key_added}_r{resolution}_s{seed}"]``: a column for each run, categories "0",
          "1", ... from the largest cluster to the smallest;
        - ``.uns[key_added]["keys"]``: the columns; ``["resolutions"]`` and ``["seeds"]``: those of
          each column;
        - ``.uns[key_added]["params"]``: the parameters common to all runs.

    See Also
    --------
    consensus : combines them into one clustering.

    Notes
    -----
    A run depends only on the graph, its resolution and its seed. An interrupted call keeps the
    finished runs, and the same call adds the missing ones; so does a call with more seeds or
    resolutions. If the graph or another parameter has changed, all runs under this key are
    replaced.

    igraph and cuGraph are not installed with this package: ``pip install igraph``.

    Examples
    --------
    >>> import anndata as ad
    >>> import numpy as np
    >>> from sklearn.neighbors import kneighbors_graph
    >>> import ensemblage as en
    >>> cells = np.random.default_rng(0).normal(size=(90, 2)) + 9 * np.repeat(np.eye(3, 2), 30, 0)
    >>> adata = ad.AnnData(cells)
    >>> adata.obsp["connectivities"] = kneighbors_graph(cells, 10)
    >>> en.sc.tl.leiden_ensemble(adata, resolutions=[0.5, 1.0], seeds=3)
    >>> list(adata.obs.columns)[:2]
    ['leiden_ensemble_r0.5_s0', 'leiden_ensemble_r0.5_s1']
    >>> en.sc.tl.consensus(adata, n_clusters=3)
    >>> adata.obs["consensus"].value_counts().to_dict()
    {'0': 30, '1': 30, '2': 30}
    """
    check_adata(_OWNER, adata, copy=copy)
    check_key(_OWNER, "key_added", key_added)
    _validate.check_choice(_OWNER, "flavor", flavor, FLAVORS)
    _validate.check_n_jobs(_OWNER, n_jobs)
    share = None if subsample is None else _check_subsample(subsample)
    if n_iterations != -1:
        n_iterations = _validate.check_whole(_OWNER, "n_iterations", n_iterations, 1)
    runs = [
        Run(f"{key_added}_r{resolution:g}_s{seed}", resolution, seed, share, n_iterations, flavor)
        for resolution, seed in product(_check_resolutions(resolutions), _check_seeds(seeds))
    ]
    graph = check_connectivities(_OWNER, adata, neighbors_key)
    restrict_to = check_restriction(_OWNER, restrict_to)
    cells = restricted(adata.obs, restrict_to)
    check_flavor_installed(_OWNER, flavor)
    part = graph if cells is None else graph[cells][:, cells]
    upper = sparse.triu(part.maximum(part.T), k=1, format="csr")

    params: dict[str, Any] = {
        "flavor": flavor,
        "n_iterations": n_iterations,
        **({} if share is None else {"subsample": share}),
        **restriction(restrict_to),
        "graph": _digest(upper),
        "ensemblage": version("ensemblage"),
    }
    target = adata.copy() if copy else adata
    kept = _kept(target, key_added, params)
    missing = [run for run in runs if run.name not in kept]
    workers = n_jobs if flavor == "igraph" else 1
    try:
        with (
            counting("Leiden runs", len(runs), show=progress, done=len(runs) - len(missing)) as one,
            closing(_results(upper, missing, workers)) as results,
        ):
            for run, labels in results:
                target.obs[run.name] = _column(labels, cells, graph.shape[0])
                kept[run.name] = (run.resolution, run.seed)
                one()
    finally:  # also after an interrupt
        target.uns[key_added] = {
            "params": params,
            "keys": list(kept),
            "resolutions": [resolution for resolution, _ in kept.values()],
            "seeds": [seed for _, seed in kept.values()],
        }
    return target if copy else None


def _results(
    graph: Any, runs: list[Run], n_jobs: int | None
) -> Generator[tuple[Run, NDArray[np.int64]], None, None]:
    """Yield runs and their labels in order."""
    from joblib import Parallel, delayed

    tasks = (delayed(_one)(graph, run) for run in runs)
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(tasks)


def _one(graph: Any, run: Run) -> tuple[Run, NDArray[np.int64]]:
    return run, labels_of_run(graph, run)


def _kept(adata: Any, key: str, params: dict[str, Any]) -> dict[str, tuple[float, int]]:
    """Return the runs of an earlier call that are still valid; remove the columns of the others.

    Runs of another version of this package are kept.
    """
    entry = adata.uns.get(key)
    if not isinstance(entry, Mapping) or "keys" not in entry:
        return {}
    earlier = [name for name in map(str, entry["keys"]) if name in adata.obs]
    if _comparable(entry.get("params", {})) != _comparable(params):
        for name in earlier:
            del adata.obs[name]
        return {}
    made = zip(map(str, entry["keys"]), entry["resolutions"], entry["seeds"], strict=True)
    return {name: (float(r), int(seed)) for name, r, seed in made if name in earlier}


def _comparable(params: Any) -> dict[str, str]:
    """Return parameters as texts: a file returns numbers and lists in other types."""
    plain = {}
    for name, value in params.items():
        if isinstance(value, Mapping):
            value = [str(value["key"]), *map(str, value["groups"])]
        plain[name] = str(value)
    plain.pop("ensemblage", None)
    return plain


def _column(labels: NDArray[np.int64], cells: Any, n_cells: int) -> Any:
    """Return labels as categories "0", "1", ... by size; NaN for cells that were not clustered."""
    import pandas as pd

    voted = labels >= 0
    found, inverse, counts = np.unique(labels[voted], return_inverse=True, return_counts=True)
    rank = np.empty(len(found), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(found))
    codes = np.full(n_cells, -1, dtype=np.int64)
    places = np.flatnonzero(voted) if cells is None else cells[voted]
    codes[places] = rank[inverse]
    return pd.Categorical.from_codes(codes, [str(label) for label in range(len(found))])


def _digest(graph: Any) -> str:
    """Return a short text that differs for different graphs."""
    parts = (graph.indptr.astype("<i8"), graph.indices.astype("<i8"), graph.data.astype("<f8"))
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()[:16]


def _check_resolutions(value: Any) -> list[float]:
    values = list(value) if np.iterable(value) else [value]
    resolutions = [_validate.check_number(_OWNER, "resolutions", one) for one in values]
    if not resolutions or len({f"{one:g}" for one in resolutions}) < len(resolutions):
        expected = "numbers above 0 that differ in their first six digits"
        raise ParameterError(_OWNER, "resolutions", expected, values)
    return resolutions


def _check_seeds(value: Any) -> list[int]:
    if not np.iterable(value):
        return list(range(_validate.check_whole(_OWNER, "seeds", value, 1, highest=_MOST_SEEDS)))
    seeds = [_validate.check_whole(_OWNER, "seeds", one, 0, highest=2**63 - 1) for one in value]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ParameterError(_OWNER, "seeds", "different integers of at least 0", seeds)
    return seeds


def _check_subsample(value: Any) -> float:
    share = _validate.check_share(_OWNER, "subsample", value)
    if share == 0:
        raise ParameterError(_OWNER, "subsample", "a number above 0 and up to 1", value)
    return share
