"""What holds for Median, LCA, graphs and refining, whatever the votes, beside the laws of all."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import ensemblage as en
from ensemblage import graph
from ensemblage.refine import merge
from ensemblage.testing.strategies import named, odd_votes, votes

FEW = settings(max_examples=settings().max_examples // 3)
MAKE = {
    "median": lambda k: en.Median(k, random_state=0),
    "lca": lambda k: en.LCA(k, random_state=0),
}


def fitted(name, matrix, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKE[name](k).fit(matrix)


def partition(labels):
    """Return labels by first appearance: the same for equal partitions."""
    found = np.asarray(labels).tolist()
    first = {label: place for place, label in reversed(list(enumerate(found)))}
    return [first[label] for label in found]


def drawn_k(data, matrix):
    return data.draw(st.integers(1, len(np.unique(matrix, axis=0))))


# -- methods ---------------------------------------------------------------------------------------


@FEW
@given(data=st.data())
def test_a_median_of_an_ensemble_is_that_of_the_ensemble_twice(data):
    matrix = data.draw(odd_votes(max_objects=10, max_clusterings=4))
    k = drawn_k(data, matrix)
    one, twice = (fitted("median", m, k) for m in (matrix, np.hstack([matrix, matrix])))
    assert one.expected_loss_ == pytest.approx(twice.expected_loss_, abs=1e-9)


@FEW
@given(data=st.data())
def test_probabilities_move_with_the_classes_names(data):
    matrix = data.draw(odd_votes(max_objects=12, max_clusterings=4))
    k = drawn_k(data, matrix)
    one, other = fitted("lca", matrix, k), fitted("lca", data.draw(named(matrix)), k)
    np.testing.assert_array_equal(one.memberships_, other.memberships_)


# -- graphs ----------------------------------------------------------------------------------------


@st.composite
def vertices_with_votes(draw):
    matrix = draw(votes(max_objects=12, max_clusterings=4))
    n = len(matrix)
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = np.array(draw(st.lists(pairs, max_size=30)), dtype=np.int64).reshape(-1, 2)
    return matrix, edges


@FEW
@given(vertices_with_votes(), st.data())
def test_names_of_clusters_change_nothing_along_edges(drawn, data):
    matrix, edges = drawn
    renamed = data.draw(named(matrix))
    np.testing.assert_array_equal(
        graph.edge_agreement(matrix, edges), graph.edge_agreement(renamed, edges)
    )
    communities = np.zeros(len(matrix), dtype=int)
    one, other = (graph.scores(v, edges, communities) for v in (matrix, renamed))
    np.testing.assert_array_equal(one.refusal, other.refusal)
    assert one.strength == pytest.approx(other.strength, nan_ok=True)


@FEW
@given(vertices_with_votes(), st.integers(0, 2**31 - 1), st.sampled_from(["ecg", "threshold"]))
def test_communities_are_connected_parts_numbered_in_order(drawn, seed, rule):
    matrix, edges = drawn
    assume(len(edges))

    def clusterer(given_graph, seed):
        parts = connected_components(given_graph)[1]
        return 2 * parts + np.random.default_rng(seed).integers(0, 2, len(parts))

    def found(n_jobs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", en.NoStructureWarning)
            return graph.consensus(
                edges, clusterer, 4, rule, seed, n_vertices=len(matrix), n_jobs=n_jobs
            )

    one, other = found(1), found(3)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.votes, other.votes)
    _, first = np.unique(one.labels, return_index=True)
    assert (np.diff(first) > 0).all()
    n = len(matrix)
    joined = np.zeros((n, n), dtype=bool)
    joined[edges[:, 0], edges[:, 1]] = True
    parts = connected_components(joined, directed=False)[1]
    for label in np.unique(one.labels):
        assert len(set(parts[one.labels == label])) == 1


# -- refining --------------------------------------------------------------------------------------


@FEW
@given(votes(max_objects=14, max_clusterings=4), st.sampled_from(["nmi", "ari"]))
@example(np.array([[0, 2], [1, 0], [-1, 1], *[[1, 1]] * 5]), "ari")
def test_merging_again_merges_nothing(matrix, metric):
    once = merge(matrix, metric)
    # It also ends when a clustering has one cluster left; without that one others might merge.
    assume(not once.merges or once.n_clusters[once.merges[-1].member] > 1)
    assert merge(once.votes, metric).merges == []


@FEW
@given(votes(max_objects=14, max_clusterings=4), st.sampled_from(["nmi", "ari"]), st.data())
def test_names_of_clusters_do_not_decide_merges(matrix, metric, data):
    one, other = merge(matrix, metric), merge(data.draw(named(matrix)), metric)
    np.testing.assert_array_equal(one.gains, other.gains)
    np.testing.assert_array_equal(one.n_clusters, other.n_clusters)


@FEW
@given(st.integers(0, 10**6), st.sampled_from(["nmi", "ari"]))
def test_order_of_objects_and_clusterings_does_not_decide_merges(seed, metric):
    """Votes of many objects have no ties."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 150)
    noise = rng.integers(0, 8, (150, 4))
    matrix = np.where(
        rng.random((150, 4)) < 0.7, 2 * truth[:, None] + rng.integers(0, 2, (150, 4)), noise
    )
    rows, columns = rng.permutation(150), rng.permutation(4)
    one, other = merge(matrix, metric), merge(matrix[rows][:, columns], metric)
    np.testing.assert_allclose(one.gains, other.gains, atol=1e-9)
    for place, column in enumerate(columns):
        assert partition(one.votes[rows, column]) == partition(other.votes[:, place])
