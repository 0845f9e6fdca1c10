"""
Uncertain objects
=================

``confidence_`` measures how clearly each object belongs to its cluster. Check the lowest ones
first.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

import ensemblage as en

features, digits = load_digits(return_X_y=True)
model = en.EnsembleClustering(n_clusters=10, random_state=0).fit(features)
surest_first = np.argsort(-model.confidence_, kind="stable")

# The most frequent digit of each cluster. Only the printed shares need the true digits.
of_cluster = [np.bincount(digits[model.labels_ == k]).argmax() for k in range(10)]
named = np.take(of_cluster, model.labels_)
for part, which in {"surest half": surest_first[:900], "last hundred": surest_first[-100:]}.items():
    print(f"{part:<12}  {np.mean(named[which] == digits[which]):.0%} in the cluster of their digit")

# Above, the most certain object of each cluster; below, the ten least certain objects.
surest = [surest_first[model.labels_[surest_first] == k][0] for k in range(10)]
figure, axes = plt.subplots(2, 10, figsize=(8, 3), layout="constrained")
for row, which in zip(axes, (surest, surest_first[-10:]), strict=True):
    for ax, i in zip(row, which, strict=True):
        ax.imshow(features[i].reshape(8, 8), cmap="gray_r")
        ax.set(title=f"{model.confidence_[i]:.2f}", xticks=[], yticks=[])
        ax.set_xlabel(f"{digits[i]}, among\n{named[i]}s", fontsize=8)
figure.suptitle("Confidence: the highest of each cluster, and the ten lowest", x=0.01, ha="left")
plt.show()
