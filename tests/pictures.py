"""What tests of pictures share: votes, and what a picture shows."""

import numpy as np

E2 = np.array([[1, 1], [1, 1], [1, 1], [1, 2], [2, 2], [2, 2], [2, 3], [2, 3]])


def rendered(ax):
    ax.figure.canvas.draw()  # warnings about letters and layout come from here
    return ax


def title(ax):
    return ax.get_title(loc="left")


def noisy(n_clusters, n_each, n_members, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_clusters), n_each)
    votes = np.repeat(truth[:, None], n_members, axis=1)
    wrong = rng.random(votes.shape) < 0.15
    votes[wrong] = rng.integers(0, n_clusters, wrong.sum())
    return votes
