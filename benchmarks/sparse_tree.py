"""Average link without a matrix of all pairs: CPU seconds, peak memory, and the tree itself.

python -m benchmarks.sparse_tree [--objects 5000 20000 100000] [--members 10]

Beside each tree of LWEA stands the one made from the similarity of all pairs, where that fits.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import ensemblage as en
from benchmarks.inputs import mixture
from benchmarks.measure import peak_memory
from ensemblage import flow

if TYPE_CHECKING:
    from collections.abc import Callable

#: Most microclusters whose pairs are compared.
_PAIRS = 13_000
CUTS = (2, 3, 5, 8, 10, 20, 30, 50, 100, 200, 500, 1000)


class Votes(NamedTuple):
    """Microclusters with the weight of each cluster of the ensemble."""

    table: np.ndarray
    sizes: np.ndarray
    weight: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", type=int, nargs="+", default=[5_000, 20_000, 100_000])
    parser.add_argument("--members", type=int, nargs="+", default=[10])
    given = parser.parse_args()
    for votes in (_weighed(np.array([[0, 0], [0, 1], [1, 1]])),):  # compiles
        sparse(votes)
        dense(votes)
    for n_members in given.members:
        for n_objects in given.objects:
            root = int(n_objects**0.5)
            for kind, n_clusters in (("50", (45, 55)), (f"2-{root}", (2, root + 1))):
                raw = mixture(n_objects, n_members, 0.7, n_clusters=n_clusters)
                report(f"N={n_objects:<8,} k={kind:<6}", _weighed(raw))


def _weighed(raw: np.ndarray) -> Votes:
    table, sizes, _ = en.microclusters(raw)
    counts = flow.overlaps(flow.membership(table), sizes)
    entropies = flow.cluster_entropies(counts, flow.owners(table))
    return Votes(table, sizes, flow.cluster_certainties(entropies, table.shape[1], 0.4))


def sparse(votes: Votes) -> np.ndarray:
    return flow.sparse_average_link(*votes, float(votes.table.shape[1]))


def dense(votes: Votes) -> np.ndarray:
    similarity = flow.graded_coassociation(votes.table, np.diag(votes.weight), n_jobs=1)
    return flow.average_link(similarity, votes.sizes)


def report(name: str, votes: Votes) -> None:
    n, n_members = votes.table.shape
    tree, seconds = _timed(lambda: sparse(votes))
    peak = peak_memory(lambda: sparse(votes))
    line = f"{name} n={n:<7,} M={n_members:<4} {seconds:7.2f} CPU-s {peak / 1e6:7.0f} MB"
    if n > _PAIRS:
        print(f"{line}   (all pairs: {16 * n * n / 1e9:.0f} GB)", flush=True)
        return
    other, other_seconds = _timed(lambda: dense(votes))
    other_peak = peak_memory(lambda: dense(votes))
    equal = sum(
        np.array_equal(flow.cut_tree(tree, k), flow.cut_tree(other, k)) for k in CUTS if k <= n
    )
    print(
        f"{line}   all pairs: {other_seconds / seconds:5.1f} times the seconds,"
        f" {other_peak / max(peak, 1):5.1f} times the memory; heights differ by"
        f" {np.abs(tree[:, 2] - other[:, 2]).max():.0e}, {equal} of {len(CUTS)} cuts are equal",
        flush=True,
    )


def _timed(call: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    clock = time.process_time()
    result = call()
    return result, time.process_time() - clock


if __name__ == "__main__":
    main()
