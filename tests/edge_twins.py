"""Slow, obvious twins of consensus along the edges of a graph."""

import numpy as np


def edge_agreement(votes, pairs, weights=None):
    weights = np.ones(votes.shape[1]) if weights is None else weights
    result = []
    for i, j in pairs:
        agreed = both = 0.0
        for m in range(votes.shape[1]):
            if votes[i, m] >= 0 and votes[j, m] >= 0:
                both += weights[m]
                agreed += weights[m] * (votes[i, m] == votes[j, m])
        result.append(agreed / both if both else 0.0)
    return np.array(result)


def simple_edges(pairs):
    return sorted({(min(i, j), max(i, j)) for i, j in pairs if i != j})


def two_core(n, pairs):
    """Take away vertices with fewer than two neighbours until there are none."""
    neighbours = {v: set() for v in range(n)}
    for i, j in simple_edges(pairs):
        neighbours[i].add(j)
        neighbours[j].add(i)
    while True:
        weak = [v for v, others in neighbours.items() if len(others) < 2]
        if not weak:
            return set(neighbours)
        for v in weak:
            for other in neighbours.pop(v):
                if other in neighbours:
                    neighbours[other].discard(v)


def reweight(votes, pairs, rule, min_weight=0.05, threshold=0.8, weights=None):
    """The weighted adjacency matrix, dense."""
    n = len(votes)
    result = np.zeros((n, n))
    edges, core = simple_edges(pairs), two_core(n, pairs)
    for (i, j), w in zip(edges, edge_agreement(votes, edges, weights), strict=True):
        if rule == "threshold":
            weight = w if w >= threshold else 0.0
        else:
            inside = i in core and j in core
            weight = min_weight + (1 - min_weight) * w if inside else min_weight
        result[i, j] = result[j, i] = weight
    return result


def strength(agreement):
    return 1 - 2 * np.mean([min(w, 1 - w) for w in agreement])


def vertex_scores(n, edges, agreement, labels):
    refusal, outside = np.full(n, np.nan), np.full(n, np.nan)
    for v in range(n):
        own = [(edge, w) for edge, w in zip(edges, agreement, strict=True) if v in edge]
        total = sum(w for _, w in own)
        if own:
            refusal[v] = 1 - total / len(own)
        if total:
            outside[v] = sum(w for (i, j), w in own if labels[i] != labels[j]) / total
    return refusal, outside
