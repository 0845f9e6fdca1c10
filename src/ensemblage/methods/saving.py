"""A fitted estimator as plain data for saving; `loading` restores it.

A file contains the parameters, the microclusters, the labels of codes, the consensus label of each
microcluster, and among the other fitted attributes the numbers, strings, public vectors and the
tree. The rest (similarities, graphs, eigenvectors) is large and can be recomputed from the
microclusters: a loaded estimator does so on first access.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage.methods.fresh import params_of_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import Microclusters

    Arrays = dict[str, NDArray[Any]]
    Header = dict[str, Any]

FORMAT = "ensemblage model"
#: Version 1 held confidence by each method's own similarity.
VERSION = 2

#: Attributes of every fitted estimator that are stored separately.
PLACED = {
    "_confidence",
    "_ensemble",
    "_fitted_with",
    "_left_out",
    "_micro_labels",
    "_sized",
    "_unit_of_object",
    "feature_names_in_",
    "labels_",
    "microclusters_",
    "n_features_in_",
    "n_microclusters_",
}
TREE = "linkage_matrix_"
#: Attributes that only some fits have, so that a file without them may be complete.
ONLY_SOME = {"feature_names_in_", "k_choice_", TREE}
#: Up to this number of microclusters confidence is computed and saved.
_CHEAP = 20_000


def preamble() -> Header:
    """Return the start of every file of this format."""
    from importlib.metadata import version

    return {"format": FORMAT, "version": VERSION, "ensemblage": version("ensemblage")}


def state_of(estimator: Any, *, objects: bool) -> tuple[Header, Arrays]:
    """Return a fitted consensus method as a header for JSON and arrays of numbers."""
    check_is_fitted(estimator, "labels_")
    owner, ensemble = type(estimator).__name__, estimator._ensemble
    groups: Microclusters = estimator.microclusters_
    by_object = estimator._unit_of_object is not groups.of_object
    if by_object and not objects:
        raise ValueError(
            f"This {owner} labelled single objects (level='objects'), so it cannot be saved"
            f" without them. Leave out objects=False."
        )
    names = ensemble.names
    header: Header = {
        "class": owner,
        "parameters": plain_parameters(owner, params_of_fit(estimator)),
        "n_objects": ensemble.n_objects,
        "names": names if names and all(map(is_name, names)) else None,
        "labels": [_plain_labels(labels, m) for m, labels in enumerate(ensemble.labels)],
        "found": {},
        "left_out": sorted(getattr(estimator, "_left_out", ())),
    }
    arrays: Arrays = {
        "table": groups.table,
        "sizes": groups.sizes,
        "micro_labels": estimator._micro_labels,
    }
    if objects:
        arrays["of_object"] = groups.of_object
    if by_object:
        arrays["labels"] = estimator.labels_
    needed = len(groups.sizes) <= _CHEAP or estimator._from_similarity
    if estimator._confidence is None and needed:
        _ = estimator.confidence_
    if estimator._confidence is not None:
        arrays["confidence"] = estimator._confidence
    for name, value in vars(estimator).items():
        if name in PLACED or name in header["parameters"]:
            continue
        if is_scalar(value):
            header["found"][name] = _plain(value)
        elif is_kept(name, value):
            arrays[f"found/{name}"] = value
        else:
            header["left_out"].append(name)
    return header, arrays


def plain_parameters(owner: str, given: Header) -> Header:
    """Return parameters for JSON, or raise an error that names an unsupported one.

    A random generator is left out: the seed that fit drew from it is saved.
    """
    parameters = {}
    for name, value in given.items():
        if name == "random_state" and not is_scalar(value):
            value = None
        if name == "method_params" and value is not None:
            parameters[name] = plain_parameters(owner, value)
            continue
        if not is_scalar(value):
            raise TypeError(
                f"{owner} cannot be saved: its parameter {name!r} is {value!r}, and files support"
                f" numbers, strings, True, False and None."
            )
        parameters[name] = _plain(value)
    return parameters


def _plain_labels(labels: Any, place: int) -> list[Any]:
    plain = [_plain(label) for label in labels]
    strange = next((label for label in plain if not is_scalar(label)), None)
    if strange is not None:
        raise TypeError(
            f"This estimator cannot be saved: clustering {place} has the label {strange!r} of type"
            f" {type(strange).__name__}, and files support numbers, strings, True and False."
            f" Convert these labels to strings before fit."
        )
    return plain


def is_scalar(value: Any) -> bool:
    """Tell whether a value is a finite number, a string, a bool or None."""
    if isinstance(value, (float, np.floating)):
        return bool(np.isfinite(value))
    if isinstance(value, np.timedelta64):  # an Integral
        return False
    return value is None or isinstance(value, (bool, Integral, str, np.bool_))


def _plain(value: Any) -> Any:
    """Return the Python number for a NumPy one."""
    is_number = isinstance(value, np.generic) and value.dtype.kind not in "mM"
    return value.item() if is_number else value


def is_kept(name: str, value: Any) -> bool:
    """Tell whether this array is saved: the tree, and public vectors of numbers."""
    is_numbers = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    return is_numbers and (name == TREE or (name.endswith("_") and value.ndim == 1))


def is_name(name: Any) -> bool:
    """Tell whether the name of a clustering can be saved."""
    return isinstance(name, str | int) and not isinstance(name, bool)
