"""PTA, PTGP and their stages compared with the definition done with dense products."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

import ensemblage as en
from benchmarks.inputs import kdd_like, mixture
from benchmarks.measure import cost, peak_memory
from ensemblage import flow


def dense_similarity(walk: np.ndarray, n_steps: int) -> np.ndarray:
    """Return PTS by its definition: T dense products, and T more for the inner products."""
    step, inner = walk, walk @ walk.T
    for _ in range(n_steps - 1):
        step = step @ walk
        inner += step @ step.T
    norm = np.sqrt(inner.diagonal())
    return inner / norm[:, None] / norm[None, :]


def dense_powers(walk: np.ndarray, n_steps: int) -> None:
    """Do the T dense products alone, the least that the definition costs."""
    step = walk
    for _ in range(n_steps):
        step = step @ walk


def main() -> None:
    votes = kdd_like(494_020)
    theirs = cost(lambda: np.unique(votes, axis=0, return_inverse=True), 1).wall
    for jobs in (1, None):
        ours = cost(lambda jobs=jobs: en.PTGP(23, random_state=0, n_jobs=jobs).fit(votes), 15).wall
        print(
            f"PTGP, 494,020 x 10, n_jobs={jobs}: {1e3 * ours:.1f} ms, 1/{theirs / ours:.0f} of"
            f" numpy.unique(axis=0) alone ({1e3 * theirs:.0f} ms)",
            flush=True,
        )
    _middle()
    _large()


def _middle() -> None:
    ensemble = en.Ensemble(mixture(11_000, 10, spread=0.21))
    groups = ensemble.microclusters
    est = en.PTGP(10, random_state=0).fit(ensemble)
    n, steps = est.n_microclusters_, est.n_steps_
    graph = flow.elite_graph(groups.table, est.n_neighbors_)
    walk = flow.transition_matrix(graph, groups.sizes)
    dense = walk.toarray()
    print(f"n = {n} microclusters, {graph.nnz / n:.0f} links each, T = {steps}; one thread each")
    with threadpool_limits(1):
        products = cost(lambda: dense_powers(dense, steps), 1, warm=False).wall
        whole = cost(lambda: dense_similarity(dense, steps), 1, warm=False).wall
        expected = dense_similarity(dense, steps)
    error = np.abs(flow.trajectory_similarity(walk, steps) - expected).max()
    print(f"definition: {products:.2f} s for T dense products, {whole:.2f} s for all of PTS")
    calls = {
        "elite graph": lambda: flow.elite_graph(groups.table, est.n_neighbors_, n_jobs=1),
        "PTS": lambda: flow.trajectory_similarity(walk, steps, n_jobs=1),
        "tree": lambda: flow.agglomerate(1 - expected, "average"),
        "lengths": lambda: flow.trajectory_norms(walk, steps, n_jobs=1),
        "PTA whole": lambda: en.PTA(10, n_jobs=1).fit(ensemble),
        "PTGP whole": lambda: en.PTGP(10, random_state=0, n_jobs=1).fit(ensemble),
    }
    for name, call in calls.items():
        wall = cost(call, 3).wall
        print(
            f"  {name:12} {wall:7.3f} s   T products / this = {products / wall:6.1f}"
            f"   PTS by definition / this = {whole / wall:6.1f}",
            flush=True,
        )
    print(f"  largest difference of PTS from the definition: {error:.1e}")


def _large() -> None:
    ensemble = en.Ensemble(mixture(60_000, 10, spread=0.42)[:, :10])
    n = len(ensemble.microclusters.sizes)
    found = {}

    def fit() -> None:
        found["cost"] = cost(lambda: en.PTGP(20, random_state=0).fit(ensemble), 1, warm=False)
        print(f"PTGP at n = {n}: {found['cost'].wall:.1f} s, CPU {found['cost'].cpu:.1f} s", end="")

    used = peak_memory(fit)
    print(f", {used / 1e9:.2f} GB above the votes", flush=True)
