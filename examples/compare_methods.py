"""
Many methods on the same votes
==============================

All methods take the same input, so that trying another one costs a word. One draw of one dataset
is no ranking; "Which method" in the documentation has one over many.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

import ensemblage as en

features, digits = load_digits(return_X_y=True)
votes = en.ensembles.generate(features, n_members=20, n_clusters_range=(10, 40), random_state=0)
ensemble = en.Ensemble(votes)  # checked and grouped once, for all of them

scores = {}
for name, method in en.METHODS.items():
    if name == "ecmc":
        continue  # low-rank completion: seconds where others take milliseconds
    estimator = method(n_clusters=10)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    scores[name] = en.metrics.nmi(digits, estimator.fit_predict(ensemble))
for name in sorted(scores, key=scores.get, reverse=True):
    print(f"{name:<7} {scores[name]:.3f}")

members = [en.metrics.nmi(digits, vote) for vote in votes.T]
names = sorted(scores, key=scores.get)
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
ax.barh(names, [scores[name] for name in names], color="#4477aa")
ax.axvline(np.mean(members), color="#cc3311", label="mean of the votes")
ax.set(title="NMI with the true digits: one ensemble, one draw", xlim=(0.5, None))
ax.legend(loc="lower right")
plt.show()
