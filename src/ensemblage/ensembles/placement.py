"""Labels of new objects by a saved model, as an estimator.

Code that fits a consensus method to the microclusters of votes, in memory, in a stream or on a
cluster, labels new objects if it fits a `Placement` instead.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from ensemblage._ensemble import Ensemble
from ensemblage._messages import Message, Parameter, shown
from ensemblage.ensembles._saved import load
from ensemblage.tables import FileFormatError

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
        A digest of the content of the file: a run with another model is not resumed.
    confidence : bool, default=False
        Whether to compute `confidence_`.
    """

    def __init__(self, model: str, digest: str, *, confidence: bool = False) -> None:
        self.model = model
        self.digest = digest
        self.confidence = confidence

    def fit(self, ensemble: Ensemble) -> Self:
        """Predict the label of each microcluster of an ensemble."""
        model, groups = load(self.model), ensemble.microclusters
        new = votes_for(model, ensemble)
        labels = model.predict(new, return_confidence=self.confidence)
        if self.confidence:
            labels, confidence = labels
            self.confidence_ = confidence[groups.of_object]
        self.labels_ = labels[groups.of_object]
        self.n_microclusters_ = len(groups.sizes)
        return self

    def cut(self, n_clusters: int) -> Any:
        """Raise an error: a model has the clusters that it was saved with."""
        raise NotImplementedError(f"Predicted labels are not cut at {n_clusters}.")


def votes_for(model: Any, ensemble: Ensemble) -> Ensemble:
    """Return votes by the clusterings of a model, in their order and with their labels.

    The result has only the microclusters of `ensemble`.
    """
    places = matching(known_names(model), ensemble.names or [], model.n_features_in_)
    groups = ensemble.microclusters
    table = groups.table[:, places]
    silent = (table < 0).all(axis=1)
    if silent.any():
        raise FileFormatError(
            f"{int(groups.sizes[silent].sum())} object(s) have no vote in any clustering of the"
            " model, so they cannot be labelled. Leave these rows out."
        )
    labels = [
        respelled(ensemble.labels[place], of_model)
        for place, of_model in zip(places, model._ensemble.labels, strict=True)
    ]
    return Ensemble.of_checked_groups(table, groups.sizes, labels, known_names(model))


def known_names(model: Any) -> list[str] | None:
    """Return the names of a model's clusterings, or None."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else names.tolist()


def matching(wanted: list[str] | None, names: list[str], n_wanted: int) -> list[int]:
    """Return the positions of the model's clusterings among the columns of the new votes.

    They are matched by name. If the model or the file has no names (placeholders are ``c1``,
    ``c2``, ...), the number and the order of columns must be the same.
    """
    unnamed = wanted is None or all(map(_BY_PLACE.fullmatch, wanted))
    if wanted is None or (names != wanted and (unnamed or all(map(_BY_PLACE.fullmatch, names)))):
        if len(names) == n_wanted:
            return list(range(n_wanted))
        raise FileFormatError(
            f"The model was fitted on {n_wanted} clusterings, but the votes have {len(names)}"
            f" ({shown(names, _SHOWN)}). Pass the same clusterings in the same order, or"
            " with names."
        )
    missing = [name for name in wanted if name not in names]
    if missing:
        near = difflib.get_close_matches(missing[0], names, n=1)
        message = Message(
            "The votes have no column {missing}, which the model was fitted on.{hint} They have"
            " {names}. If one was read as ids, name the ids with {id_column}.",
            missing=shown(missing, _SHOWN),
            hint=f" Should {near[0]!r} be {missing[0]!r}?" if near else "",
            names=shown(names, _SHOWN),
            id_column=Parameter("id_column"),
        )
        raise FileFormatError(message)
    return [names.index(name) for name in wanted]


def respelled(labels: Any, known: list[Any]) -> list[Any]:
    """Return labels in the model's spelling: 1 if it has 1 and the file has '1', or reversed.

    The type of a column of a file is inferred from its content, which may differ between the file
    of the fit and this one.

    Examples
    --------
    >>> respelled(["1", "2", "x"], [1, 2]), respelled([1, 2], ["1", "a"])
    ([1, 2, 'x'], ['1', 2])
    """
    by_text = {str(label): label for label in known}
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    there = set(known)
    return [label if label in there else by_text.get(str(label), label) for label in plain]
