"""Losses of partitions of objects from their definitions, and searches that try everything."""

import numpy as np

LOSSES = ("binder", "vi", "nvi", "id", "nid", "omari")


def entropy(*columns):
    _, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    shares = counts / counts.sum()
    return -(shares * np.log2(shares)).sum()


def loss_between(estimate, member, loss, a=1.0):
    """Return the loss over the objects that have both labels, NaN where there are none."""
    both = (estimate >= 0) & (member >= 0)
    z, t = estimate[both], member[both]
    n = len(z)
    if n == 0:
        return np.nan
    if loss in ("binder", "omari"):
        in_z, in_t = (labels[:, None] == labels[None, :] for labels in (z, t))
        if loss == "binder":
            parted, joined = (in_t & ~in_z).sum(), (in_z & ~in_t).sum()
            return (a * parted + (2 - a) * joined) / n**2
        pairs = np.triu_indices(n, 1)
        x, y = in_z[pairs].astype(float), in_t[pairs].astype(float)
        if (x == y).all() or n == 1:
            return 0.0
        chance = x.sum() * y.sum() / len(x)
        return 1 - ((x * y).sum() - chance) / ((x.sum() + y.sum()) / 2 - chance)
    h_z, h_t, h_both = entropy(z), entropy(t), entropy(z, t)
    information, larger = h_z + h_t - h_both, max(h_z, h_t)
    if loss == "vi":
        return a * (h_both - h_t) + (2 - a) * (h_both - h_z)
    if loss == "nvi":
        return 1 - information / h_both if h_both > 0 else 0.0
    if loss == "id":
        return larger - information
    return 1 - information / larger if larger > 0 else 0.0


def expected(estimate, votes, loss, a=1.0, weights=None):
    """Return the mean over the members that share objects with the estimate."""
    losses = np.array([loss_between(estimate, member, loss, a) for member in votes.T])
    weights = np.ones(len(losses)) if weights is None else np.asarray(weights, float)
    known = np.isfinite(losses) & (weights > 0)
    return np.average(losses[known], weights=weights[known])


def partitions(n, k=None):
    """Yield every partition of n things as labels by first appearance; with k, into k parts."""
    labels = np.zeros(n, dtype=np.int64)

    def fill(i, used):
        if i == n:
            if k in (None, used):
                yield labels.copy()
            return
        for c in range(used + 1):
            labels[i] = c
            yield from fill(i + 1, max(used, c + 1))

    yield from fill(0, 0)
