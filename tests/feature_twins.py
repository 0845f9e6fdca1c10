"""Slow, obvious twins of the base clusterers, written from their definitions."""

import numpy as np


def squared_distances(rows, centres):
    rows, centres = np.asarray(rows, dtype=float), np.asarray(centres, dtype=float)
    return np.array([[((x - c) ** 2).sum() for c in centres] for x in rows])


def lloyd(rows, starts, max_iter=100, weights=None):
    """k-means by Lloyd: assign, refill empty clusters, average; until no label changes."""
    rows = np.asarray(rows, dtype=float)
    weights = np.ones(len(rows)) if weights is None else weights
    centres = rows[starts].copy()
    labels = np.full(len(rows), -1)
    for _ in range(max_iter):
        distances = squared_distances(rows, centres)
        new = distances.argmin(axis=1)
        if (new == labels).all():
            break
        labels = new
        for c in range(len(centres)):
            if not (labels == c).any():
                counts = np.bincount(labels, minlength=len(centres))
                own = weights * distances[np.arange(len(rows)), labels]
                own = np.where(counts[labels] > 1, own, 0)
                if own.max() > 0:
                    labels = labels.copy()
                    labels[own.argmax()] = c
        for c in range(len(centres)):
            if (labels == c).any():
                shares = weights[labels == c] / weights[labels == c].sum()
                centres[c] = shares @ rows[labels == c]
    return centres, squared_distances(rows, centres).argmin(axis=1)


def greedy_starts(rows, weights, draws):
    """k-means++: candidates by weighted distance, and of each few the one that helps most."""
    nearest = None
    chosen = []
    for few in draws:
        ascending = np.cumsum(weights if nearest is None else weights * nearest)
        options = []
        for draw in few if chosen else few[:1]:
            above = np.flatnonzero(ascending > draw * ascending[-1])
            pick = above[0] if len(above) else len(rows) - 1
            distance = ((rows - rows[pick]) ** 2).sum(axis=1)
            then = distance if nearest is None else np.minimum(nearest, distance)
            options.append(((weights * then).sum(), pick, then))
        _, pick, nearest = min(options, key=lambda option: option[0])
        chosen.append(pick)
    return chosen


def rpcl(rows, starts, rng, rate, n_epochs):
    """Rival penalised competitive learning, one object after the other."""
    rows = np.asarray(rows, dtype=float)
    units = rows[starts].copy()
    mean = rows.mean(axis=0)
    reach = squared_distances(rows, [mean]).max()
    wins = np.ones(len(units))
    before = np.full(len(rows), -1)
    step = 0
    for _ in range(n_epochs):
        winners = np.empty(len(rows), dtype=int)
        for i in rng.permutation(len(rows)):
            cost = wins / wins.sum() * squared_distances(rows[[i]], units)[0]
            ranked = np.argsort(cost, kind="stable")
            alpha = rate * (1 - step / (n_epochs * len(rows)))
            winner = winners[i] = ranked[0]
            units[winner] += alpha * (rows[i] - units[winner])
            if len(units) > 1:
                rival = ranked[1]
                if ((units[rival] - mean) ** 2).sum() <= reach:
                    units[rival] -= alpha / 25 * (rows[i] - units[rival])
            wins[winner] += 1
            step += 1
        changed = (winners != before).sum()
        before = winners
        if changed < 0.001 * len(rows):
            break
    return units, squared_distances(rows, units).argmin(axis=1)


def by_first_appearance(labels):
    """Number labels 0, 1, ... as they appear; -1 stays."""
    names = [name for name in dict.fromkeys(np.asarray(labels).tolist()) if name != -1]
    return np.array([names.index(label) if label != -1 else -1 for label in labels])
