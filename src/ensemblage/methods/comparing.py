"""Comparison of several methods on one ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import metrics
from ensemblage._memory import peak_memory
from ensemblage._progress import Clock
from ensemblage.methods import METHODS
from ensemblage.methods._reliability import without_comparison
from ensemblage.metrics.explain import lowest_usual

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ensemblage._ensemble import Ensemble

#: Columns of a comparison; values are None if they do not apply.
COLUMNS = (
    *("method", "clusters", "nmi", "ari", "nmi_with_votes"),
    *("seconds", "memory_mb", "outlier", "error"),
)


class Comparison(NamedTuple):
    """A row for each method, and the ARI of each pair of methods that have labels."""

    rows: list[dict[str, Any]]
    agreement: dict[str, dict[str, float]]


def compare(
    ensemble: Ensemble,
    names: Iterable[str],
    n_clusters: int,
    *,
    truth: NDArray[Any] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Fit methods on one ensemble and compare their labels.

    Parameters
    ----------
    ensemble : Ensemble
        The votes.
    names : iterable of str
        Names in `ensemblage.METHODS`, consumed one at a time as the methods are fitted.
    n_clusters : int
        Number of clusters.
    truth : ndarray, optional
        True labels, for the scores ``nmi`` and ``ari``.
    random_state, n_jobs : int
        For the methods that have these parameters.

    Returns
    -------
    Comparison
        The rows have the keys `COLUMNS`. ``error`` is the exception of a method that failed. An
        ``outlier`` agrees with the others far less than they agree with each other.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = en.Ensemble([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1]])
    >>> found = compare(votes, ["eac", "vote"], 2)
    >>> [row["clusters"] for row in found.rows], found.agreement["eac"]["vote"]
    ([2, 2], 1.0)
    """
    options = {"random_state": random_state, "n_jobs": n_jobs}
    rows, labels = [], {}
    for name in names:
        kind = METHODS[name]
        accepted = kind._get_param_names()
        estimator = kind(n_clusters, **{key: options[key] for key in options if key in accepted})
        row = _row(name, estimator, ensemble, truth)
        rows.append(row)
        if row["error"] is None:
            labels[name] = estimator.labels_
    agreement = {
        one: {other: metrics.ari(labels[one], labels[other]) for other in labels} for one in labels
    }
    _mark_outliers(rows, agreement)
    return Comparison(rows, agreement)


def _row(name: str, estimator: Any, ensemble: Any, truth: Any) -> dict[str, Any]:
    """Fit one method and score its labels."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"method": name, "outlier": False}
    clock = Clock()
    try:
        with peak_memory() as peak, without_comparison():
            labels = estimator.fit(ensemble).labels_
    except (ValueError, MemoryError, ImportError) as error:
        return row | {"error": error, "seconds": round(clock.elapsed().seconds, 4)}
    row["seconds"] = round(clock.elapsed().seconds, 4)
    row["clusters"] = int(labels.max()) + 1
    row["nmi_with_votes"] = metrics.ensemble_nmi(labels, ensemble)
    row["memory_mb"] = None if peak.n_bytes is None else round(peak.n_bytes / 1e6, 1)
    if truth is not None:
        row |= {"nmi": metrics.nmi(truth, labels), "ari": metrics.ari(truth, labels)}
    return row


def _mark_outliers(rows: list[dict[str, Any]], agreement: dict[str, dict[str, float]]) -> None:
    means = {
        one: float(np.mean([score for other, score in scores.items() if other != one]))
        for one, scores in agreement.items()
        if len(scores) > 1
    }
    lowest = lowest_usual(np.array(list(means.values())))
    for row in rows:
        row["outlier"] = row["method"] in means and means[row["method"]] < lowest
