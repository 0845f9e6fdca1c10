"""
Communities that many runs agree on
===================================

The graph links characters of *Les Misérables* that appear together. Louvain finds different groups
with each seed; the consensus of many runs hardly depends on the seed. Large dots are characters
that the runs do not group with their neighbours.
"""

from itertools import combinations

import networkx as nx
import numpy as np
from matplotlib import pyplot as plt

import ensemblage as en

novel = nx.les_miserables_graph()
seeds = range(10)
CROWDED = {"Javert", "Enjolras"}  # their names would cover others


def louvain(graph, seed):
    """Return groups of vertices."""
    return nx.community.louvain_communities(graph, weight="weight", seed=seed)


def one_run(seed):
    """Return a label for each vertex."""
    label_of = {name: label for label, group in enumerate(louvain(novel, seed)) for name in group}
    return np.array([label_of[name] for name in novel])


def mean_ari(runs):
    """Return how much alike runs are."""
    return np.mean([en.metrics.ari(a, b) for a, b in combinations(runs, 2)])


single = [one_run(seed) for seed in seeds]
found = [en.graph.consensus(novel, louvain, n_members=50, random_state=seed) for seed in seeds]
print(f"ARI of two seeds: Louvain {mean_ari(single):.2f},", end=" ")
print(f"consensus {mean_ari([one.labels for one in found]):.2f}")

best = found[0]
print(best)
names = np.array(list(novel))
for place in np.argsort(-best.refusal)[:5]:
    print(f"{names[place]:16} refusal {best.refusal[place]:.2f}, outside {best.outside[place]:.2f}")

place_of = nx.kamada_kawai_layout(novel, weight=None)
fig, ax = plt.subplots(figsize=(8, 7), layout="constrained")
nx.draw_networkx_edges(best.graph, place_of, ax=ax, alpha=0.3, width=0.7)
nx.draw_networkx_nodes(
    best.graph,
    place_of,
    ax=ax,
    node_color=best.labels,
    cmap="tab10",
    node_size=30 + 300 * best.refusal,
)
known = {name: name for name, degree in novel.degree if degree > 14 and name not in CROWDED}
above = {name: (x, y + 0.06) for name, (x, y) in place_of.items()}
nx.draw_networkx_labels(best.graph, above, known, ax=ax, font_size=9)
ax.set_axis_off()
plt.show()
