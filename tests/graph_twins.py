"""Slow twins, on objects, of methods that cut a graph: what microclusters must equal."""

import itertools

import numpy as np
import twins
from scipy.optimize import brentq

# -- methods that cut a bipartite graph of objects and clusters ------------------------------------
# Deterministic ones return labels and the smallest gap that decided anything: where it is next to
# nothing a tie decided, and another order of sums may decide it otherwise.


def object_codes(votes):
    """Return the votes of every object as codes, -1 where there is none."""
    table, _, of_object = twins.microclusters(votes)
    return table[of_object]


def uncertainty(codes):
    """Return the entropy of each cluster over every clustering, in bits, summed over them."""
    H = twins.membership(codes)
    entropies = []
    for members in H.T > 0:
        total = 0.0
        for column in codes[members].T:
            voted = column[column >= 0]
            shares = np.bincount(voted) / max(len(voted), 1)
            total -= sum(x * np.log2(x) for x in shares if x > 0)
        entropies.append(total)
    return np.array(entropies)


def crowd_agreement(codes, beta):
    """Return the weight of each clustering by GP-MGLA and WEAC."""
    M = codes.shape[1]
    mean = np.zeros(M)
    for a in range(M):
        for b in range(M):
            if a != b and ((codes[:, a] >= 0) & (codes[:, b] >= 0)).any():
                mean[a] += twins.nmi(codes[:, a], codes[:, b], "max") / (M - 1)
    return (mean / mean.max()) ** beta if mean.max() > 1e-15 else np.ones(M)


def source_aware_triples(W, weights):
    n = len(W)
    triples = np.array(
        [[sum(weights[z] * min(W[i, z], W[j, z]) for z in range(n)) for j in range(n)]
         for i in range(n)]
    )  # fmt: skip
    triples /= triples.max()
    np.fill_diagonal(triples, 1.0)
    return triples


def gpmgla_graph(codes, alpha=0.5, beta=2.0):
    """Return the rows of objects, then those of clusters."""
    H = twins.membership(codes)
    sets = [set(np.flatnonzero(column).tolist()) for column in H.T]
    W = np.array([[len(a & b) / len(a | b) for b in sets] for a in sets])
    owner = np.repeat(np.arange(codes.shape[1]), codes.max(axis=0) + 1)
    weights = crowd_agreement(codes, beta)[owner]
    return np.vstack([alpha * H * weights, source_aware_triples(W, weights)])


def gpmgla(votes, k):
    codes = object_codes(votes)
    values, rows = twins.transfer_cut(gpmgla_graph(codes), k)
    rows = rows[: len(codes)]
    margin = values[k - 1] - values[k] if k < len(values) else 1.0
    centres = [rows[0]]
    while len(centres) < k:
        nearest = np.min([((rows - c) ** 2).sum(axis=1) for c in centres], axis=0)
        centres.append(rows[nearest.argmax()])
        other = ((rows - centres[-1]) ** 2).sum(axis=1) > 1e-12
        margin = min(margin, nearest.max() - nearest[other].max(initial=0.0))
    labels, gap = plain_lloyd(rows, np.array(centres))
    return labels, min(margin, gap)


def plain_lloyd(rows, centres):
    """Return labels and the smallest gap between a nearest and a second nearest centre."""
    labels, margin = None, 1.0
    while True:
        distances = ((rows[:, None] - centres[None]) ** 2).sum(axis=2)
        if len(centres) > 1:
            two = np.sort(distances, axis=1)[:, :2]
            margin = min(margin, (two[:, 1] - two[:, 0]).min())
        found = distances.argmin(axis=1)
        if labels is not None and (found == labels).all():
            return labels, margin
        labels = found
        if len(set(labels.tolist())) < len(centres):
            return labels, 0.0  # who is given to an empty cluster is not for this twin to say
        centres = np.array([rows[labels == c].mean(axis=0) for c in range(len(centres))])


def lwpt_walk(codes, theta=0.15):
    """Return the shares of votes, the eigenvalues and F of METHODS.md section 22."""
    a = np.maximum(np.exp(-uncertainty(codes) / (theta * (codes >= 0).any(axis=0).sum())), 1e-300)
    B = twins.membership(codes) * a
    B /= B.sum(axis=1, keepdims=True)
    c = B.sum(axis=0)
    mu, Q = np.linalg.eigh(np.diag(c**-0.5) @ B.T @ B @ np.diag(c**-0.5))
    mu, Q = np.clip(mu[::-1], 0, 1), Q[:, ::-1]
    return B, mu, B @ np.diag(c**-0.5) @ Q


def lwpt_length(mu, k):
    others = mu[1:][mu[1:] > 1e-12]
    if len(others) <= (k - 1) / 2:
        return 0.0

    def surplus(p):
        return (others ** (2 * p)).sum() - (k - 1) / 2

    p = brentq(surplus, 0, 1000, xtol=1e-13) if surplus(1000) < 0 else 1000.0
    last = mu[k - 1] if k <= len(mu) else 0.0
    if last <= 1e-12:
        return 0.0
    return min(p, np.log(10) / -np.log(last)) if last < 1 else p


def lwpt_rows(codes, k):
    _, mu, F = lwpt_walk(codes)
    weights = mu ** lwpt_length(mu, k)
    kept = (weights > 1e-4) & (mu > 1e-12)
    X = F[:, kept] * weights[kept]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def plain_ward(rows, k):
    """Return k lists of rows and the smallest gap between the two cheapest merges."""
    clusters, margin = [[i] for i in range(len(rows))], 1.0

    def cost(a, b):
        apart = ((rows[a].mean(axis=0) - rows[b].mean(axis=0)) ** 2).sum()
        return apart * len(a) * len(b) / (len(a) + len(b))

    while len(clusters) > k:
        costs = sorted(
            (cost(clusters[i], clusters[j]), i, j)
            for i in range(len(clusters))
            for j in range(i + 1, len(clusters))
        )
        if costs[0][0] > 1e-12 and len(costs) > 1:
            margin = min(margin, costs[1][0] - costs[0][0])
        _, i, j = costs[0]
        clusters[i] = clusters[i] + clusters.pop(j)
    return clusters, margin


def lwpt(votes, k):
    rows = lwpt_rows(object_codes(votes), k)
    clusters, margin = plain_ward(rows, k)
    labels, gap = plain_lloyd(rows, np.array([rows[c].mean(axis=0) for c in clusters]))
    return labels, min(margin, gap)


def hbgf_rows(codes, k):
    """Return unit rows of the singular vectors of objects and of clusters, and their values."""
    H = twins.membership(codes)
    scaled = H / np.sqrt(H.sum(axis=0)) / np.sqrt(H.sum(axis=1, keepdims=True))
    U, values, Vt = np.linalg.svd(scaled, full_matrices=False)
    kept = min(k, int((values > 1e-6).sum()))
    sides = U[:, :kept], Vt.T[:, :kept]
    unit = [x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-10) for x in sides]
    return *unit, values


# -- methods that partition a graph or hypergraph --------------------------------------------------


def edges_cut(weights, parts):
    """Return the weight of the pairs that are in different parts."""
    n = len(parts)
    pairs = itertools.combinations(range(n), 2)
    return sum(weights[i, j] for i, j in pairs if parts[i] != parts[j])


def nets_cut(membership, weights, parts):
    """Return the weight of the columns that have rows in more than one part."""
    nets = [np.flatnonzero(column) for column in membership.T]
    return sum(w for net, w in zip(nets, weights, strict=True) if len({parts[i] for i in net}) > 1)


def least_cut(cut, weights, limits):
    """Return the least cut of all partitions with parts that are not empty and not too heavy."""
    k = len(limits)
    best = np.inf
    for parts in itertools.product(range(k), repeat=len(weights)):
        loads = np.bincount(parts, weights, k)
        if len(set(parts)) == k and (loads <= limits).all():
            best = min(best, cut(parts))
    return best


def object_graph(codes):
    """Return the integer edges of CSPA between objects."""
    S = twins.coassociation(codes)
    np.fill_diagonal(S, 0)
    return np.where(S > 0, np.maximum(1, np.round(S * 1e8 / max(S.sum(), 1e-300))), 0)


def meta_cluster_shares(codes, groups):
    """Return for each object the share of each group's clusters that it is in, of those it could.

    `groups` has one number for each cluster, clustering by clustering.
    """
    H = twins.membership(codes)
    owner = [m for m in range(codes.shape[1]) for _ in range(codes[:, m].max() + 1)]
    shares = np.zeros((len(codes), max(groups) + 1))
    for i, q in itertools.product(range(len(codes)), range(max(groups) + 1)):
        could = [j for j, g in enumerate(groups) if g == q and codes[i, owner[j]] >= 0]
        shares[i, q] = np.mean([H[i, j] for j in could]) if could else 0.0
    return shares


def settled(sides, weights, n_parts, limits, cut):
    """Return sides with enough vertices that keep to the limits; None where moves cannot do it."""
    sides = sides.copy()

    def move_cheapest(vertices):
        def cut_without(vertex):
            moved = sides.copy()
            moved[vertex] = 1 - moved[vertex]
            return cut(moved)

        vertex = min(vertices, key=cut_without)
        sides[vertex] = 1 - sides[vertex]

    for side in (0, 1):
        while (sides == side).sum() < n_parts[side]:
            move_cheapest(np.flatnonzero(sides != side))
    while True:
        excess = [weights[sides == side].sum() - limits[side] for side in (0, 1)]
        if max(excess) <= 0:
            return sides
        heavy = 0 if excess[0] >= excess[1] else 1
        there = [v for v in np.flatnonzero(sides == heavy) if weights[v] > 0]
        fit = [v for v in there if excess[1 - heavy] + weights[v] <= 0]
        lessen = [v for v in there if excess[1 - heavy] + weights[v] < excess[heavy]]
        if not lessen or (sides == heavy).sum() == n_parts[heavy]:
            return None
        move_cheapest(fit or lessen)
