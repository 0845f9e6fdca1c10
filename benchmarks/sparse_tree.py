"""Average link without a matrix of all pairs: CPU seconds, peak memory, and the same tree.

python -m benchmarks.sparse_tree [--rows 10000 20000 40000 80000] [--members 10] [--both 3000]

Votes are random-k members of blobs, from 2 to √n clusters each, no two rows equal. Edges count the
pairs of rows that share a cluster, once for each cluster they share: time grows with them. "tree"
is `flow.sparse_average_link` with the weights of LWEA, "fit" all of `LWEA(10).fit`. Each is in a
new process, after a small call that compiles; the memory is what it adds at its peak.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import ensemblage as en
from benchmarks.inputs import different_rows
from ensemblage import flow
from ensemblage._memory import peak_memory
from ensemblage.flow import compiling

if TYPE_CHECKING:
    from collections.abc import Callable

CUTS = (2, 3, 5, 8, 10, 20, 30, 50, 100, 200, 500, 1000)
_SMALL = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)


class Weighed(NamedTuple):
    """Rows of votes with the weight of each cluster of the ensemble."""

    table: np.ndarray
    sizes: np.ndarray
    weight: np.ndarray
    total: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 20_000, 40_000, 80_000])
    parser.add_argument("--members", type=int, nargs="+", default=[10])
    parser.add_argument("--both", type=int, default=3_000, help="rows of the tree made twice")
    given = parser.parse_args()
    for n_members in given.members:
        both(given.both, n_members)
    print("      n    M        edges   tree: CPU-s      MB   fit: CPU-s      MB   all pairs")
    for n_members in given.members:
        for n_rows in given.rows:
            costs(n_rows, n_members)


def both(n_rows: int, n_members: int) -> None:
    """Print how far the trees with and without all pairs differ."""
    votes = weighed(random_k(n_rows, n_members))
    a, b = sparse(votes), dense(votes)
    relative = np.abs(a[:, 2] - b[:, 2]) / b[:, 2]
    equal = sum(np.array_equal(flow.cut_tree(a, k), flow.cut_tree(b, k)) for k in CUTS)
    print(
        f"n={n_rows:,} M={n_members}: heights with and without all pairs differ by a share of"
        f" {relative.max():.1e} at most; merges equal: {np.array_equal(a[:, :2], b[:, :2])};"
        f" {equal} of {len(CUTS)} cuts equal",
        flush=True,
    )


def costs(n_rows: int, n_members: int) -> None:
    """Print seconds and memory of a tree, and of a whole fit."""
    table = random_k(n_rows, n_members)
    in_clusters = flow.membership(table).sum(axis=0)
    edges = int((in_clusters * (in_clusters - 1) // 2).sum())
    parts = [_in_new_process(call, table) for call in (_tree, _fit)]
    line = "   ".join(f"{seconds:11.2f} {n_bytes / 1e6:7.0f}" for seconds, n_bytes in parts)
    print(
        f"{n_rows:7,} {n_members:4} {edges:12,.0f} {line}   {16 * n_rows**2 / 1e9:6.1f} GB",
        flush=True,
    )


def random_k(n_rows: int, n_members: int) -> np.ndarray:
    """Return different rows of members whose numbers of clusters are from 2 to √n."""
    return different_rows(n_rows, n_members, 0.7, (2, int(n_rows**0.5) + 1))


def weighed(table: np.ndarray) -> Weighed:
    """Return the rows with the weights that LWEA gives to clusters."""
    sizes = np.ones(len(table), dtype=np.int64)
    entropies = flow.cluster_entropies(table, sizes)
    total = float(table.shape[1])
    return Weighed(table, sizes, flow.cluster_certainties(entropies, total, 0.4), total)


def sparse(votes: Weighed) -> np.ndarray:
    return flow.sparse_average_link(*votes)


def dense(votes: Weighed) -> np.ndarray:
    similarity = flow.graded_coassociation(votes.table, np.diag(votes.weight), n_jobs=1)
    return flow.average_link(similarity, votes.sizes)


def _tree(table: np.ndarray) -> Callable[[], object]:
    votes = weighed(table)
    return lambda: sparse(votes)


def _fit(table: np.ndarray) -> Callable[[], object]:
    k = min(10, len(table))
    return lambda: en.LWEA(k, n_jobs=1).fit(table)


def _in_new_process(
    prepare: Callable[[np.ndarray], Callable[[], object]], table: np.ndarray
) -> tuple[float, int]:
    """Return CPU seconds and bytes of a call; what this process has freed would hide some bytes."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (prepare, table))


def _measured(
    prepare: Callable[[np.ndarray], Callable[[], object]], table: np.ndarray
) -> tuple[float, int]:
    with compiling.kernels_for(everything=True):
        prepare(_SMALL)()
        sparse(weighed(_SMALL))  # not needed by a fit of few rows
    call = prepare(table)
    clock = time.process_time()
    with peak_memory() as peak:
        call()
    return time.process_time() - clock, peak.n_bytes or 0


if __name__ == "__main__":
    main()
