"""
Your own votes
==============

Base clusterings can come from any source. Here they come from k-means of scikit-learn; the example
computes their consensus by the default method, by PTGP and by PTA. Figures are means over
ten seeds of the base clusterings.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import ensemblage as en

SEEDS = range(10)
features, digits = load_digits(return_X_y=True)


def base_clusterings(seed):
    """Return cheap runs that differ in their number of clusters and in their start."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            KMeans(k, n_init=1, random_state=place).fit_predict(features)
            for place, k in enumerate(rng.integers(10, 30, size=20), start=20 * seed)
        ]
    )


labellings = {"k-means, n_init=10": [], "Consensus": [], "PTGP": [], "PTA": []}
members = []
for seed in SEEDS:
    votes = base_clusterings(seed)
    members += [en.metrics.nmi(digits, vote) for vote in votes.T]
    ensemble = en.Ensemble(votes)  # validated and grouped once, for all methods
    alone = KMeans(10, n_init=10, random_state=seed).fit(features)
    model = en.Consensus(n_clusters=10, random_state=0).fit(ensemble)
    labellings["k-means, n_init=10"].append(alone.labels_)
    labellings["Consensus"].append(model.labels_)
    labellings["PTGP"].append(en.PTGP(n_clusters=10, random_state=0).fit_predict(ensemble))
    labellings["PTA"].append(en.PTA(n_clusters=10).fit_predict(ensemble))

print(ensemble)
print(f"{'the votes':<18}  NMI {np.mean(members):.3f}")
for name, found in labellings.items():
    nmi = [en.metrics.nmi(digits, labels) for labels in found]
    ari = [en.metrics.ari(digits, labels) for labels in found]
    print(f"{name:<18}  NMI {np.mean(nmi):.3f}  ARI {np.mean(ari):.3f}")

# Another number of clusters needs no new fit; the last model shows it.
others = {k: en.metrics.nmi(digits, model.cut(k)) for k in (8, 12, 15)}
print("NMI of the last at", ", ".join(f"k = {k}: {nmi:.3f}" for k, nmi in others.items()))

figure, ax = plt.subplots(figsize=(5.6, 4.8), layout="constrained")
en.plot.heatmap(model, ax=ax)
plt.show()
