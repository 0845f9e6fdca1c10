"""
Shapes that k-means cannot find
===============================

k-means makes round patches. The consensus of many runs combines small patches and follows any
shape. All settings except the number of clusters are the defaults.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

import ensemblage as en

moons, side = make_moons(500, noise=0.07, random_state=0)
ball = np.random.default_rng(1).normal([0.5, 1.7], 0.15, (150, 2))
points, shapes = np.vstack([moons, ball]), np.append(side, np.full(150, 2))

# Members have more clusters than there are shapes, so that a patch is inside one shape.
models = [en.EnsembleClustering(n_clusters=3, random_state=seed).fit(points) for seed in range(10)]
alone = [KMeans(n_clusters=3, n_init=10, random_state=seed).fit(points) for seed in range(10)]
for name, fitted in {"k-means": alone, "consensus": models}.items():
    ari = [en.metrics.ari(shapes, model.labels_) for model in fitted]
    print(
        f"{name:<9}  ARI with the shapes, ten seeds: mean {np.mean(ari):.2f}, least {min(ari):.2f}"
    )

figure, axes = plt.subplots(1, 3, figsize=(8, 2.8), layout="constrained")
titles = ("k-means, k = 3", "one of 20 members", "consensus of the members")
labellings = (alone[0].labels_, models[0].votes_[:, 0], models[0].labels_)
for ax, title, labels in zip(axes, titles, labellings, strict=True):
    ax.scatter(*points.T, c=labels, s=8, cmap="tab20" if labels.max() > 3 else "viridis")
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
