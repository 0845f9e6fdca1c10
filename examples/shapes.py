"""
Shapes that k-means cannot see
==============================

k-means makes round patches. Many patches of many runs, put together, follow any shape.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

import ensemblage as en

moons, side = make_moons(500, noise=0.07, random_state=0)
ball = np.random.default_rng(1).normal([0.5, 1.7], 0.15, (150, 2))
points, shapes = np.vstack([moons, ball]), np.append(side, np.full(150, 2))

# Members with more clusters than there are shapes: patches small enough to stay inside of one.
patches = en.EnsembleClustering(n_clusters=3, n_clusters_range=(10, 30), random_state=0).fit(points)
kmeans = KMeans(n_clusters=3, n_init=10, random_state=0).fit(points)

for name, labels in {"k-means": kmeans.labels_, "consensus": patches.labels_}.items():
    print(f"{name:<9}  agreement with the shapes (ARI) {en.metrics.ari(shapes, labels):.2f}")

figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
titles = ("k-means, k = 3", "one of 20 members", "consensus of the members")
labellings = (kmeans.labels_, patches.votes_[:, 0], patches.labels_)
for ax, title, labels in zip(axes, titles, labellings, strict=True):
    ax.scatter(*points.T, c=labels, s=8, cmap="tab20" if labels.max() > 3 else "viridis")
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
