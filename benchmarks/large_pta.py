"""PTA past the dense limit: the same partitions, and at what cost.

python -m benchmarks.large_pta                  pools, then 5,000, 8,000 and 20,000 microclusters
python -m benchmarks.large_pta --pools          agreement with exact PTA on pools only
python -m benchmarks.large_pta --pools --own    on members made here from USPS and FC too
python -m benchmarks.large_pta --sizes 50000    one size (50,000: some CPU-minutes, 3 GB)
python -m benchmarks.large_pta --sizes 50000 --route approximate

One thread, so that CPU seconds mean something on a busy machine. Times are without compilation.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.io import loadmat
from scipy.spatial.distance import squareform

import ensemblage as en
from benchmarks.inputs import different_rows
from ensemblage import flow, metrics
from ensemblage._memory import peak_memory
from ensemblage.flow import compiling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHARED = Path(os.environ.get("ENSEMBLAGE_DATA", Path(__file__).parents[2] / "shared"))
ENSEMBLES = [
    ("MF", 100),
    ("IS", 100),
    ("ODR", 100),
    ("LS", 50),
    ("LS", 100),
    ("PD", 50),
    ("PD", 100),
]
OWN = [("USPS", 20), ("USPS", 30), ("FC", 30), ("FC", 50)]
CUTS = (5, 10, 20, 50, 100)
_EXACT_BESIDE = 8_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pools", action="store_true", help="agreement on pools only")
    parser.add_argument("--own", action="store_true", help="members of USPS and FC too")
    parser.add_argument("--links", nargs="+", default=["average", "complete", "single"])
    parser.add_argument("--draws", type=int, default=1, help="ensembles of each kind")
    parser.add_argument("--sizes", type=int, nargs="*", help="microclusters")
    parser.add_argument("--route", choices=["uint16", "approximate"], default="uint16")
    given = parser.parse_args()
    if not given.sizes:
        links = given.links if given.route == "uint16" else ["average"]
        agreement(given.route, links, _ensembles(given.draws, own=given.own))
    if not given.pools:
        costs(given.sizes or [5_000, 8_000, 20_000], given.route)


def _ensembles(n_draws: int, *, own: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Yield votes and their name: drawn from the pools, then made from features."""
    for name, n_members in ENSEMBLES:
        pool = loadmat(SHARED / "pools" / f"bc_pool_{name}.mat")["members"]
        for draw in range(n_draws):
            rng = np.random.default_rng([draw, n_members, 7001])
            chosen = rng.choice(pool.shape[1], n_members, replace=False)
            yield f"{name:>4} M={n_members:<4}", pool[:, chosen]
    for name, n_members in OWN if own else []:
        features = en.datasets.load(name).features
        votes = en.ensembles.generate(features, n_members, random_state=n_members)
        yield f"{name:>4} M={n_members:<4}", votes


def agreement(route: str, links: list[str], ensembles: Iterable[tuple[str, np.ndarray]]) -> None:
    """Print the ARI between PTA by `route` and exact PTA, at five numbers of clusters."""
    print(f"ARI of similarity={route!r} with exact PTA at k = {', '.join(map(str, CUTS))}")
    all_found: dict[str, list[float]] = {}
    for name, votes in ensembles:
        ensemble = en.Ensemble(votes)
        for linkage in links:
            exact, other = (
                en.PTA(2, linkage=linkage, similarity=kind, n_jobs=1).fit(ensemble)
                for kind in ("exact", route)
            )
            found = [metrics.ari(exact.cut(k), other.cut(k)) for k in CUTS]
            all_found.setdefault(linkage, []).extend(found)
            heights = np.abs(exact.linkage_matrix_[:, 2] - other.linkage_matrix_[:, 2])
            print(
                f"{name} n={exact.n_microclusters_:<6} {linkage:<9}"
                + "".join(f"{value:8.4f}" for value in found)
                + f"   heights differ by {heights.max():.1e}"
                + (f"   captured {other.captured_:.3f}" if route != "uint16" else ""),
                flush=True,
            )
    for linkage, found in all_found.items():
        good = sum(value >= 0.999 for value in found)
        print(f"{linkage}: {good} of {len(found)} cuts at 0.999 or more, lowest {min(found):.4f}")


def costs(sizes: list[int], route: str) -> None:
    """Print CPU seconds of the stages and the peak memory of a whole fit."""
    with compiling.kernels_for(everything=True):
        en.PTA(2, similarity=route, n_jobs=1).fit(distinct(2_000))
    for n in sizes:
        votes = distinct(n)
        if route == "uint16":
            stages(votes)
        clock = time.process_time()
        with peak_memory() as taken:
            est = en.PTA(20, similarity=route, n_jobs=1).fit(votes)
        seconds = time.process_time() - clock
        clock = time.process_time()
        est.confidence_  # noqa: B018
        confidence = time.process_time() - clock
        peak = taken.n_bytes or 0
        print(
            f"n={n:<7,} whole fit ({route}) {seconds:7.1f} CPU-s   confidence {confidence:5.1f}"
            f"   captured {est.captured_:.3f}   peak {peak / 1e9:5.2f} GB = {peak / n**2:4.2f} n²",
            flush=True,
        )


def stages(votes: np.ndarray) -> None:
    table, sizes, _ = en.microclusters(votes)
    n = len(sizes)
    clock = _Clock()
    graph = flow.elite_graph(table, 20, n_jobs=1)
    clock("graph")
    walk = flow.transition_matrix(graph, sizes)
    packed, _ = flow.packed_similarity(walk, 20, "average", n_jobs=1)
    clock("fill")
    tree = flow.packed_linkage(packed, n, "average")
    clock("tree")
    del packed
    if n <= _EXACT_BESIDE:
        similarity = flow.trajectory_similarity(walk, 20, n_jobs=1)
        clock("exact PTS")
        exact = flow.agglomerate(1.0 - similarity, "average")
        clock("exact tree")
        condensed = squareform(1.0 - similarity, checks=False)
        clock.again()
        scipy_linkage(condensed, "average")
        clock("scipy's linkage")
        agree = [metrics.ari(flow.cut_tree(tree, k), flow.cut_tree(exact, k)) for k in CUTS]
        clock.words.append("ARI " + " ".join(f"{value:.3f}" for value in agree))
    print(f"n={n:<7,} {graph.nnz / n:.0f} links a row   " + "   ".join(clock.words), flush=True)


class _Clock:
    """CPU seconds since the last call, kept with a name."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.again()

    def again(self) -> None:
        self._last = time.process_time()

    def __call__(self, name: str) -> None:
        now = time.process_time()
        self.words.append(f"{name} {now - self._last:.2f}")
        self.again()


def distinct(n: int) -> np.ndarray:
    """Return votes of exactly n microclusters."""
    return different_rows(n, 20, 0.42)


if __name__ == "__main__":
    main()
