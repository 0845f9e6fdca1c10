"""What comes beside the votes: a value for each object, or for each clustering."""

from __future__ import annotations

from typing import Any

from ensemblage._validate.votes import as_array


def check_beside(
    owner: str, what: str, values: Any, n: int, of: str, *, one_each: bool = True
) -> Any:
    """Return values of which there must be one for each object or clustering, as an array.

    Without `one_each` an object may have several, as it has features.
    """
    array = as_array(values)
    if array.ndim == 0 or len(array) != n:
        found = "a single value" if array.ndim == 0 else f"{len(array):,}"
        raise ValueError(
            f"{owner} needs {what} for each of the {n:,} {of}s, but got {found}. Pass them in the"
            f" order of the {'rows' if of == 'object' else 'columns'} of the votes."
        )
    if one_each and array.ndim > 1:
        raise ValueError(
            f"{owner} needs {what} for each of the {n:,} {of}s, one value each, but got an array of"
            f" shape {array.shape}. Pass a single column."
        )
    return array


def check_each_object(owner: str, n_labels: int, n_objects: int) -> None:
    """Refuse a consensus of groups, which does not know where each object is."""
    if n_labels != n_objects:
        raise ValueError(
            f"{owner} needs a label for each of the {n_objects:,} objects, but this consensus knows"
            f" {n_labels:,} groups of them only: it was fitted on Ensemble.of_groups, or saved with"
            f" objects=False. Fit it on the votes, and save it with its objects."
        )
