"""Loading of a fitted estimator from plain data; every part is checked, as files may be damaged."""

from __future__ import annotations

import re
import threading
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ensemblage import _validate, flow
from ensemblage._ensemble import Ensemble
from ensemblage._types import Microclusters
from ensemblage.methods.fresh import keep_params, params_of_fit
from ensemblage.methods.saving import FORMAT, PLACED, TREE, VERSION, is_kept, is_name, is_scalar
from ensemblage.tables import FileFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.methods.saving import Arrays, Header

#: Formats of the same layout; the older one has the project's former name, quorate.
_READABLE = (FORMAT, "quorate model")
#: Parts that a file holds only where an estimator has none; others are left out.
_ABSENT = {"_coassociation", "_found", "_last", "_named", "_prepared", "_similarity", "_walk"}
_TEXTS = {
    "_draws", "_init", "_loss", "_partitioner", "_reasons", "_seeds", "_solver", "_unreached",
    "_variant", "method_", "similarity_kind_",
}  # fmt: skip
#: Held while an estimator is completed. It is of the module: estimators are copied and pickled.
_COMPLETING = threading.RLock()
_NAME = re.compile(r"_?[a-z][a-z0-9_]*")


def check_preamble(header: Header, path: str) -> None:
    """Raise an error if the header has another format or a newer version."""
    if header.get("format") not in _READABLE:
        raise FileFormatError(f"{path} is not a saved model: its header is of another format.")
    version: Any = header.get("version")
    if not _is_count(version) or version < 1:
        raise broken(path, f"its version is {version!r}")
    if version > VERSION:
        raise FileFormatError(
            f"{path} was saved by ensemblage {header.get('ensemblage')} in version {version} of the"
            f" format; this ensemblage reads versions up to {VERSION}. Install a newer ensemblage."
        )


def without_outdated(header: Header, arrays: Arrays) -> Arrays:
    """Return the arrays of a file, without those whose meaning has changed since."""
    from_similarity = header.get("found", {}).get("_from_similarity", False)
    if header["version"] >= 2 or from_similarity:
        return arrays
    return {name: array for name, array in arrays.items() if not name.endswith("confidence")}


def broken(path: str, why: str) -> FileFormatError:
    """Return the error for a file whose parts are inconsistent."""
    return FileFormatError(f"{path} is a damaged model: {why}. Save the model again.")


def restored(kind: type[Any], header: Header, arrays: Arrays, path: str) -> Any:
    """Return the estimator that `state_of` described."""
    estimator = made(kind, header["parameters"], path)
    ensemble = _ensemble(header, arrays, path)
    groups = ensemble.microclusters
    n = len(groups.sizes)
    micro_labels = _checked(arrays, "micro_labels", (n,), "i", path).astype(np.int64)
    _set_found(estimator, header["found"], arrays, path)
    k = vars(estimator).get("n_clusters_")
    if not _is_count(k) or not 0 <= micro_labels.min() <= micro_labels.max() < k:
        raise broken(path, "its labels do not match its number of clusters")
    estimator._ensemble, estimator.microclusters_ = ensemble, groups
    estimator.n_microclusters_, estimator.n_features_in_ = n, ensemble.n_clusterings
    if ensemble.names is not None and all(isinstance(name, str) for name in ensemble.names):
        estimator.feature_names_in_ = np.array(ensemble.names, dtype=object)
    if not isinstance(vars(estimator).setdefault("_from_similarity", False), bool):
        raise broken(path, "its type of input is missing")
    weight = vars(estimator).setdefault("member_weight_", None)
    try:
        _validate.check_member_weight(kind.__name__, weight, groups)
    except ValueError as error:
        raise broken(path, "its member_weight_ does not match its clusterings") from error
    estimator._micro_labels, estimator._unit_of_object = micro_labels, groups.of_object
    estimator._confidence = None
    if "confidence" in arrays:
        estimator._confidence = _checked(arrays, "confidence", (n,), "f", path)
    n_units = len(groups.of_object) if "labels" in arrays else n
    if k > n_units:
        raise broken(path, f"it has {n_units} objects for its {k} clusters")
    if "labels" in arrays:
        labels = _checked(arrays, "labels", (n_units,), "i", path).astype(np.int64)
        if not 0 <= labels.min() <= labels.max() < k:
            raise broken(path, "its labels do not match its number of clusters")
        estimator.labels_ = labels
        estimator._unit_of_object = np.arange(n_units, dtype=np.int32)
    else:
        estimator.labels_ = flow.spread(micro_labels, groups.of_object)
    if estimator._cuts_a_tree() and TREE not in vars(estimator):
        raise broken(path, "its tree is missing")
    if TREE in vars(estimator):
        _check_tree(estimator.linkage_matrix_, n_units, path)
    why = estimator._why_not_whole()
    if why is not None:
        raise broken(path, why)
    left_out = header["left_out"]
    if not isinstance(left_out, list) or not all(isinstance(name, str) for name in left_out):
        raise broken(path, "the list of omitted attributes is invalid")
    estimator._left_out = frozenset(left_out)
    keep_params(estimator)
    return estimator


def made(kind: type[Any], parameters: Any, path: str) -> Any:
    """Return an estimator with these parameters, if it has them all."""
    if not isinstance(parameters, dict) or set(parameters) - set(kind._get_param_names()):
        raise broken(path, f"its parameters are not those of {kind.__name__}")
    return kind(**parameters)


def complete(estimator: Any) -> None:
    """Recompute an omitted attribute of a loaded estimator from its microclusters."""
    if estimator._from_similarity:
        raise AttributeError(
            f"This {type(estimator).__name__} was fitted on a similarity and saved without it:"
            f" labels, confidence and cuts are available, but nothing that needs the similarity."
        )
    with _COMPLETING:
        left_out = estimator._left_out
        if not left_out:
            return  # another thread was faster
        seed = vars(estimator).get("_seed")
        params = params_of_fit(estimator)
        if "n_jobs" in params:  # results do not depend on it
            params = params | {"n_jobs": estimator.n_jobs}
        again = clone(estimator).set_params(**params)
        if seed is not None:
            again.set_params(random_state=_validate.DrawnSeed(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first fit has raised the warnings
            again.fit(estimator._ensemble, member_weight=estimator.member_weight_)
        for name in left_out & vars(again).keys():
            setattr(estimator, name, vars(again)[name])
        # Last: until here other threads wait, and after an interruption the next call computes it.
        estimator._left_out = frozenset()


def _ensemble(header: Header, arrays: Arrays, path: str) -> Ensemble:
    """Return the fitted ensemble, each part checked against the others."""
    table = _checked(arrays, "table", (None, None), "i", path).astype(np.int32)
    n, n_clusterings = table.shape
    sizes = _checked(arrays, "sizes", (n,), "i", path).astype(np.int64)
    labels, names, n_objects = header["labels"], header["names"], header["n_objects"]
    if min(n, n_clusterings) == 0 or sizes.min() < 1 or not _is_count(n_objects):
        raise broken(path, "its microclusters have no objects")
    if n_objects != sizes.sum():
        raise broken(path, "its microclusters do not have the stated number of objects")
    complete = isinstance(labels, list) and len(labels) == n_clusterings
    if not complete or not all(isinstance(some, list) for some in labels):
        raise broken(path, f"it does not have the labels of {n_clusterings} clusterings")
    n_codes = np.array([len(some) for some in labels])
    if (table < -1).any() or (table >= n_codes).any() or (table < 0).all(axis=1).any():
        raise broken(path, "its votes do not match their labels")
    if any(not is_scalar(label) or label is None for some in labels for label in some):
        raise broken(path, "it contains invalid labels")
    if names is not None and (
        not isinstance(names, list) or len(names) != n_clusterings or not all(map(is_name, names))
    ):
        raise broken(path, f"it does not have the names of {n_clusterings} clusterings")
    ensemble = Ensemble.of_checked_groups(table, sizes, labels, names)
    if "of_object" in arrays:
        of_object = _checked(arrays, "of_object", (None,), "i", path).astype(np.int32)
        in_range = len(of_object) > 0 and 0 <= of_object.min() <= of_object.max() < n
        counted = in_range and np.array_equal(np.bincount(of_object, minlength=n), sizes)
        if not counted and not np.array_equal(of_object, np.arange(n)):
            raise broken(path, "its objects do not match its microclusters")
        ensemble.microclusters = Microclusters(table, sizes, of_object)
    return ensemble


def _set_found(estimator: Any, found: Any, arrays: Arrays, path: str) -> None:
    """Set the attributes of the fit, under names that are not used otherwise."""
    if not isinstance(found, dict):
        raise broken(path, "its fitted attributes are missing")
    vectors = {
        name.removeprefix("found/"): array
        for name, array in arrays.items()
        if name.startswith("found/")
    }
    for name, value in (found | vectors).items():
        taken = name in PLACED or name in estimator.get_params() or hasattr(type(estimator), name)
        good = is_kept(name, value) if isinstance(value, np.ndarray) else _fits(name, value)
        if taken or not good or not _NAME.fullmatch(name):
            raise broken(path, f"{name!r} is not a fitted attribute")
        setattr(estimator, name, value)
    seed = found.get("_seed")
    if seed is not None and not _is_count(seed):
        raise broken(path, "its seed is not a number")


def _fits(name: str, value: Any) -> bool:
    """Tell whether a value without an array may be this fitted attribute."""
    if name in _ABSENT:
        return value is None
    return is_scalar(value) and isinstance(value, str) == (name in _TEXTS)


def _checked(
    arrays: Arrays, name: str, shape: tuple[int | None, ...], kind: str, path: str
) -> NDArray[Any]:
    """Return an array of the file if it has this shape (None is any length) and type."""
    array = arrays.get(name)
    if array is None or array.dtype.kind != kind or array.ndim != len(shape):
        raise broken(path, f"its array {name!r} is missing or of the wrong type")
    for length, wanted in zip(array.shape, shape, strict=True):
        if wanted not in (None, length):
            raise broken(path, f"its array {name!r} has the shape {array.shape}")
    return array


def _check_tree(tree: NDArray[Any], n_leaves: int, path: str) -> None:
    """Reject a tree with invalid merges: kernels follow it without checks."""
    if tree.shape != (n_leaves - 1, 4) or tree.dtype != np.float64 or not np.isfinite(tree).all():
        raise broken(path, f"its tree does not have {n_leaves} leaves")
    merged = tree[:, :2]
    latest = n_leaves + np.arange(len(tree))
    fits = (merged >= 0) & (merged < latest[:, None]) & (merged == np.floor(merged))
    used = np.sort(merged, axis=None)
    if not fits.all() or any(a == b for a, b in pairwise(used.tolist())):
        raise broken(path, "its tree merges nodes that do not exist")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
