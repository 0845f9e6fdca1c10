"""The loss of one partition with each clustering of an ensemble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._jit import kernel
from ensemblage.flow._losses import KINDS, loss_of_sums, phi_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray, IntArray

LOSSES = tuple(KINDS)


def partition_losses(
    labels: IntArray,
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    loss: str,
    a: float = 1.0,
) -> FloatArray:
    """Return the loss of labels with each clustering; NaN where no object has both.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels of microclusters, 0, 1, ..., -1 where there is none.
    table : ndarray of shape (n, n_clusterings)
        Their votes, -1 where there is none.
    sizes : ndarray of shape (n,)
        Objects in each.
    loss : str
        One of `LOSSES`.
    a : float
        For "binder" and "vi": the cost of separating objects that belong together; 2 - a is the
        cost of joining objects that do not.

    Notes
    -----
    Sums are over the objects with a label and a vote. O(n·M) time.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    >>> partition_losses(np.array([0, 0, 1]), votes, np.array([1, 1, 1]), "binder")
    array([0.        , 0.44444444])
    """
    kind = KINDS[loss]
    votes = np.ascontiguousarray(table.T)
    n_clusters = table.max(axis=0, initial=-1).astype(np.int64) + 1
    phi = phi_table(kind, int(sizes.sum()))
    losses: FloatArray = np.empty(len(votes))
    _fill_losses(kind, float(a), votes, n_clusters, labels.astype(np.int64), sizes, phi, losses)
    return losses


@kernel
def _fill_losses(
    kind: Any, a: Any, votes: Any, n_clusters: Any, labels: Any, sizes: Any, phi: Any, found: Any
) -> None:
    """Set ``found[m]`` to the loss with clustering m."""
    k = labels.max() + 1
    in_label = np.zeros(max(k, 1), dtype=np.int64)
    shared = np.zeros(max(k, 1) * max(n_clusters.max(), 1), dtype=np.int64)
    for m in range(len(votes)):
        width = n_clusters[m]
        in_vote = np.zeros(width, dtype=np.int64)
        total = 0
        for i in range(len(labels)):
            if labels[i] >= 0 and votes[m, i] >= 0:
                in_label[labels[i]] += sizes[i]
                in_vote[votes[m, i]] += sizes[i]
                shared[labels[i] * width + votes[m, i]] += sizes[i]
                total += sizes[i]
        A, B, T = 0.0, 0.0, 0.0
        for u in range(width):
            T += phi[in_vote[u]]
        for i in range(len(labels)):  # second pass: read and clear the counts
            if labels[i] >= 0 and votes[m, i] >= 0:
                cell = labels[i] * width + votes[m, i]
                B += phi[shared[cell]]
                shared[cell] = 0
                A += phi[in_label[labels[i]]]
                in_label[labels[i]] = 0
        found[m] = (
            max(loss_of_sums(kind, a, A, B, T, float(total), phi[total]), 0.0) if total else np.nan
        )
