"""Slow twins, on objects, of methods that compare objects: what microclusters must equal."""

import itertools

import numpy as np
import twins
from scipy.linalg import eigh

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
    n_clusterings = (votes != -1).any(axis=0).sum()  # one without votes does not count
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
    W = A.copy() if beta is None else np.where(A > 0, np.exp(-beta * (1 - A)), 0.0)
    np.fill_diagonal(W, 0)
    if n_neighbors is not None:
        least = srw_least(A, n_neighbors)
        W[np.minimum.outer(least, least) > A] = 0
    return W


def srw_least(A, n_neighbors):
    """Return each object's similarity to the last of its nearest neighbours."""
    others = [np.sort(np.delete(A[i], i))[::-1] for i in range(len(A))]
    return np.array([x[n_neighbors - 1] if n_neighbors <= len(x) else 0.0 for x in others])


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
