"""
Number of clusters
==================

``choose_k`` scores a range of k from one fit, recommends one, and gives the reasons.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import make_blobs

import ensemblage as en

features, groups = make_blobs(600, 5, centers=6, cluster_std=1.6, random_state=1)
votes = en.ensembles.generate(features, n_members=20, n_clusters_range=(4, 20), random_state=0)
model = en.Consensus().fit(votes)
print(model.k_choice_, end="\n\n")
print(f"agreement with the groups (ARI) {en.metrics.ari(groups, model.labels_):.2f}")

# More criteria, from the consensus of random halves of the clusterings.
choice = en.metrics.choose_k(model, range(2, 13), criteria="all", n_refits=5)
figure, (above, below) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained")
en.plot.k_curves(choice, ax=above)
en.plot.dendrogram(model, ax=below)
plt.show()
