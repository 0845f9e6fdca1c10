"""Consensus of clusterings of cells, stored in the layout of scanpy."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ensemblage import _validate, metrics
from ensemblage._colours import cluster_codes
from ensemblage.graph import edge_agreement
from ensemblage.methods import METHODS
from ensemblage.methods.fresh import seeded
from ensemblage.sc._columns import (
    check_adata,
    check_restriction,
    chosen_columns,
    natural_order,
    restricted,
    restriction,
)
from ensemblage.sc._memberships import memberships
from ensemblage.sc._neighbours import connectivities, neighbours_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Cells = NDArray[np.int64] | None


def consensus(
    adata: Any,
    keys: str | Iterable[str] = "leiden_ensemble",
    *,
    n_clusters: int | str = "auto",
    key_added: str = "consensus",
    method: str = "auto",
    member_weight: Any = None,
    random_state: Any = 0,
    restrict_to: tuple[str, Iterable[str]] | None = None,
    neighbors_key: str | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Compute the consensus of clusterings of cells, columns of ``adata.obs``.

    Parameters
    ----------
    adata : AnnData
        Cells, with a column of labels for each clustering: Leiden at many resolutions, the results
        of several tools. Labels may be missing (NaN). MuData and tables of SpatialData are accepted
        as well.
    keys : list of str, or str, default="leiden_ensemble"
        The columns. A str selects all columns that begin with it, or, with ``*``, ``?`` or ``[]``
        in it, all that match it: ``"leiden_"`` or ``"leiden_*_pca"``. Results of earlier calls are
        excluded.
    n_clusters : int or "auto", default="auto"
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    key_added : str, default="consensus"
        Name of the result.
    method : str, default="auto"
        One of ``ensemblage.METHODS``, in any case; "auto" is `ensemblage.Consensus`.
    member_weight : array-like of shape (n_keys,), dict or Series, optional
        Weight of each clustering, in the order of `keys` or by name, for methods that support it.
    random_state : int, Generator, RandomState or None, default=0
        Seed, for methods with random parts.
    restrict_to : (str, list of str), optional
        A column of ``adata.obs`` and some of its groups: the consensus is that of these cells. All
        other cells keep their label of that column, without confidence and memberships (NaN).
        None of these labels may be the name of a new cluster, such as "T-NK,0".
    neighbors_key : str, optional
        The neighbour graph: an entry of ``.uns``, as of ``scanpy.pp.neighbors``, or a matrix in
        ``.obsp``. None is scanpy's default, if there is one.
    copy : bool, default=False
        Return a copy with the result instead of changing `adata`.
    **parameters
        Parameters of the method, such as ``linkage="complete"`` for PTA.

    Returns
    -------
    AnnData or None
        The copy, or None. It has

        - ``.obs[key_added]``: the labels, categories "0", "1", ... in order of first appearance;
          with `restrict_to` also those of other cells, in natural order;
        - ``.obs[f"{key_added}_confidence"]``: the confidence of each label, in [0, 1];
        - ``.obsm[f"{key_added}_memberships"]``: the membership of each cell in each cluster, rows
          that sum to 1;
        - ``.obsp[f"{key_added}_connectivities"]``: the share of clusterings that put the two cells
          of each edge of the neighbour graph together, if there is such a graph; edges without
          agreement are stored as 0;
        - ``.uns[f"{key_added}_neighbors"]``: an entry that scanpy accepts as `neighbors_key`;
        - ``.uns[f"{key_added}_colors"]``: colours of the clusters;
        - ``.uns[key_added]["params"]``: the keys, the method, its parameters, the version;
        - ``.uns[key_added]["n_clusters"]``: the number of clusters;
        - ``.uns[key_added]["members"]``: of each clustering its name, its number of clusters, its
          agreement with the consensus and with the others, and reasons to check it (see
          `ensemblage.metrics.members`).

    See Also
    --------
    leiden_ensemble : generates such clusterings.
    ensemblage.Consensus : the same for any label matrix.

    Notes
    -----
    Of anndata, only ``.obs``, ``.uns`` and ``.copy()`` are needed. Results go into ``.obsm`` and
    ``.obsp`` if the object has them. The expression matrix is not read, so the object may be backed
    by a file, which changes with ``adata.write()``.

    Memberships are mean co-associations with the clusters, divided by their sum; those of LCA are
    probabilities.

    Examples
    --------
    >>> import anndata as ad
    >>> import numpy as np
    >>> import pandas as pd
    >>> import ensemblage as en
    >>> obs = pd.DataFrame(
    ...     {"leiden_0.5": list("001111"), "leiden_1": list("001122"), "louvain": list("aabbbb")},
    ...     index=[f"cell{i}" for i in range(6)],
    ... )
    >>> adata = ad.AnnData(np.zeros((6, 1)), obs=obs)
    >>> en.sc.tl.consensus(adata, ["leiden_0.5", "leiden_1", "louvain"], n_clusters=2)
    >>> adata.obs["consensus"].tolist()
    ['0', '0', '1', '1', '1', '1']
    >>> adata.obsm["consensus_memberships"].round(2)[:3]
    array([[1., 0.],
           [1., 0.],
           [0., 1.]])
    """
    owner = "consensus"
    obs = check_adata(owner, adata, copy=copy).obs
    method = _validate.check_method(owner, method, METHODS)
    columns = chosen_columns(adata, keys, key_added)
    restrict_to = check_restriction(owner, restrict_to)
    cells = restricted(obs, restrict_to)
    graph = connectivities(owner, adata, neighbors_key)
    estimator = _made(METHODS[method], parameters, n_clusters, random_state)
    options = {} if member_weight is None else {"member_weight": member_weight}
    votes = obs[columns] if cells is None else obs[columns].iloc[cells]
    _check_cells_have_labels(votes)
    estimator.fit(votes, **options)

    settings = _settings(estimator, method, columns, weighted=member_weight is not None)
    settings |= restriction(restrict_to)
    target = adata.copy() if copy else adata
    outside = None if restrict_to is None else obs[restrict_to[0]]
    _write_labels(target, key_added, estimator, cells, outside, settings)
    _write_memberships(target, key_added, estimator, cells)
    _write_graph(target, key_added, estimator, cells, graph, neighbors_key)
    return target if copy else None


def _check_cells_have_labels(votes: Any) -> None:
    """Raise an error if cells have no label at all, as after runs with `restrict_to`."""
    silent = int(votes.isna().all(axis=1).sum())
    if silent:
        raise ValueError(
            f"{silent:,} of {len(votes):,} cells have no label in any of the clusterings. If these"
            " were made with restrict_to, pass the same restrict_to here; otherwise leave these"
            " cells out."
        )


def _write_labels(
    adata: Any, key: str, estimator: Any, cells: Cells, outside: Any, settings: dict[str, Any]
) -> None:
    import pandas as pd

    names = [str(label) for label in range(estimator.n_clusters_)]
    labels = pd.Categorical.from_codes(np.asarray(estimator.labels_), names)
    if cells is not None:
        prefix = "-".join(settings["restrict_to"]["groups"])
        texts = outside.astype(str).where(outside.notna(), None).to_numpy(dtype=object)
        named = [f"{prefix},{name}" for name in names]
        _check_new_names(named, set(texts), settings["restrict_to"]["key"])
        texts[cells] = [named[label] for label in labels.codes]
        labels = pd.Categorical(texts, natural_order({text for text in texts if text is not None}))
    adata.obs[key] = labels
    adata.obs[f"{key}_confidence"] = _spread(estimator.confidence_, cells, len(adata.obs))
    adata.uns[f"{key}_colors"] = cluster_codes(len(labels.categories))
    summary = metrics.members(estimator)
    adata.uns[key] = {
        "params": settings,
        "n_clusters": estimator.n_clusters_,
        "members": {**summary._asdict(), "names": settings["keys"]},
    }


def _check_new_names(named: list[str], outside: set[str], column: str) -> None:
    """Raise an error if new clusters have the names of groups of other cells."""
    taken = [name for name in named if name in outside]
    if taken:
        raise ValueError(
            f"Names of new clusters must differ from the groups of all other cells, got"
            f" {taken[0]!r}, which is also a group of adata.obs[{column!r}]. Rename this group, or"
            f" add it to restrict_to."
        )


def _write_memberships(adata: Any, key: str, estimator: Any, cells: Cells) -> None:
    if hasattr(adata, "obsm"):
        shares = memberships(estimator)
        adata.obsm[f"{key}_memberships"] = _spread(shares, cells, len(adata.obs))


def _write_graph(
    adata: Any, key: str, estimator: Any, cells: Cells, graph: Any, neighbors_key: str | None
) -> None:
    """Write the agreement along the edges of the neighbour graph, or remove that of a past call."""
    name = f"{key}_connectivities"
    if graph is None:
        adata.uns.pop(f"{key}_neighbors", None)
        if name in getattr(adata, "obsp", {}):
            del adata.obsp[name]
        return
    part = graph if cells is None else graph[cells][:, cells]
    agreement = edge_agreement(estimator._ensemble, part, estimator.member_weight_)
    if cells is not None:
        edges = agreement.tocoo()
        places = cells[edges.row], cells[edges.col]
        agreement = sparse.csr_matrix((edges.data, places), shape=graph.shape)
    adata.obsp[name] = agreement.astype(np.float32)
    adata.uns[f"{key}_neighbors"] = neighbours_entry(adata, neighbors_key, name)


def _spread(values: Any, cells: Cells, n_cells: int) -> Any:
    """Return values of some cells as those of all, NaN for the others."""
    if cells is None:
        return values
    spread = np.full((n_cells, *values.shape[1:]), np.nan)
    spread[cells] = values
    return spread


def _made(kind: type[Any], parameters: dict[str, Any], n_clusters: Any, random_state: Any) -> Any:
    for name in parameters:
        _validate.check_name(f"parameter {{!r}} of {kind.__name__}", name, kind._get_param_names())
    return seeded(kind, n_clusters, random_state, **parameters)


def _settings(estimator: Any, method: str, columns: list[str], *, weighted: bool) -> dict[str, Any]:
    """Return the parameters in types that an H5AD file supports."""
    params = estimator.get_params(deep=False)
    params = {name: v.item() if isinstance(v, np.generic) else v for name, v in params.items()}
    plain: dict[str, Any] = {
        name: value for name, value in params.items() if isinstance(value, int | float | str)
    }
    seed = plain.get("random_state")
    if isinstance(seed, int) and seed >= 2**63:
        plain["random_state"] = str(seed)
    if weighted:
        weight = estimator.member_weight_  # None if all are equal
        plain["member_weight"] = [1.0] * len(columns) if weight is None else weight.tolist()
    return {"method": method, "keys": columns, **plain, "ensemblage": version("ensemblage")}
