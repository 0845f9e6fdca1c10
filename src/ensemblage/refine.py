"""Improvement of clusterings before they are combined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import Ensemble, as_ensemble, plain

if TYPE_CHECKING:
    from ensemblage._types import FloatArray

__all__ = ["ClusterMerge", "MergedVotes", "merge"]

_METRICS = ("nmi", "ari")
_MISSING = ("ignore", "cluster")
_ROUNDING = 1e-12


class ClusterMerge(NamedTuple):
    """Two clusters of one clustering that were merged.

    Attributes
    ----------
    member : str or int
        The clustering: its name in a table, else the number of its column.
    kept, merged : label
        The objects of `merged` get the label `kept`.
    gain : float
        Increase of the mean agreement of this clustering with the others.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 1, 0], [0, 0, 0], [1, 2, 1], [1, 2, 1]]
    >>> en.refine.merge(votes).merges[0].member
    1
    """

    member: Any
    kept: Any
    merged: Any
    gain: float


class MergedVotes(NamedTuple):
    """Clusterings with merged clusters, and the merges.

    Attributes
    ----------
    votes : ndarray or DataFrame of shape (n_objects, n_clusterings)
        The labels after the merges, as a table of the type that was passed. Other labels and
        missing votes are unchanged.
    merges : list of ClusterMerge
        The merges in order.
    gains : ndarray of shape (n_merges,)
        The gain of each merge.
    n_clusters : ndarray of shape (n_clusterings,), int64
        Number of remaining clusters of each clustering.

    Examples
    --------
    >>> import ensemblage as en
    >>> merged = en.refine.merge([[0, 0, 0], [0, 1, 0], [0, 0, 0], [1, 2, 1], [1, 2, 1]])
    >>> merged.n_clusters
    array([2, 2, 2])
    """

    votes: Any
    merges: list[ClusterMerge]
    gains: FloatArray
    n_clusters: Any

    def __repr__(self) -> str:
        n_left, n_merges = int(self.n_clusters.sum()), len(self.merges)
        return (
            f"MergedVotes({n_merges} merges, {n_left + n_merges} clusters before, {n_left} after,"
            f" {len(self.n_clusters)} clusterings)"
        )


def merge(votes: Any, metric: str = "nmi", p: float = 1.0, missing: str = "ignore") -> MergedVotes:
    """Merge clusters within the clusterings until their agreement no longer rises.

    The method of Dune: of all pairs of clusters of one clustering, merge the pair that raises the
    mean agreement of this clustering with the others most; repeat while agreement rises. It undoes
    splits that the other clusterings do not support. The result is a table of votes.

    Parameters
    ----------
    votes : array-like, DataFrame, Arrow table, dict, list or Ensemble, (n_objects, n_clusterings)
        One column of labels for each clustering; -1, NaN, None and null are missing votes.
    metric : {"nmi", "ari"}, default="nmi"
        The agreement: mutual information divided by the mean of the two entropies, or the adjusted
        Rand index.
    p : float, default=1.0
        The share of the total gain to stop at, from 0 to 1: the first merges that reach it are
        made. Later merges gain little and lose resolution.
    missing : {"ignore", "cluster"}, default="ignore"
        "ignore" compares two clusterings on the objects that have a vote in both. "cluster" counts
        the missing votes of a clustering as one more cluster, which is never merged; it is Dune's
        `unclustered`.

    Returns
    -------
    MergedVotes

    Notes
    -----
    Merging ends when no merge increases the agreement, or when a clustering has only one cluster
    left. A clustering with fewer than two clusters at the start is not compared with the others.

    Gains are means over the M - 1 other clusterings. Dune reports the change of the mean over all
    pairs of clusterings, which is 2 / M of that; the merges are the same.

    Contingency tables are updated after a merge. With C clusters in all and up to k in a
    clustering, a merge costs O(C · k) time; the start costs O(C² · k). Memory is O(C² + M · C · k).

    References
    ----------
    H. Roux de Bézieux, K. Street, S. Fischer, K. Van den Berge, R. Chance, D. Risso, J. Gillis, J.
    Ngai, E. Purdom, S. Dudoit, "Improving replicability in single-cell RNA-Seq cell type discovery
    with Dune", BMC Bioinformatics 25, 2024.

    Examples
    --------
    The second clustering splits a cluster that the others keep together:

    >>> from ensemblage.refine import merge
    >>> found = merge([[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 2, 1], [1, 2, 1], [1, 2, 1]])
    >>> found
    MergedVotes(1 merges, 7 clusters before, 6 after, 3 clusterings)
    >>> found.merges[0]
    ClusterMerge(member=1, kept=0, merged=1, gain=0.18...)
    >>> found.votes[:, 1]
    array([0, 0, 0, 2, 2, 2])
    """
    owner = "refine.merge"
    _validate.check_choice(owner, "metric", metric, _METRICS)
    _validate.check_choice(owner, "missing", missing, _MISSING)
    p = _validate.check_share(owner, "p", p)
    ensemble = as_ensemble(votes)
    _validate.check_each_object(owner, len(ensemble.microclusters.of_object), ensemble.n_objects)
    steps = _up_to_share(_merges(ensemble, metric, missing), p)
    n_clusters = np.array([len(labels) for labels in ensemble.labels], dtype=np.int64)
    codes = [np.arange(n) for n in n_clusters]
    for step in steps:
        codes[step.member][codes[step.member] == step.merged] = step.kept
        n_clusters[step.member] -= 1
    labels = [plain(found) for found in ensemble.labels]
    names: list[Any] = ensemble.names or list(range(len(labels)))
    merges = [
        ClusterMerge(names[m], labels[m][kept], labels[m][merged], gain)
        for m, kept, merged, gain in steps
    ]
    gains = np.array([step.gain for step in steps], dtype=np.float64)
    return MergedVotes(_table(ensemble, codes, labels), merges, gains, n_clusters)


def _merges(ensemble: Ensemble, metric: str, missing: str) -> list[flow.Merge]:
    """Return all merges, with clusterings and codes as numbers of the ensemble."""
    table, sizes, _ = ensemble.microclusters
    n_clusters = table.max(axis=0).astype(np.int64) + 1
    compared = np.flatnonzero(n_clusters > 1)
    if len(compared) < 2:
        return []
    table, n_clusters = table[:, compared], n_clusters[compared]
    if missing == "cluster":
        table = np.where(table < 0, n_clusters.astype(np.int32), table)
    owner = flow.owners(table)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    code = np.arange(len(owner)) - starts[owner]
    n, largest = len(owner), int(np.bincount(owner).max())
    _validate.check_memory(
        24 * n * n + 24 * len(compared) * n * largest,
        f"Merging {n} clusters of {len(compared)} clusterings",
        "Pass fewer or coarser clusterings.",
    )
    counts = flow.overlaps(table, sizes)
    merges = flow.merges_that_agree(counts, owner, code >= n_clusters[owner], metric)
    return [
        flow.Merge(int(compared[m]), int(code[kept]), int(code[merged]), gain)
        for m, kept, merged, gain in merges
    ]


def _up_to_share(steps: list[flow.Merge], p: float) -> list[flow.Merge]:
    """Return the first merges that reach the share p of all gains."""
    reached = np.cumsum([step.gain for step in steps])
    if p == 0 or len(reached) == 0:
        return []
    return steps[: int(np.argmax(reached >= (p - _ROUNDING) * reached[-1])) + 1]


def _table(ensemble: Ensemble, codes: list[Any], labels: list[list[Any]]) -> Any:
    """Return labels by codes as a table of the type that was passed."""
    table, _, of_object = ensemble.microclusters
    columns = []
    for votes, code, names in zip(table.T, codes, labels, strict=True):
        whole = all(_is_int64(name) for name in names)
        gap = -1 if whole else None
        meaning = np.empty(len(names) + 1, dtype=np.int64 if whole else object)
        meaning[:] = [*names, gap]
        # The last entry is for missing votes, whose code is -1.
        columns.append(meaning[np.append(code, len(names))[votes]][of_object])
    return _validate.table_like(columns, ensemble.names, ensemble.kind, ensemble.index)


def _is_int64(name: Any) -> bool:
    """Tell whether a label is a whole number that 64 bits hold."""
    return isinstance(name, int) and not isinstance(name, bool) and -(2**63) <= name < 2**63
