"""Objects that hold no table at the top, refused at once with the call that takes them."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any

from ensemblage._validate.lists import is_clusterer

_TABLES = (".csv", ".tsv", ".parquet", ".npy", ".npz", ".mat", ".gz", ".xlsx", ".h5ad", ".feather")
_LONGEST = 60


def refuse_as_votes(X: Any) -> None:
    """Refuse what is not a table of votes, and say which call takes it."""
    wanted = "votes are a table of labels, a column for each clustering"
    if is_a(X, "anndata", "AnnData") or is_a(X, "mudata", "MuData"):
        _refuse(
            _the_class(X),
            wanted,
            "Use ensemblage.anndata.consensus(adata, keys=[...], n_clusters=...), where keys are"
            " the columns of adata.obs that hold clusterings.",
        )
    if is_a(X, "spatialdata", "SpatialData"):
        _refuse(
            _the_class(X),
            wanted,
            "Use ensemblage.anndata.consensus(sdata.tables[...], keys=[...], n_clusters=...) with"
            " one of its tables.",
        )
    path = _path(X)
    if path is not None:
        _refuse(
            f"A path or text ({path!r})",
            wanted,
            f"Read a file first: table = ensemblage.tables.read({path!r}), then"
            f" fit(ensemblage.tables.votes_of(table)); or run: ensemblage consensus {path}",
        )
    if is_a(X, "ensemblage", "VoteTable"):
        _refuse(_the_class(X), wanted, "Pass ensemblage.tables.votes_of(table).")
    if is_a(X, "sklearn", "Bunch"):
        _refuse(
            _the_class(X),
            wanted,
            "Its features are X.data: use ensemblage.EnsembleClustering().fit(X.data).",
        )
    if is_a(X, "dask", "DataFrame"):
        _refuse(
            "A Dask DataFrame",
            wanted,
            "Use ensemblage.scale.dask.consensus(X, estimator), or pass X.compute().",
        )
    if is_clusterer(X):
        _refuse(
            _the_class(X),
            wanted,
            "Pass a list of fitted clusterers, whose labels_ are then the columns.",
        )
    _refuse_others(X, wanted)


def refuse_as_features(X: Any) -> None:
    """Refuse what is not a table of features, and say which call takes it."""
    wanted = "features are a table of numbers, a row for each object"
    if is_a(X, "anndata", "AnnData") or is_a(X, "mudata", "MuData"):
        _refuse(
            _the_class(X),
            wanted,
            "Pass a matrix of it, such as adata.obsm['X_pca']. For clusterings in adata.obs use"
            " ensemblage.anndata.consensus(adata, keys=[...], n_clusters=...).",
        )
    if is_a(X, "spatialdata", "SpatialData"):
        _refuse(
            _the_class(X), wanted, "Pass a matrix of a table, such as sdata.tables[...].obsm[...]."
        )
    path = _path(X)
    if path is not None:
        _refuse(
            f"A path or text ({path!r})",
            wanted,
            f"Read a file first, with pandas.read_csv({path!r}) for example; or run: ensemblage"
            f" generate {path} -o pool.parquet",
        )
    if is_a(X, "ensemblage", "Ensemble"):
        _refuse(_the_class(X), wanted, "An Ensemble holds votes, which the consensus methods take.")
    if is_a(X, "sklearn", "Bunch"):
        _refuse(_the_class(X), wanted, "Pass X.data.")
    if is_a(X, "dask", "DataFrame"):
        _refuse("A Dask DataFrame", wanted, "Pass X.compute().")
    if is_clusterer(X):
        _refuse(_the_class(X), wanted, "Base clusterers are the parameter 'method'.")
    _refuse_others(X, wanted)


def is_a(X: Any, package: str, name: str) -> bool:
    """Tell whether X is of a class of this name and package, without importing that."""
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == package
        for kind in type(X).__mro__
    )


def _refuse_others(X: Any, wanted: str) -> None:
    if is_a(X, "xarray", "Dataset"):
        _refuse("A Dataset of xarray", wanted, "Pass X.to_dataframe().")
    if isinstance(X, type):
        _refuse(f"The class {X.__name__}", wanted, "Pass the table itself.")
    if isinstance(X, Iterator):
        _refuse(_the_class(X), wanted, "Pass list(X), which can be read more than once.")
    if isinstance(X, set | frozenset):
        _refuse(_the_class(X), wanted, "A set has no order. Pass a list.")


def _refuse(found: str, wanted: str, instead: str) -> None:
    raise TypeError(f"{found} was passed, but {wanted}. {instead}")


def _the_class(X: Any) -> str:
    name = type(X).__name__
    return f"{'An' if name[:1].lower() in 'aeiou' else 'A'} {name} object"


def _path(X: Any) -> str | None:
    """Return a text or path, or the first of a list of paths; cut where it is very long."""
    if isinstance(X, list | tuple) and X and not hasattr(X, "_fields"):
        if not all(_names_file(one) for one in X[:3]):
            return None
        X = X[0]
    if not isinstance(X, str | bytes | PathLike):
        return None
    text = X.decode(errors="replace") if isinstance(X, bytes) else str(X)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _names_file(X: Any) -> bool:
    return isinstance(X, str | PathLike) and str(X).lower().endswith(_TABLES)
