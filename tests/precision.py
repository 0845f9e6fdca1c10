"""Walks and cuts on ill-conditioned graphs beside the same in fifty digits.

python tests/precision.py        prints the errors of every case

The oracle is written from the definitions with mpmath. Errors of similarities are relative to each
similarity, however small; those of the transfer cut are absolute, of eigenvalues and of unit rows.
"""

from __future__ import annotations

import functools

import mpmath
import numpy as np
from scipy.sparse import csr_array

from ensemblage import flow

DIGITS = 50


def two_cliques(weight, n=16):
    """Two cliques with one link of this weight between them."""
    graph = np.kron(np.eye(2), np.ones((n // 2, n // 2)))
    graph[0, -1] = graph[-1, 0] = weight
    np.fill_diagonal(graph, 0)
    return graph


def random_graph(n, density, orders, seed):
    """Links at random, with weights over so many orders of magnitude."""
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.random((n, n)) < density, 1) * 10.0 ** -rng.uniform(0, orders, (n, n))
    return graph + graph.T


def sizes_over(n, orders, seed):
    return (10 ** np.random.default_rng(seed).uniform(0, orders, n)).astype(np.int64)


def with_isolated(graph, nodes):
    graph = graph.copy()
    graph[nodes] = graph[:, nodes] = 0
    return graph


def path(n):
    """A line of nodes: bipartite, and slow to mix."""
    return np.eye(n, k=1) + np.eye(n, k=-1)


ones = np.ones(16, dtype=np.int64)
#: Name: (graph, sizes, steps).
CASES = {
    "even weights": (random_graph(16, 0.4, 0, 0), ones, 5),
    "link of 1e-12 between cliques": (two_cliques(1e-12), ones, 10),
    "link of 1e-300 between cliques": (two_cliques(1e-300), ones, 10),
    "weights over 12 orders": (random_graph(16, 0.4, 12, 1), ones, 10),
    "sizes over 12 orders": (random_graph(16, 0.4, 0, 2), sizes_over(16, 12, 2), 10),
    "weights and sizes over 12 orders": (random_graph(16, 0.3, 12, 3), sizes_over(16, 12, 3), 20),
    "isolated nodes": (with_isolated(random_graph(16, 0.4, 12, 4), [0, 7, 15]), ones, 10),
    "long walk on a line": (path(16), ones, 100),
    "long walk, near-disconnected": (two_cliques(1e-9), ones, 100),
    "long walk, weights over 12 orders": (random_graph(16, 0.3, 12, 5), ones, 100),
}


def exactly(matrix):
    """Return an array of floats as one of mpmath's numbers."""
    return np.vectorize(mpmath.mpf, otypes=[object])(np.asarray(matrix, dtype=float))


def oracle_similarity(graph, sizes, n_steps):
    """Return PTS from its definition, in fifty digits."""
    with mpmath.workdps(DIGITS):
        weights = exactly(graph) * exactly(sizes)[None, :]
        totals = weights.sum(axis=1)
        P = np.array([w / total if total else w for w, total in zip(weights, totals, strict=True)])
        power, S = P, P @ P.T
        for _ in range(n_steps - 1):
            power = power @ P
            S = S + power @ power.T
        lengths = [mpmath.sqrt(square) for square in S.diagonal()]
        n = len(graph)
        result = exactly(np.eye(n))
        for i in range(n):
            for j in range(n):
                if i != j and lengths[i] and lengths[j]:
                    result[i, j] = S[i, j] / lengths[i] / lengths[j]
        return result


def oracle_cut(B, k, multiplicity=None):
    """Return the eigenvalues of the transfer cut and the unit rows at k, in fifty digits."""
    with mpmath.workdps(DIGITS):
        B = exactly(B)
        counts = exactly(np.ones(len(B)) if multiplicity is None else multiplicity)
        degrees = B.sum(axis=1)
        small = (B * (counts / degrees)[:, None]).T @ B
        root = np.array([mpmath.sqrt(total) for total in small.sum(axis=1)])
        normal = small / root[:, None] / root[None, :]
        values, vectors = mpmath.eigsy(mpmath.matrix(normal.tolist()))
        order = sorted(range(len(root)), key=lambda place: -values[place])
        vectors = np.array(vectors.tolist())[:, order[:k]]
        rows = (B / degrees[:, None]) @ (vectors / root[:, None])
        lengths = [mpmath.sqrt(square) for square in (rows * rows).sum(axis=1)]
        unit = rows / np.array(lengths)[:, None]
        return np.array([values[place] for place in order]), unit


def walk(graph, sizes):
    return flow.transition_matrix(csr_array(graph), sizes)


def bipartite(similarity, n_columns, seed):
    """Return mean similarities to some groups, as PTGP has them."""
    groups = np.random.default_rng(seed).integers(n_columns, size=len(similarity))
    groups[:n_columns] = np.arange(n_columns)
    columns = np.eye(n_columns)[groups]
    return similarity @ (columns / columns.sum(axis=0))


def relative_error(found, truth):
    """Return the largest error relative to each entry; 0 must be 0."""
    with mpmath.workdps(DIGITS):
        worst = mpmath.mpf(0)
        for got, want in zip(found.ravel(), truth.ravel(), strict=True):
            if want:
                worst = max(worst, abs(mpmath.mpf(float(got)) - want) / want)
            else:
                assert got == 0
        return float(worst)


def similarity_errors(name):
    """Return the relative errors of PTS, of lengths and products in float64, and in float32."""
    graph, sizes, n_steps = CASES[name]
    P, truth = walk(graph, sizes), oracle_similarity(graph, sizes, n_steps)
    pts = relative_error(flow.trajectory_similarity(P, n_steps), truth)
    columns = np.eye(len(graph))
    norms = flow.trajectory_norms(P, n_steps)
    double = flow.similarity_product(P, norms, columns, n_steps)
    single = flow.similarity_product(P, norms, columns, n_steps, single=True)
    exact = truth.astype(float)
    return {
        "similarity": pts,
        "product": relative_error(double, truth),
        "single": float(np.abs(single - exact).max()),
    }


def cut_errors(name, *, k=3, n_columns=6, single=False):
    """Return the gap at k, the largest error of eigenvalues, and that of angles of unit rows.

    Eigenvectors have signs and, where values tie, no own direction; the inner products of unit rows
    do not depend on either as long as there is a gap at k.
    """
    sizes = CASES[name][1]
    B = _bipartite_of(name, n_columns)
    given = B.astype(np.float32) if single else B
    values, rows = _cut_of(name, k, n_columns)
    cut = flow.TransferCut(given, sizes)
    found = cut.embedding(k)
    return {
        "gap": values[k - 1] - values[k],
        "values": float(np.abs(cut.eigenvalues() - values).max()),
        "rows": float(np.abs(found @ found.T - rows @ rows.T).max()),
    }


def _bipartite_of(name, n_columns):
    graph, sizes, n_steps = CASES[name]
    return bipartite(flow.trajectory_similarity(walk(graph, sizes), n_steps), n_columns, 0)


@functools.cache
def _cut_of(name, k, n_columns):
    values, rows = oracle_cut(_bipartite_of(name, n_columns), k, CASES[name][1])
    return values.astype(float), rows.astype(float)


def main() -> None:
    print(f"{'similarities':38}{'PTS':>10}{'product':>10}{'float32':>10}")
    for name in CASES:
        errors = similarity_errors(name)
        print(f"{name:38}", *(f"{errors[key]:9.1e}" for key in ("similarity", "product", "single")))
    print(
        f"\n{'transfer cut at k = 3':38}{'gap':>10}{'values':>10}{'rows':>10}{'float32: both':>20}"
    )
    for name in CASES:
        double, single = cut_errors(name), cut_errors(name, single=True)
        figures = [*double.values(), single["values"], single["rows"]]
        print(f"{name:38}", *(f"{figure:9.1e}" for figure in figures))


if __name__ == "__main__":
    main()
