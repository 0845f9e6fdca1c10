"""Estimate of the number of links of the elite graph, from a sample of rows.

Each row keeps its K best neighbours and all ties with the last. With many ties there are far more
than K: for two crossing clusterings, a row of n ties with 2·√n others. A graph that does not fit
must be rejected before it is built, so a sample of rows is counted first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ensemblage.flow._agreement import VoteCodes, turnout_codes, vote_codes
from ensemblage.flow._link_weights import link_weights, row_thresholds
from ensemblage.flow._threads import row_ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_ROWS = 128
_WEIGHTS_AT_ONCE = 1 << 20
_STANDARD_ERRORS = 2.0  # margin of the estimate
_SEED = 0


def expected_links(
    table: NDArray[np.int32], n_neighbors: int, *, weights: FloatArray | None = None
) -> int:
    """Return an upper estimate of the number of links of `elite_graph`.

    Parameters are those of `elite_graph`. Costs the comparison of 256 rows with all others.
    """
    votes = vote_codes(table)
    turnout = turnout_codes(table) if (table < 0).any() else None

    def weigh(rows: NDArray[np.int64]) -> FloatArray:
        def those(codes: VoteCodes) -> VoteCodes:
            return VoteCodes(np.ascontiguousarray(codes.left[:, rows]), codes.right)

        some = None if turnout is None else those(turnout)
        return link_weights(those(votes), some, weights)(0, len(rows))

    return _from_sample(weigh, len(table), n_neighbors)


def expected_links_of(similarity: FloatArray, n_neighbors: int) -> int:
    """Return an upper estimate of the number of links of `elite_graph_of`."""
    return _from_sample(lambda rows: similarity[rows], len(similarity), n_neighbors)


def _from_sample(weigh: Callable[[NDArray[np.int64]], FloatArray], n: int, n_neighbors: int) -> int:
    """Return the expected number of links, given a function that returns the weights of rows."""
    rng = np.random.default_rng(_SEED)
    sample = np.sort(rng.choice(n, min(n, _ROWS), replace=False))
    lengths = np.zeros(len(sample))
    partners, links = np.zeros(len(sample), dtype=np.int64), np.zeros(len(sample))
    blocks = row_ranges(len(sample), max(1, _WEIGHTS_AT_ONCE // n))
    for start, stop in blocks:
        weights, stays, _ = _own(weigh, sample[start:stop], n_neighbors)
        for row, keeps in enumerate(stays, start):
            own = np.flatnonzero(keeps)
            lengths[row] = len(own)
            if len(own):
                partners[row] = own[rng.integers(len(own))]
                links[row] = weights[row - start, partners[row]]
    # A link that is not among the links of its other end also counts for that end. One link of each
    # row is checked for that.
    counted = lengths.copy()
    for start, stop in blocks:
        _, _, thresholds = _own(weigh, partners[start:stop], n_neighbors)
        counted[start:stop] *= np.where(links[start:stop] >= thresholds, 1.0, 2.0)
    error = counted.std() / np.sqrt(len(counted)) if len(counted) < n else 0.0
    return min(n * (n - 1), int(n * (counted.mean() + _STANDARD_ERRORS * error)))


def _own(
    weigh: Callable[[NDArray[np.int64]], FloatArray], rows: NDArray[np.int64], n_neighbors: int
) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
    """Return the weights of rows, which of them are neighbours, and the threshold."""
    weights = weigh(rows)
    weights[np.arange(len(rows)), rows] = 0.0
    thresholds = row_thresholds(weights, n_neighbors)
    return weights, (weights >= thresholds[:, None]) & (weights > 0), thresholds
