"""Consensus: the default method, its second opinion, and other methods behind its name."""

import numpy as np
import pytest
from hypothesis import given
from planted import noisy
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import ensemblage as en
from ensemblage.metrics.agreement import nmi_with_members
from ensemblage.testing.strategies import votes


@pytest.fixture(scope="module")
def blobs():
    features, truth = make_blobs(300, centers=5, cluster_std=0.7, random_state=1)
    rng = np.random.default_rng(0)
    members = [
        KMeans(int(rng.integers(2, 12)), n_init=1, random_state=i).fit_predict(features)
        for i in range(12)
    ]
    return np.column_stack(members), truth


def test_it_is_the_weighted_tree_with_a_least_size(blobs):
    matrix, _ = blobs
    tree = en.LWEA(5, weights="normalized", min_cluster_size="auto").fit(matrix)
    model = en.Consensus(5, random_state=0).fit(matrix)
    np.testing.assert_array_equal(model.labels_, tree.labels_)
    np.testing.assert_array_equal(model.linkage_matrix_, tree.linkage_matrix_)
    assert model.method_ == "lwea"
    assert "LWEA" in model.reasons_[0]
    assert isinstance(model.estimator_, en.LWEA)


def test_it_finds_clear_groups_that_walks_do_not(blobs):
    matrix, truth = blobs
    assert en.metrics.ari(truth, en.Consensus(5).fit_predict(matrix)) > 0.95


def outliers_drive_the_tree():
    """Return noisy votes on three groups, and six objects that most clusterings leave alone."""
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 200)
    members = [np.where(rng.random(600) < 0.3, rng.integers(0, 3, 600), truth) for _ in range(8)]
    matrix = np.column_stack(members)
    for outlier in range(6):
        matrix[outlier * 50, rng.permutation(8)[2:]] = 3 + outlier
    return matrix


def test_the_graph_is_taken_where_the_tree_spends_clusters_on_outliers():
    matrix = outliers_drive_the_tree()
    model = en.Consensus(3, min_cluster_size=1, random_state=0).fit(matrix)
    tree = en.LWEA(3, weights="normalized").fit(matrix)
    graph = en.LWGP(3, random_state=0).fit(matrix)
    table, sizes, _ = model.microclusters_
    of_tree, of_graph = (nmi_with_members(one._micro_labels, table, sizes) for one in (tree, graph))
    assert of_graph > 1.2 * of_tree
    np.testing.assert_array_equal(model.labels_, graph.labels_)
    assert model.method_ == "lwgp"
    assert "Outliers" in model.reasons_[1]
    assert not hasattr(model, "linkage_matrix_")


def test_a_small_group_that_is_clearly_apart_is_a_cluster():
    features, truth = make_blobs([490, 10], 3, centers=[[0] * 3, [20] * 3], random_state=0)
    matrix = en.ensembles.generate(features, 20, n_clusters=2, random_state=0)
    model = en.Consensus(2, random_state=0).fit(matrix)
    assert en.metrics.ari(truth, model.labels_) == 1
    assert model.reasons_[1].startswith("min_cluster_size was lowered to 10, the size of a group")
    asked = en.Consensus(2, min_cluster_size=0.1, random_state=0).fit(matrix)
    assert np.bincount(asked.labels_).min() >= 25  # a number is kept to


@pytest.mark.parametrize("sizes", [[400, 20, 20, 20, 20], [1500, 30, 30, 30], [800, 40, 40]])
def test_clusters_of_very_different_size_are_found(sizes):
    """The members split the large one, and the tree follows them."""
    centers = 14 * np.eye(max(len(sizes), 3))[: len(sizes)]
    features, truth = make_blobs(sizes, centers=centers, random_state=0)
    model = en.EnsembleClustering(len(sizes), random_state=0).fit(features)
    assert en.metrics.ari(truth, model.labels_) == 1
    consensus = model.consensus_
    assert consensus.method_ == "lwgp"
    assert "the objects have a mean confidence of" in consensus.reasons_[0]
    least = en.Consensus(len(sizes), min_cluster_size=50, random_state=0).fit(model.votes_)
    assert least.method_ == "lwea"  # a number is kept to


def independent_errors(seed, share, wrong=0.3, size=500, n_members=20):
    rng = np.random.default_rng(seed)
    truth = (rng.random(size) < share).astype(int)
    truth[:2] = 0, 1
    errors = rng.random((size, n_members)) < wrong
    return np.where(errors, rng.integers(0, 2, errors.shape), truth[:, None]), truth


@pytest.mark.parametrize("seed", range(4))
def test_independent_errors_do_not_mislead_it(seed):
    matrix, truth = independent_errors(seed, share=0.1)
    model = en.Consensus(random_state=0).fit(matrix)  # the weighted tree alone chooses 6 to 18
    assert model.n_clusters_ == 2
    assert en.metrics.ari(truth, model.labels_) > 0.95


@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
def test_clusterings_that_leave_every_object_alone_do_not_count():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [320, 40, 40])
    errors = rng.random((400, 14)) < 0.2
    matrix = np.where(errors, rng.integers(0, 3, errors.shape), truth[:, None])
    matrix[:, :7] = np.arange(400)[:, None]
    model = en.Consensus(3, random_state=0).fit(matrix)
    rest = en.Consensus(3, random_state=0).fit(matrix[:, 7:])
    np.testing.assert_array_equal(model.labels_, rest.labels_)
    assert model._last.of_tree == pytest.approx(rest._last.of_tree)
    assert model.n_microclusters_ == 400
    assert model.reasons_[-1] == "7 clusterings in which every object is alone did not count."
    assert en.metrics.ari(truth, model.labels_) > 0.9
    tree = en.LWEA(3, weights="normalized", min_cluster_size="auto").fit(matrix)
    assert en.metrics.ari(truth, tree.labels_) < 0.5


@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
def test_an_object_may_have_no_other_vote():
    matrix = np.column_stack([np.arange(20), np.repeat([0, 1], 10), np.repeat([0, 1], 10)])
    matrix[0, 1:] = -1
    labels = en.Consensus(3, random_state=0).fit_predict(matrix)
    assert (labels[1:10] == labels[1]).all()
    assert (labels[10:] == labels[10]).all()
    alone = np.arange(20)[:, None] + np.zeros((1, 3), dtype=int)
    assert en.Consensus(2, random_state=0).fit(alone).n_clusters_ == 2


@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
@pytest.mark.parametrize(("n", "counts"), [(9, True), (10, False)])
def test_few_objects_may_all_be_alone(n, counts):
    votes = np.column_stack([np.arange(n), np.arange(n) % 2, np.arange(n) % 3])
    reasons = en.Consensus(2, random_state=0).fit(votes).reasons_
    assert (reasons[-1] != "1 clustering in which every object is alone did not count.") == counts


def test_its_seed_is_that_of_the_graph():
    votes = np.random.default_rng(0).integers(0, 4, (200, 6))
    found = []
    for seed in (3, 4):
        graph = en.Consensus(5, random_state=seed).fit(votes)._part("lwgp")
        found.append(graph.cut(5).tolist())
        assert found[-1] == en.LWGP(5, random_state=seed).fit_predict(votes).tolist()
    assert found[0] != found[1]


@given(votes(max_objects=25))
def test_it_cuts_as_a_fit_at_that_number_does(matrix):
    model = en.Consensus(1, random_state=0).fit(matrix)
    for k in range(1, min(4, model.n_microclusters_) + 1):
        again = en.Consensus(k, random_state=0).fit(matrix)
        np.testing.assert_array_equal(model.cut(k), again.labels_)


@pytest.mark.parametrize("name", ["ptgp", "PTA", "eac", "vote"])
def test_a_named_method_is_that_method(name, blobs):
    matrix, _ = blobs
    model = en.Consensus(4, method=name, random_state=0).fit(matrix)
    kind = en.METHODS[name.lower()]
    seed = {"random_state": 0} if "random_state" in kind._get_param_names() else {}
    np.testing.assert_array_equal(model.labels_, kind(4, **seed).fit(matrix).labels_)
    assert model.method_ == name.lower()


def test_parameters_reach_the_named_method(blobs):
    matrix, _ = blobs
    model = en.Consensus(4, method="eac", method_params={"linkage": "single"}).fit(matrix)
    np.testing.assert_array_equal(model.labels_, en.EAC(4, linkage="single").fit(matrix).labels_)
    sized = en.Consensus(4, method="eac", min_cluster_size=10).fit(matrix)
    np.testing.assert_array_equal(sized.labels_, en.EAC(4, min_cluster_size=10).fit(matrix).labels_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "ptq"}, "Unknown method 'ptq' in Consensus. Did you mean 'pt"),
        ({"method": 3}, "Unknown method 3 in Consensus. Known: auto,"),
        ({"method": "eac", "method_params": {"n_clusters": 3}}, "Got 'n_clusters'"),
        ({"method": "eac", "method_params": {"steps": 3}}, "Got 'steps'"),
        ({"method": "eac", "method_params": [1]}, "must be None or a dict"),
        ({"method": "eac", "method_params": {"affinity": "precomputed"}}, "Use EAC itself"),
        ({"method_params": {"theta": 1}}, "method_params"),
        ({"min_cluster_size": 0}, "'min_cluster_size' parameter of Consensus must be"),
        ({"min_cluster_size": 1.5}, "'min_cluster_size' parameter of Consensus must be"),
        ({"min_cluster_size": True}, "'min_cluster_size' parameter of Consensus must be"),
    ],
)
def test_wrong_parameters_are_refused(parameters, words):
    with pytest.raises(ValueError, match="(?s)" + words.replace(".", r"\.")):
        en.Consensus(2, **parameters).fit([[0, 0], [1, 1], [1, 0]])


def test_weights_are_refused_by_methods_without_them():
    with pytest.raises(TypeError, match="HGPA does not support member_weight"):
        en.Consensus(2, method="hgpa").fit([[0, 0], [1, 1]], member_weight=[1, 2])


def test_members_count_by_their_weight(blobs):
    matrix, _ = blobs
    weight = np.arange(matrix.shape[1]) % 3
    model = en.Consensus(4, random_state=0).fit(matrix, member_weight=weight)
    repeated = np.repeat(matrix, weight, axis=1)
    np.testing.assert_array_equal(
        model.labels_, en.Consensus(4, random_state=0).fit(repeated).labels_
    )


def test_it_chooses_k_by_default(blobs):
    matrix, _ = blobs
    model = en.Consensus().fit(matrix)
    assert model.k_choice_.k == model.n_clusters_


@pytest.mark.parametrize("method", ["auto", "ptgp", "eac"])
def test_it_is_saved_with_its_reasons(method, blobs, tmp_path):
    matrix, _ = blobs
    params = {"linkage": "complete"} if method == "eac" else None
    model = en.Consensus(4, method=method, method_params=params, random_state=0).fit(matrix)
    model.save(tmp_path / "m.ensemblage")
    loaded = en.load(tmp_path / "m.ensemblage")
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_allclose(loaded.confidence_, model.confidence_)
    assert (loaded.method_, loaded.reasons_) == (model.method_, model.reasons_)
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.cut(3), model.cut(3))


class TestTrust:
    """PTA and PTGP say when they cannot be trusted."""

    few = np.r_[[[0, 0, 0]] * 1000, [[1, 1, 1]] * 1000, [[0, 0, 1]]]

    @pytest.mark.parametrize("name", ["PTA", "PTGP"])
    def test_few_microclusters_warn_with_numbers(self, name):
        with pytest.warns(en.UntrustedMethodWarning) as caught:
            getattr(en, name)(2).fit(self.few)
        text = str(caught[0].message)
        assert f"{name} is unreliable on these votes" in text
        assert "there are 3 microclusters" in text
        assert "1,000 of 2,001 objects" in text
        assert "those of Consensus 1.00" in text

    def test_the_same_behind_the_name_of_consensus(self):
        with pytest.warns(en.UntrustedMethodWarning, match="PTGP is unreliable"):
            en.Consensus(2, method="ptgp").fit(self.few)

    @pytest.mark.filterwarnings("error::ensemblage.UntrustedMethodWarning")
    def test_there_is_no_warning_where_it_does_well(self):
        matrix, _ = noisy([100] * 4, 10, 0.25)
        en.PTGP(4, random_state=0).fit(matrix)
        en.Consensus(2).fit(self.few)
        en.EAC(2).fit(self.few)


def test_small_clusters_that_members_agree_on_are_mentioned():
    votes = np.tile(np.repeat([0, 1, 2], [100, 100, 3])[:, None], (1, 10))
    votes[::7, 0] = (votes[::7, 0] + 1) % 3
    est = en.Consensus(3, random_state=0).fit(votes)
    assert est.reasons_[1].endswith("small clusters may be real.")
    assert "With min_cluster_size=1 the mean NMI is 0.96" in est.reasons_[1]
    small = en.Consensus(3, min_cluster_size=1, random_state=0).fit(votes)
    assert sorted(np.bincount(small.labels_)) == [3, 100, 100]
    assert len(small.reasons_) == 1


def test_a_fit_chooses_as_choose_k_does():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 5, 120)
    votes = np.where(rng.random((120, 9)) < 0.3, rng.integers(0, 7, (120, 9)), truth[:, None])
    est = en.Consensus(random_state=0).fit(votes)
    again = en.metrics.choose_k(est)
    assert again.to_dict() == est.k_choice_.to_dict()


@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
def test_choose_k_scores_the_graph_where_its_labels_were_taken():
    groups = np.repeat(np.arange(30), np.arange(1, 31))  # of which the tree joins the largest
    est = en.Consensus(3, min_cluster_size=1, random_state=0).fit(np.tile(groups[:, None], (1, 4)))
    assert est.method_ == "lwgp"
    np.testing.assert_array_equal(est._cuts().cut(4), est._graph._cut_microclusters(4))
    with pytest.raises(ValueError, match="the labels come from a graph"):
        en.plot.dendrogram(est)
