"""Labels of new objects by a saved model, as an estimator.

Code that fits a consensus method to the microclusters of votes, in memory, in a stream or on a
cluster, labels new objects if it fits a `Placement` instead.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.base import BaseEstimator

from ensemblage._ensemble import Ensemble, plain
from ensemblage._messages import Message, Parameter, shown
from ensemblage.ensembles._saved import load
from ensemblage.tables import FileFormatError, Kind, understand

if TYPE_CHECKING:
    from collections.abc import Sequence
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

    @property
    def hold_names(self) -> NamesOfFit:
        """What tells which columns of a file hold names; see `NamesOfFit`."""
        return NamesOfFit.of(load(self.model))

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


class NamesOfFit(NamedTuple):
    """Which clusterings of a model have labels that are names.

    Columns of text files that hold them are read as names, whatever their cells look like.
    """

    clusterings: list[str] | None
    are_names: tuple[bool, ...]
    truth: str | None = None

    @classmethod
    def of(cls, model: Any, truth: str | None = None) -> Self:
        """Return those of a model; `truth` is a column that is not a clustering."""
        labels = model._ensemble.labels
        return cls(known_names(model), tuple(any(map(_is_name, plain(of))) for of in labels), truth)

    def __call__(self, names: Sequence[str]) -> set[str]:
        """Return the columns that hold names; none where they are not those of the model."""
        names = [name for name in names if name != self.truth]
        try:
            places = matching(self.clusterings, names, len(self.are_names))
        except FileFormatError:  # which is raised when the votes were read
            return set()
        return {names[at] for at, is_name in zip(places, self.are_names, strict=True) if is_name}


def _is_name(label: Any) -> bool:
    """Return whether a label is a text that is lost where it is read as a number."""
    if not isinstance(label, str):
        return False
    cell = understand(label)
    return cell.kind is not Kind.WHOLE or label != str(cell.value)


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
    of the fit and this one. A number that is spelled in a way that the model does not have is its
    number: 1 if the file has '01' or '1.0'.

    Examples
    --------
    >>> respelled(["1", "2.0", "x"], [1, 2]), respelled([1, 2], ["1", "a"])
    ([1, 2, 'x'], ['1', 2])
    """
    by_text, there = {str(label): label for label in known}, set(known)

    def spelled(label: Any) -> Any:
        if label in there:
            return label
        text = str(label)
        number = understand(text).value if isinstance(label, str) else text
        return by_text.get(text, by_text.get(str(number), label))

    return [spelled(label) for label in plain(labels)]
