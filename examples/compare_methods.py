"""
Many methods on the same votes
==============================

All methods accept the same input, so they are easy to compare. The figure shows their means over
five ensembles of the handwritten digits, with members finer than the digits, and over five sets of
clear blobs, with members at the right k. On the blobs PTA and PTGP are worse than the average
member. Two kinds of data are not a ranking; "Which method" in the documentation has one.
"""

import textwrap
import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits, make_blobs

import ensemblage as en

SEEDS = range(5)
SKIPPED = {"ecmc", "cspa", "hgpa", "auto"}  # three are slow; "auto" is "consensus"
warnings.simplefilter("ignore", en.UntrustedMethodWarning)  # of PTA and PTGP: see the blobs
warnings.simplefilter("ignore", en.FewerClustersWarning)


def scores(votes, truth):
    """Return the ARI of each method on one ensemble, and the mean of its members."""
    ensemble = en.Ensemble(votes)  # validated and grouped once, for all methods
    found = {"mean member": np.mean([en.metrics.ari(truth, vote) for vote in votes.T])}
    for name, method in en.METHODS.items():
        if name in SKIPPED:
            continue
        estimator = method(n_clusters=len(np.unique(truth)))
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
        found[name] = en.metrics.ari(truth, estimator.fit_predict(ensemble))
    return found


runs = {"handwritten digits": [], "clear blobs": []}
features, digits = load_digits(return_X_y=True)
for seed in SEEDS:
    finer = en.EnsembleClustering(n_clusters=10, random_state=seed).fit(features).votes_
    runs["handwritten digits"].append(scores(finer, digits))
    points, blobs = make_blobs(1000, 5, centers=8, random_state=seed)
    equal_k = en.ensembles.generate(points, 20, n_clusters_range=(8, 8), random_state=seed)
    runs["clear blobs"].append(scores(equal_k, blobs))

figure, axes = plt.subplots(1, 2, figsize=(8, 5.2), layout="constrained")
for ax, (data, found) in zip(axes, runs.items(), strict=True):
    mean = {name: np.mean([run[name] for run in found]) for name in found[0]}
    names = sorted(mean, key=mean.get)
    print(f"{data}: mean ARI of {len(found)} ensembles")
    listed = ", ".join(f"{name} {mean[name]:.3f}" for name in reversed(names))
    print(textwrap.fill(listed, 76, initial_indent="  ", subsequent_indent="  "))
    colours = {"consensus": "#4477aa", "mean member": "#cc3311"}
    ax.barh(names, [mean[n] for n in names], color=[colours.get(n, "#bbbbbb") for n in names])
    for place, name in enumerate(names):
        ax.plot([run[name] for run in found], [place] * len(found), "k.", markersize=3)
    ax.set(title=f"ARI with the {data}", xlim=(0, 1.02))
figure.suptitle("Means over 5 ensembles; dots: each of them", x=0.01, ha="left")
plt.show()
