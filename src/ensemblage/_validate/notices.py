"""What ensemblage warns of and refuses, as classes, and how it warns."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

from ensemblage._messages import printable

if TYPE_CHECKING:
    from types import FrameType

__all__ = [
    "ApproximateSimilarityWarning",
    "FeaturesAsVotesWarning",
    "FewerClustersWarning",
    "IdsAsVotesWarning",
    "MemoryBudgetError",
    "NoStructureWarning",
    "TransposedVotesWarning",
    "UnknownLabelsWarning",
    "UnlinkedGroupsWarning",
    "UnscaledFeaturesWarning",
    "UntrustedMethodWarning",
]


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
    """Fewer clusters than groups that votes link: chance decided which groups were joined."""


class UntrustedMethodWarning(UserWarning):
    """A result that agrees clearly less with the members than that of the default method."""


class ApproximateSimilarityWarning(UserWarning):
    """A similarity that was approximated: there are too many microclusters for all pairs."""


class MemoryBudgetError(MemoryError):
    """A result that would not fit in memory, refused before any of it was taken."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line of the user's program that called ensemblage."""
    inside = __name__.partition(".")[0]
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == inside:
        level, frame = level + 1, frame.f_back
    shown = printable(message)
    warnings.warn(message if shown == message else shown, category, stacklevel=level)
