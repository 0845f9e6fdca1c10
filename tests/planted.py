"""Votes on groups that are known, and places in worked matrices."""

import warnings

import numpy as np

import ensemblage as en

#: All pairs of four objects.
PLACES = ("12", "13", "14", "23", "24", "34")


def at(matrix, *places):
    """Return entries by their places as papers number them: "12" is row 1, column 2."""
    return [matrix[int(place[0]) - 1, int(place[1]) - 1] for place in places]


def noisy(sizes, n_clusterings, wrong, seed=0, gaps=0.0):
    """Return votes on groups of these sizes, each wrong with some chance, some missing; truth."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    shape = (len(truth), n_clusterings)
    matrix = np.where(rng.random(shape) < wrong, rng.integers(0, len(sizes), shape), truth[:, None])
    missing = rng.random(shape) < gaps
    missing[:, 0] = False
    return np.where(missing, -1, matrix), truth


def with_errors(truth, n_members, share, rng):
    """Return votes of members that give a share of the objects a random label."""
    votes = np.tile(truth[:, None], (1, n_members))
    wrong = rng.random(votes.shape) < share
    votes[wrong] = rng.integers(0, truth.max() + 1, wrong.sum())
    return votes


def halved(k=4, n=200, members=12, noise=0.1, seed=0):
    """Return votes of members that see k groups, some splitting each in two, with errors."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    columns = []
    for m in range(members):
        labels = 2 * truth + rng.integers(0, 2, n) if m % 3 == 0 else 2 * truth
        wrong = rng.random(n) < noise
        columns.append(np.where(wrong, rng.integers(0, 2 * k, n), labels))
    return np.column_stack(columns), truth


def quiet(est, matrix):
    """Fit without a warning about fewer clusters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        return est.fit(matrix)
