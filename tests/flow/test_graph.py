import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st

from ensemblage.flow import coassociation, elite_graph, microclusters
from ensemblage.testing.strategies import votes


def table_of(matrix):
    return microclusters(matrix)[0].table


def test_coassociation_of_the_papers_example(e2, e3):
    np.testing.assert_array_equal(
        coassociation(table_of(e2)),
        [[1, 0.5, 0, 0], [0.5, 1, 0.5, 0], [0, 0.5, 1, 0.5], [0, 0, 0.5, 1]],
    )
    third = 1 / 3
    np.testing.assert_array_equal(
        coassociation(table_of(e3)),
        [
            [1, 2 / 3, third, 0],
            [2 / 3, 1, 2 / 3, 0],
            [third, 2 / 3, 1, third],
            [0, 0, third, 1],
        ],
    )


def test_the_elite_graph_of_the_papers_example(e2, e3):
    path = np.diag([0.5] * 3, 1)
    for n_neighbors in (1, 2):
        np.testing.assert_array_equal(
            elite_graph(table_of(e2), n_neighbors).toarray(), path + path.T
        )
    kept = elite_graph(table_of(e3), 1).toarray()
    assert kept[0, 2] == 0  # 1/3 is below the threshold of both ends
    assert kept[2, 3] == 1 / 3  # kept through y4


@given(votes())
def test_coassociation_agrees_with_its_definition(matrix):
    table = table_of(matrix)
    np.testing.assert_array_equal(coassociation(table), twins.coassociation(table))


@given(votes(), votes())
def test_coassociation_with_other_rows_is_a_block_of_the_whole(matrix, other):
    other = np.resize(other, (len(other), matrix.shape[1]))
    left, right = matrix.astype(np.int32), other.astype(np.int32)
    whole = twins.coassociation(np.vstack([left, right]))
    np.testing.assert_array_equal(coassociation(left, right), whole[: len(left), len(left) :])


@given(votes(max_objects=40), st.integers(1, 12))
def test_elite_graph_agrees_with_its_definition(matrix, n_neighbors):
    table = table_of(matrix)
    found = elite_graph(table, n_neighbors)
    np.testing.assert_array_equal(found.toarray(), twins.elite_graph(table, n_neighbors))
    assert (found.data > 0).all()


@pytest.mark.parametrize(
    ("n_clusterings", "n_labels"), [(3, 300), (300, 3), (6, 70_000), (70_000, 2)]
)
def test_wide_codes_and_many_clusterings(n_clusterings, n_labels):
    rng = np.random.default_rng(1)
    table = rng.integers(0, n_labels, (60, n_clusterings)).astype(np.int32)
    table[::3, 0] = n_labels - 1
    np.testing.assert_array_equal(coassociation(table), twins.coassociation(table))
    np.testing.assert_array_equal(elite_graph(table, 4).toarray(), twins.elite_graph(table, 4))


@pytest.mark.parametrize("gaps", [False, True])
def test_blocks_and_threads_change_nothing(gaps):
    rng = np.random.default_rng(2)
    table = np.unique(rng.integers(-1 if gaps else 0, 6, (4500, 5)), axis=0).astype(np.int32)
    table = table[(table >= 0).any(axis=1)]
    one, many = (elite_graph(table, 7, n_jobs=n_jobs) for n_jobs in (1, 3))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, part), getattr(many, part))
