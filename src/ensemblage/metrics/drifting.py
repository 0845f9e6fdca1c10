"""Comparison of new votes with those that a consensus was fitted on."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage.metrics._tables import Table
from ensemblage.metrics.explain import objects_per_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._ensemble import Ensemble
    from ensemblage._types import FloatArray

#: A change counts from this size, and from this number of standard errors.
_CHANGE, _ERRORS = 0.05, 4.0
#: New rows count from this multiple of the expected share: members were fitted to the objects.
_TIMES = 2.0
#: Unknown labels count from this share: a clustering should not have any.
_UNKNOWN = 0.01
#: Fewer new objects are not judged, nor are changes in fewer than half of this number.
_FEWEST = 10


class _Drift(NamedTuple):
    verdict: str
    reasons: list[str]
    changed: bool
    n_objects: int
    never_seen: float
    expected_never_seen: float
    confidence: float
    fit_confidence: float
    shares: FloatArray
    fit_shares: FloatArray
    names: list[str]
    unknown: FloatArray
    turnout: FloatArray
    fit_turnout: FloatArray


class Drift(Table, _Drift):
    """New votes compared with those of a fit. Shares are in [0, 1].

    Attributes
    ----------
    verdict : str
        A sentence: whether the new votes are like those of the fit.
    reasons : list of str
        The changes, a sentence each.
    changed : bool
        Whether there is any such reason.
    n_objects : int
        New objects.
    never_seen : float
        The share of new objects whose row of votes did not occur in the fit.
    expected_never_seen : float
        The expected share for more objects like those of the fit: the share of its objects whose
        row occurs once (the estimate of Good and Turing).
    confidence, fit_confidence : float
        Mean confidence of the new objects in the labels that `predict` gives them, and of the
        objects of the fit in theirs.
    shares, fit_shares : ndarray of shape (n_clusters,)
        The share of objects in each cluster.
    names : list of str
        The clusterings.
    unknown : ndarray of shape (n_clusterings,)
        The share of the votes of each clustering for labels that did not occur in the fit.
    turnout, fit_turnout : ndarray of shape (n_clusterings,)
        The share of objects that each clustering labels.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0], [0, 0], [1, 1]] * 10
    >>> drift = en.metrics.drift(en.EAC(n_clusters=2).fit(votes), votes)
    >>> drift.changed, drift.never_seen
    (False, 0.0)
    """

    __slots__ = ()

    def _heading(self) -> str:
        return "\n".join([self.verdict, *(f"- {reason}" for reason in self.reasons)])

    def _index(self) -> tuple[str, Any]:
        clusters = [f"objects in cluster {label}" for label in range(len(self.shares))]
        votes = [f"votes of {name}" for name in self.names]
        unknown = [f"unknown labels of {name}" for name in self.names]
        return "share", ["new rows", "mean confidence", *clusters, *unknown, *votes]

    def _columns(self) -> dict[str, Any]:
        none = np.zeros(len(self.names))
        fit = [self.expected_never_seen, self.fit_confidence]
        new = [self.never_seen, self.confidence]
        return {
            "fit": np.concatenate([fit, self.fit_shares, none, self.fit_turnout]),
            "new": np.concatenate([new, self.shares, self.unknown, self.turnout]),
        }


def drift(model: Any, new_votes: Any) -> Drift:
    """Compare new votes with those that a consensus was fitted on, and report changes.

    Call it before using `predict` on later data: clusterings that were run again number their
    clusters differently, new types of objects do not agree with any known group, and groups grow or
    vanish.

    Parameters
    ----------
    model : fitted estimator
        A consensus method, or `EnsembleClustering`, fitted or loaded.
    new_votes : array-like, DataFrame, Arrow table, dict or Ensemble, (n_objects, n_clusterings)
        Votes of the same clusterings, in any type that `predict` accepts; for an
        `EnsembleClustering` new features.

    Returns
    -------
    Drift

    Notes
    -----
    A share has changed if it differs by more than 0.05 and by more than four standard errors of the
    difference; so has the mean confidence if it is lower by that much. New rows count if their
    share exceeds twice the expected one by that much, unknown labels from 0.01 of the votes of a
    clustering. Fewer than ten new objects are not judged.

    Examples
    --------
    >>> import numpy as np
    >>> import ensemblage as en
    >>> votes = np.repeat([[0, 0, 0], [1, 1, 1], [1, 2, 1]], 20, axis=0)
    >>> model = en.Consensus(n_clusters=2, random_state=0).fit(votes)
    >>> en.metrics.drift(model, votes[::2]).verdict
    'No drift: the 30 new objects are like those of the fit.'
    >>> renumbered = votes + [0, 0, 7]
    >>> en.metrics.drift(model, renumbered).reasons[0]
    "Every label of clustering '2' is unknown. Check that its clusters are numbered as in the fit."
    """
    owner = "metrics.drift"
    fitted = _validate.check_fitted(owner, model)
    _validate.check_has_votes(owner, fitted)
    votes = model._votes_on(new_votes) if hasattr(model, "_votes_on") else new_votes
    new = as_ensemble(votes, new=True).in_order_of(fitted._ensemble.names)
    with warnings.catch_warnings():  # the reasons report them
        warnings.simplefilter("ignore", _validate.UnknownLabelsWarning)
        labels, sure = fitted.predict(new, return_confidence=True)
    table, sizes = fitted._ensemble.translate(new), new.microclusters.sizes
    fit_table, fit_sizes, _ = fitted.microclusters_
    n = int(sizes.sum())
    weight = sizes if len(sure) == len(sizes) else np.ones(len(sure), dtype=np.int64)
    fit_weight = objects_per_label(fitted)
    k = fitted.n_clusters_
    drift = _Drift(
        verdict="",
        reasons=[],
        changed=False,
        n_objects=n,
        never_seen=float(sizes[flow.find_rows(table, fit_table) < 0].sum() / n),
        expected_never_seen=float((fit_sizes == 1).sum() / fit_sizes.sum()),
        confidence=float(np.average(sure, weights=weight)),
        fit_confidence=float(np.average(fitted.confidence_, weights=fit_weight)),
        shares=_shares(np.asarray(labels), weight, k),
        fit_shares=_shares(fitted.labels_, fit_weight, k),
        names=_names(fitted._ensemble, new),
        unknown=_unknown(fitted._ensemble, table, sizes),
        turnout=sizes @ (new.microclusters.table >= 0) / n,
        fit_turnout=fit_sizes @ (fit_table >= 0) / fit_sizes.sum(),
    )
    errors = _standard_error(sure, weight, fitted.confidence_, fit_weight)
    reasons = _reasons(drift, int(fit_sizes.sum()), errors) if n >= _FEWEST else []
    return Drift(
        *drift._replace(verdict=_verdict(n, reasons), reasons=reasons, changed=bool(reasons))
    )


def _shares(labels: NDArray[np.int64], weight: NDArray[np.int64], n_clusters: int) -> FloatArray:
    counts = np.bincount(labels, weights=weight, minlength=n_clusters)
    return np.asarray(counts / weight.sum(), dtype=np.float64)


def _names(fitted: Ensemble, new: Ensemble) -> list[str]:
    names: Any = fitted.names or new.names or range(fitted.n_clusterings)
    return [str(name) for name in names]


def _unknown(fitted: Ensemble, table: NDArray[np.int32], sizes: NDArray[np.int64]) -> FloatArray:
    """Return the share of votes for unknown labels; 0 for a clustering without votes."""
    n_known = np.array([len(labels) for labels in fitted.labels])
    votes = sizes @ (table >= 0)
    unknown = sizes @ ((table >= n_known) & (table >= 0))
    return np.divide(unknown, votes, out=np.zeros(len(votes)), where=votes > 0)


def _standard_error(
    a: FloatArray, a_weight: NDArray[np.int64], b: FloatArray, b_weight: NDArray[np.int64]
) -> float:
    """Return the standard error of the difference of two means."""

    def squared(values: FloatArray, weight: NDArray[np.int64]) -> float:
        mean = np.average(values, weights=weight)
        return float(np.average((values - mean) ** 2, weights=weight) / weight.sum())

    return float(np.sqrt(squared(a, a_weight) + squared(b, b_weight)))


def _rises(new: Any, old: Any, n_new: int, n_old: int, least: float = _CHANGE) -> Any:
    """Return whether shares are significantly above others."""
    both = (n_new * new + n_old * old) / (n_new + n_old)
    error = np.sqrt(both * (1 - both) * (1 / n_new + 1 / n_old))
    objects = n_new * (new - old) >= _FEWEST / 2
    return objects & (new - old > least) & (new - old > _ERRORS * error)


def _reasons(found: _Drift, n_fit: int, error: float) -> list[str]:
    """Return the changes as sentences, unknown labels first: they explain the rest."""
    n, reasons = found.n_objects, []
    unknown = _rises(found.unknown, np.zeros(len(found.names)), n, n_fit, _UNKNOWN)
    for m in np.flatnonzero(unknown):
        share, name = found.unknown[m], found.names[m]
        what = f"{share:.1%} of the votes of clustering {name!r} are for unknown labels."
        if share == 1:
            what = f"Every label of clustering {name!r} is unknown."
        reasons.append(f"{what} Check that its clusters are numbered as in the fit.")
    reasons += [
        f"Clustering {found.names[m]!r} labels {found.turnout[m]:.1%} of the objects, compared with"
        f" {found.fit_turnout[m]:.1%} in the fit."
        for m in np.flatnonzero(_rises(found.fit_turnout, found.turnout, n, n_fit))
    ]
    if _rises(found.never_seen, min(1.0, _TIMES * found.expected_never_seen), n, n_fit):
        reasons.append(
            f"{found.never_seen:.1%} of the rows of votes did not occur in the fit, expected"
            f" {found.expected_never_seen:.1%}."
        )
    if found.fit_confidence - found.confidence > max(_CHANGE, _ERRORS * error):
        reasons.append(
            f"The mean confidence fell from {found.fit_confidence:.2f} to {found.confidence:.2f}."
        )
    grown = _rises(found.shares, found.fit_shares, n, n_fit)
    shrunk = _rises(found.fit_shares, found.shares, n, n_fit)
    reasons += [
        f"Cluster {label} has {found.shares[label]:.1%} of the objects, compared with"
        f" {found.fit_shares[label]:.1%} in the fit."
        for label in np.flatnonzero(grown | shrunk)
    ]
    return reasons


def _verdict(n: int, reasons: list[str]) -> str:
    if n < _FEWEST:
        return f"Not judged: at least {_FEWEST} new objects are needed, got {n}."
    if not reasons:
        return f"No drift: the {n:,} new objects are like those of the fit."
    return f"Drift: the {n:,} new objects differ from those of the fit. Find out why, or fit again."
