"""The neighbour graph of cells, as scanpy stores it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ensemblage.sc._columns import check_key

_DEFAULT = "neighbors"


def connectivities(owner: str, adata: Any, neighbors_key: str | None) -> Any | None:
    """Return the weights of the neighbour graph as CSR; None without a graph and a key.

    `neighbors_key` is an entry of ``.uns``, as in scanpy, or the name of a matrix in ``.obsp``.
    """
    check_key(owner, "neighbors_key", neighbors_key, optional=True)
    entry = adata.uns.get(neighbors_key or _DEFAULT)
    stored = getattr(adata, "obsp", {})
    key = entry.get("connectivities_key") if isinstance(entry, Mapping) else None
    key = key or neighbors_key or "connectivities"
    if key not in stored:
        if neighbors_key is None:
            return None
        raise ValueError(
            f"{owner} found no neighbour graph under neighbors_key={neighbors_key!r}: there is no"
            f" {key!r} in adata.obsp. {_WHAT_TO_DO}"
        )
    graph = stored[key]
    for load in ("to_memory", "compute"):  # matrices backed by a file
        if hasattr(graph, load):
            graph = getattr(graph, load)()
    return sparse.csr_matrix(graph)


def check_connectivities(owner: str, adata: Any, neighbors_key: str | None) -> Any:
    """Return the weights of the neighbour graph, or raise an error if there is none."""
    graph = connectivities(owner, adata, neighbors_key)
    if graph is None:
        raise ValueError(
            f"{owner} needs a neighbour graph, but there is no 'connectivities' in adata.obsp."
            f" {_WHAT_TO_DO}"
        )
    wrong = graph.data[~(np.isfinite(graph.data) & (graph.data >= 0))]
    if len(wrong):
        raise ValueError(
            f"The weights of the neighbour graph of {owner} must be finite numbers from 0 up, got"
            f" {wrong[0]}. {_WHAT_TO_DO}"
        )
    return graph


def neighbours_entry(adata: Any, neighbors_key: str | None, key: str) -> dict[str, Any]:
    """Return the entry of ``.uns`` with which scanpy uses ``.obsp[key]`` as a neighbour graph."""
    before = adata.uns.get(neighbors_key or _DEFAULT)
    before = before if isinstance(before, Mapping) else {}
    entry: dict[str, Any] = {"connectivities_key": key}
    if "distances_key" in before:
        entry["distances_key"] = before["distances_key"]
    return {**entry, "params": {"method": "umap", **dict(before.get("params", {}))}}


_WHAT_TO_DO = (
    "Run scanpy.pp.neighbors(adata), or set adata.obsp['connectivities'] to a sparse matrix with a"
    " row and a column for each cell."
)
