"""Similarities of microclusters beside those of objects, and their worked numbers."""

import numpy as np
import pytest
import similarity_twins
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from ensemblage import flow
from ensemblage.flow import completion
from ensemblage.flow._symmetry import mirror
from ensemblage.testing.strategies import votes


def prepared(matrix):
    groups, _ = flow.microclusters(matrix)
    counts = flow.overlaps(groups.table, groups.sizes)
    return groups, counts, flow.owners(groups.table)


def pairs(matrix, *places):
    return [matrix[int(place[0]) - 1, int(place[1]) - 1] for place in places]


@given(votes(), st.integers(1, 3))
def test_graded_coassociation_of_the_identity_is_coassociation(matrix, n_jobs):
    groups, _, owner = prepared(matrix)
    found = flow.graded_coassociation(groups.table, np.eye(len(owner)), n_jobs=n_jobs)
    np.testing.assert_array_equal(found, flow.coassociation(groups.table))


@given(votes(), st.integers(0, 9))
def test_graded_coassociation_agrees_with_its_definition(matrix, seed):
    groups, _, owner = prepared(matrix)
    rng = np.random.default_rng(seed)
    likeness = rng.random((len(owner), len(owner)))
    likeness += likeness.T
    weights = rng.integers(0, 3, matrix.shape[1]).astype(float)
    first = np.searchsorted(owner, np.arange(matrix.shape[1]))

    def of_pair(m, i, j):
        return likeness[first[m] + groups.table[i, m], first[m] + groups.table[j, m]]

    found = flow.graded_coassociation(groups.table, likeness, weights)
    expected = similarity_twins.mean_over_common_votes(groups.table, of_pair, weights)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


def test_worked_triples(e2):
    _, counts, owner = prepared(e2)
    found = flow.connected_triples(flow.jaccard(counts), owner)
    np.testing.assert_allclose(
        pairs(found, "12", "34", "35", "45"), [0.416667, 0.416667, 0, 1], atol=5e-7
    )
    np.testing.assert_array_equal(found.diagonal(), 1)
    assert found[0, 2] == 0  # of different clusterings


def test_triples_of_a_single_clustering_are_none():
    found = flow.connected_triples(np.eye(3), np.zeros(3, dtype=int))
    np.testing.assert_array_equal(found, np.eye(3))


WORKED_SIMRANK = {  # within y1, y3, y4, then 12, 13, 14, 23, 24, 34
    2: [0.4, 0.4, 0.4, 0.2, 0, 0, 0.2, 0, 0.2],
    3: [0.48, 0.453333, 0.48, 0.253333, 0.013333, 0, 0.24, 0.026667, 0.266667],
    4: [0.56, 0.506667, 0.544, 0.317333, 0.041333, 0.004, 0.284, 0.078667, 0.346667],
    5: [0.577067, 0.520178, 0.561067, 0.3344, 0.053067, 0.008267, 0.297156, 0.097156, 0.370489],
}
PLACES = ("11", "33", "44", "12", "13", "14", "23", "24", "34")


@pytest.mark.parametrize("n_iterations", sorted(WORKED_SIMRANK))
def test_worked_simrank(e2, n_iterations):
    groups, _, _ = prepared(e2)
    found = flow.simrank(flow.membership(groups.table), groups.sizes, 0.8, n_iterations - 1)
    np.testing.assert_allclose(pairs(found, *PLACES), WORKED_SIMRANK[n_iterations], atol=5e-7)


def test_worked_simrank_of_three(e3):
    groups, _, _ = prepared(e3)
    found = flow.simrank(flow.membership(groups.table), groups.sizes, 0.8, 4)
    expected = [0.441214, 0.386748, 0.487269, 0.346092, 0.220945, 0.034388, 0.312555, 0.064922,
                0.206696]  # fmt: skip
    np.testing.assert_allclose(pairs(found, *PLACES), expected, atol=5e-7)


@given(votes(), st.integers(1, 6), st.floats(0, 1), st.integers(1, 3))
def test_simrank_agrees_with_objects(matrix, n_updates, decay, n_jobs):
    groups, _, _ = prepared(matrix)
    members = flow.membership(groups.table)
    found = flow.simrank(members, groups.sizes, decay, n_updates, n_jobs=n_jobs)
    np.testing.assert_array_equal(found, found.T)
    of_objects = found[np.ix_(groups.of_object, groups.of_object)]
    np.fill_diagonal(of_objects, 1)
    expected = similarity_twins.srs(matrix, decay, n_updates + 1)
    np.testing.assert_allclose(of_objects, expected, atol=1e-12)


# -- completion ------------------------------------------------------------------------------------


def optimum(matrix, penalty):
    """Solve with small steps, which come near enough to the optimum."""
    groups, _, _ = prepared(matrix)
    target, observed = flow.reliable_pairs(flow.coassociation(groups.table), groups.table, 0.2, 0.8)
    found = flow.complete(
        target, observed, groups.sizes, penalty, growth=1.02, max_iter=900, tol=-1.0
    )  # without an early end: the constraint may hold long before the cost is lowest
    X = found.matrix[np.ix_(groups.of_object, groups.of_object)]
    B, known = similarity_twins.reliable(matrix)
    cost = np.abs(np.linalg.eigvalsh(X)).sum() + penalty * np.abs((B - X)[known]).sum()
    return groups, found.matrix, cost


def test_worked_reliable_pairs(e2):
    groups, _, _ = prepared(e2)
    target, observed = flow.reliable_pairs(flow.coassociation(groups.table), groups.table, 0.2, 0.8)
    np.testing.assert_array_equal(target, np.eye(4))
    hidden = {(0, 1), (1, 2), (2, 3)}
    assert {(i, j) for i in range(4) for j in range(i, 4) if not observed[i, j]} == hidden


@pytest.mark.parametrize(
    ("penalty", "kept", "cost"),
    [(8**-0.5, [1, 0, 0, 0], 6.181981), (0.6, [1, 0, 1, 1], 7.6), (1.0, [1, 1, 1, 1], 8.0)],
)
def test_worked_completions(e2, penalty, kept, cost):
    _, X, found = optimum(e2, penalty)
    assert found == pytest.approx(cost, abs=2e-4)
    if penalty < 1:  # at 1 the optimum is not unique
        np.testing.assert_allclose(X, np.diag(kept), atol=1e-3)


@given(votes(max_objects=14), st.sampled_from([None, 0.3, 0.6, 1.0]))
def test_completion_agrees_with_objects(matrix, penalty):
    groups, _, _ = prepared(matrix)
    penalty = len(matrix) ** -0.5 if penalty is None else penalty
    A = flow.coassociation(groups.table)
    target, observed = flow.reliable_pairs(A, groups.table, 0.2, 0.8)
    B, known = similarity_twins.reliable(matrix)
    cells = np.ix_(groups.of_object, groups.of_object)
    np.testing.assert_array_equal(target[cells] * observed[cells], B)
    np.testing.assert_array_equal(observed[cells], known)
    # A fixed number of iterations: the last bit must not decide about one more.
    found = flow.complete(target, observed, groups.sizes, penalty, max_iter=8, tol=-1.0)
    assert found.n_iterations == 8
    expected, E = similarity_twins.complete(B, known, penalty, max_iter=8, tol=-1.0)
    np.testing.assert_allclose(found.matrix[cells], expected, atol=1e-9)
    left = np.linalg.norm(B - expected - E) / np.linalg.norm(B)
    np.testing.assert_allclose(found.residual, left, atol=1e-9)
    np.testing.assert_array_equal(found.matrix, found.matrix.T)


@pytest.mark.parametrize("bound", [0.0, 5.0, 20.0, 45.0, 1e6])
def test_eigenpairs_of_a_large_matrix(bound, monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(90, 90))
    A = A + A.T
    A[:30, :30] = A[30:60, 30:60] = 1.5  # and some eigenvalues that are close together
    A[60:, 60:] = np.eye(30)
    values, vectors = completion._eigenpairs_beyond(A.copy(), bound)
    monkeypatch.setattr(completion, "_SMALL", 10)
    few_values, few_vectors = completion._eigenpairs_beyond(A.copy(), bound)
    assert len(few_values) == len(values)
    np.testing.assert_allclose(np.sort(few_values), values, atol=1e-10)
    expected = (vectors * values) @ vectors.T
    np.testing.assert_allclose((few_vectors * few_values) @ few_vectors.T, expected, atol=1e-10)


@given(npst.arrays(np.float64, st.integers(1, 150).map(lambda n: (n, n)), elements=st.floats(0, 1)))
def test_mirror(matrix):
    expected = np.tril(matrix) + np.tril(matrix, -1).T
    mirror(matrix)
    np.testing.assert_array_equal(matrix, expected)
