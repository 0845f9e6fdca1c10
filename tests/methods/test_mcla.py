"""MCLA: a graph of clusters cut into meta-clusters, and the objects shared out among them."""

import graph_twins
import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import quiet

import ensemblage as en
from ensemblage import flow
from ensemblage.testing.strategies import votes

PARTITIONERS = ["mtkahypar", "metis"]
few = settings(max_examples=30)


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_worked_meta_graph(e2, partitioner):
    est = en.MCLA(2, partitioner=partitioner, random_state=0).fit(e2)
    groups = est.microclusters_
    counts = flow.overlaps(groups.table, groups.sizes)
    expected = np.zeros((5, 5))
    expected[0, 2], expected[0, 3], expected[1, 3], expected[1, 4] = 0.75, 1 / 6, 0.4, 0.5
    np.testing.assert_allclose(flow.jaccard(counts), expected + expected.T + np.eye(5))
    whole = np.zeros((5, 5))
    whole[0, 2], whole[0, 3], whole[1, 3], whole[1, 4] = 20642202, 4587156, 11009174, 13761468
    np.testing.assert_array_equal(est._graph.toarray(), whole + whole.T)
    assert est._weights.tolist() == [25_000_000] * 2 + [18_750_000] * 2 + [12_500_000]
    assert est.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    best = graph_twins.least_cut(
        lambda p: graph_twins.edges_cut(expected + expected.T, p), [4, 4, 3, 3, 2], [9, 9]
    )
    np.testing.assert_allclose(best, 1 / 6)


def shares(matrix, groups):
    micro = en.microclusters(matrix)
    return flow.association(
        flow.membership(micro.table),
        micro.table >= 0,
        flow.owners(micro.table),
        np.array(groups),
        max(groups) + 1,
    )[micro.of_object]


def test_worked_associations(e2):
    two = shares(e2, [0, 1, 0, 1, 1])[[0, 3, 4, 6]]
    np.testing.assert_allclose(two, [[1, 0], [0.5, 1 / 3], [0, 2 / 3], [0, 2 / 3]])
    three = shares(e2, [0, 1, 0, 2, 1])[[0, 3, 4, 6]]
    np.testing.assert_allclose(three, [[1, 0, 0], [0.5, 0, 1], [0, 0.5, 1], [0, 1, 0]])
    assert three.argmax(axis=1).tolist() == [0, 2, 2, 1]


@few
@given(matrix=votes(max_objects=10), data=st.data())
def test_associations_are_means_over_the_clusters_an_object_could_be_in(matrix, data):
    codes = graph_twins.object_codes(matrix)
    n_clusters = int((codes.max(axis=0) + 1).sum())
    groups = data.draw(st.lists(st.integers(0, 3), min_size=n_clusters, max_size=n_clusters))
    expected = graph_twins.meta_cluster_shares(codes, groups)
    np.testing.assert_allclose(shares(matrix, groups), expected, atol=1e-12)
    assert (expected.max(axis=1) > 0).all()


@few
@given(matrix=votes(), data=st.data())
def test_mcla_is_the_object_level_method(matrix, data):
    groups = en.microclusters(matrix)
    k = data.draw(st.integers(1, len(groups.sizes)))
    est = quiet(en.MCLA(k, random_state=0), matrix)
    codes = groups.table[groups.of_object]
    # The same graph from objects, and the same labels from the meta-clusters found.
    H = twins.membership(codes) > 0
    J = np.array([[(a & b).sum() / (a | b).sum() for a in H.T] for b in H.T])
    np.fill_diagonal(J, 0)
    np.testing.assert_array_equal(est._graph.toarray(), flow.whole_weights(J))
    parts = flow.spread_by_weight(est._weights, min(k, len(est._weights)))
    expected = graph_twins.meta_cluster_shares(codes, parts.tolist())
    np.testing.assert_allclose(shares(matrix, parts.tolist()), expected, atol=1e-12)


def test_ties_go_to_the_meta_cluster_of_the_earliest_cluster():
    # Two clusterings that contradict each other: each object is in one of two halves of both.
    matrix = [[0, 0], [0, 1], [1, 0], [1, 1]]
    est = quiet(en.MCLA(4, random_state=0), matrix)
    assert est.labels_.tolist() == [0, 0, 1, 1]  # every association is 1 or 0; the first decides
    assert est.n_clusters_ == 2
    with pytest.warns(en.FewerClustersWarning):
        en.MCLA(4, random_state=0).fit(matrix)


def test_a_missing_vote_is_not_a_vote_against():
    # Object 2 votes in the first clustering only; with the others counted it would be torn.
    matrix = [[0, 0, 0]] * 3 + [[1, 1, 1]] * 3 + [[0, -1, -1]]
    assert en.MCLA(2, random_state=0).fit_predict(matrix).tolist() == [0, 0, 0, 1, 1, 1, 0]
