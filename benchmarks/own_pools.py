"""Own pools compared with the authors': their similarity, and the consensus of each.

python -m benchmarks.own_pools [NAME ...] [--draws 20]

Makes a pool of 100 k-means and 100 RPCL clusterings from the features, as `ensemblage reproduce
--pools own` does, and prints for both pools: clusters of a member (median), NMI of a member with
the classes (mean), and over draws of M = 10 the microclusters, links, and NMI of PTGP at the best
and the true k; beside them what the paper prints.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import numpy as np

import ensemblage as en
from ensemblage.experiments import sources
from ensemblage.experiments.measures import measure
from ensemblage.experiments.paper import printed

KEPT = Path(".benchmarks/reproduced")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=["PD", "ODR"], metavar="NAME")
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    paper = printed()
    for name in options.names:
        print(f"\n{name:8} clusters  member NMI  microclusters    links  PTGP best k  PTGP true k")
        for pool in (sources.AUTHORS, "own-200"):
            sources.prepare([{"dataset": name, "pool": pool}], KEPT, set(), progress=True)
            print(_line(name, pool, options.draws))
        graph = paper["microclusters_and_links"][name]
        scores = paper["comparison_nmi"]["PTGP"][name]
        print(
            f"{'paper':8} {'':20} {graph['n_microclusters']:13,d} {graph['n_links']:8,d}"
            f"  {scores['best_k']:11.3f}  {scores['true_k']:11.3f}"
        )


def _line(name: str, pool: str, draws: int) -> str:
    source, truth = sources.pool_of(KEPT, pool, name)
    clusters = statistics.median(len(np.unique(votes)) for votes in source.members.T)
    nmi = np.mean([en.metrics.nmi(truth, votes) for votes in source.members.T])
    graphs, scores = [], []
    for draw in range(draws):
        ensemble = {"pool": pool, "dataset": name, "members": 10, "draw": draw}
        graphs.append(measure(KEPT, {"kind": "graph", **ensemble})["scores"])
        task = {"kind": "scores", **ensemble, "method": "PTGP", "seed": 0}
        scores.append(measure(KEPT, task)["scores"])
    nodes = np.mean([graph["microclusters"] for graph in graphs])
    links = np.mean([graph["links"]["all"] for graph in graphs])
    best, true = (
        np.mean([score[f"nmi_{which}"] for score in scores]) for which in ("best", "true")
    )
    return (
        f"{pool:8} {clusters:8.1f}  {nmi:10.3f}  {nodes:13,.0f} {links:8,.0f}"
        f"  {best:11.3f}  {true:11.3f}"
    )


if __name__ == "__main__":
    main()
