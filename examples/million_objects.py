"""
A million objects
=================

Objects with equal votes form one microcluster, and only microclusters are compared. The cost of a
million objects depends on the number of different rows of votes.
"""

import time

import numpy as np
from matplotlib import pyplot as plt

import ensemblage as en

rng = np.random.default_rng(0)
group = rng.integers(0, 12, 1_000_000)  # the true groups, which are not used


def vote() -> np.ndarray:
    """Return a clustering that splits or merges some groups and errs now and then."""
    wrong = rng.random(len(group)) < 0.005
    return rng.integers(0, 9, 12)[np.where(wrong, rng.integers(0, 12, len(group)), group)]


votes = np.column_stack([vote() for _ in range(10)]).astype(np.uint8)
en.Consensus(12, random_state=0).fit(votes)  # kernels are compiled once on a machine

model = en.Consensus(12, random_state=0)
seconds = {}
for n in (1_000, 10_000, 100_000, 1_000_000):
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        model.fit(votes[:n])
        times.append(time.perf_counter() - begin)
    seconds[n] = min(times)  # the others were disturbed
    print(f"{n:>9,} objects, {model.n_microclusters_:>5,} microclusters")
print(f"agreement with the groups (ARI) {en.metrics.ari(group, model.labels_):.3f}")

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.loglog(list(seconds), list(seconds.values()), "o-", color="#4477aa")
ax.set(
    xlabel="objects",
    ylabel="seconds, best of 3",
    title="Consensus, 10 votes an object, on this machine",
)
ax.grid(alpha=0.3)
plt.show()
