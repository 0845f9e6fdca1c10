"""Slow, obvious twins of the stages, written from the definitions: the ones to believe."""

import numpy as np
from scipy.linalg import eigh


def microclusters(votes):
    """Rows with equal votes, by comparing tuples; codes and rows by first appearance."""
    seen = {}
    of_object = [seen.setdefault(tuple(row), len(seen)) for row in votes.tolist()]
    rows = np.array(list(seen)).reshape(len(seen), -1)
    table = np.empty(rows.shape, dtype=int)
    for m in range(rows.shape[1]):
        codes = {}
        for i, label in enumerate(rows[:, m].tolist()):
            table[i, m] = -1 if label == -1 else codes.setdefault(label, len(codes))
    return table, np.bincount(of_object), np.array(of_object)


def coassociation(table):
    n = len(table)
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            both = (table[i] >= 0) & (table[j] >= 0)
            if both.any():
                result[i, j] = (table[i] == table[j])[both].sum() / both.sum()
    return result


def elite_graph(table, n_neighbors, weights=None):
    weights = coassociation(table) if weights is None else weights.copy()
    np.fill_diagonal(weights, 0)
    n = len(weights)
    if n == 1:
        return weights
    threshold = np.empty(n)
    for i in range(n):
        others = np.sort(np.delete(weights[i], i))[::-1]
        threshold[i] = others[min(n_neighbors, n - 1) - 1]
    stays = (weights >= threshold[:, None]) | (weights >= threshold[None, :])
    return np.where(stays, weights, 0.0)


def transition_matrix(graph, sizes):
    P = np.zeros_like(graph)
    for i in range(len(graph)):
        total = sum(graph[i, j] * sizes[j] for j in range(len(graph)))
        if total > 0:
            P[i] = graph[i] * sizes / total
    return P


def trajectory_similarity(P, n_steps):
    """Stack every power of P and take cosines."""
    walks = np.hstack([np.linalg.matrix_power(P, t) for t in range(1, n_steps + 1)])
    norm = np.linalg.norm(walks, axis=1, keepdims=True)
    unit = np.divide(walks, norm, out=np.zeros_like(walks), where=norm > 0)
    result = unit @ unit.T
    np.fill_diagonal(result, 1.0)
    return result


def similarity_of(table, sizes, n_neighbors, n_steps):
    P = transition_matrix(elite_graph(table, n_neighbors), sizes)
    return trajectory_similarity(P, n_steps)


def membership(table):
    """One 0/1 column for each cluster, clustering by clustering."""
    columns = [
        (table[:, m] == c).astype(float)
        for m in range(table.shape[1])
        for c in range(table[:, m].max() + 1)
    ]
    return np.column_stack(columns)


def bipartite(similarity, table):
    Z = membership(table)
    return similarity @ Z / Z.sum(axis=0)


def transfer_cut(B, k, multiplicity=None):
    """Return eigenvalues and unit rows, as the authors' program has them."""
    d = B.sum(axis=1)
    n = np.ones(len(B)) if multiplicity is None else multiplicity
    small = B.T @ np.diag(n / d) @ B
    root = np.sqrt(small.sum(axis=1))
    values, vectors = eigh(small / root[:, None] / root[None, :])
    values, vectors = values[::-1], vectors[:, ::-1]
    rows = np.diag(1 / d) @ B @ (vectors[:, :k] / root[:, None])
    return values, rows / np.linalg.norm(rows, axis=1, keepdims=True)


def merge_closest(distance, linkage, weights=None, ties="mean"):
    """Return heights and the partition after each merge, always merging the closest pair.

    Every cluster has a place, first that of its only row. Of tied pairs of places i < j:

    - "mean": least mean distance, then largest weight of both, then lowest i, then lowest j; the
      union takes place i. Ties of average link are not defined: no two means may be equal.
    - "later": lowest i, then lowest j; the union takes place j.
    - "octave": largest j, then largest i; the union takes place i.
    """
    n = len(distance)
    weights = np.ones(n) if weights is None else weights
    clusters = {i: [i] for i in range(n)}

    def mean(pair):
        a, b = (clusters[place] for place in pair)
        total = weights[a] @ distance[np.ix_(a, b)] @ weights[b]
        return total / weights[a].sum() / weights[b].sum()

    def gap(pair):
        if linkage == "average":
            return mean(pair)
        block = distance[np.ix_(*(clusters[place] for place in pair))]
        return block.max() if linkage == "complete" else block.min()

    def mass(pair):
        return sum(weights[clusters[place]].sum() for place in pair)

    def least(pairs, number):
        numbers = [number(pair) for pair in pairs]
        return [p for p, x in zip(pairs, numbers, strict=True) if x <= min(numbers) + 1e-12]

    heights, partitions = [], [[list(c) for c in clusters.values()]]
    while len(clusters) > 1:
        pairs = [(i, j) for i in sorted(clusters) for j in sorted(clusters) if i < j]
        if linkage == "average" and ties == "mean":
            i, j = min(pairs, key=gap)
        elif ties == "mean":
            i, j = min(least(least(least(pairs, gap), mean), lambda pair: -mass(pair)))
        elif ties == "later":
            i, j = min(least(pairs, gap))
        else:
            i, j = max(least(pairs, gap), key=lambda pair: pair[::-1])
        heights.append(gap((i, j)))
        stays, goes = (j, i) if ties == "later" else (i, j)
        clusters[stays] = clusters[stays] + clusters.pop(goes)
        partitions.append([list(c) for c in clusters.values()])
    return np.array(heights), partitions


def confidence(similarity, labels, sizes):
    """Expand to objects and take the means one by one."""
    objects = np.repeat(np.arange(len(sizes)), sizes)
    sim, lab = similarity[np.ix_(objects, objects)], labels[objects]
    result = np.zeros(len(objects))
    for i in range(len(objects)):
        if len(set(lab.tolist())) == 1:
            result[i] = 1.0
            continue
        own = [j for j in range(len(objects)) if lab[j] == lab[i] and j != i]
        if not own:
            continue
        a = sim[i, own].mean()
        b = max(sim[i, lab == c].mean() for c in set(lab.tolist()) if c != lab[i])
        result[i] = np.clip((a - b) / max(a, b), 0, 1) if max(a, b) > 0 else 0.0
    return result[np.searchsorted(objects, np.arange(len(sizes)))]


def nmi(a, b, average):
    """NMI from the contingency table, cell by cell."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x != -1 and y != -1]
    n = len(pairs)
    rows, columns = sorted({x for x, _ in pairs}), sorted({y for _, y in pairs})
    p = np.array([[sum(q == (x, y) for q in pairs) / n for y in columns] for x in rows])
    px, py = p.sum(axis=1), p.sum(axis=0)
    hx, hy = (-sum(v * np.log(v) for v in q if v > 0) for q in (px, py))
    information = sum(
        p[i, j] * np.log(p[i, j] / (px[i] * py[j]))
        for i in range(len(px))
        for j in range(len(py))
        if p[i, j] > 0
    )
    if len(rows) == 1 or len(columns) == 1:
        return float(len(rows) == len(columns))
    mean = {
        "max": max(hx, hy),
        "min": min(hx, hy),
        "geometric": np.sqrt(hx * hy),
        "arithmetic": (hx + hy) / 2,
    }
    return information / mean[average]
