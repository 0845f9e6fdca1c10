"""Consensus of the clusterings in an AnnData object, stored as scanpy stores its own."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from importlib.metadata import version
from typing import Any

import numpy as np

from ensemblage import _validate
from ensemblage.methods import METHODS


def consensus(
    adata: Any,
    keys: str | Iterable[str],
    *,
    n_clusters: int | str = "auto",
    key_added: str = "consensus",
    method: str = "auto",
    member_weight: Any = None,
    random_state: Any = 0,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Find the consensus of clusterings of cells, columns of ``adata.obs``.

    Parameters
    ----------
    adata : AnnData
        Cells, with a column of labels for each clustering: Leiden at many resolutions, the results
        of several tools. A cell may lack some of them (NaN).
    keys : list of str, or str
        The columns. A str stands for all that begin with it, or, with ``*``, ``?`` or ``[]`` in it,
        for all that match it: ``"leiden_"`` or ``"leiden_*_pca"``. What this function has written
        before is not among them.
    n_clusters : int or "auto", default="auto"
        How many clusters to form; "auto" chooses as :func:`ensemblage.metrics.choose_k` does.
    key_added : str, default="consensus"
        Where the result goes.
    method : str, default="auto"
        One of ``ensemblage.METHODS``, in any case; "auto" is `ensemblage.Consensus`.
    member_weight : array-like of shape (n_keys,), dict or Series, optional
        How much each clustering counts, in the order of `keys` or by name, for methods that take
        it.
    random_state : int, Generator, RandomState or None, default=0
        For methods with random parts.
    copy : bool, default=False
        Return a copy with the result instead of changing `adata`.
    **parameters
        Of the method, such as ``linkage="complete"`` for PTA.

    Returns
    -------
    AnnData or None
        The copy, or None. It has

        - ``.obs[key_added]``: the labels, categories "0", "1", ... in order of first appearance;
        - ``.obs[f"{key_added}_confidence"]``: how sure each is, in [0, 1];
        - ``.uns[key_added]["params"]``: the keys, the method, its parameters, the version;
        - ``.uns[key_added]["n_clusters"]``: how many clusters there are.

    See Also
    --------
    ensemblage.Consensus : the same for any label matrix.

    Notes
    -----
    Nothing of anndata itself is needed but the object: ``.obs``, ``.uns`` and ``.copy()``.

    Examples
    --------
    >>> import anndata as ad
    >>> import numpy as np
    >>> import pandas as pd
    >>> import ensemblage.anndata
    >>> obs = pd.DataFrame(
    ...     {"leiden_0.5": list("001111"), "leiden_1": list("001122"), "louvain": list("aabbbb")},
    ...     index=[f"cell{i}" for i in range(6)],
    ... )
    >>> adata = ad.AnnData(np.zeros((6, 1)), obs=obs)
    >>> ensemblage.anndata.consensus(adata, ["leiden_0.5", "leiden_1", "louvain"], n_clusters=2)
    >>> adata.obs["consensus"].tolist()
    ['0', '0', '1', '1', '1', '1']
    """
    obs = _check_adata(adata).obs
    method = _validate.check_method("consensus", method, METHODS)
    kind = METHODS[method]
    columns = _chosen(obs, keys, _columns_of(key_added), _written_before(adata))
    estimator = _made(kind, parameters, n_clusters, random_state)
    options = {} if member_weight is None else {"member_weight": member_weight}
    estimator.fit(obs[columns], **options)

    settings = _settings(estimator, method, columns, weighted=member_weight is not None)
    found = adata.copy() if copy else adata
    found.obs[key_added] = _categories(estimator.labels_, estimator.n_clusters_)
    found.obs[f"{key_added}_confidence"] = estimator.confidence_
    found.uns[key_added] = {"params": settings, "n_clusters": estimator.n_clusters_}
    return found if copy else None


def _columns_of(key_added: str) -> set[str]:
    return {key_added, f"{key_added}_confidence"}


def _written_before(adata: Any) -> set[str]:
    """Return the columns that earlier calls have added: results, not clusterings to combine."""
    found: set[str] = set()
    for name, entry in adata.uns.items():
        params = entry.get("params") if isinstance(entry, Mapping) else None
        if isinstance(params, Mapping) and params.keys() & {"ensemblage", "quorate"}:
            found |= _columns_of(name)
    return found


def _chosen(
    obs: Any, keys: str | Iterable[str], own: set[str], written_before: set[str]
) -> list[str]:
    """Return the columns that are meant, or say which is not there."""
    present = [str(name) for name in obs.columns]
    if isinstance(keys, str):
        pattern = keys if set("*?[") & set(keys) else f"{keys}*"
        left_out = own | written_before
        chosen = [name for name in present if fnmatchcase(name, pattern) and name not in left_out]
        return _check_some_match(keys, chosen, present)
    if not isinstance(keys, Iterable):
        raise TypeError(
            f"'keys' must be the names of columns of adata.obs, or what they begin with. Got"
            f" {keys!r} instead."
        )
    chosen = list(keys)
    for name in chosen:
        _validate.check_name("column {!r} in adata.obs", name, present)
    _check_apart(chosen, own)
    return chosen


def _made(kind: type[Any], parameters: dict[str, Any], n_clusters: Any, random_state: Any) -> Any:
    known = kind._get_param_names()
    for name in parameters:
        _validate.check_name(f"parameter {{!r}} of {kind.__name__}", name, known)
    if "random_state" in known:
        parameters = {**parameters, "random_state": random_state}
    return kind(n_clusters, **parameters)


def _categories(labels: Any, n_clusters: int) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(labels, [str(label) for label in range(n_clusters)])


def _settings(estimator: Any, method: str, columns: list[str], *, weighted: bool) -> dict[str, Any]:
    """Return what was asked for, as far as an H5AD file can hold it."""
    asked = estimator.get_params(deep=False)
    asked = {name: v.item() if isinstance(v, np.generic) else v for name, v in asked.items()}
    plain: dict[str, Any] = {
        name: value for name, value in asked.items() if isinstance(value, int | float | str)
    }
    if weighted:
        weight = estimator.member_weight_  # None where all are the same
        plain["member_weight"] = [1.0] * len(columns) if weight is None else weight.tolist()
    return {"method": method, "keys": columns, **plain, "ensemblage": version("ensemblage")}


def _check_adata(adata: Any) -> Any:
    """Return what has the parts of an AnnData object, or say that it has not."""
    if not all(hasattr(adata, part) for part in ("obs", "uns", "copy")):
        raise TypeError(
            f"consensus takes an AnnData object, but got {type(adata).__name__}. For a table of"
            f" labels use a method itself, as in ensemblage.PTGP(n_clusters=10).fit_predict(table)."
        )
    return adata


def _check_some_match(pattern: str, chosen: list[str], present: list[str]) -> list[str]:
    """Return the columns that match a pattern, if there are any."""
    if not chosen:
        near = difflib.get_close_matches(pattern.rstrip("*"), present, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"No column of adata.obs matches keys={pattern!r}.{hint} There are"
            f" {_validate.shown(present)}."
        )
    return chosen


def _check_apart(chosen: list[str], own: set[str]) -> None:
    """Refuse no column, a column that occurs twice, and one that the result would replace."""
    if not chosen:
        raise ValueError("keys names no column of adata.obs. Name the clusterings to combine.")
    twice = [name for place, name in enumerate(chosen) if name in chosen[:place]]
    if twice:
        raise ValueError(f"keys names {twice[0]!r} twice. Name each clustering once.")
    replaced = [name for name in chosen if name in own]
    if replaced:
        raise ValueError(
            f"keys names {replaced[0]!r}, which the result would replace. Use another key_added."
        )
