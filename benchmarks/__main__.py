"""Time, peak memory and agreement of our stages compared with slow twins on the same input.

python -m benchmarks [microclusters] [engine] [graph] [startup] [growth] [peers]      default: all

Figures are ratios within one run. These take longer, or need data, disks or a GPU, and are called
by themselves, as `python -m benchmarks.NAME`: choose_k, cluster, confidence, default, features,
gpu, graphs, kdd99, large_pta, latent_classes, load, median, member_range, own_pools, shapes,
single_cell, soak, sparse_tree, stream, tables, ties, two_groups.
"""

from __future__ import annotations

import sys

from benchmarks import engine, graph, growth, microclusters, peers, startup

PARTS = {
    "microclusters": microclusters.main,
    "engine": engine.main,
    "graph": graph.main,
    "startup": startup.main,
    "growth": growth.main,
    "peers": peers.main,
}


def main() -> None:
    wanted = sys.argv[1:] or list(PARTS)
    unknown = sorted(set(wanted) - set(PARTS))
    if unknown:
        sys.exit(f"no benchmark named {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for name in wanted:
        print(f"\n== {name}")
        PARTS[name]()


if __name__ == "__main__":
    main()
