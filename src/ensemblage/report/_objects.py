"""Objects of a model that was saved without them, rebuilt from its microclusters."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage._messages import ParameterError
from ensemblage._types import Microclusters

if TYPE_CHECKING:
    from numpy.typing import NDArray


def knows_objects(fitted: Any) -> bool:
    """Tell whether a fitted method has a label for each object, rather than microcluster."""
    return len(fitted.labels_) == fitted._ensemble.n_objects


def with_repeated_objects(fitted: Any) -> Any:
    """Return the same method with a label for each object, in the order of the microclusters.

    Objects of a microcluster have the same votes, label and confidence, so every figure is that of
    the fit; only the identity of objects is unknown.
    """
    sizes = fitted.microclusters_.sizes
    _validate.check_memory(
        40 * int(sizes.sum()),
        f"A report on {int(sizes.sum())} objects of a model that was saved without them",
        "Write a report on a sample of the votes instead.",
    )
    return _placed(fitted, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), None)


def with_objects_of(fitted: Any, votes: Any) -> Any:
    """Return the same method with the objects in the order of the votes that it was fitted on."""
    if hasattr(fitted, "_votes_on"):
        votes = fitted._votes_on(votes)
    passed = as_ensemble(votes, n_jobs=fitted.n_jobs)
    if passed.n_clusterings != fitted.n_features_in_:
        expected = f"the {fitted.n_features_in_} clusterings that the model was fitted on"
        raise ParameterError("report", "votes", expected, passed.n_clusterings)
    table, sizes, _ = fitted.microclusters_
    place = {row.tobytes(): number for number, row in enumerate(np.ascontiguousarray(table))}
    rows = np.ascontiguousarray(fitted._ensemble.translate(passed))
    positions = np.array([place.get(row.tobytes(), -1) for row in rows], dtype=np.int32)
    of_object = positions[passed.microclusters.of_object]
    unknown = int((of_object < 0).sum())
    if unknown:
        raise ValueError(
            f"The votes differ from those that the model was fitted on: {unknown:,} of"
            f" {len(of_object):,} objects have unknown votes. Pass the same votes; use predict to"
            " label new objects."
        )
    if not np.array_equal(np.bincount(of_object, minlength=len(sizes)), sizes):
        raise ValueError(
            f"The votes differ from those that the model was fitted on: got {len(of_object):,}"
            f" objects, not the same as the {int(sizes.sum()):,} of the fit. Pass the same votes."
        )
    if knows_objects(fitted) and not np.array_equal(of_object, fitted.microclusters_.of_object):
        raise ValueError(
            "The votes are in another order than those that the model was fitted on. Pass them in"
            " the same order, or leave them out: this model contains its objects."
        )
    return fitted if knows_objects(fitted) else _placed(fitted, of_object, passed.index)


def _placed(fitted: Any, of_object: NDArray[np.int32], index: Any) -> Any:
    """Return a copy of a method with the microcluster of each object."""
    placed, ensemble = copy(fitted), copy(fitted._ensemble)
    table, sizes, _ = fitted.microclusters_
    ensemble.microclusters = Microclusters(table, sizes, of_object)
    ensemble.index = index
    placed._ensemble, placed.microclusters_ = ensemble, ensemble.microclusters
    placed._unit_of_object = of_object
    placed.labels_ = flow.spread(fitted._micro_labels, of_object)
    return placed
