"""Labels of new rows of votes, by the microclusters that they agree with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import plain
from ensemblage.metrics.confidence import cluster_weights, margin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._ensemble import Ensemble
    from ensemblage._types import FloatArray

#: Agreements with all microclusters are computed for at most so many rows and bytes at a time.
_MOST_ROWS, _MOST_BYTES = 1024, 1 << 27
_ROW_UNIT = 64  # for fewer rows the time of preparing the microclusters dominates


def compared_at_once(n_microclusters: int) -> int:
    """Return the number of rows to compare with all microclusters at a time."""
    units = _MOST_BYTES // (8 * n_microclusters * _ROW_UNIT)
    return min(_MOST_ROWS, _ROW_UNIT * max(1, units))


def place_rows(
    estimator: Any, table: NDArray[np.int32], *, with_confidence: bool = False
) -> tuple[NDArray[np.int64], FloatArray | None]:
    """Return the label of each row of votes, in the codes of the estimator's ensemble.

    The second value is the confidence, or None.
    """
    known, sizes, _ = estimator.microclusters_
    nearest = flow.find_rows(table, known).astype(np.int64)
    unseen = np.flatnonzero(nearest < 0)
    # Larger first, earlier first among equals: argmax then breaks ties correctly.
    order = np.argsort(-sizes, kind="stable")
    labels: NDArray[np.int64] = estimator._micro_labels[nearest]
    sure = _confidence_of_microclusters(estimator)[nearest] if with_confidence else None
    own = estimator._label_unseen(table[unseen]) if len(unseen) else None
    if own is not None:
        labels[unseen] = own
        if sure is None:
            return labels, None
    clusters = cluster_weights(estimator._micro_labels, sizes, estimator.n_clusters_)[order]
    linked = estimator._linked_shares() if with_confidence else None
    known, step = known[order], compared_at_once(len(known))
    for start in range(0, len(unseen), step):
        rows = unseen[start : start + step]
        agreement = flow.coassociation(
            table[rows], known, weights=estimator.member_weight_, n_jobs=estimator.n_jobs
        )
        if own is None:
            best = agreement.argmax(axis=1)
            labels[rows] = estimator._micro_labels[order[best]]
            labels[rows[agreement.max(axis=1) == 0]] = _largest_cluster(estimator)
        if sure is not None:
            sure[rows] = margin(agreement @ clusters / clusters.sum(axis=0), labels[rows])
            if linked is not None:
                sure[rows] *= linked[order[agreement.argmax(axis=1)]]
        del agreement  # before the next block is computed
    return labels, sure


def _confidence_of_microclusters(estimator: Any) -> FloatArray:
    _ = estimator.confidence_  # computed on first access
    confidence: FloatArray = estimator._confidence
    return confidence


def warn_of_unknown(fitted: Ensemble, new: Ensemble, table: NDArray[np.int32]) -> None:
    """Warn of clusterings none of whose labels occurred in fit.

    `table` holds the new votes in the codes of the fitted ensemble.
    """
    n_known = np.array([len(labels) for labels in fitted.labels])
    voted = table >= 0
    silent = ~(voted & (table < n_known)).any(axis=0)
    unknown = np.flatnonzero(voted.any(axis=0) & silent).tolist()
    if not unknown:
        return
    names = fitted.names or new.names
    called = unknown if names is None else [names[place] for place in unknown]
    everything = len(unknown) == int(voted.any(axis=0).sum())
    first = unknown[0]
    examples = [_validate.shown(plain(some.labels[first]), 3) for some in (new, fitted)]
    kinds = "numbers instead of strings or the reverse"
    _validate.warn(
        f"All labels of clustering{'' if len(unknown) == 1 else 's'} {_validate.shown(called)} are"
        f" unknown, {'so every label is unknown' if everything else 'so they are ignored'}:"
        f" clustering {called[0]!r} has {examples[0]}, the fit had {examples[1]}."
        f"{f' Their type differs: {kinds}.' if fitted.differ_in_kind(new, unknown) else ''}"
        f" Spell labels as in fit.",
        _validate.UnknownLabelsWarning,
    )


def _largest_cluster(estimator: Any) -> int:
    """Return the label that most objects have."""
    sizes, labels = estimator.microclusters_.sizes, estimator.labels_
    # With one label for each microcluster, as in `Ensemble.of_groups`, count by size.
    weights = sizes if len(labels) == len(sizes) else None
    return int(np.bincount(labels, weights=weights).argmax())
