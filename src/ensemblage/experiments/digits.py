"""Accuracy of a consensus on handwritten digits: the experiment of ``ensemblage demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ensemblage import metrics
from ensemblage._progress import Clock
from ensemblage.ensembles import EnsembleClustering
from ensemblage.methods import METHODS, Consensus, without_comparison

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BASE, SINGLE, DEFAULT = "base clusterings", "k-means, n_init=10", "Consensus, the default"
#: Rows of the table, and the names of their methods.
ROWS = {DEFAULT: "auto"} | {METHODS.title(name): name for name in ("pta", "ptgp")}


class Score(NamedTuple):
    """Agreement of one clustering with the true digits, and its time."""

    nmi: float
    ari: float
    seconds: float


class Run(NamedTuple):
    """One ensemble: scores by row of the table, the votes, and the fitted methods."""

    scores: dict[str, Score]
    votes: NDArray[Any]
    models: dict[str, Any]


def warm_up() -> None:
    """Load lazily imported modules, so that the seconds shown are those of the method."""
    EnsembleClustering(2, random_state=0).fit([[0.0], [1.0], [4.0], [6.0]])
    for name in ROWS:
        _fit(name, np.array([[0, 0], [0, 1], [1, 1], [1, 2]]), 2, 0)


def compare(features: NDArray[Any], digits: NDArray[Any], members: int, k: int, seed: int) -> Run:
    """Make one ensemble and its consensus by each method, and compare them with the truth."""
    clusterer = EnsembleClustering(k, n_members=members, random_state=seed)
    _, whole = _timed(clusterer.fit, features)
    votes = clusterer.votes_
    with threadpool_limits(limits=1):  # threads are slow on busy machines
        single, seconds = _timed(KMeans(k, n_init=10, random_state=seed).fit, features)
    scores = {SINGLE: Score(*_agreement(digits, single.labels_), seconds)}
    models = {}
    for name in ROWS:
        models[name], seconds = _timed(_fit, name, votes, k, seed)
        scores[name] = Score(*_agreement(digits, models[name].labels_), seconds)
    nmi, ari = np.mean([_agreement(digits, member) for member in votes.T], axis=0)
    making = max(whole - scores[DEFAULT].seconds, 0.0)  # the rest of that fit is the consensus
    return Run({BASE: Score(nmi, ari, making)} | scores, votes, models)


def _fit(name: str, votes: NDArray[Any], k: int, seed: int) -> Any:
    """Return a fitted method without its comparison with the default."""
    with without_comparison():
        return Consensus(k, method=ROWS[name], random_state=seed).fit(votes)


def _timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return the result of a call and its seconds, without those of compiling."""
    clock = Clock()
    result = work(*arguments)
    return result, clock.elapsed().seconds


def _agreement(digits: NDArray[Any], labels: Any) -> tuple[float, float]:
    return metrics.nmi(digits, labels, average="max"), metrics.ari(digits, labels)
