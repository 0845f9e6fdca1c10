"""
Votes of your own
=================

Base clusterings from anywhere, here from k-means of scikit-learn, and their consensus by PTGP and
PTA.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import ensemblage as en

features, digits = load_digits(return_X_y=True)

# Base clusterings: cheap runs that differ in their number of clusters and in their start.
rng = np.random.default_rng(0)
votes = np.column_stack(
    [
        KMeans(n_clusters=k, n_init=1, random_state=seed).fit_predict(features)
        for seed, k in enumerate(rng.integers(10, 30, size=20))
    ]
)

# The votes are checked and grouped once; both methods use the result.
ensemble = en.Ensemble(votes)
print(ensemble)

scores = [en.metrics.nmi(digits, vote) for vote in votes.T]
print(f"votes   NMI {np.mean(scores):.3f} on average, {max(scores):.3f} at best")
for estimator in (en.PTGP(10, random_state=0), en.PTA(10)):
    name = type(estimator).__name__
    labels = estimator.fit_predict(ensemble)
    print(
        f"{name:<7} NMI {en.metrics.nmi(digits, labels):.3f},"
        f" ARI {en.metrics.ari(digits, labels):.3f},"
        f" with the votes {en.metrics.ensemble_nmi(labels, ensemble):.3f}"
    )
    # Another number of clusters needs no new fit.
    others = {k: en.metrics.nmi(digits, estimator.cut(k)) for k in (8, 12, 15)}
    print("        NMI at", ", ".join(f"k = {k}: {nmi:.3f}" for k, nmi in others.items()))

figure, ax = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
en.plot.heatmap(estimator, ax=ax)  # PTA, the last of the two
plt.show()
