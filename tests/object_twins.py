"""Slow, obvious twins of whole methods, on objects: what running on microclusters must equal."""

import itertools

import numpy as np
import twins
from scipy.linalg import eigh
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
    a = np.maximum(np.exp(-uncertainty(codes) / (theta * codes.shape[1])), 1e-300)
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


# -- similarities that are agglomerated ------------------------------------------------------------


def sets_of_objects(votes):
    """Return each cluster of the ensemble as (clustering, set of objects)."""
    return [
        (m, set(np.flatnonzero(column == label).tolist()))
        for m, column in enumerate(votes.T)
        for label in dict.fromkeys(column[column != -1].tolist())
    ]


def mean_over_common_votes(votes, of_pair, weights=None):
    """Average ``of_pair(m, i, j)`` over the clusterings in which both objects voted."""
    n, n_clusterings = votes.shape
    weights = np.ones(n_clusterings) if weights is None else weights
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            common = [m for m in range(n_clusterings) if votes[i, m] != -1 and votes[j, m] != -1]
            total = sum(weights[m] for m in common)
            if total > 0:
                result[i, j] = sum(weights[m] * of_pair(m, i, j) for m in common) / total
    return result


def eac(votes):
    return mean_over_common_votes(votes, lambda m, i, j: votes[i, m] == votes[j, m])


def weac(votes, beta=2.0):
    n_clusterings = votes.shape[1]
    nmi = np.zeros((n_clusterings, n_clusterings))
    for a in range(n_clusterings):
        for b in range(n_clusterings):
            if a != b and ((votes[:, a] != -1) & (votes[:, b] != -1)).any():
                nmi[a, b] = twins.nmi(votes[:, a], votes[:, b], "max")
    mean = nmi.sum(axis=1) / max(n_clusterings - 1, 1)
    weights = (mean / mean.max()) ** beta if mean.max() > 1e-12 else np.ones(n_clusterings)
    weights[weights < 1e-12] = 0.0 if beta > 0 else 1.0
    result = mean_over_common_votes(votes, lambda m, i, j: votes[i, m] == votes[j, m], weights)
    for i in range(len(votes)):
        result[i, (votes == votes[i]).all(axis=1)] = 1.0
    return result


def wct(votes, decay=0.8):
    sets = sets_of_objects(votes)
    number = {(m, i): u for u, (m, objects) in enumerate(sets) for i in objects}
    n_clusters = len(sets)
    likeness = np.array([[len(a & b) / len(a | b) for _, b in sets] for _, a in sets])
    np.fill_diagonal(likeness, 0)
    triples = np.zeros((n_clusters, n_clusters))
    for u in range(n_clusters):
        for v in range(n_clusters):
            if u != v and sets[u][0] == sets[v][0]:
                triples[u, v] = sum(min(likeness[u, z], likeness[v, z]) for z in range(n_clusters))
    if triples.max() > 0:
        triples /= triples.max()

    def of_pair(m, i, j):
        u, v = number[m, i], number[m, j]
        return 1.0 if u == v else decay * triples[u, v]

    return mean_over_common_votes(votes, of_pair)


def lwea(votes, theta=0.4):
    n_clusterings = votes.shape[1]
    weight = {}
    for m, objects in sets_of_objects(votes):
        entropy = 0.0
        for other in votes.T:
            labels = [other[i] for i in objects if other[i] != -1]
            shares = np.unique(labels, return_counts=True)[1] / max(len(labels), 1)
            entropy -= (shares * np.log2(shares)).sum()
        for i in objects:
            weight[m, i] = np.exp(-entropy / (theta * n_clusterings))
    return mean_over_common_votes(
        votes, lambda m, i, j: weight[m, i] * (votes[i, m] == votes[j, m])
    )


def srs(votes, decay=0.8, n_iterations=5):
    """Return the similarity of objects; 1 on the diagonal, less for two with equal votes."""
    H = np.column_stack(
        [[float(i in objects) for i in range(len(votes))] for _, objects in sets_of_objects(votes)]
    )
    S, C = np.eye(len(votes)), np.eye(H.shape[1])
    voices, sizes = H.sum(axis=1), H.sum(axis=0)
    for _ in range(n_iterations - 1):
        S, C = (
            decay * (H @ C @ H.T) / np.outer(voices, voices),
            decay * (H.T @ S @ H) / np.outer(sizes, sizes),
        )
        np.fill_diagonal(S, 1)
        np.fill_diagonal(C, 1)
    return S


def reliable(votes, low=0.2, high=0.8):
    """Return B and which pairs of objects are observed."""
    A = eac(votes)
    voted = (votes != -1).astype(int)
    alike, unlike = high - 1e-9 <= A, low + 1e-9 >= A
    observed = (alike | unlike) & (voted @ voted.T > 0)
    return np.where(observed & alike, 1.0, 0.0), observed


def complete(B, observed, penalty, growth=1.5, max_iter=200, tol=1e-6):
    """Return X and E, by the inexact augmented Lagrangian on all objects."""
    largest = np.abs(eigh(B, eigvals_only=True)).max()
    Y, E = B / max(largest, 1 / penalty), np.zeros_like(B)
    step = first = 1.25 / largest
    for _ in range(max_iter):
        values, vectors = eigh(B - E + Y / step)
        shrunk = np.sign(values) * np.maximum(np.abs(values) - 1 / step, 0)
        X = (vectors * shrunk) @ vectors.T
        G = B - X + Y / step
        E = np.where(observed, np.sign(G) * np.maximum(np.abs(G) - penalty / step, 0), G)
        Y = Y + step * (B - X - E)
        step = min(growth * step, 1e7 * first)
        if np.linalg.norm(B - X - E) <= tol * np.linalg.norm(B):
            break
    return X, E


def gaps_between(distance, labels, linkage):
    """Return how far apart clusters are, from the distances of all their objects."""
    order = np.argsort(labels, kind="stable")
    _, starts, counts = np.unique(labels[order], return_index=True, return_counts=True)
    fold = {"average": np.add, "complete": np.maximum, "single": np.minimum}[linkage].reduceat
    gaps = fold(fold(distance[np.ix_(order, order)], starts, axis=0), starts, axis=1)
    return gaps / np.outer(counts, counts) if linkage == "average" else gaps


def check_tree(distance, linkage, tree):
    """Walk through a tree of objects; every merge must be of a closest pair, at its height."""
    n = len(distance)
    labels = np.arange(n)
    for step, (a, b, height, _) in enumerate(tree):
        names = np.unique(labels)
        gaps = gaps_between(distance, labels, linkage)
        np.fill_diagonal(gaps, np.inf)
        i, j = np.searchsorted(names, [a, b])
        assert abs(gaps[i, j] - gaps.min()) < 1e-9
        assert abs(height - gaps[i, j]) < 1e-9
        labels[np.isin(labels, [a, b])] = n + step


# -- a random walker, factors, walks between clusters, aligned votes -------------------------------


def srw_graph(votes, n_neighbors=None, beta=None):
    """Return the links between all pairs of objects."""
    A = eac(votes)
    n = len(A)
    W = A.copy() if beta is None else np.where(A > 0, np.exp(-beta * (1 - A)), 0.0)
    np.fill_diagonal(W, 0)
    if n_neighbors is not None:
        others = [np.sort(np.delete(A[i], i))[::-1] for i in range(n)]
        least = np.array([x[n_neighbors - 1] if n_neighbors <= len(x) else 0.0 for x in others])
        W[np.minimum.outer(least, least) > A] = 0
    return W


def srw_chances(W, region, k):
    """Return where walkers from each object arrive first, by solving with the Laplacian."""
    seeds = region >= 0
    reached = seeds.copy()
    for _ in W:
        reached |= (W[reached] > 0).any(axis=0)
    X = np.zeros((len(W), k))
    X[seeds, region[seeds]] = 1
    free = reached & ~seeds
    L = np.diag(W.sum(axis=1)) - W
    X[free] = np.linalg.solve(L[np.ix_(free, free)], -L[np.ix_(free, seeds)] @ X[seeds])
    return X


def nmf_updates(A, Q, S, n_iter):
    """Update Q and the matrix S as METHODS.md section 16 prints it."""
    for _ in range(n_iter):
        Q = Q * np.sqrt((A @ Q @ S) / (Q @ Q.T @ A @ Q @ S + 1e-8))
        S = S * np.sqrt((Q.T @ A @ Q) / (Q.T @ Q @ S @ Q.T @ Q + 1e-8))
    return Q, S


def ecpcs_clusters(votes, n_steps=20):
    """Return the similarity of clusters, from sets of objects and powers of a matrix."""
    sets = sets_of_objects(votes)
    W = np.array([[len(a & b) / len(a | b) for _, b in sets] for _, a in sets])
    np.fill_diagonal(W, 0)
    alone = W.sum(axis=1) == 0
    Z = twins.trajectory_similarity(twins.transition_matrix(W, np.ones(len(W))), n_steps)
    Z[alone, alone] = 0
    return Z


def ecpcs(votes, n_steps=20):
    """Return enhanced co-association of objects."""
    Z = ecpcs_clusters(votes, n_steps)
    number = {(m, i): u for u, (m, objects) in enumerate(sets_of_objects(votes)) for i in objects}

    def of_pair(m, i, j):
        u, v = number[m, i], number[m, j]
        return 1.0 if u == v else Z[u, v]

    return mean_over_common_votes(votes, of_pair)


def most_kept(shared):
    """Return how many objects the best one-to-one relabelling keeps, trying all of them."""
    if len(shared) < len(shared.T):
        shared = shared.T
    rows, columns = shared.shape
    return max(
        sum(shared[chosen[c], c] for c in range(columns))
        for chosen in itertools.permutations(range(rows), columns)
    )


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
