"""Consensus communities compared with single runs, and the time of agreement along edges.

python -m benchmarks.graphs [--graphs 3] [--seeds 10] [--vertices 1000] [--speed]

LFR benchmark graphs (networkx) with planted communities, from clear to hopeless (mu is the share of
edges that leave a community). Each clusterer of scikit-network runs with several seeds, alone and
inside a consensus. NMI and ARI are means against the planted communities, "same" is the mean ARI of
two seeds with each other: how much of the result is chance. ECG of the package partition-igraph is
in the table where it is installed; it takes no seed. `--speed` prints only the time of
`edge_agreement` on 1.5 million edges of 100,000 vertices with 60 clusterings.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

import ensemblage as en
from benchmarks.measure import cost

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=3, help="graphs of each mu")
    parser.add_argument("--seeds", type=int, default=10, help="runs on each graph")
    parser.add_argument("--vertices", type=int, default=1000, help="vertices of a graph")
    parser.add_argument("--speed", action="store_true", help="only the time of edge_agreement")
    given = parser.parse_args()
    speed()
    if not given.speed:
        communities(given.vertices, given.graphs, given.seeds)


def speed(n_vertices: int = 100_000, n_edges: int = 1_500_000, n_clusterings: int = 60) -> None:
    """Print the time of edge_agreement, from votes in an array and from an Ensemble."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, n_vertices)
    votes = np.where(
        rng.random((n_vertices, n_clusterings)) < 0.8,
        groups[:, None],
        rng.integers(0, 40, (n_vertices, n_clusterings)),
    )
    edges = rng.integers(0, n_vertices, (n_edges, 2))
    missing = np.where(rng.random(votes.shape) < 0.1, -1, votes)
    print(f"edge_agreement: {n_edges:,} edges of {n_vertices:,} vertices, {n_clusterings} votes")
    cases = {
        "votes": (votes, None),
        "an Ensemble": (en.Ensemble(votes), None),
        "votes with weights": (votes, rng.random(n_clusterings)),
        "votes, 10 % missing": (missing, None),
    }
    for name, (matrix, weight) in cases.items():
        found = cost(partial(en.graph.edge_agreement, matrix, edges, weight))
        print(f"  {name:20} {found.cpu:6.2f} CPU-s {found.wall:6.2f} s")


def communities(n_vertices: int, n_graphs: int, n_seeds: int) -> None:
    """Print how single runs and consensus find planted communities."""
    ways = {
        "Louvain": single("Louvain"),
        "Leiden": single("Leiden"),
        "ECG, Louvain": lambda edges, seed: consensus(edges, "louvain", "ecg", seed),
        "ECG, Leiden": lambda edges, seed: consensus(edges, "leiden", "ecg", seed),
        "threshold, Louvain": lambda edges, seed: consensus(edges, "louvain", "threshold", seed),
        "threshold, Leiden": lambda edges, seed: consensus(edges, "leiden", "threshold", seed),
    }
    if find_spec("partition_igraph") is not None:
        ways["partition-igraph"] = partition_igraph
    print(f"\nLFR graphs of {n_vertices:,} vertices: {n_graphs} of each mu, {n_seeds} seeds each")
    print(f"{'mu':4} {'clusterer':20} {'NMI':>6} {'ARI':>6} {'same':>6} {'found':>6} {'s':>6}")
    for mu in (0.2, 0.3, 0.4, 0.5, 0.6):
        graphs = [lfr(n_vertices, mu, seed) for seed in range(n_graphs)]
        truly = np.mean([truth.max() + 1 for _, truth in graphs])
        for name, way in ways.items():
            rows = [judged(way, edges, truth, n_seeds) for edges, truth in graphs]
            nmi, ari, same, found, seconds = np.mean(rows, axis=0)
            print(f"{mu:4} {name:20} {nmi:6.3f} {ari:6.3f} {same:6.3f} {found:6.1f} {seconds:6.2f}")
        print(f"{mu:4} {'planted':20} {'':6} {'':6} {'':6} {truly:6.1f}")


def judged(way: Callable, edges: csr_matrix, truth: np.ndarray, n_seeds: int) -> list[float]:
    """Return mean NMI and ARI with the truth, ARI between seeds, communities and seconds."""
    start = time.perf_counter()
    runs = [way(edges, seed) for seed in range(n_seeds)]
    seconds = (time.perf_counter() - start) / n_seeds
    return [
        np.mean([en.metrics.nmi(truth, labels) for labels in runs]),
        np.mean([en.metrics.ari(truth, labels) for labels in runs]),
        np.mean([en.metrics.ari(a, b) for a, b in combinations(runs, 2)]),
        np.mean([labels.max() + 1 for labels in runs]),
        seconds,
    ]


def single(name: str) -> Callable:
    from sknetwork import clustering

    def run(edges: csr_matrix, seed: int) -> np.ndarray:
        kind = getattr(clustering, name)
        return kind(shuffle_nodes=True, random_state=seed).fit_predict(edges)

    return run


def consensus(edges: csr_matrix, clusterer: str, rule: str, seed: int) -> np.ndarray:
    return en.graph.consensus(edges, clusterer, rule=rule, random_state=seed).labels


def partition_igraph(edges: csr_matrix, seed: int) -> np.ndarray:
    import random

    import igraph
    import partition_igraph  # noqa: F401 - gives igraph a method

    random.seed(seed)
    ends = np.argwhere(np.triu(edges.toarray()))
    made = igraph.Graph(n=edges.shape[0], edges=ends.tolist())
    return np.array(made.community_ecg().membership)


def lfr(n_vertices: int, mu: float, seed: int) -> tuple[csr_matrix, np.ndarray]:
    """Return an LFR graph and the planted community of each vertex."""
    import networkx as nx

    for attempt in range(50):  # the generator gives up on some seeds
        try:
            made = nx.LFR_benchmark_graph(
                n_vertices, 2.5, 1.5, mu, average_degree=20, max_degree=50, min_community=20,
                max_community=100, max_iters=1000, seed=1000 * seed + attempt,
            )  # fmt: skip
        except nx.ExceededMaxIterations:
            continue
        made.remove_edges_from(list(nx.selfloop_edges(made)))
        truth = np.empty(n_vertices, dtype=np.int64)
        parts = {frozenset(made.nodes[vertex]["community"]) for vertex in made}
        for label, part in enumerate(sorted(parts, key=min)):
            truth[list(part)] = label
        return csr_matrix(nx.to_scipy_sparse_array(made, dtype=float)), truth
    raise RuntimeError(f"networkx made no LFR graph with mu={mu} in 50 attempts")


if __name__ == "__main__":
    main()
