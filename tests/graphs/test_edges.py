import edge_twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse

import ensemblage as en
from ensemblage import flow, graph
from ensemblage.testing.strategies import odd_votes, votes


@st.composite
def graphs(draw, vertices=None, max_edges=30):
    """Draw numbers of vertices and edges between them: loops, twice, both ways."""
    n = draw(st.integers(1, 12)) if vertices is None else vertices
    edges = draw(npst.arrays(np.int64, (draw(st.integers(0, max_edges)), 2),
                             elements=st.integers(0, n - 1)))  # fmt: skip
    return n, edges


@st.composite
def votes_on_graphs(draw):
    matrix = draw(odd_votes(max_objects=12))
    _, edges = draw(graphs(len(matrix)))
    weights = draw(st.none() | npst.arrays(np.float64, matrix.shape[1],
                                           elements=st.floats(0.25, 4)))  # fmt: skip
    return matrix, edges, weights


# -- agreement -------------------------------------------------------------------------------------


@given(votes_on_graphs())
def test_agreement_is_the_share_of_clusterings_that_agree(drawn):
    matrix, edges, weights = drawn
    found = graph.edge_agreement(matrix, edges, weights)
    np.testing.assert_allclose(found, edge_twins.edge_agreement(matrix, edges, weights), atol=1e-12)
    assert ((found >= 0) & (found <= 1)).all()


@given(votes_on_graphs(), st.randoms(use_true_random=False))
def test_agreement_depends_on_no_order_and_no_direction(drawn, random):
    matrix, edges, _ = drawn
    found = graph.edge_agreement(matrix, edges)
    order = random.sample(range(len(matrix)), len(matrix))
    place = np.argsort(order)
    shuffled = graph.edge_agreement(matrix[order][:, ::-1], place[edges][:, ::-1])
    np.testing.assert_array_equal(found, shuffled)


def test_blocks_and_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    matrix, edges = rng.integers(-1, 3, (50, 7)), rng.integers(0, 50, (400, 2))
    matrix[:, 0] = 0
    weights = rng.random(7)
    whole = graph.edge_agreement(matrix, edges, weights, n_jobs=1)
    monkeypatch.setattr(flow.edges, "_EDGES_PER_BLOCK", 7)
    for n_jobs in (1, 3):
        parts = graph.edge_agreement(matrix, edges, weights, n_jobs=n_jobs)
        np.testing.assert_array_equal(parts, whole)
    ensemble = en.Ensemble(matrix)
    parts = [
        graph.edge_agreement(ensemble, edges[at : at + 99], weights) for at in range(0, 400, 99)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_ends_without_a_common_clustering_do_not_agree():
    assert graph.edge_agreement([[0, -1], [-1, 0]], [[0, 1], [0, 0]]).tolist() == [0.0, 1.0]


def test_many_clusters_and_many_members_are_counted():
    matrix = np.repeat(np.arange(400)[:, None], 300, axis=1)
    matrix[1] = 0
    assert graph.edge_agreement(matrix, [[0, 1], [1, 2]]).tolist() == [1.0, 0.0]


def test_names_and_weights_by_name():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": ["x", "x", "y"], "b": ["p", "q", "q"]})
    found = graph.edge_agreement(table, [[0, 1], [1, 2]], {"b": 3, "a": 1})
    assert found.tolist() == [0.25, 0.75]


@given(votes_on_graphs(), st.sampled_from([sparse.csr_array, sparse.csr_matrix, sparse.coo_array]))
def test_a_sparse_matrix_keeps_its_entries_and_its_kind(drawn, kind):
    matrix, edges, _ = drawn
    n = len(matrix)
    dense = np.zeros((n, n))
    dense[edges[:, 0], edges[:, 1]] = 2.5
    found = graph.edge_agreement(matrix, kind(dense))
    assert isinstance(found, sparse.sparray) == (kind is not sparse.csr_matrix)
    stored = found.tocoo()
    assert set(zip(stored.row.tolist(), stored.col.tolist(), strict=True)) == {
        (i, j) for i, j in edges.tolist()
    }
    pairs = np.column_stack([stored.row, stored.col])
    np.testing.assert_allclose(stored.data, edge_twins.edge_agreement(matrix, pairs), atol=1e-12)


def test_stored_zeros_are_not_edges():
    given_zero = sparse.csr_array((np.array([0.0, 1.0]), ([0, 1], [1, 2])), shape=(3, 3))
    assert graph.edge_agreement([[0], [0], [0]], given_zero).nnz == 1
    assert given_zero.nnz == 2  # what was passed stays as it was


# -- weights ---------------------------------------------------------------------------------------


@given(graphs())
def test_the_two_core_is_what_peeling_leaves(drawn):
    n, edges = drawn
    simple = np.array(edge_twins.simple_edges(edges.tolist()), dtype=np.int64).reshape(-1, 2)
    core = flow.two_core(n, simple[:, 0], simple[:, 1])
    assert set(np.flatnonzero(core).tolist()) == edge_twins.two_core(n, edges.tolist())


def test_the_two_core_of_a_long_path_is_empty():
    path = np.arange(200_000)
    assert not flow.two_core(200_001, path, path + 1).any()


@given(
    votes_on_graphs(), st.sampled_from(["ecg", "threshold"]), st.floats(0.01, 1), st.floats(0.01, 1)
)
def test_weights_follow_the_rule(drawn, rule, min_weight, threshold):
    matrix, edges, weights = drawn
    options = {"min_weight": min_weight, "threshold": threshold}
    found = graph.reweight(matrix, edges, rule, member_weight=weights, **options)
    expected = edge_twins.reweight(matrix, edges.tolist(), rule, weights=weights, **options)
    agreement = edge_twins.edge_agreement(matrix, edges, weights)
    if rule == "ecg" or not np.isclose(agreement, threshold, atol=1e-9).any():
        np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


@given(votes_on_graphs(), st.sampled_from(["ecg", "threshold"]))
def test_every_kind_of_graph_gives_the_same_weights(drawn, rule):
    matrix, edges, _ = drawn
    n = len(matrix)
    dense = np.zeros((n, n))
    dense[edges[:, 0], edges[:, 1]] = 1
    expected = graph.reweight(matrix, edges, rule).toarray()
    found = graph.reweight(matrix, sparse.csr_matrix(dense), rule)
    assert isinstance(found, sparse.csr_matrix)
    np.testing.assert_array_equal(found.toarray(), expected)


def test_a_threshold_of_one_keeps_what_all_agree_on():
    matrix = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1]])
    kept = graph.reweight(matrix, [[0, 1], [1, 2]], "threshold", threshold=1)
    assert kept.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


# -- scores ----------------------------------------------------------------------------------------


@given(votes_on_graphs())
def test_scores_follow_their_definitions(drawn):
    matrix, edges, weights = drawn
    simple, labels = edge_twins.simple_edges(edges.tolist()), matrix[:, 0]
    agreement = edge_twins.edge_agreement(matrix, simple, weights)
    found = graph.scores(matrix, edges, labels, weights)
    labels = np.where(labels < 0, 100 + np.arange(len(labels)), labels)  # without one: alone
    refusal, outside = edge_twins.vertex_scores(len(matrix), simple, agreement, labels)
    np.testing.assert_allclose(found.refusal, refusal, atol=1e-9)
    np.testing.assert_allclose(found.outside, outside, atol=1e-9)
    if simple:
        assert found.strength == pytest.approx(edge_twins.strength(agreement))
    else:
        assert np.isnan(found.strength)
    assert "GraphScores(strength=" in repr(found)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([[0, 3]], r"must join vertices 0 to 2, but edge 0, counted from 0, is \(0, 3\)"),
        ([[0, -1]], r"is \(0, -1\)"),
        ([[0, 1, 2], [1, 2, 0]], r"Pass the transpose, edges.T"),
        ([[0, 1, 0.5]], r"Pass edges with weights as a sparse matrix"),
        (np.eye(3), r"scipy.sparse.csr_array\(matrix\)"),
        ([["a", "b"]], r"must be the numbers of vertices, counted from 0, got values such as 'a'"),
        ([[0.5, 1]], r"must be the numbers of vertices"),
        ([[True, False]], r"must be the numbers of vertices"),
        (7, r"got int"),
        (sparse.csr_array((3, 2)), r"must be square"),
        (sparse.csr_array((4, 4)), r"has 4 vertices and the votes have 3 rows"),
    ],
)
def test_edges_that_cannot_be_used(edges, said):
    with pytest.raises(ValueError, match=said):
        graph.edge_agreement([[0], [0], [1]], edges)


def test_floats_from_a_text_file_are_numbers_of_vertices():
    assert graph.edge_agreement([[0], [0]], np.array([[0.0, 1.0]])).tolist() == [1.0]


@pytest.mark.parametrize(
    ("options", "parameter"),
    [({"rule": "x"}, "rule"), ({"min_weight": 2}, "min_weight"), ({"threshold": -1}, "threshold"),
     ({"n_jobs": 0}, "n_jobs")],
)  # fmt: skip
def test_parameters_of_reweight_are_checked(options, parameter):
    with pytest.raises(en.ParameterError) as caught:
        graph.reweight([[0], [0]], [[0, 1]], **options)
    assert caught.value.parameter == parameter


@given(votes(max_objects=8))
def test_no_edges_are_no_agreements(matrix):
    assert graph.edge_agreement(matrix, np.zeros((0, 2))).shape == (0,)
    assert graph.reweight(matrix, []).nnz == 0
