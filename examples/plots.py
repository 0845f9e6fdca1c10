"""
All plots
=========

This example draws every plot of ``ensemblage.plot`` for the handwritten digits. With a folder as
its argument the script saves a PNG of each; ``python examples/plots.py docs/plots`` makes those of
"Plots".
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

import ensemblage as en

# sphinx_gallery_thumbnail_number = 4  # noqa: ERA001
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None

features, digits = load_digits(return_X_y=True)
votes = en.ensembles.generate(features, n_members=20, n_clusters_range=(10, 30), random_state=0)
# A member with random labels and a duplicate, which the plots show.
chance = np.random.default_rng(0).integers(0, 10, len(votes))
votes = np.column_stack([votes, chance, votes[:, 0]])
names = [*(f"run {m}" for m in range(20)), "random", "copy of run 0"]

model = en.Consensus(n_clusters=10, random_state=0).fit(votes)
ptgp = en.PTGP(n_clusters=10, random_state=0).fit(votes)
choice = en.metrics.choose_k(model, ks=range(2, 17), criteria="all", n_refits=5)


def wide_axes():
    """Return axes with room for a legend next to them."""
    return plt.subplots(figsize=(8, 4.8), layout="constrained")[1]


pictures = {
    "heatmap": lambda: en.plot.heatmap(model),
    "trajectories": lambda: en.plot.heatmap(ptgp),  # the similarity of its random walks
    "dendrogram": lambda: en.plot.dendrogram(model),
    "graph": lambda: en.plot.graph(model),
    "k_curves": lambda: en.plot.k_curves(choice, ax=wide_axes()),
    "cdf": lambda: en.plot.cdf(choice),
    "members": lambda: en.plot.members(model, names=names),
    "clusters": lambda: en.plot.clusters(model),
    "alluvial": lambda: en.plot.alluvial(digits, model, names=("digits", "consensus")),
    "scatter_votes": lambda: en.plot.scatter(model),
    "scatter_features": lambda: en.plot.scatter(model, features),
}
for name, draw in pictures.items():
    ax = draw()
    print(f"{name:<16}  {ax.get_title(loc='left').splitlines()[0]}")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        ax.figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)  # inches around the picture
        ax.figure.savefig(folder / f"{name}.png", dpi=72)
if folder is None:
    plt.show()
