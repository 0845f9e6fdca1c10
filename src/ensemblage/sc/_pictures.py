"""Plots of confidence on a map of cells, and of the agreement of clusterings."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import numpy as np

from ensemblage._ensemble import microclusters
from ensemblage.plot import canvas
from ensemblage.plot.members import draw_members
from ensemblage.sc._columns import result_of

_BASES = ("X_umap", "X_tsne", "spatial", "X_pca")


def confidence(
    adata: Any, key: str = "consensus", *, basis: str | None = None, ax: Any = None
) -> Any:
    """Draw cells on a map, coloured by confidence.

    Cells of low confidence are dark and on top. The names of clusters are at their centres.

    Parameters
    ----------
    adata : AnnData
        With the result of `ensemblage.sc.tl.consensus`.
    key : str, default="consensus"
        Name of that result.
    basis : str, optional
        The map: a name in ``adata.obsm``, with or without the prefix ``"X_"``. Its first two
        columns are drawn. None is the first available of UMAP, t-SNE, positions in the tissue
        ("spatial") and PCA.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import ensemblage as en
    >>> runs = pd.DataFrame({"run_1": list("aabb"), "run_2": list("aabb"), "run_3": list("abbb")})
    >>> adata = anndata.AnnData(np.zeros((4, 1)), runs.set_index(pd.Index(list("wxyz"))))
    >>> adata.obsm["X_umap"] = np.array([[0, 0], [0, 1], [5, 5], [5, 6]])
    >>> en.sc.tl.consensus(adata, "run_", n_clusters=2)
    >>> en.sc.pl.confidence(adata).get_xlabel()
    'umap'
    """
    owner = "pl.confidence"
    labels, _, _ = result_of(owner, adata, key)
    name = _basis(owner, adata, basis)
    places = _places(owner, adata, name)
    sure = adata.obs[f"{key}_confidence"].to_numpy(dtype=float)
    ax = canvas.axes(ax)
    shown = np.flatnonzero(~np.isnan(sure))
    shown = shown[np.argsort(-sure[shown], kind="stable")]
    area = float(np.clip(12000 / max(len(sure), 1), 0.5, 40))
    look: dict[str, Any] = {"s": area, "linewidths": 0, "rasterized": len(sure) > 10_000}
    rest = np.isnan(sure)
    ax.scatter(*places[rest].T, color="#d9d9d9", **look)
    points = ax.scatter(*places[shown].T, c=sure[shown], cmap="viridis", vmin=0, vmax=1, **look)
    ax.figure.colorbar(points, ax=ax, label="confidence", shrink=0.8)
    canvas.number_clusters(ax, places[shown], labels.to_numpy()[shown], np.ones(len(shown)))
    canvas.no_frame(ax)
    ax.set_xlabel(canvas.short(name.removeprefix("X_")))
    doubtful = int((sure[shown] < 0.5).sum())
    note = f"{doubtful:,} of {len(shown):,} cells below 0.5"
    canvas.title(ax, f"Confidence of {canvas.short(key)}", note)
    return ax


def members(adata: Any, key: str = "consensus", *, ax: Any = None) -> Any:
    """Draw the agreement (NMI) of every two clusterings, and of each with the consensus.

    Parameters
    ----------
    adata : AnnData
        With the result of `ensemblage.sc.tl.consensus`.
    key : str, default="consensus"
        Name of that result.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    ensemblage.plot.members : the same plot of a fitted method.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import ensemblage as en
    >>> runs = pd.DataFrame({"run_1": list("aabb"), "run_2": list("aabb"), "run_3": list("abbb")})
    >>> adata = anndata.AnnData(np.zeros((4, 1)), runs.set_index(pd.Index(list("wxyz"))))
    >>> en.sc.tl.consensus(adata, "run_", n_clusters=2)
    >>> en.sc.pl.members(adata).get_title(loc="left")
    'Agreement of members'
    """
    _, entry, columns = result_of("pl.members", adata, key)
    summary = entry["members"]
    votes = adata.obs[columns]
    votes = votes[votes.notna().any(axis=1)]
    return draw_members(
        microclusters(votes),
        _without_prefix(columns),
        np.asarray(summary["agreement"], dtype=float),
        np.asarray(summary["look_at"], dtype=bool),
        ax,
    )


def _without_prefix(names: list[str]) -> list[str]:
    """Return names without their common prefix, up to an underscore.

    Examples
    --------
    >>> _without_prefix(["leiden_r1_s0", "leiden_r1.5_s0"])
    ['r1_s0', 'r1.5_s0']
    """
    parts = [name.split("_") for name in names]
    shortest = min(map(len, parts))
    common = takewhile(lambda beginnings: len(set(beginnings)) == 1, zip(*parts, strict=False))
    n_common = min(len(list(common)), shortest - 1)
    return ["_".join(own[n_common:]) for own in parts]


def _basis(owner: str, adata: Any, basis: str | None) -> str:
    """Return the name of a map in ``.obsm``."""
    stored = [str(name) for name in getattr(adata, "obsm", {})]
    wanted = _BASES if basis is None else (basis, f"X_{basis}")
    for name in wanted:
        if name in stored:
            return name
    stored_names = ", ".join(map(repr, stored)) or "no maps"
    tool = str(basis).removeprefix("X_")
    tool = f"scanpy.tl.{tool if tool in ('tsne', 'pca') else 'umap'}(adata)"
    raise ValueError(
        f"{owner} needs a map of the cells: one of {', '.join(map(repr, wanted))} in adata.obsm,"
        f" which has {stored_names}. Run {tool}, or pass another basis."
    )


def _places(owner: str, adata: Any, name: str) -> Any:
    """Return the first two columns of a map of cells."""
    places = np.asarray(adata.obsm[name])
    if places.ndim != 2 or places.shape[1] < 2:
        raise ValueError(
            f"{owner} needs a map with at least two columns, got adata.obsm[{name!r}] of shape"
            f" {places.shape}. Pass another basis."
        )
    return places[:, :2]
