import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st

from ensemblage.flow import (
    cluster_means,
    elite_graph,
    membership,
    microclusters,
    similarity_product,
    trajectory_norms,
    trajectory_similarity,
    transition_matrix,
)
from ensemblage.testing.strategies import ensembles


def walk_of(matrix, n_neighbors):
    groups, _ = microclusters(matrix)
    return transition_matrix(elite_graph(groups.table, n_neighbors), groups.sizes), groups


def off_diagonal(matrix):
    return matrix[np.triu_indices(len(matrix), 1)]


def test_transitions_of_the_papers_example(e2, e3):
    P, _ = walk_of(e2, 1)
    expected = [[0, 1, 0, 0], [0.6, 0, 0.4, 0], [0, 1 / 3, 0, 2 / 3], [0, 0, 1, 0]]
    np.testing.assert_allclose(P.toarray(), expected, atol=1e-15)
    P, _ = walk_of(e3, 1)
    expected = [[0, 1, 0, 0], [0.6, 0, 0.4, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]]
    np.testing.assert_allclose(P.toarray(), expected, atol=1e-15)
    P, _ = walk_of(e3, 2)
    expected = [
        [0, 0.5, 0.5, 0],
        [0.6, 0, 0.4, 0],
        [0.428571, 0.285714, 0, 0.285714],
        [0, 0, 1, 0],
    ]
    np.testing.assert_allclose(P.toarray(), expected, atol=5e-7)


#: METHODS 1.3 and 1.4: pairs 12, 13, 14, 23, 24, 34 as printed.
WORKED = [
    ("e2", 1, 1, [0, 0.447214, 0, 0, 0.554700, 0]),
    ("e2", 1, 2, [0, 0.564305, 0, 0, 0.620470, 0]),
    ("e2", 1, 3, [0, 0.653929, 0, 0, 0.710190, 0]),
    ("e2", 2, 3, [0, 0.653929, 0, 0, 0.710190, 0]),
    ("e3", 1, 1, [0, 0.707107, 0, 0, 0.554700, 0]),
    ("e3", 1, 2, [0, 0.749269, 0, 0, 0.670820, 0]),
    ("e3", 1, 3, [0, 0.819773, 0, 0, 0.748591, 0]),
    ("e3", 2, 1, [0.392232, 0.342997, 0.707107, 0.605406, 0.554700, 0]),
    ("e3", 2, 2, [0.507620, 0.467674, 0.751650, 0.689370, 0.592743, 0.129790]),
    ("e3", 2, 3, [0.615233, 0.549396, 0.807523, 0.748434, 0.664564, 0.260299]),
    ("e3", 3, 3, [0.615233, 0.549396, 0.807523, 0.748434, 0.664564, 0.260299]),
]


@pytest.mark.parametrize(("example", "n_neighbors", "n_steps", "expected"), WORKED)
def test_worked_similarities(example, n_neighbors, n_steps, expected, request):
    P, _ = walk_of(request.getfixturevalue(example), n_neighbors)
    found = trajectory_similarity(P, n_steps)
    np.testing.assert_allclose(off_diagonal(found), expected, atol=5e-7)
    np.testing.assert_array_equal(np.diag(found), 1.0)


#: METHODS 1.3 and 1.4: microclusters × clusters.
WORKED_B = [
    ("e2", 1, 1, """.5 .223607 1 .223607 0  .5 .277350 0 .5 .554700
                    .223607 .5 .447214 .5 0  .277350 .5 0 .277350 1"""),
    ("e2", 1, 2, """.5 .282152 1 .282152 0  .5 .310235 0 .5 .620470
                    .282152 .5 .564305 .5 0  .310235 .5 0 .310235 1"""),
    ("e2", 1, 3, """.5 .326964 1 .326964 0  .5 .355095 0 .5 .710190
                    .326964 .5 .653929 .5 0  .355095 .5 0 .355095 1"""),
    ("e3", 2, 3, """.807617 .678459 1 .582315 .807523 .721543 .807523
                    .807617 .706499 .615233 .874217 .664564 .787889 .664564
                    .648915 .630150 .549396 .874217 .260299 .765943 .260299
                    .736044 .630150 .807523 .462432 1 .577462 1"""),
]  # fmt: skip


@pytest.mark.parametrize(("example", "n_neighbors", "n_steps", "expected"), WORKED_B)
def test_worked_bipartite_graphs(example, n_neighbors, n_steps, expected, request):
    P, groups = walk_of(request.getfixturevalue(example), n_neighbors)
    means = cluster_means(groups.table)
    B = similarity_product(P, trajectory_norms(P, n_steps), means, n_steps)
    np.testing.assert_allclose(B.ravel(), [float(x) for x in expected.split()], atol=5e-7)


@given(ensembles())
def test_membership_agrees_with_its_definition(ensemble):
    table = microclusters(ensemble[0])[0].table
    expected = twins.membership(table)
    np.testing.assert_array_equal(membership(table).toarray(), expected)
    np.testing.assert_allclose(cluster_means(table).toarray(), expected / expected.sum(axis=0))
    by_rows = cluster_means(table, by_rows=True)
    np.testing.assert_array_equal(by_rows.toarray(), cluster_means(table).toarray())


@given(ensembles())
def test_transitions_agree_with_their_definition(ensemble):
    matrix, n_neighbors, _ = ensemble
    P, groups = walk_of(matrix, n_neighbors)
    graph = twins.elite_graph(groups.table, n_neighbors)
    np.testing.assert_allclose(
        P.toarray(), twins.transition_matrix(graph, groups.sizes), atol=1e-15
    )


@given(ensembles())
def test_similarity_agrees_with_its_definition(ensemble):
    matrix, n_neighbors, n_steps = ensemble
    P, groups = walk_of(matrix, n_neighbors)
    found = trajectory_similarity(P, n_steps)
    expected = twins.similarity_of(groups.table, groups.sizes, n_neighbors, n_steps)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    assert found.min() >= 0
    assert found.max() <= 1


@given(ensembles(max_objects=40), st.integers(1, 40))
def test_products_agree_with_the_matrix(ensemble, n_columns):
    matrix, n_neighbors, n_steps = ensemble
    P, groups = walk_of(matrix, n_neighbors)
    columns = np.random.default_rng(0).normal(size=(len(groups.sizes), n_columns))
    norms = trajectory_norms(P, n_steps)
    expected = trajectory_similarity(P, n_steps) @ columns
    found = similarity_product(P, norms, columns, n_steps)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_node_without_links_is_like_itself_only():
    P, _ = walk_of(np.array([[0, 0], [0, 1], [5, 5]]), 2)
    found = trajectory_similarity(P, 3)
    np.testing.assert_array_equal(found[2], [0, 0, 1])
    norms = trajectory_norms(P, 3)
    assert norms[2] == 0
    np.testing.assert_allclose(similarity_product(P, norms, np.eye(3), 3), found, atol=1e-15)


@pytest.fixture(scope="module")
def large_walk():
    rng = np.random.default_rng(3)
    table = np.unique(rng.integers(0, 8, (700, 5)), axis=0).astype(np.int32)
    return transition_matrix(elite_graph(table, 6), rng.integers(1, 30, len(table)))


def test_threads_change_no_bit(large_walk):
    columns = np.random.default_rng(0).normal(size=(large_walk.shape[0], 150))
    norms = trajectory_norms(large_walk, 5, n_jobs=1)
    np.testing.assert_array_equal(norms, trajectory_norms(large_walk, 5, n_jobs=3))
    for function, arguments in (
        (trajectory_similarity, (large_walk, 5)),
        (similarity_product, (large_walk, norms, columns, 5)),
    ):
        np.testing.assert_array_equal(
            function(*arguments, n_jobs=1), function(*arguments, n_jobs=3)
        )
