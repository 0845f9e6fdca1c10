"""Classes of warnings, how they are raised, and columns that look like ids."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ensemblage._messages import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

__all__ = [
    "ApproximateSimilarityWarning",
    "FeaturesAsVotesWarning",
    "FewerClustersWarning",
    "IdsAsVotesWarning",
    "MemoryBudgetError",
    "NoStructureWarning",
    "TiedCutWarning",
    "TransposedVotesWarning",
    "UnknownLabelsWarning",
    "UnlinkedGroupsWarning",
    "UnscaledFeaturesWarning",
    "UntrustedMethodWarning",
]

_ID_NAMES = {"id", "index", "barcode", "row", "unnamed: 0", "__index_level_0__"}
_LIKELY_ID_NAMES = {"name", "object", "sample", "cell", "key"}
_LIKELY_ID_ENDINGS = ("_id", ".id", " id", "_name", " name", "_index", "_barcode")
FEWEST_IDS = 3  # fewer objects differ from each other too easily to be taken for ids
_FEWEST_BY_CONTENT = 10  # the same if the name of the column does not suggest ids
_FEWEST_WITH_MISTAKE = 5  # among fewer, two equal values may well be a cluster
_SHARE_IF_NAMED = 0.95
_SHARE = 0.99  # a few ids that occur twice do not make a clustering
_SHOWN = 5
#: What other programs write for a missing value; here, a label that is a text.
_NULLS = ("None", "NULL", "null", "\\N")
_WRITTEN_FOR_MISSING = frozenset(
    ("", "-1", "nan", "NaN", "NaT", "NA", "<NA>", "N/A", "n/a", "#N/A", *_NULLS)
)


class FeaturesAsVotesWarning(UserWarning):
    """Labels that are not whole numbers: features seem to stand where votes belong."""


class IdsAsVotesWarning(UserWarning):
    """A clustering that looks like a column of ids: (nearly) every object has its own label."""


class TransposedVotesWarning(UserWarning):
    """A label matrix that looks as if objects were its columns."""


class UnscaledFeaturesWarning(UserWarning):
    """Features of very different scales: distances depend on the largest ones only."""


class FewerClustersWarning(UserWarning):
    """A method ended with fewer clusters than it was asked for."""


class NoStructureWarning(UserWarning):
    """Votes that agree no more than by chance, so that one cluster was formed."""


class UnknownLabelsWarning(UserWarning):
    """Votes to predict from in which a clustering has only labels that the fit has not seen."""


class UnlinkedGroupsWarning(UserWarning):
    """Fewer clusters than groups that votes link firmly: chance decided which were joined."""


class TiedCutWarning(UserWarning):
    """A number of clusters at which equally similar parts are joined in part: a tie decided."""


class UntrustedMethodWarning(UserWarning):
    """A result that agrees clearly less with the members than that of the default method."""


class ApproximateSimilarityWarning(UserWarning):
    """A similarity that was approximated: there are too many microclusters for all pairs."""


class MemoryBudgetError(MemoryError):
    """A result that would not fit in memory, refused before any of it was taken."""


_held: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("held", default=None)


@contextmanager
def held_warnings() -> Iterator[list[tuple[str, type[Warning]]]]:
    """Collect the warnings of this thread instead of raising them; pass them to `warn` later."""
    held: list[tuple[str, type[Warning]]] = []
    token = _held.set(held)
    try:
        yield held
    finally:
        _held.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line of the user's program that called ensemblage."""
    if (held := _held.get()) is not None:
        held.append((message, category))
        return
    inside = __name__.partition(".")[0]
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == inside:
        level, frame = level + 1, frame.f_back
    shown = printable(message)
    warnings.warn(message if shown == message else shown, category, stacklevel=level)


# -- ids among the votes ---------------------------------------------------------------------------


def is_id_name(name: str) -> bool:
    """Return whether a column of this name holds ids, whatever its values."""
    return name.strip().lower() in _ID_NAMES


def is_likely_id_name(name: str) -> bool:
    """Return whether a column of this name holds ids if all of them differ.

    A column called ``sample`` may name the objects or the batch they came in.
    """
    name = name.strip().lower()
    return name in _LIKELY_ID_NAMES or name.endswith(_LIKELY_ID_ENDINGS)


def looks_like_ids(name: str | None, n_different: int, n_votes: int) -> bool:
    """Return whether a column with so many different values looks like ids: THE rule.

    With a name for ids, more than 95 % of at least 3 values must differ, or all but one of at least
    5; without, at least 99 % of at least 10.
    """
    if name is not None and (is_id_name(name) or is_likely_id_name(name)):
        n_equal = n_votes - n_different
        if n_equal == 1:  # a mistake, where 95 % of few values are all of them
            return n_votes >= _FEWEST_WITH_MISTAKE
        return n_votes >= FEWEST_IDS and n_different > _SHARE_IF_NAMED * n_votes
    return n_votes >= _FEWEST_BY_CONTENT and n_different >= _SHARE * n_votes


def warn_of_labels(
    names: Sequence[Any] | None, labels: Sequence[Any], n_votes: Sequence[int]
) -> None:
    """Warn of clusterings that look like ids, and of labels for missing votes."""
    _warn_of_ids(names, labels, n_votes)
    _warn_of_missing(names, labels)


def _warn_of_ids(
    names: Sequence[Any] | None, labels: Sequence[Any], n_votes: Sequence[int]
) -> None:
    """Warn of clusterings that look like ids; they are kept, since objects may all be alone.

    ``labels[m]`` lists the different labels of clustering m, ``n_votes[m]`` counts its votes.
    """
    suspects = []
    for place, (different, count) in enumerate(zip(labels, n_votes, strict=True)):
        name = None if names is None else str(names[place])
        if looks_like_ids(name, len(different), count) and not _has_fractions(different):
            suspects.append(place)
    if not suspects:
        return
    first = suspects[0]
    one = len(suspects) == 1
    features = (
        " If all columns are features, pass them to EnsembleClustering."
        if len(suspects) == len(labels) > 1
        else ""
    )
    warn(
        f"{_columns(names, suspects)} {'looks' if one else 'look'} like ids:"
        f" {len(labels[first]):,} different labels of {n_votes[first]:,} objects. Ids are not"
        f" clusterings, but {'it was' if one else 'they were'} kept as such. If"
        f" {'it names' if one else 'they name'} the objects, leave {'it' if one else 'them'} out or"
        f" make {'it' if one else 'one'} the index; the command has --id-column.{features}",
        IdsAsVotesWarning,
    )


def _warn_of_missing(names: Sequence[Any] | None, labels: Sequence[Any]) -> None:
    """Warn of labels that other programs write for missing values: here they are clusters.

    ``labels[m]`` lists the different labels of clustering m.
    """
    found = [
        (place, str(label))
        for place, different in enumerate(labels)
        if getattr(getattr(different, "dtype", None), "kind", "O") in "OUT"
        for label in sorted(_WRITTEN_FOR_MISSING.intersection(different))
    ]
    if not found:
        return
    texts = list(dict.fromkeys(text for _, text in found))
    places = list(dict.fromkeys(place for place, _ in found))
    have, counts = "has" if len(places) == 1 else "have", "label {}, which counts as a cluster"
    if len(texts) > 1:
        counts = "labels {}, which count as clusters"
    warn(
        f"{_columns(names, places)} {have} the {counts.format(', '.join(map(repr, texts)))}. Where"
        " a vote is missing, write None instead, or an empty cell in a file of text.",
        UserWarning,
    )


def _columns(names: Sequence[Any] | None, places: list[int]) -> str:
    """Return how messages call some columns."""
    called = [f"{place}" if names is None else repr(str(names[place])) for place in places]
    more = f", ... ({len(called)} of them)" if len(called) > _SHOWN else ""
    counted = ", counted from 0," if names is None else ""
    noun = "Column" if len(places) == 1 else "Columns"
    return f"{noun} {', '.join(called[:_SHOWN])}{more}{counted}"


def _has_fractions(labels: Any) -> bool:
    if getattr(labels, "dtype", None) is not None and labels.dtype.kind in "iu":
        return False
    return any(isinstance(label, float) and label % 1 for label in labels)
