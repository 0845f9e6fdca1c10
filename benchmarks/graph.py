"""The elite graph and PTGP where microclusters are many: CPU seconds, memory, agreement.

python -m benchmarks.graph [--million] [--only graph|ptgp|agreement]

The baseline of the graph compares byte columns, ``counts[j] += votes[m, j] == v``, and finds each
row's threshold by counting how many reach a level. It is run for every row up to 20,000, for 1,000
rows beyond and multiplied: its time is the same for any row. All figures are CPU seconds of one
thread.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import ensemblage as en
from benchmarks.measure import cost, peak_memory
from ensemblage import flow
from ensemblage.flow import one_blas_thread
from ensemblage.flow._agreement import vote_codes
from ensemblage.flow._jit import kernel
from ensemblage.methods import ptgp

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
_NEIGHBOURS = 20
_MEMBERS = 30
_BASELINE_ROWS = 1_000


def gaussians(n_objects: int, n_members: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return votes of k-means-like members, 5 to 50 clusters each, on 20 Gaussians in 8-d.

    Centres take five rounds of Lloyd's algorithm on a sample; about half of the objects end as
    microclusters of their own. The truth comes with the votes.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 20, n_objects)
    means = 1.6 * rng.normal(size=(20, 8))
    points = (means[truth] + rng.normal(size=(n_objects, 8))).astype(np.float32)
    votes = np.empty((n_objects, n_members), dtype=np.uint8)
    for m in range(n_members):
        k = int(rng.integers(5, 51))
        centres = points[rng.choice(n_objects, k, replace=False)]
        sample = points[rng.choice(n_objects, min(n_objects, 4000), replace=False)]
        for _ in range(5):
            nearest = _nearest(sample, centres)
            centres = np.stack(
                [
                    sample[nearest == c].mean(axis=0) if (nearest == c).any() else centres[c]
                    for c in range(k)
                ]
            )
        for first in range(0, n_objects, 65_536):
            votes[first : first + 65_536, m] = _nearest(points[first : first + 65_536], centres)
    return votes, truth


def _nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return (points @ centres.T - 0.5 * (centres**2).sum(axis=1)).argmax(axis=1)


@kernel
def _byte_columns(votes: Any, first: Any, last: Any, n_neighbors: Any, thresholds: Any) -> None:
    n_clusterings, n = votes.shape
    counts = np.empty(n, dtype=np.uint8)
    level = np.uint8(1)
    for i in range(first, last):
        counts[:] = 0
        for m in range(n_clusterings):
            column, v = votes[m], votes[m, i]
            for j in range(n):
                counts[j] += column[j] == v
        counts[i] = 0
        reach = _reach(counts, level)
        while reach < n_neighbors and level > 1:
            level -= np.uint8(1)
            reach = _reach(counts, level)
        while reach >= n_neighbors:
            reach = _reach(counts, level + np.uint8(1))
            if reach >= n_neighbors:
                level += np.uint8(1)
        thresholds[i] = level


@kernel
def _reach(counts: Any, level: Any) -> Any:
    total = np.int32(0)
    for j in range(len(counts)):
        total += np.int32(counts[j] >= level)
    return total


def baseline(table: np.ndarray) -> float:
    """Return the CPU seconds that byte columns take, from a part of the rows for many."""
    votes, n = vote_codes(table).left, len(table)
    thresholds = np.empty(n, dtype=np.uint8)
    rows = n if n <= 20_000 else _BASELINE_ROWS
    _byte_columns(votes, 0, 1, _NEIGHBOURS, thresholds)
    begin = time.process_time()
    _byte_columns(votes, 0, rows, _NEIGHBOURS, thresholds)
    return (time.process_time() - begin) * n / rows


def graph(sizes: tuple[int, ...] = SIZES) -> None:
    print("elite graph, K = 20, M = 30, one thread, CPU seconds")
    print("n           byte columns     ours    ratio   links/row   memory above the votes")
    rows = []
    for n in sizes:
        # The larger the sample, the smaller the share of objects that are alone.
        factor = 1.7 if n < 10**5 else 2.0 if n < 10**6 else 5.0
        table = en.microclusters(gaussians(int(factor * n), _MEMBERS)[0]).table
        table = np.ascontiguousarray(table[:n])

        def ours(table: np.ndarray = table) -> Any:
            return flow.elite_graph(table, _NEIGHBOURS, n_jobs=1)

        used = peak_memory(ours)
        cpu = cost(ours, 1 if n > 10**5 else 3).cpu
        theirs = baseline(table)
        rows.append((len(table), cpu))
        print(
            f"{len(table):<11,} {theirs:9.3f}   {cpu:9.4f}   {theirs / cpu:6.1f}"
            f"   {ours().nnz / len(table):6.1f}      {used / 1e6:.0f} MB",
            flush=True,
        )
    large = np.log([row for row in rows if row[0] >= 5_000])
    if len(large) > 1:
        print(f"exponent of n from 5,000 on: {np.polyfit(large[:, 0], large[:, 1], 1)[0]:.2f}")
    random = np.random.default_rng(0).integers(0, 20, (20_000, 30)).astype(np.int32)
    cpu = cost(lambda: flow.elite_graph(random, _NEIGHBOURS, n_jobs=1), 1).cpu
    print(f"random votes, n = 20,000: {baseline(random):.3f} and {cpu:.3f}, nothing to be skipped")
    for n in (8_000, 20_000):
        gaps = gaussians(int(1.3 * n), _MEMBERS)[0].astype(np.int32)
        gaps[np.random.default_rng(0).random(gaps.shape) < 0.1] = -1
        table = en.microclusters(gaps).table[:n]
        cpu = cost(lambda table=table: flow.elite_graph(table, _NEIGHBOURS, n_jobs=1), 1).cpu
        print(f"a tenth of the votes missing, n = {len(table):,}: {cpu:.3f}")


def whole(n_objects: int = 203_000) -> None:
    """Print PTGP's stages, then a whole fit with its memory."""
    votes, truth = gaussians(n_objects, _MEMBERS)
    ensemble = en.Ensemble(votes)
    groups = ensemble.microclusters
    table, sizes = groups.table, groups.sizes
    en.PTGP(3, n_jobs=1).fit(votes[:500])
    means = flow.cluster_means(table)
    print(f"PTGP, N = {n_objects:,}, n = {len(sizes):,}, M = {_MEMBERS}, {means.shape[1]} clusters")

    def stage(name: str, call: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = call()
        print(f"  {name:24} {time.process_time() - begin:7.2f} CPU s", flush=True)
        return result

    def stages() -> None:
        rng = np.random.default_rng(0)
        links = stage("elite graph", lambda: flow.elite_graph(table, 20, n_jobs=1))
        walk = stage("transitions", lambda: flow.transition_matrix(links, sizes))
        norms = stage(
            "lengths",
            lambda: flow.estimated_norms(
                walk, 20, ptgp._PROBES, rng, error=ptgp._LENGTH_ERROR, n_jobs=1
            ),
        )
        B = stage(
            "S.V", lambda: flow.similarity_product(walk, norms, means, 20, single=True, n_jobs=1)
        )
        with one_blas_thread:
            cut = stage("Gram matrix", lambda: flow.TransferCut(B, n_jobs=1))
            rows = stage("eigenvectors, embedding", lambda: cut.embedding(20))
            stage("k-means", lambda: flow.kmeans(rows, 20, rng, n_jobs=1))

    stages()

    def fit() -> None:
        begin = time.process_time()
        est = en.PTGP(20, random_state=0, n_jobs=1).fit(ensemble)
        cpu = time.process_time() - begin
        ari = en.metrics.ari(truth, est.labels_)
        print(f"  whole fit                {cpu:7.2f} CPU s, ARI with the truth {ari:.3f}", end="")

    print(f", {peak_memory(fit) / 1e9:.2f} GB above the votes", flush=True)


def agreement(sizes: tuple[int, ...] = (3_600, 20_500), n_seeds: int = 6) -> None:
    """Compare labels of the exact form with those of probes and single precision."""
    print("ARI (mean, least over seeds) of the form beyond 15,000 microclusters with the exact one")
    limit = ptgp._EXACT_NORMS
    for n_objects in sizes:
        ensemble = en.Ensemble(gaussians(n_objects, _MEMBERS)[0])
        ptgp._EXACT_NORMS = 10**9
        est = en.PTGP(20, random_state=0).fit(ensemble)
        exact = []
        for seed in range(n_seeds):
            est._seed = seed  # nothing of the exact fit depends on the seed, only the cut
            exact.append({k: est.cut(k) for k in (10, 20, 40)})
        ptgp._EXACT_NORMS = 0
        probed = []
        for seed in range(n_seeds):
            other = en.PTGP(20, random_state=seed).fit(ensemble)
            other._seed = seed
            probed.append({k: other.cut(k) for k in (10, 20, 40)})
        ptgp._EXACT_NORMS = limit
        error = other._norms / est._norms - 1
        rms, most = np.sqrt(np.mean(error**2)), np.abs(error).max()
        print(f"n = {est.n_microclusters_:,}: lengths off by {rms:.4f} rms, {most:.3f} at most")
        for k in (10, 20, 40):
            pairs = {
                "two seeds of the exact form": [
                    (a[k], b[k]) for i, a in enumerate(exact) for b in exact[:i]
                ],
                "probes and exact, same seed": [
                    (a[k], b[k]) for a, b in zip(exact, probed, strict=True)
                ],
                "probes and exact, other seed": [
                    (a[k], b[k])
                    for i, a in enumerate(exact)
                    for j, b in enumerate(probed)
                    if i != j
                ],
            }
            for name, some in pairs.items():
                found = [en.metrics.ari(a, b) for a, b in some]
                print(f"  k = {k}, {name:28} {np.mean(found):.4f}  {min(found):.4f}", flush=True)


def main() -> None:
    graph()
    whole()
    agreement()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="the graph at n = 10**6 too")
    parser.add_argument("--only", choices=("graph", "ptgp", "agreement"))
    options = parser.parse_args()
    if options.only in (None, "graph"):
        graph((*SIZES, 10**6) if options.million else SIZES)
    if options.only in (None, "ptgp"):
        whole()
    if options.only in (None, "agreement"):
        agreement()
