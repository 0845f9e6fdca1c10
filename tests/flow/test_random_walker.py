from fractions import Fraction

import numpy as np
import pytest
import similarity_twins
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow
from ensemblage.testing.strategies import votes


def lumped(matrix, n_neighbors=None, beta=None):
    groups, _ = flow.microclusters(matrix)
    A = flow.coassociation(groups.table)
    least = None if n_neighbors is None else flow.object_thresholds(A, groups.sizes, n_neighbors)
    return flow.walker_graph(A, groups.sizes, least, beta), groups


@pytest.mark.parametrize("beta", [None, 30.0])
def test_worked_walk(e2, beta):
    graph, _ = lumped(e2, beta=beta)
    if beta is None:
        expected = np.zeros((4, 4))
        expected[0, 1], expected[1, 2], expected[2, 3] = 1.5, 1, 2
        np.testing.assert_allclose(graph, expected + expected.T)
    chances = flow.first_arrivals(graph, np.array([0, -1, -1, 1]), 2)
    np.testing.assert_allclose(chances[:, 0], [1, 9 / 13, 3 / 13, 0], rtol=1e-12)
    assert flow.first_likely(chances).tolist() == [0, 0, 1, 1]
    chances = flow.first_arrivals(graph, np.array([0, -1, 1, -1]), 2)
    np.testing.assert_allclose(chances[:, 0], [1, 0.6, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(chances.sum(axis=1), 1)


@given(
    matrix=votes(max_objects=20),
    n_neighbors=st.none() | st.integers(1, 25),
    beta=st.none() | st.floats(0.5, 8),
    data=st.data(),
)
def test_chances_are_those_of_the_objects(matrix, n_neighbors, beta, data):
    graph, groups = lumped(matrix, n_neighbors, beta)
    n = len(groups.sizes)
    k = data.draw(st.integers(1, min(n, 4)))
    order = data.draw(st.permutations(range(n)))
    region = np.full(n, -1)
    region[order[:k]] = np.arange(k)
    W = similarity_twins.srw_graph(matrix, n_neighbors, beta)
    expected = similarity_twins.srw_chances(W, region[groups.of_object], k)
    found = flow.first_arrivals(graph, region, k)
    np.testing.assert_allclose(found[groups.of_object], expected, atol=1e-9)


@given(matrix=votes(max_objects=20), n_neighbors=st.integers(1, 22))
def test_thresholds_are_those_of_the_objects(matrix, n_neighbors):
    groups, _ = flow.microclusters(matrix)
    A = flow.coassociation(groups.table)
    found = flow.object_thresholds(A, groups.sizes, n_neighbors)[groups.of_object]
    expected = similarity_twins.srw_least(similarity_twins.eac(matrix), n_neighbors)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_blocks_and_threads():
    """More nodes than are eliminated at a time, or go to one thread."""
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 6, (700, 5))
    graph, groups = lumped(matrix)
    n = len(groups.sizes)
    region = np.full(n, -1)
    region[rng.permutation(n)[:9]] = np.repeat(np.arange(3), 3)
    found = flow.first_arrivals(graph, region, 3, n_jobs=1)
    np.testing.assert_allclose(found, similarity_twins.srw_chances(graph, region, 3), atol=1e-12)
    np.testing.assert_array_equal(found, flow.first_arrivals(graph, region, 3, n_jobs=3))


def test_weak_links_keep_their_digits():
    """A strong pair of nodes between two seeds, held by links that rounding would swallow."""
    left, right, strong = Fraction(1, 10**17), Fraction(3, 10**19), Fraction(7, 3)
    graph = np.zeros((4, 4))
    graph[0, 1], graph[1, 2], graph[2, 3] = float(left), float(strong), float(right)
    graph += graph.T
    chances = flow.first_arrivals(graph, np.array([0, -1, -1, 1]), 2)
    # In series: the chance of the right seed from node 1 is left's resistance over the whole.
    whole = 1 / left + 1 / strong + 1 / right
    expected = [
        [1 - 1 / left / whole, 1 / left / whole],
        [1 / right / whole, 1 - 1 / right / whole],
    ]
    np.testing.assert_allclose(chances[1:3], np.array(expected, dtype=float), rtol=1e-14)


def test_ties_go_to_the_lowest_region_whatever_the_rounding():
    chances = np.array([[0.5 - 1e-16, 0.5], [0.2, 0.8], [0.0, 0.0]])
    assert flow.first_likely(chances).tolist() == [0, 1, 0]


def test_islands_join_the_most_similar_region():
    A = np.eye(6)
    A[4, 5] = A[5, 4] = 0.5
    A[3, 2] = A[2, 3] = 0.1
    graph = flow.walker_graph(A, np.array([1, 1, 1, 1, 1, 1]), np.full(6, 0.4))
    region = np.array([0, 1, 2, -1, -1, -1])
    chances = flow.first_arrivals(graph, region, 3)
    stranded = np.flatnonzero(chances.sum(axis=1) == 0)
    assert stranded.tolist() == [3, 4, 5]
    part = np.array([-1, -1, -1, *flow.islands(graph, stranded)])
    assert part.tolist() == [-1, -1, -1, 0, 1, 1]
    # Node 3 agrees a little with region 2; nodes 4 and 5 with none, and the largest takes them.
    assert flow.nearest_regions(A, np.array([1, 9, 1, 1, 1, 1]), part, region).tolist() == [2, 1]


@given(matrix=votes(max_objects=20), n_neighbors=st.integers(1, 25))
def test_thresholds_count_objects(matrix, n_neighbors):
    groups, _ = flow.microclusters(matrix)
    A = similarity_twins.eac(matrix)
    found = flow.object_thresholds(flow.coassociation(groups.table), groups.sizes, n_neighbors)
    for i in range(len(matrix)):
        others = np.sort(np.delete(A[i], i))[::-1]
        least = others[n_neighbors - 1] if n_neighbors <= len(others) else 0.0
        assert found[groups.of_object[i]] == pytest.approx(least, abs=1e-12)
