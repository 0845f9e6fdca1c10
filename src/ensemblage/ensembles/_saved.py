"""Saved models: a consensus method, or members with their consensus, from a file."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage.ensembles._member import Member
from ensemblage.ensembles._parameters import NAMED_METHODS
from ensemblage.ensembles._plan import Plan
from ensemblage.ensembles._scaling import Scaling
from ensemblage.ensembles._view import View
from ensemblage.methods import METHODS
from ensemblage.methods.archive import read_archive
from ensemblage.methods.fresh import keep_params, params_of_fit
from ensemblage.methods.loading import (
    broken,
    check_preamble,
    made,
    restored,
    without_outdated,
)
from ensemblage.methods.saving import plain_parameters, state_of
from ensemblage.metrics import KChoice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]
    Header = dict[str, Any]

_INSIDE = "consensus/"
_PLANNED = ("methods", "n_clusters_range", "n_columns", "n_dimensions", "n_rows", "seed")
_PARTS = {"centres": 2, "names": 1, "columns": 1, "projection": 2}


def load(path: str | PathLike[str]) -> Any:
    """Return the fitted estimator from a file written by its `save`.

    Nothing in the file is executed or unpickled, so untrusted files are safe to load.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        An estimator of the saved class, with `predict` and `cut`.

    Raises
    ------
    FileFormatError
        A ValueError: the file is not a saved model, is damaged, or was saved by a newer version.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> with TemporaryDirectory() as folder:
    ...     en.EAC(n_clusters=2).fit(votes).save(Path(folder, "two.ensemblage"))
    ...     model = en.load(Path(folder, "two.ensemblage"))
    >>> model, model.labels_, model.cut(3)
    (EAC(n_clusters=2), array([0, 0, 0, 0, 1, 1, 1]), array([0, 0, 0, 0, 1, 1, 2]))
    """
    name = fspath(path)
    header, arrays = read_archive(name)
    check_preamble(header, name)
    try:
        arrays = without_outdated(header, arrays)
        if header["class"] == "EnsembleClustering":
            return _clustering(header, arrays, name)
        return _method(header, arrays, name)
    except KeyError as error:
        raise broken(name, f"it has no {error.args[0]!r}") from error
    except (TypeError, AttributeError, OverflowError) as error:
        raise broken(name, f"its settings are invalid ({error})") from error


def _method(header: Header, arrays: Arrays, path: str) -> Any:
    return restored(_class(header, path), header, arrays, path)


def _class(header: Header, path: str) -> type[Any]:
    kind = METHODS.class_called(header["class"])
    if kind is None:
        raise broken(path, f"its method {header['class']!r} is unknown")
    return kind


def state_of_clustering(estimator: Any, *, objects: bool) -> tuple[Header, Arrays]:
    """Return a fitted EnsembleClustering as a header for JSON and arrays of numbers."""
    check_is_fitted(estimator, "labels_")
    for member in estimator.members_:
        if member.centres is None:
            raise TypeError(
                f"EnsembleClustering cannot be saved with members of {member.method}: files support"
                f" only the centres of 'kmeans', 'kmeans++' and 'rpcl'. Save the consensus alone,"
                f" as in .consensus_.save(path), or use these methods."
            )
    parameters = dict(params_of_fit(estimator))
    consensus, method = parameters.pop("consensus"), parameters.pop("method")
    bounds = parameters.pop("n_clusters_range")
    inner, inner_arrays = state_of(estimator.consensus_, objects=objects)
    plan: Plan = estimator._plan
    header: Header = {
        "class": "EnsembleClustering",
        "parameters": plain_parameters("EnsembleClustering", parameters),
        "method": method if isinstance(method, str) else list(method),
        "n_clusters_range": None if bounds is None else [int(bound) for bound in bounds],
        "asked_consensus": None if consensus is None else _without_state(consensus),
        "n_features": estimator.n_features_in_,
        "names": getattr(estimator, "feature_names_in_", np.empty(0)).tolist(),
        "plan": {name: getattr(plan, name) for name in _PLANNED},
        "members": [member.method for member in estimator.members_],
        "consensus": inner,
        "choice": None if estimator._choice is None else estimator._choice.to_dict(),
    }
    arrays = {_INSIDE + name: array for name, array in inner_arrays.items()}
    if plan.scaling is not None:
        arrays |= {"scaling/shift": plan.scaling.shift, "scaling/width": plan.scaling.width}
    for place, member in enumerate(estimator.members_):
        view = member._view
        parts = (member.centres, member._names, view.columns, view.projection)
        for name, part in zip(_PARTS, parts, strict=True):
            if part is not None:
                arrays[f"members/{place}/{name}"] = part
    if objects:
        arrays["votes"] = estimator.votes_
        arrays["labels"] = np.column_stack([member.labels for member in estimator.members_])
    return header, arrays


def _without_state(consensus: Any) -> Header:
    owner = type(consensus).__name__
    return {"class": owner, "parameters": plain_parameters(owner, consensus.get_params(deep=False))}


def _clustering(header: Header, arrays: Arrays, path: str) -> Any:
    from ensemblage.ensembles.clustering import EnsembleClustering

    estimator = made(EnsembleClustering, header["parameters"], path)
    bounds, asked = header["n_clusters_range"], header["asked_consensus"]
    estimator.set_params(
        method=header["method"], n_clusters_range=None if bounds is None else tuple(bounds)
    )
    if asked is not None:
        estimator.consensus = made(_class(asked, path), asked["parameters"], path)
    inside = {
        name.removeprefix(_INSIDE): array
        for name, array in arrays.items()
        if name.startswith(_INSIDE)
    }
    consensus = _method(header["consensus"], inside, path)
    n_features, n_members = header["n_features"], len(header["members"])
    if n_members != consensus.n_features_in_ or not isinstance(n_features, int):
        raise broken(path, "its members do not match its consensus")
    nothing = np.empty((0, n_members), dtype=np.int8)
    votes, labels = arrays.get("votes", nothing), arrays.get("labels", nothing)
    for table in (votes, labels):
        if table.ndim != 2 or table.shape[1] != n_members or table.dtype.kind != "i":
            raise broken(path, "the labels of its members are missing")
    scaling = None
    if "scaling/shift" in arrays:
        scaling = Scaling(arrays["scaling/shift"], arrays["scaling/width"])
        if any(part.shape != (n_features,) or part.dtype != np.float64 for part in scaling):
            raise broken(path, "its scaling does not match its features")
    plan = {name: header["plan"][name] for name in _PLANNED}
    plan |= {name: tuple(plan[name]) for name in ("methods", "n_clusters_range")}
    estimator._plan = Plan(features=np.empty((0, n_features)), scaling=scaling, **plan)
    estimator.members_ = [
        _member(method, arrays, place, labels[:, place], n_features, path)
        for place, method in enumerate(header["members"])
    ]
    estimator.votes_, estimator.consensus_ = votes, consensus
    estimator._index = estimator._kind = None
    estimator.n_features_in_ = n_features
    if header["names"]:
        estimator.feature_names_in_ = np.array(header["names"], dtype=object)
        if len(header["names"]) != n_features or not all(
            isinstance(name, str) for name in header["names"]
        ):
            raise broken(path, f"it does not have the names of {n_features} features")
    estimator.labels_, estimator.n_clusters_ = consensus.labels_, consensus.n_clusters_
    choice = header.get("choice")  # older files have none
    estimator._choice = None if choice is None else KChoice.from_dict(choice)
    keep_params(estimator)
    return estimator


def _member(
    method: Any, arrays: Arrays, place: int, labels: NDArray[Any], n_features: int, path: str
) -> Member:
    """Return a member with its centres and view, each part checked against the others."""
    parts = {name: arrays.get(f"members/{place}/{name}") for name in _PARTS}
    for name, array in parts.items():
        needed = name in ("centres", "names")
        if (array is None and needed) or (array is not None and array.ndim != _PARTS[name]):
            raise broken(path, f"member {place} has no {name}")
    centres, names, columns, projection = parts.values()
    if centres is None or names is None or method not in NAMED_METHODS:
        raise broken(path, f"member {place} has an unknown method")
    seen = n_features
    if columns is not None:
        seen = len(columns)
        if columns.dtype.kind != "i" or not ((columns >= 0) & (columns < n_features)).all():
            raise broken(path, f"member {place} uses features that do not exist")
    if projection is not None:
        good = projection.dtype.kind == "f" and projection.shape[0] == seen
        seen = projection.shape[1] if good else -1
    if centres.shape != (len(names), seen) or centres.dtype.kind != "f" or not len(names):
        raise broken(path, f"the centres of member {place} do not match its features")
    if names.dtype.kind not in "iu" or not np.isfinite(centres).all():
        raise broken(path, f"the centres of member {place} are not finite numbers")
    return Member(labels, method, centres, None, View(None, columns, projection), names)
