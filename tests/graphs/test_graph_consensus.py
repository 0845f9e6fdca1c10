import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import ensemblage as en
from ensemblage.graph import consensus


def components(graph):
    return connected_components(graph)[1]


def planted(n_groups=4, size=25, inside=0.5, between=0.02, seed=0):
    """A graph with groups of vertices, and the group of each vertex."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_groups), size)
    chance = np.where(truth[:, None] == truth, inside, between)
    drawn = np.triu(rng.random(chance.shape) < chance, 1)
    return np.argwhere(drawn), truth


def partition(labels):
    """The same for equal partitions."""
    return [labels.tolist().index(label) for label in labels.tolist()]


def test_members_get_other_orders_and_seeds_and_the_last_run_the_weights():
    edges, _ = planted()
    graphs, seeds = [], []

    def clusterer(graph, seed):
        graphs.append(graph)
        seeds.append(seed)
        return np.arange(graph.shape[0]) // 50

    found = consensus(edges, clusterer, n_members=3, random_state=0)
    assert len(set(seeds)) == 4
    *members, last = graphs
    degrees = [np.diff(graph.indptr) for graph in graphs]
    assert not np.array_equal(degrees[0], degrees[1])
    for one in degrees:
        np.testing.assert_array_equal(np.sort(one), np.sort(degrees[-1]))
    assert all((graph.data == 1).all() for graph in members)
    expected = en.graph.reweight(found.votes, edges)
    np.testing.assert_array_equal(last.toarray(), expected.toarray())
    np.testing.assert_array_equal(found.graph.toarray(), expected.toarray())
    sure = en.graph.scores(found.votes, edges, found.labels)
    assert found.strength == sure.strength
    np.testing.assert_array_equal(found.refusal, sure.refusal)
    np.testing.assert_array_equal(found.outside, sure.outside)


def test_labels_come_back_in_the_order_of_the_vertices():
    edges = [[0, 3], [3, 5], [1, 4]]
    for kind in (np.array, lambda pairs: sparse.csr_array((np.ones(3), np.array(pairs).T), (6, 6))):
        found = consensus(kind(edges), components, n_members=4, random_state=1)
        assert found.labels.tolist() == [0, 1, 2, 0, 1, 0]
        assert all(partition(votes) == [0, 1, 2, 0, 1, 0] for votes in found.votes.T)


def test_isolated_vertices_keep_their_own_label():
    found = consensus([[1, 3]], lambda graph: np.zeros(graph.shape[0]), 2, n_vertices=5)
    assert found.labels.tolist() == [0, 1, 2, 1, 3]
    assert np.isnan(found.refusal[[0, 2, 4]]).all()


def test_without_edges_every_vertex_is_alone_and_nothing_runs():
    def never(graph):
        raise AssertionError

    found = consensus(sparse.csr_array((3, 3)), never)
    assert found.labels.tolist() == [0, 1, 2]
    assert np.isnan(found.strength)


def test_a_rule_that_drops_all_edges_warns():
    edges, _ = planted()

    def at_random(graph, seed):
        return np.random.default_rng(seed).integers(0, 50, graph.shape[0])

    with pytest.warns(en.NoStructureWarning, match="every vertex is a separate community"):
        found = consensus(edges, at_random, 5, "threshold", random_state=0)
    assert found.labels.tolist() == list(range(100))


def test_directed_weights_are_symmetrised_by_the_larger_and_loops_ignored():
    seen = []
    weights = sparse.csr_array(np.array([[9.0, 2.0, 0.0], [5.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))

    def clusterer(graph):
        seen.append(graph.toarray())
        return np.zeros(3)

    consensus(weights, clusterer, 1, member_clusterer=clusterer, random_state=0)
    assert sorted(seen[0].ravel().tolist()) == [0, 0, 0, 0, 0, 1, 1, 5, 5]


@given(st.integers(0, 2**31), st.sampled_from(["ecg", "threshold"]))
def test_equal_seeds_give_equal_results(seed, rule):
    edges, _ = planted(size=6)

    def clusterer(graph, random_state):
        rng = np.random.default_rng(random_state)
        return components(graph.multiply(sparse.csr_array(rng.random(graph.shape) < 0.7)))

    one, other = (consensus(edges, clusterer, 4, rule, seed, threshold=0.2) for _ in range(2))
    np.testing.assert_array_equal(one.votes, other.votes)
    np.testing.assert_array_equal(one.labels, other.labels)


@pytest.mark.parametrize(
    "kind",
    [
        list,
        lambda labels: [f"c{label}" for label in labels],
        lambda labels: dict(enumerate(labels)),
        lambda labels: [set(np.flatnonzero(labels == c).tolist()) for c in set(labels.tolist())],
        lambda labels: (frozenset(np.flatnonzero(labels == c).tolist()) for c in range(2)),
        lambda labels: type("Clustering", (), {"membership": labels.tolist()}),
    ],
)
def test_clusterers_may_return_communities_in_many_ways(kind):
    edges = [[0, 1], [2, 3]]
    found = consensus(edges, lambda graph: kind(components(graph)), 2, random_state=0)
    assert found.labels.tolist() == [0, 0, 1, 1]


def test_an_object_with_fit_predict_gets_a_matrix():
    class Clusterer:
        def fit_predict(self, graph):
            assert isinstance(graph, sparse.csr_matrix)
            return components(graph)

    assert consensus([[0, 1], [2, 3]], Clusterer(), 2).labels.tolist() == [0, 0, 1, 1]


def test_a_result_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match=r"label for each of the 2 vertices, got .* shape \(3,\)"):
        consensus([[0, 1]], lambda _: [0, 0, 0])


@pytest.mark.parametrize(
    ("options", "parameter"),
    [({"clusterer": "kmeans"}, "clusterer"), ({"clusterer": dict}, "clusterer"),
     ({"n_members": 0}, "n_members"), ({"resolution": 0}, "resolution"),
     ({"rule": "x"}, "rule"), ({"random_state": "x"}, "random_state"),
     ({"member_clusterer": 3}, "member_clusterer"), ({"n_vertices": 0}, "n_vertices"),
     ({"n_members": 2**63}, "n_members"), ({"clusterer": en.EAC(2)}, "clusterer"),
     ({"edges": sparse.eye_array(3), "n_vertices": 2}, "n_vertices")],
)  # fmt: skip
def test_parameters_are_checked(options, parameter):
    with pytest.raises(en.ParameterError) as caught:
        consensus(**{"edges": [[0, 1]], "clusterer": components, **options})
    assert caught.value.parameter == parameter


def test_graphs_that_cannot_be_clustered():
    with pytest.raises(ValueError, match="has no vertices"):
        consensus([], components)
    with pytest.raises(ValueError, match=r"finite numbers above 0, but that of edge \(0, 1\)"):
        consensus(sparse.csr_array(np.array([[0.0, -1.0], [0.0, 0.0]])), components)


@pytest.mark.parametrize("weight", ["heavy", None, np.nan, np.inf, 0.0, -1.0, 10**400, [1, 2]])
@pytest.mark.parametrize("package", ["networkx", "igraph"])
def test_wrong_weights_are_named_where_weights_are_used(package, weight):
    kind = pytest.importorskip(package).Graph
    given_graph = kind([(0, 1), (0, 2)])
    if package == "networkx":
        given_graph.edges[0, 2]["weight"] = weight
    else:
        given_graph.es["weight"] = [1.0, weight]
    with pytest.raises(ValueError, match=r"finite numbers above 0, (but .* edge \(0, 2\)|got)"):
        consensus(given_graph, components)
    votes = np.zeros((3, 1))
    assert en.graph.edge_agreement(votes, given_graph).tolist() == [1, 1]
    assert en.graph.scores(votes, given_graph, [0, 0, 0]).strength == 1
    en.graph.reweight(votes, given_graph)


@pytest.mark.parametrize("highest", [2**40, 2**62, 2**64 - 1])
def test_numbers_with_large_gaps_are_refused_before_memory_is_taken(highest):
    edges = np.array([[0, highest]], dtype=np.uint64)
    with pytest.raises(en.MemoryBudgetError, match="Number the vertices from 0 without gaps"):
        consensus(edges, components)


@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int16, float])
def test_vertices_are_whole_numbers_of_any_type(kind):
    found = consensus(np.array([[0, 1], [2, 3]], kind), components, 1)
    assert found.labels.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("options", [{}, {"n_vertices": 2}])
def test_wrong_numbers_of_vertices(options):
    with pytest.raises(ValueError, match=r"edge 1, .* Number the vertices from 0") as got:
        consensus([[0, 1], [-3, 1]], components, **options)
    assert "votes" not in str(got.value)


def test_fractions_are_numbers():
    edges, _ = planted(size=6)
    votes = np.arange(24)[:, None] // 6
    found = en.graph.reweight(votes, edges, min_weight=Fraction(1, 20))
    np.testing.assert_array_equal(found.toarray(), en.graph.reweight(votes, edges).toarray())
    for rule in ("ecg", "threshold"):
        consensus(edges, components, 2, rule, min_weight=Fraction(1, 20), threshold=Fraction(4, 5))


def test_the_built_in_clusterers_ask_for_their_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "sknetwork", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "ensemblage\[graph\]"'):
        consensus([[0, 1]])


# -- with other packages ---------------------------------------------------------------------------


@pytest.mark.parametrize("clusterer", ["louvain", "leiden"])
@pytest.mark.parametrize("rule", ["ecg", "threshold"])
def test_built_in_clusterers_find_planted_groups(clusterer, rule):
    pytest.importorskip("sknetwork")
    edges, truth = planted()
    found = consensus(edges, clusterer, rule=rule, random_state=0)
    assert found.votes.shape[1] == {"ecg": 16, "threshold": 10}[rule]
    assert en.metrics.ari(found.labels, truth) > 0.95
    again = consensus(edges, clusterer, rule=rule, random_state=0)
    np.testing.assert_array_equal(found.labels, again.labels)


def test_networkx_in_and_out():
    nx = pytest.importorskip("networkx")
    edges, truth = planted()
    names = [f"v{v}" for v in range(len(truth))]
    given_graph = nx.Graph()
    given_graph.add_nodes_from((name, {"at": place}) for place, name in enumerate(names))
    given_graph.add_edges_from((names[i], names[j]) for i, j in edges.tolist())
    given_graph.add_edge("v0", "v0")
    agreement = en.graph.edge_agreement(truth[:, None], given_graph)
    expected = [truth[names.index(u)] == truth[names.index(v)] for u, v in given_graph.edges]
    np.testing.assert_array_equal(agreement, expected)

    def clusterer(graph, seed):
        assert graph.nodes["v3"]["at"] == 3
        return nx.community.louvain_communities(graph, seed=seed)

    found = consensus(given_graph, clusterer, random_state=0)
    assert en.metrics.ari(found.labels, truth) > 0.95
    assert list(found.graph) == names
    weights = nx.to_scipy_sparse_array(found.graph)
    expected = en.graph.reweight(found.votes, edges)
    np.testing.assert_allclose(weights.toarray(), expected.toarray())


def test_igraph_in_and_out():
    igraph = pytest.importorskip("igraph")
    edges, truth = planted()
    given_graph = igraph.Graph(n=len(truth), edges=edges.tolist())
    given_graph.vs["name"] = [f"v{v}" for v in range(len(truth))]
    agreement = en.graph.edge_agreement(truth[:, None], given_graph)
    np.testing.assert_array_equal(agreement, truth[edges[:, 0]] == truth[edges[:, 1]])
    found = consensus(
        given_graph, lambda g: g.community_multilevel(weights="weight"), random_state=0
    )
    assert en.metrics.ari(found.labels, truth) > 0.95
    assert found.graph.vs["name"] == given_graph.vs["name"]
    expected = en.graph.reweight(found.votes, edges).tocoo()
    assert found.graph.ecount() == expected.nnz // 2
    assert sum(found.graph.es["weight"]) == pytest.approx(expected.sum() / 2)


def test_weights_and_scores_are_those_of_partition_igraph():
    igraph = pytest.importorskip("igraph")
    pytest.importorskip("partition_igraph")
    import random

    from ensemblage import flow

    given_graph = igraph.Graph.Famous("Zachary")

    def seeded():
        np.random.seed(3)  # noqa: NPY002, TID251 - that package draws from it
        random.seed(3)

    seeded()
    theirs = given_graph.community_ecg(ens_size=16, min_weight=0.1, refuse_score=True)
    seeded()
    votes = np.empty((given_graph.vcount(), 16), dtype=int)
    for m in range(16):  # their members, which they do not return
        place = np.random.permutation(given_graph.vcount())  # noqa: NPY002
        shuffled = given_graph.permute_vertices(place.tolist())
        first = shuffled.community_multilevel(return_levels=True)[0].membership
        back = np.argsort(place) if igraph.__version__ >= "1.0.0" else place
        votes[:, m] = np.array(first)[back]
    ours = en.graph.reweight(votes, given_graph, "ecg", min_weight=0.1)
    weight_of = dict(zip(ours.get_edgelist(), ours.es["weight"], strict=True))
    ends = np.array(given_graph.get_edgelist())
    found = np.array([weight_of[min(i, j), max(i, j)] for i, j in ends.tolist()])
    np.testing.assert_allclose(found, theirs.W, atol=1e-12)
    assert flow.community_strength(found) == pytest.approx(theirs.CSI)
    labels = np.array(theirs.membership)
    refusal = flow.vertex_refusal(len(votes), *ends.T, found)
    np.testing.assert_allclose(refusal, theirs.refuse_overall, atol=1e-12)
    outside = flow.vertex_outside(*ends.T, found, labels)
    np.testing.assert_allclose(outside, theirs.refuse_community, atol=1e-12)


def test_a_clusterer_must_return_labels():
    def forgetful(graph):
        graph.sum()

    with pytest.raises(TypeError, match=r"result of the clusterer.* got None\. Use labels"):
        en.graph.consensus([[0, 1], [1, 2]], forgetful)
