"""Stages of the methods that cut a graph of objects and clusters."""

import graph_twins
import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import csr_array

from ensemblage import flow
from ensemblage.testing.strategies import votes

SIZES_OF_E2 = np.array([3.0, 1, 2, 2])


def prepared(matrix):
    groups, _ = flow.microclusters(matrix)
    counts = flow.overlaps(groups.table, groups.sizes)
    return groups, flow.membership(groups.table), counts, flow.owners(groups.table)


def nmi_of(groups):
    return flow.member_nmi(groups.table, groups.sizes)


def entropies_of(groups):
    return flow.cluster_entropies(groups.table, groups.sizes)


# -- the transfer cut ------------------------------------------------------------------------------


@given(votes(), st.integers(1, 6))
def test_a_sparse_graph_is_the_dense_one(matrix, k):
    groups, members, _, _ = prepared(matrix)
    sizes = groups.sizes
    sparse, dense = (flow.TransferCut(B, sizes) for B in (members, members.toarray()))
    np.testing.assert_allclose(sparse._leading._matrix, dense._leading._matrix, atol=1e-14)
    np.testing.assert_allclose(sparse.eigenvalues(), dense.eigenvalues(), atol=1e-12)
    assert sparse.embedding(k).shape == dense.embedding(k).shape
    rows = sparse.coordinates(k)
    np.testing.assert_allclose(sparse.embedding(k), flow.unit_rows(rows))


def test_hidden_rows_are_rows_that_are_not_shown():
    rng = np.random.default_rng(0)
    B, hidden = rng.random((9, 5)), rng.random((4, 5))
    counts = rng.integers(1, 5, 9).astype(float)
    together = flow.TransferCut(np.vstack([B, hidden]), np.append(counts, np.ones(4)))
    for given_as in (B, csr_array(B)):
        apart = flow.TransferCut(given_as, counts, hidden_rows=hidden)
        np.testing.assert_allclose(apart.eigenvalues(), together.eigenvalues(), atol=1e-14)
        found, expected = apart.embedding(3), together.embedding(3)[:9]
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-12)


def test_a_row_without_links_lies_at_the_origin():
    B = np.array([[1.0, 0], [0, 0], [0, 1]])
    for given_as in (B, csr_array(B)):
        assert not flow.TransferCut(given_as).embedding(2)[1].any()


def test_one_batch_of_all_eigenvectors():
    B = np.random.default_rng(1).random((60, 50))
    batches, whole = flow.TransferCut(B), flow.TransferCut(B, first_batch=50)
    np.testing.assert_allclose(batches.eigenvalues(), whole.eigenvalues(), atol=1e-13)
    whole.coordinates(3)
    assert list(whole._leading._batches) == [50]


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_all_eigenvectors_of_fewer_rows_than_columns(make):
    rng = np.random.default_rng(2)
    B = rng.random((40, 90)) * (rng.random((40, 90)) < 0.2)
    B[7] = B[8]  # so that an eigenvalue is 0
    sizes = rng.integers(1, 5, 40)
    whole = flow.TransferCut(make(B), sizes)
    by_rows = flow.TransferCut(make(B), sizes, first_batch=90)
    assert len(by_rows._leading._of_rows) == 40  # and not 90
    np.testing.assert_allclose(by_rows.eigenvalues(), whole.eigenvalues()[:40], atol=1e-13)
    np.testing.assert_allclose(by_rows.eigenvalues()[39:], 0, atol=1e-13)
    found, expected = by_rows.coordinates(40), whole.coordinates(40)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-12)
    np.testing.assert_allclose(np.abs(found[:, :8]), np.abs(expected[:, :8]), atol=1e-10)


def test_worked_singular_values_of_hbgf(e2):
    groups, members, _, _ = prepared(e2)
    values = flow.TransferCut(members, groups.sizes).eigenvalues()
    np.testing.assert_allclose(
        np.sqrt(2 * np.maximum(values, 0)), [1.414214, 1.347775, 1, 0.428373, 0], atol=5e-7
    )


@given(votes(max_label=4), st.integers(1, 8))
def test_both_sides_are_singular_vectors_of_the_objects(matrix, k):
    groups, members, _, _ = prepared(matrix)
    objects, clusters, values = graph_twins.hbgf_rows(graph_twins.object_codes(matrix), k)
    found, of_clusters = flow.TransferCut(members, groups.sizes).both_sides(k)
    dimensions = objects.shape[1]
    assert found.shape[1] == of_clusters.shape[1] == dimensions
    after = values[dimensions] if dimensions < len(values) else 0.0
    if values[dimensions - 1] ** 2 - after**2 > 1e-6:  # the space of the leading ones is unique
        found = found[groups.of_object]
        ours, theirs = np.vstack([found, of_clusters]), np.vstack([objects, clusters])
        long = np.linalg.norm(ours, axis=1) > 0.5  # not those without any part in that space
        np.testing.assert_allclose(
            (ours @ ours.T)[np.ix_(long, long)], (theirs @ theirs.T)[np.ix_(long, long)], atol=1e-6
        )


def test_membership_of_no_rows():
    found = flow.membership(np.empty((0, 2), np.int32), None, np.array([2, 3]), by_rows=True)
    assert (found.shape, found.nnz) == ((0, 5), 0)


def test_membership_with_weights_of_clusters(e2):
    groups, members, _, _ = prepared(e2)
    weights = np.array([1.0, 2, 3, 4, 5])
    np.testing.assert_array_equal(
        flow.membership(groups.table, weights).toarray(), members.toarray() * weights
    )


# -- likeness of clusters --------------------------------------------------------------------------


def test_worked_source_aware_triples(e2, e3):
    _, _, counts, _ = prepared(e2)
    found = flow.source_aware_triples(flow.jaccard(counts), np.ones(5))
    upper = [0.086957, 0.782609, 0.173913, 0, 0, 0.417391, 0.521739, 0.086957, 0, 0.208696]
    np.testing.assert_allclose(found[np.triu_indices(5, 1)], upper, atol=5e-7)
    np.testing.assert_array_equal(found.diagonal(), 1)
    groups, _, counts, owner = prepared(e3)
    weights = flow.clustering_weights(nmi_of(groups), 2.0)[owner]
    found = flow.source_aware_triples(flow.jaccard(counts), weights)
    for row, expected in (
        (0, [1, 0.154960, 0.682544, 0.281802, 0, 0.681063, 0]),
        (1, [0.154960, 1, 0.083652, 0.358446, 0.510797, 0.319576, 0.510797]),
        (5, [0.681063, 0.319576, 0.553987, 0.489203, 0.064784, 1, 0.064784]),
    ):
        np.testing.assert_allclose(found[row], expected, atol=5e-7)
    assert found[4, 6] == pytest.approx(0.892026, abs=5e-7)


@given(votes(), st.sampled_from([0.0, 1.0, 2.0]))
def test_source_aware_triples_agree_with_their_definition(matrix, beta):
    groups, _, counts, owner = prepared(matrix)
    codes = graph_twins.object_codes(matrix)
    weights = flow.clustering_weights(nmi_of(groups), beta)
    np.testing.assert_allclose(weights, graph_twins.crowd_agreement(codes, beta), atol=1e-9)
    likeness = flow.jaccard(counts)
    found = flow.source_aware_triples(likeness, weights[owner], n_jobs=3)
    expected = graph_twins.source_aware_triples(likeness, weights[owner])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


def test_source_aware_triples_of_many_clusters_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    half = rng.random((100, 100))
    likeness, weights = np.triu(half, 1) + np.triu(half, 1).T + np.eye(100), rng.random(100)
    one, four = (flow.source_aware_triples(likeness, weights, n_jobs=n) for n in (1, 4))
    np.testing.assert_array_equal(one, four)
    np.testing.assert_allclose(one, graph_twins.source_aware_triples(likeness, weights))


def test_worked_certainties(e2, e3):
    for matrix, expected in (
        (e2, [0.362730, 0.286505, 1, 0.317312, 1]),
        (e3, [0.508614, 0.188876, 1, 0.465219, 1, 0.202183, 1]),
    ):
        entropies = entropies_of(prepared(matrix)[0])
        found = flow.cluster_certainties(entropies, matrix.shape[1], 0.4)
        np.testing.assert_allclose(found, expected, atol=5e-7)
    assert (flow.cluster_certainties(entropies, 3, 1e-9) >= 1e-300).all()


# -- walks between objects and clusters ------------------------------------------------------------


def test_worked_shares_of_votes(e3):
    groups, members, _, _ = prepared(e3)
    entropies = entropies_of(groups)
    certainties = flow.cluster_certainties(entropies, 3, 0.15)
    np.testing.assert_allclose(
        certainties, [0.164830, 0.011744, 1, 0.129943, 1, 0.014082, 1], atol=5e-7
    )
    shares = flow.vote_shares(members, entropies, 3, 0.15)
    expected = [
        [0.139815, 0, 0.848240, 0, 0, 0.011945, 0],
        [0.533681, 0, 0, 0.420726, 0, 0.045593, 0],
        [0, 0.075392, 0, 0.834207, 0, 0.090401, 0],
        [0, 0.005838, 0, 0, 0.497081, 0, 0.497081],
    ]
    np.testing.assert_allclose(shares.toarray(), expected, atol=5e-7)
    np.testing.assert_allclose(
        groups.sizes @ shares.toarray(),
        [0.953127, 0.162458, 2.544720, 2.089140, 0.994162, 0.262230, 0.994162],
        atol=5e-6,
    )
    np.testing.assert_array_equal(members.data, 1)  # the input is unchanged


@given(votes(), st.sampled_from([1e-6, 0.15, 10.0]))
def test_shares_of_votes_are_a_softmax_over_own_clusters(matrix, theta):
    groups, members, _, _ = prepared(matrix)
    entropies = entropies_of(groups)
    found = flow.vote_shares(members, entropies, matrix.shape[1], theta).toarray()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found > 0, members.toarray() > 0)
    weighted = members.toarray() * flow.cluster_certainties(entropies, matrix.shape[1], theta)
    np.testing.assert_allclose(found, weighted / weighted.sum(axis=1, keepdims=True), atol=1e-12)


MU_OF_E3 = np.array([1, 0.992931, 0.860129, 0.242914, 0, 0, 0])


def test_worked_lengths_of_walks(e3):
    groups, members, _, _ = prepared(e3)
    shares = flow.vote_shares(members, entropies_of(groups), 3, 0.15)
    mu = flow.TransferCut(shares, groups.sizes).eigenvalues()
    np.testing.assert_allclose(mu, MU_OF_E3, atol=5e-7)
    for k, length, weights in (
        (2, 48.855435, [1, 0.707106, 0.000635]), (3, 7.577527, [1, 0.947665, 0.319266])
    ):  # fmt: skip
        assert flow.walk_length(mu, k) == pytest.approx(length, abs=5e-7)
        np.testing.assert_allclose(flow.walk_weights(mu, length), weights, atol=5e-7)


@given(npst.arrays(np.float64, st.integers(1, 9), elements=st.floats(0, 1)), st.integers(2, 12))
def test_lengths_of_walks_agree_with_their_definition(values, k):
    mu = np.append(1.0, np.sort(values)[::-1])
    mu[(mu > 1e-14) & (mu < 1e-10)] = 0.0  # neither 0 nor not 0
    assert flow.walk_length(mu, k) == pytest.approx(graph_twins.lwpt_length(mu, k), abs=1e-9)


def test_lengths_of_walks_at_the_edges():
    assert flow.walk_length(np.ones(4), 3) == 1000  # components that no walk connects
    assert flow.walk_length(np.array([1.0]), 2) == 0
    assert flow.walk_length(np.array([1, 0.9, 0.8, 0.5, 1e-17]), 5) == 0  # beyond the rank
    assert flow.walk_length(np.array([1, 0.9, 0.8, 0.5]), 5) == 0  # more than there are clusters
    # The bound by the last vector: 0.01^p = 0.1.
    assert flow.walk_length(np.array([1, 1, 1, 0.01]), 4) == pytest.approx(0.5)
    np.testing.assert_array_equal(flow.walk_weights(np.array([1.2, 0.5, 1e-13, 0]), 0.0), [1, 1])


# -- Ward ------------------------------------------------------------------------------------------


def test_ward_agrees_with_scipy():
    from scipy.cluster.hierarchy import linkage

    rows = np.random.default_rng(0).normal(size=(150, 4))
    costs = flow.ward_costs(rows, np.ones(150), n_jobs=3)
    tree = flow.agglomerate(costs, "ward")
    expected = linkage(rows, "ward")
    np.testing.assert_allclose(np.sqrt(2 * tree[:, 2]), expected[:, 2], rtol=1e-9)
    np.testing.assert_array_equal(tree[:, :2], expected[:, :2])


def test_weights_of_ward_stand_for_copies():
    rng = np.random.default_rng(1)
    rows, sizes = rng.normal(size=(14, 3)), rng.integers(1, 6, 14)
    copies = np.repeat(np.arange(14), sizes)
    tree = flow.agglomerate(flow.ward_costs(rows, sizes), "ward", sizes)
    of_copies = flow.agglomerate(flow.ward_costs(rows[copies], np.ones(len(copies))), "ward")
    np.testing.assert_allclose(tree[:, 2], of_copies[-13:, 2], rtol=1e-9)
    for k in range(1, 15):
        labels = flow.cut_tree(tree, k)[copies]
        np.testing.assert_array_equal(labels, flow.cut_tree(of_copies, k))
        clusters, _ = graph_twins.plain_ward(rows[copies], k)
        found = {tuple(np.flatnonzero(labels == c).tolist()) for c in range(k)}
        assert found == {tuple(sorted(c)) for c in clusters}


def test_ward_costs_by_their_formula():
    rows, weights = np.array([[0.0, 0], [3, 4], [3, 4]]), np.array([2, 3, 1])
    expected = [[0, 6 / 5 * 25, 2 / 3 * 25], [6 / 5 * 25, 0, 0], [2 / 3 * 25, 0, 0]]
    np.testing.assert_allclose(flow.ward_costs(rows, weights), expected)
    rows = np.random.default_rng(0).normal(size=(200, 3))
    one, three = (flow.ward_costs(rows, np.ones(200), n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(one, three)
    np.testing.assert_array_equal(one, one.T)


def test_worked_graph_without_multiplicities(e2):
    _, members, _, _ = prepared(e2)
    plain, weighted = flow.TransferCut(members), flow.TransferCut(members, SIZES_OF_E2)
    np.testing.assert_allclose(plain.eigenvalues(), [1, 0.853553, 0.5, 0.146447, 0], atol=5e-7)
    np.testing.assert_allclose(weighted.eigenvalues(), [1, 0.908248, 0.5, 0.091752, 0], atol=5e-7)
    for cut, first_row in ((weighted, [2, 0, 1.5, 0.5, 0]), (plain, [1, 0, 0.5, 0.5, 0])):
        small = cut._leading._matrix * np.outer(cut._root_degree, cut._root_degree)
        np.testing.assert_allclose(small[0], first_row, atol=1e-12)
    assert twins.membership(prepared(e2)[0].table).tolist() == members.toarray().tolist()
