"""
One clustering from draws of a posterior distribution
=====================================================

A Gibbs sampler for a mixture of normals returns a clustering in each row. ``Median`` finds the
partition with the least expected loss to all of them, and the credible ball shows their
distances from it.
"""

import numpy as np
from matplotlib import pyplot as plt

import ensemblage as en

rng = np.random.default_rng(0)
group = np.repeat([0, 1, 2], [40, 25, 15])
points = np.array([[0, 0], [3, 1], [0, 5]])[group] + rng.normal(size=(80, 2))

# At most eight components of unit variance; superfluous ones stay empty.
draws = np.empty((2000, 80), dtype=int)
means, shares = rng.normal(scale=3, size=(8, 2)), np.full(8, 1 / 8)
for sweep in range(-200, 2000):
    logs = np.log(shares) - ((points[:, None] - means) ** 2).sum(axis=2) / 2
    labels = (logs + rng.gumbel(size=logs.shape)).argmax(axis=1)
    members = np.eye(8)[labels]
    precision = members.sum(axis=0) + 1 / 9
    means = members.T @ points / precision[:, None]
    means += rng.normal(size=(8, 2)) / np.sqrt(precision[:, None])
    shares = np.maximum(rng.dirichlet(0.3 + members.sum(axis=0)), 1e-300)
    if sweep >= 0:
        draws[sweep] = labels

model = en.Median(draws="rows", random_state=0).fit(draws)
ball = en.metrics.credible_ball(model.labels_, draws.T)
best = en.metrics.median_of(draws[::10].T)
print(f"{model.n_clusters_} clusters, expected loss {model.expected_loss_:.2f} bits")
print(f"the best of 200 draws: {best.expected_loss:.2f} bits from these")
print(f"ARI with the groups: {en.metrics.ari(group, model.labels_):.2f}")

# Pale points are objects on which the draws disagree.
figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 8.4), layout="constrained")
sure = 0.25 + 0.75 * model.confidence_
above.scatter(*points.T, c=model.labels_, cmap="viridis", alpha=sure, s=30)
above.set_title("The estimate", loc="left")
en.plot.credible_ball(ball, ax=below)
plt.show()
