"""PTS of all pairs in sixteen bits each, for the agglomeration of many microclusters.

Each pair is stored once, so n² bytes replace the 16·n² of a matrix and its distances. Levels run
from 0 (alike) to 65535 (nothing in common), with the highest resolution where a linkage needs it:

- average and single link begin with the most similar pairs, so the level is 65535·√(1 - PTS), in
  proportion to how far apart the unit trajectories are. Errors of small similarities are larger
  than with 65535·(1 - PTS), but means of many of them are taken, in which they cancel;
- complete link ends with the least similar pairs, so the level is 65535·(1 - √PTS).

PTS needs the lengths of both trajectories. Columns of S are computed in rising order, and column j
holds S[j, j], the square of the length of j: when column j is there, so are the lengths of all
rows up to j, which are the ones its half of the matrix pairs it with. Nothing is computed twice.
Single precision is right to about 1e-6, where a level is up to 1.5e-5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.flow._columns import COLUMNS_AT_A_TIME, WalkProduct, inverse, unit_columns
from ensemblage.flow._jit import kernel
from ensemblage.flow._panels import WIDTH_SINGLE
from ensemblage.flow._threads import in_threads, n_threads, row_ranges
from ensemblage.flow._triangle import SIDE, n_entries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

_FARTHEST = 65535.0


def packed_bytes(n: int, n_jobs: int | None) -> int:
    """Return the memory of `packed_similarity` in addition to the steps of the walk."""
    columns = 4 * COLUMNS_AT_A_TIME + 2 * 8 * WIDTH_SINGLE  # finished ones, and a panel in progress
    return 2 * n_entries(n) + columns * n * n_threads(n_jobs)


def packed_similarity(
    P: Any, n_steps: int, linkage: str, *, n_jobs: int | None = None
) -> tuple[NDArray[np.uint16], FloatArray]:
    """Return PTS in sixteen bits, and the lengths of the trajectories.

    Parameters
    ----------
    P : sparse array of shape (n, n)
        The transition matrix.
    n_steps : int
        The paper's T.
    linkage : {"average", "complete", "single"}
        The linkage that will use it.
    n_jobs : int or None
        Threads; neither result depends on it.

    Returns
    -------
    packed : ndarray of uint16
        One triangle of the matrix of levels, for `packed_linkage`.
    norms : ndarray of shape (n,)
        Lengths, exact but for rounding; 0 for a node without links.
    """
    n = P.shape[0]
    product = WalkProduct(P, n_steps, single=True)
    packed = np.empty(n_entries(n), dtype=np.uint16)
    norms = np.zeros(n)
    finest_below = linkage == "complete"

    def columns(span: tuple[int, int]) -> NDArray[np.float32]:
        first, last = span
        columns = np.empty((last, last - first), dtype=np.float32)

        def store(left: int, right: int, result: NDArray[np.float32]) -> None:
            columns[:, left - first : right - first] = result[:last]

        product.by_panels(first, last, lambda *some: unit_columns(n, *some), store)
        return columns

    spans, threads = row_ranges(n, COLUMNS_AT_A_TIME), n_threads(n_jobs)
    # Threads wait for each other after each set of columns: then all these lengths are known.
    for start in range(0, len(spans), threads):
        some = spans[start : start + threads]
        parts = in_threads(columns, some, n_jobs)
        for (first, last), found in zip(some, parts, strict=True):
            norms[first:last] = np.sqrt(found[first:last].diagonal())
        scale = inverse(norms)
        in_threads(
            lambda item: _quantise(item[0][0], item[1], scale, finest_below, packed),  # noqa: B023
            zip(some, parts, strict=True),
            n_jobs,
        )
    return packed, norms


@kernel
def _quantise(first: Any, columns: Any, scale: Any, finest_below: Any, packed: Any) -> None:
    """Write columns of S as levels, rows of the triangle; the diagonal and the padding get 0."""
    last = first + columns.shape[1]
    for top in range(first, last, SIDE):
        tile = top // SIDE
        at = tile * (tile + 1) // 2 * SIDE * SIDE
        for left in range(0, top + 1, SIDE):
            for r in range(SIDE):
                for c in range(SIDE):
                    i, j = max(top + r, left + c), min(top + r, left + c)
                    level = 0.0
                    if i < last and i != j:
                        cosine = min(columns[j, i - first] * scale[i] * scale[j], 1.0)
                        level = 1.0 - np.sqrt(cosine) if finest_below else np.sqrt(1.0 - cosine)
                    packed[at + r * SIDE + c] = np.uint16(level * _FARTHEST + 0.5)
            at += SIDE * SIDE
