"""How the cost grows: microclusters and the way back in N, the graph and the walk in n."""

from __future__ import annotations

import numpy as np

import quorate as qr
from benchmarks.inputs import distinct_rows, mixture
from benchmarks.measure import cost
from quorate import flow


def main() -> None:
    print("N            microclusters   ns/row   labels back   ns/row      (300 distinct rows)")
    sizes, walls = (10**5, 10**6, 10**7), []
    for n_objects in sizes:
        votes = distinct_rows(n_objects, 300)
        groups = qr.microclusters(votes)
        labels = np.arange(len(groups.sizes))
        forward = cost(lambda votes=votes: qr.microclusters(votes, n_jobs=1), 7).wall
        back = cost(lambda: flow.spread(labels, groups.of_object), 7).wall  # noqa: B023
        walls.append((forward, back))
        print(
            f"{n_objects:<12,} {1e3 * forward:8.2f} ms   {1e9 * forward / n_objects:6.1f}"
            f"   {1e3 * back:8.2f} ms   {1e9 * back / n_objects:6.1f}",
            flush=True,
        )
    for name, column in zip(("microclusters", "labels back"), np.array(walls).T, strict=True):
        print(f"exponent of N, {name}: {np.polyfit(np.log(sizes), np.log(column), 1)[0]:.2f}")
    print("n        graph      lengths    S.V (500 columns)   links/row")
    rows = []
    for spread in (0.16, 0.22, 0.3, 0.42):
        groups = qr.microclusters(mixture(11_000, 10, spread))
        n = len(groups.sizes)
        graph = flow.elite_graph(groups.table, 20)
        walk = flow.transition_matrix(graph, groups.sizes)
        norms = flow.trajectory_norms(walk, 20)
        means = flow.cluster_means(groups.table)
        walls_n = [
            cost(call, 1).wall
            for call in (
                lambda: flow.elite_graph(groups.table, 20),  # noqa: B023
                lambda: flow.trajectory_norms(walk, 20),  # noqa: B023
                lambda: flow.similarity_product(walk, norms, means, 20),  # noqa: B023
            )
        ]
        rows.append((n, *walls_n))
        print(
            f"{n:<8,} {walls_n[0]:7.3f} s  {walls_n[1]:7.3f} s  {walls_n[2]:7.3f} s"
            f"             {graph.nnz / n:.0f}",
            flush=True,
        )
    table = np.log(np.array(rows))
    for place, name in enumerate(("graph", "lengths", "S.V"), start=1):
        print(f"exponent of n, {name}: {np.polyfit(table[:, 0], table[:, place], 1)[0]:.2f}")
