"""The contents of a report as plain numbers and texts: one function for each section, no HTML."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ensemblage import _validate, flow, metrics, tables
from ensemblage._ensemble import grouped
from ensemblage._types import Columns
from ensemblage.report._layout import order_of_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.report._text import Names

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MEMBERS_SHOWN = 150
_CLASSES_SHOWN = 60
#: Above this number, other numbers of clusters and other seeds take longer than all the rest.
MOST_MICROCLUSTERS = 20_000
#: At 0.5 an object is twice as close to its own cluster as to the next.
SURE = 0.5
#: A cluster is loose if its objects are together less than half as often as those of others.
LOOSE = 0.5


class Subject(NamedTuple):
    """The subject of a report: a fitted consensus method with the data passed beside it."""

    model: Any  # the method itself, or the clusterer of features that contains it
    fitted: Any
    ids: Any  # a value for each object: an array or a pandas index; None without names
    names: list[Any]
    truth: Any
    features: NDArray[Any] | None
    in_order: bool = True  # False if a model was saved without its objects

    @property
    def n_objects(self) -> int:
        """Return the number of objects."""
        return len(self.fitted.labels_)


def seed_facts(fitted: Any) -> metrics.SeedSpread | None:
    """Return the variation of labels over seeds; None if it would take long."""
    return metrics.seed_spread(fitted) if fitted.n_microclusters_ <= MOST_MICROCLUSTERS else None


def object_facts(
    subject: Subject,
    shown: NDArray[np.int64],
    names: Names,
    seeds: metrics.SeedSpread | None = None,
) -> dict[str, Any]:
    """Return the objects that are shown: row, name, cluster, confidence, the next cluster."""
    fitted = subject.fitted
    ids = None
    if not subject.in_order:
        ids = [f"microcluster {group}" for group in fitted.microclusters_.of_object[shown].tolist()]
    elif subject.ids is not None:
        ids = names.of(tables.as_texts(np.asarray(subject.ids)[shown]))
    return {
        "n": subject.n_objects,
        "row": shown.tolist() if subject.in_order else None,
        "id": ids,
        "cluster": fitted.labels_[shown].tolist(),
        "confidence": rounded(fitted.confidence_[shown]),
        "next": _next_clusters(fitted, shown).tolist(),
        # Only if some object changes its cluster with the seed.
        "seeds": None
        if seeds is None or seeds.agreement.min() == 1.0
        else rounded(seeds.agreement[shown]),
    }


def cluster_facts(fitted: Any, splits: metrics.SplitSummary) -> dict[str, Any]:
    """Return the clusters: sizes, consensus, nearest cluster, and which are weak."""
    summary = metrics.clusters(fitted)
    order = np.argsort(fitted.labels_, kind="stable")
    parts = np.split(fitted.confidence_[order], np.cumsum(summary.sizes)[:-1])
    return {
        "size": summary.sizes.tolist(),
        "consensus": rounded(summary.consensus),
        "confidence": rounded(summary.confidence),
        "quantiles": [rounded(np.quantile(part, _QUANTILES)) for part in parts],
        "nearest": summary.nearest.tolist(),
        "nearestSimilarity": rounded(summary.nearest_similarity) if len(parts) > 1 else [None],
        "split": rounded(splits.clarity),
        "weak": [_weakness(summary, splits, cluster) for cluster in range(len(summary.sizes))],
    }


def _weakness(found: metrics.ClusterSummary, splits: metrics.SplitSummary, cluster: int) -> str:
    """Return why a cluster is weak, "" if it is not."""
    if found.sizes[cluster] == 1:
        return "a single object"
    k, reasons = len(found.sizes), []
    if splits.two_groups[cluster]:
        larger, smaller = splits.sizes[cluster].tolist()
        reasons.append(
            f"two groups, of {larger:,} and {smaller:,} objects: together in"
            f" {100 * splits.together[cluster]:.0f} % of the clusterings; their border is"
            f" {_clearness(splits, cluster)}"
        )
    if k > 1 and found.confidence[cluster] < SURE:  # with one cluster there is no next one
        reasons.append(f"confidence {found.confidence[cluster]:.2f} on average")
    others = np.delete(found.consensus[found.sizes > 1], (found.sizes > 1)[:cluster].sum())
    is_loose = len(others) > 0 and found.consensus[cluster] < LOOSE * np.median(others)
    if is_loose and not splits.two_groups[cluster]:
        reasons.append(
            f"loose: two of its objects are together in {100 * found.consensus[cluster]:.0f} % of"
            f" the clusterings, in {'the other cluster' if k == 2 else 'other clusters'} in"
            f" {100 * np.median(others):.0f} %"
        )
    return "; ".join(reasons)


def _clearness(splits: metrics.SplitSummary, cluster: int) -> str:
    """Return how clear the best split of a cluster is, compared with other borders if any."""
    k, clarity, usual = len(splits.sizes), splits.clarity[cluster], splits.usual[cluster]
    if k == 1:
        return f"clear (confidence {clarity:.2f})"
    nearly = "nearly " * bool(clarity < usual)
    others = "that of the other cluster" if k == 2 else "those of other clusters"
    return f"{nearly}as clear (confidence {clarity:.2f}) as {others} ({usual:.2f})"


def member_facts(subject: Subject, names: Names) -> dict[str, Any]:
    """Return the clusterings: agreement with the consensus and each other, and ones to check."""
    fitted = subject.fitted
    summary = metrics.members(fitted)
    shown = _shown_members(summary.agreement, summary.look_at)
    groups = fitted.microclusters_
    pairs = flow.member_nmi(groups.table[:, shown], groups.sizes, n_jobs=fitted.n_jobs)
    order = order_of_rows(pairs)
    return {
        "name": names.of(subject.names),
        "clusters": summary.n_clusters.tolist(),
        "turnout": rounded(summary.turnout),
        "agreement": rounded(summary.agreement),
        "others": rounded(summary.agreement_with_others),
        "compared": summary.n_compared,
        "reason": names.of(_with_names(summary.reasons, summary.names, subject.names)),
        "shown": shown[order].tolist(),
        "pairs": as_bytes(pairs[np.ix_(order, order)]),
    }


def _shown_members(agreement: FloatArray, look_at: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the members of the matrix: all, or those to check and others evenly spaced."""
    n = len(agreement)
    if n <= _MEMBERS_SHOWN:
        return np.arange(n)
    wanted = np.flatnonzero(look_at)[: _MEMBERS_SHOWN // 2]
    rest = np.setdiff1d(np.arange(n), wanted)
    places = np.linspace(0, len(rest) - 1, _MEMBERS_SHOWN - len(wanted)).astype(np.int64)
    return np.sort(np.concatenate([wanted, rest[places]]))


def _with_names(reasons: list[str], numbers: list[str], names: list[Any]) -> list[str]:
    """Return the reasons with the names of the report, if fit had none."""
    if numbers == [str(name) for name in names]:
        return reasons
    twin = "same partition as "
    name_of = dict(zip(numbers, names, strict=True))
    renamed = []
    for reason in reasons:
        parts = [
            f"{twin}{name_of.get(part.removeprefix(twin), part.removeprefix(twin))}"
            if part.startswith(twin)
            else part
            for part in reason.split("; ")
        ]
        renamed.append("; ".join(parts))
    return renamed


def truth_facts(subject: Subject, shown: NDArray[np.int64], names: Names) -> dict[str, Any] | None:
    """Return the contingency table of clusters and true classes, with its NMI and ARI."""
    if subject.truth is None:
        return None
    labels = subject.fitted.labels_
    groups, found = grouped(
        _validate.check_votes(Columns(["cluster", "class"], [labels, subject.truth]))
    )
    cluster, code = np.asarray(found[0])[groups.table[:, 0]], groups.table[:, 1]
    counts = np.zeros((int(cluster.max()) + 1, len(found[1])), dtype=np.int64)
    has = code >= 0
    np.add.at(counts, (cluster[has], code[has]), groups.sizes[has])
    largest = np.argsort(-counts.sum(axis=0), kind="stable")[:_CLASSES_SHOWN]
    # Classes are sorted by the cluster that contains most of them: good clusters give a diagonal.
    largest = largest[np.argsort(counts[:, largest].argmax(axis=0), kind="stable")]
    return {
        "name": names.of(found[1]),
        "of": code[groups.of_object[shown]].tolist(),
        "shown": largest.tolist(),
        "counts": counts[:, largest].tolist(),
        "nmi": round(metrics.nmi(subject.truth, labels), 4),
        "ari": round(metrics.ari(subject.truth, labels), 4),
        "missing": int(groups.sizes[~has].sum()),
    }


def _next_clusters(fitted: Any, shown: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the other cluster with which each object shares most votes; -1 with one cluster."""
    k = fitted.n_clusters_
    if k == 1:
        return np.full(len(shown), -1)
    table, _, of_object = fitted.microclusters_
    places = of_object, fitted.labels_
    counts = csr_array((np.ones(len(of_object)), places), shape=(len(table), k))
    # Number of objects of each consensus cluster in each cluster of each member.
    shared = flow.cluster_sums(table, counts)
    starts = np.cumsum(table.max(axis=0) + 1) - (table.max(axis=0) + 1)
    rows = table[of_object[shown]]
    agreed, voted = np.zeros((len(shown), k)), np.zeros((len(shown), k))
    for m, start in enumerate(starts.tolist()):
        has = rows[:, m] >= 0
        agreed[has] += shared[start + rows[has, m]]
        voted[has] += shared[start : start + int(table[:, m].max()) + 1].sum(axis=0)
    share = np.divide(agreed, voted, out=np.zeros_like(agreed), where=voted > 0)
    share[np.arange(len(shown)), fitted.labels_[shown]] = -1.0
    return share.argmax(axis=1)


def rounded(values: Any, places: int = 4) -> list[float]:
    """Return numbers as a list, rounded for a page.

    Examples
    --------
    >>> rounded([1 / 3, 1.0])
    [0.3333, 1.0]
    """
    return np.round(np.asarray(values, dtype=np.float64), places).tolist()


def as_bytes(matrix: FloatArray) -> str:
    """Return numbers from 0 to 1 as bytes from 0 to 255, in base 64.

    Examples
    --------
    >>> import numpy as np
    >>> as_bytes(np.array([[0.0, 1.0]]))
    'AP8='
    """
    levels = np.rint(np.clip(matrix, 0.0, 1.0) * 255).astype(np.uint8)
    return b64encode(levels.tobytes()).decode("ascii")
