"""New objects placed by a saved model, in the shape of a consensus method.

So every engine that finds a consensus can label new objects too: in memory, in a stream, on a
cluster. What it fits on is the microclusters of the new votes.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

import ensemblage as en
from ensemblage._validate import shown
from ensemblage.files import FileFormatError

if TYPE_CHECKING:
    from typing import Self

_SHOWN = 5
_BY_PLACE = re.compile(r"c[1-9][0-9]*")


class Placement(BaseEstimator):
    """Labels that a saved model predicts.

    Parameters
    ----------
    model : str
        The file.
    digest : str
        Which content of the file was meant, so that work on another is not continued.
    confidence : bool, default=False
        Whether `confidence_` is wanted too.
    """

    def __init__(self, model: str, digest: str, *, confidence: bool = False) -> None:
        self.model = model
        self.digest = digest
        self.confidence = confidence

    def fit(self, ensemble: en.Ensemble) -> Self:
        """Predict the label of each microcluster of an ensemble, and with it of each object."""
        model, groups = en.load(self.model), ensemble.microclusters
        new = votes_for(model, ensemble)
        found = model.predict(new, return_confidence=self.confidence)
        if self.confidence:
            found, sure = found
            self.confidence_ = sure[groups.of_object]
        self.labels_ = found[groups.of_object]
        self.n_microclusters_ = len(groups.sizes)
        return self

    def cut(self, n_clusters: int) -> Any:
        """Refuse: a model has the clusters that it was saved with."""
        raise NotImplementedError(f"Predicted labels are not cut at {n_clusters}.")


def votes_for(model: Any, ensemble: en.Ensemble) -> en.Ensemble:
    """Return votes by the clusterings of a model, in their order and with their labels.

    Only the microclusters of `ensemble` are known to the result.
    """
    places = matching(known_names(model), ensemble.names or [], model.n_features_in_)
    groups = ensemble.microclusters
    table = groups.table[:, places]
    silent = (table < 0).all(axis=1)
    if silent.any():
        raise FileFormatError(
            f"{int(groups.sizes[silent].sum())} object(s) have no vote in any clustering of the"
            " model. Nothing can be said about them; leave these rows out."
        )
    labels = [
        respelled(ensemble.labels[place], of_model)
        for place, of_model in zip(places, model._ensemble.labels, strict=True)
    ]
    return en.Ensemble.of_groups(table, groups.sizes, labels, known_names(model))


def known_names(model: Any) -> list[str] | None:
    """Return what the clusterings of a model are called, or None."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else names.tolist()


def matching(wanted: list[str] | None, names: list[str], n_wanted: int) -> list[int]:
    """Return the places of the model's clusterings among the columns of the new votes.

    They are found by name. Where the model or the file has no names (``c1``, ``c2``, ... stand for
    those), they must be as many, and are taken in their order.
    """
    unnamed = wanted is None or all(map(_BY_PLACE.fullmatch, wanted))
    if wanted is None or (names != wanted and (unnamed or all(map(_BY_PLACE.fullmatch, names)))):
        if len(names) == n_wanted:
            return list(range(n_wanted))
        raise FileFormatError(
            f"The model was fitted on {n_wanted} clusterings, and the votes have {len(names)}"
            f" ({shown(names, _SHOWN)}). Give the same clusterings in the same order, or names to"
            " find them by."
        )
    missing = [name for name in wanted if name not in names]
    if missing:
        near = difflib.get_close_matches(missing[0], names, n=1)
        hint = f" Is {near[0]!r} meant to be {missing[0]!r}?" if near else ""
        raise FileFormatError(
            f"The votes have no column {shown(missing, _SHOWN)}, which the model was fitted on."
            f"{hint} They have {shown(names, _SHOWN)}. If one was taken for ids, say which with"
            " --id-column."
        )
    return [names.index(name) for name in wanted]


def respelled(labels: Any, known: list[Any]) -> list[Any]:
    """Return labels as the model spells them: 1 where it has 1 and the file has '1', or reversed.

    A column of a file is read as numbers or as words by what is in it, which may be one way in the
    file of the fit and the other way here.

    Examples
    --------
    >>> respelled(["1", "2", "x"], [1, 2]), respelled([1, 2], ["1", "a"])
    ([1, 2, 'x'], ['1', 2])
    """
    by_text = {str(label): label for label in known}
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    there = set(known)
    return [label if label in there else by_text.get(str(label), label) for label in plain]
