"""``n_clusters="auto"`` of every method, of EnsembleClustering and of a stream."""

import names
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

import ensemblage as en
from ensemblage.scale import stream


def noisy_votes(k=3, n=42, members=4, gaps=False):
    rng = np.random.default_rng(1)
    truth = np.arange(n) % k
    votes = np.column_stack(
        [np.where(rng.random(n) < 0.08, rng.integers(0, k, n), truth) for _ in range(members)]
    )
    if gaps:
        votes[rng.random(votes.shape) < 0.1] = -1
        votes[:, 0] = truth
    return votes


def made(name, k="auto", **parameters):
    est = en.METHODS[name](k, **parameters)
    return est.set_params(random_state=0) if "random_state" in est.get_params() else est


#: All but Median, whose loss decides the number of clusters: it has no choice to explain.
CHOOSING = [name for name in names.METHODS if name != "median"]


@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", CHOOSING)
def test_every_method_chooses(name, gaps):
    votes = noisy_votes(gaps=gaps)
    est = made(name).fit(votes)
    k = est.k_choice_.k
    assert 1 <= est.n_clusters_ <= k
    # The labels are those of a fit that was asked for that number.
    asked = made(name, k).fit(votes)
    assert est.labels_.tolist() == asked.labels_.tolist()
    assert est.confidence_.tolist() == asked.confidence_.tolist()
    assert est.predict(votes).tolist() == asked.predict(votes).tolist()
    assert est.cut(2).tolist() == asked.cut(2).tolist()
    assert not hasattr(asked, "k_choice_")
    # The parameter is as it was given, and a copy chooses the same.
    assert est.get_params()["n_clusters"] == "auto"
    assert clone(est).fit(votes).k_choice_.to_dict() == est.k_choice_.to_dict()


def test_a_later_fit_forgets_the_choice():
    votes = noisy_votes()
    est = made("pta").fit(votes)
    est.set_params(n_clusters=2).fit(votes)
    assert not hasattr(est, "k_choice_")
    assert est.n_clusters_ == 2


@pytest.mark.parametrize("name", ["cspa", "ecmc", "hgpa", "srs"])
def test_methods_that_label_objects(name):
    est = made(name, level="objects")
    est.fit(noisy_votes(n=45))
    assert est.n_clusters_ == est.k_choice_.k
    choice = en.metrics.choose_k(est, [2, 3], criteria="all", n_refits=2)
    assert choice.scores["subset_stability"].shape == (2,)


@pytest.mark.parametrize("similarity", ["exact", "uint16", "approximate"])
def test_however_pta_holds_its_similarity(similarity):
    est = en.PTA("auto", similarity=similarity).fit(noisy_votes(k=4, n=200))
    exact = en.PTA("auto").fit(noisy_votes(k=4, n=200))
    assert est.k_choice_.k == exact.k_choice_.k == 4
    assert est.k_choice_.scores["confidence"] == pytest.approx(
        exact.k_choice_.scores["confidence"], abs=1e-2
    )


def test_vote_knows_the_reference_of_its_choice():
    votes = noisy_votes()
    est = made("vote").fit(votes)
    assert est.reference_ == made("vote", est.k_choice_.k).fit(votes).reference_


@pytest.mark.parametrize("name", CHOOSING)
def test_one_group_is_one_cluster(name):
    est = made(name).fit([[0, 0], [0, 0], [0, 0]])
    assert est.n_clusters_ == est.k_choice_.k == 1
    assert est.labels_.tolist() == [0, 0, 0]


@pytest.mark.parametrize("value", ["Auto", "two", 0, 2.5, None, np.array(["auto"])])
def test_what_is_neither_auto_nor_a_number_is_refused(value):
    with pytest.raises(ValueError, match="must be 'auto' or a whole number from 1 up"):
        en.PTA(value).fit(noisy_votes())


def test_cut_takes_numbers_only():
    with pytest.raises(ValueError, match=r"a whole number from 1 up\. Got 'auto' instead"):
        made("pta").fit(noisy_votes()).cut("auto")


def test_ensemble_clustering_chooses():
    features, truth = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = en.EnsembleClustering("auto", consensus=en.PTA(), random_state=0).fit(features)
    assert model.n_clusters_ == model.k_choice_.k == 3
    assert en.metrics.ari(truth, model.labels_) == 1.0
    assert model.predict(features).tolist() == model.labels_.tolist()
    assert model.get_params()["n_clusters"] == "auto"
    assert en.metrics.choose_k(model).k == 3
    with pytest.raises(ValueError, match="must be 'auto' or a whole number"):
        en.EnsembleClustering("many").fit(features)


def test_a_stream_chooses_as_memory_does(tmp_path):
    votes = pd.DataFrame(noisy_votes(k=4, n=120), columns=list("abcd"))
    votes.to_csv(tmp_path / "votes.csv", index=False)
    result = stream.consensus(tmp_path / "votes.csv", made("ptgp"), tmp_path / "labels.csv")
    expected = made("ptgp").fit(votes)
    assert result.estimator.k_choice_.to_dict() == expected.k_choice_.to_dict()
    assert pd.read_csv(tmp_path / "labels.csv")["label"].tolist() == expected.labels_.tolist()


@pytest.mark.filterwarnings(
    "ignore::ensemblage.FeaturesAsVotesWarning"
)  # checks pass random floats
@parametrize_with_checks(
    [en.PTA("auto")],
    expected_failed_checks=lambda _: {"check_clustering": "X holds labels, not blobs of floats"},
)
@pytest.mark.filterwarnings("ignore::ensemblage.NoStructureWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_groups", [60, 120])
def test_equal_clusterings_are_the_answer_however_fine_they_are(n_groups):
    groups = np.repeat(np.arange(n_groups), 10)
    est = en.Consensus(random_state=0).fit(np.repeat(groups[:, None], 5, axis=1))
    np.testing.assert_array_equal(est.labels_, groups)
    assert est.k_choice_.evidence == "strong"


def test_single_disputed_objects_are_not_clusters():
    votes = np.array([[0, 0, 0]] * 100 + [[1, 1, 1]] * 100 + [[0, 0, 1]])
    est = en.Consensus(random_state=0).fit(votes)
    assert np.bincount(est.labels_).tolist() == [101, 100]
    assert "some clusters are very small: k = 3." in est.k_choice_.reasons[-1]
    votes[-6:] = [2, 2, 2]  # six objects that are always together are a cluster
    assert en.Consensus(random_state=0).fit(votes).n_clusters_ == 3


@pytest.mark.parametrize("seed", [11, 21])
def test_single_objects_of_few_are_not_clusters(seed):
    """Clusterings that split each of three groups of four objects gave 4 or 6 clusters."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], 4)
    votes = np.empty((12, 8), dtype=np.int64)
    for m in range(8):
        below = rng.integers(0, 5, 3)[groups] > np.arange(12) % 4
        votes[:, m] = 2 * groups + below
        if m < 3:  # these join two of the groups
            votes[groups != m, m] = 9
    est = en.Consensus(random_state=0).fit(votes)
    assert est.labels_.tolist() == groups.tolist()
    assert est.k_choice_.evidence == "strong"


@pytest.mark.parametrize("seed", range(4))
def test_independent_votes_are_one_cluster(seed):
    """Nothing but chance is in these votes, so no number of clusters is chosen from them."""
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, rng.integers(3, 12), (200, 10))
    with pytest.warns(en.NoStructureWarning, match="formed a single cluster"):
        est = en.Consensus(random_state=0).fit(votes)
    assert est.n_clusters_ == 1
    assert est.k_choice_.evidence == "none"


@pytest.mark.parametrize(("n_members", "noise"), [(3, 0.02), (10, 0.02), (10, 0.05), (20, 0.05)])
def test_many_clear_groups_with_stray_votes(n_members, noise):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(60), 10)
    votes = np.repeat(truth[:, None], n_members, axis=1)
    wrong = rng.random(votes.shape) < noise
    votes[wrong] = rng.integers(0, 60, wrong.sum())
    model = en.Consensus(random_state=0).fit(votes)
    assert en.metrics.ari(truth, model.labels_) > 0.9
    (reason,) = [one for one in model.k_choice_.reasons if one.startswith("Mean NMI")]
    assert f"mean confidence {model.confidence_.mean():.3f}" in reason


def test_groups_that_no_vote_links_are_structure_however_small():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = np.repeat([0, 1], [300, 5])
        votes = np.repeat(truth[:, None], 5, axis=1)
        votes[rng.random(votes.shape) < 0.1] = -1
        voted = (votes >= 0).any(axis=1)
        model = en.Consensus(random_state=0).fit(votes[voted])
        assert en.metrics.ari(truth[voted], model.labels_) == 1.0


@pytest.mark.parametrize(("n_groups", "size"), [(300, 2), (600, 3)])
def test_equal_clusterings_of_small_groups_have_structure(n_groups, size):
    matrix = np.column_stack([np.repeat(np.arange(n_groups), size)] * 5)
    choice = en.Consensus().fit(matrix).k_choice_
    assert (choice.k, choice.evidence) == (n_groups, "strong")
    mixed = np.column_stack([np.random.default_rng(m).permutation(matrix[:, 0]) for m in range(5)])
    with pytest.warns(en.NoStructureWarning):
        assert en.Consensus().fit(mixed).n_clusters_ == 1


def test_some_pairs_among_objects_that_are_alone_are_no_structure():
    matrix = np.column_stack([np.r_[np.arange(60), np.arange(340)]] * 4)
    with pytest.warns(en.NoStructureWarning):
        assert en.Consensus().fit(matrix).n_clusters_ == 1


def test_thousands_of_equal_groups_are_the_answer_without_curves():
    groups = np.repeat(np.arange(4600), 2)
    est = en.Consensus(random_state=0).fit(np.repeat(groups[:, None], 2, axis=1))
    assert (est.k_choice_.k, est.k_choice_.evidence) == (4600, "strong")
    np.testing.assert_array_equal(est.labels_, groups)


@pytest.mark.parametrize("n_fine", [0, 1])
def test_clusters_of_groups_that_nothing_links_have_no_strong_evidence(n_fine):
    """Halves of the clusterings join them by the same rule, so that the clusters recur."""
    groups = np.repeat(np.arange(30), 12)
    votes = np.column_stack([*[groups] * 4, *[np.arange(360) // 6] * n_fine])
    choice = en.metrics.choose_k(en.EAC(2).fit(votes[:, : 4 + n_fine]), ks=range(2, 7))
    assert choice.evidence == "weak"
    assert "the votes link the objects into 30 groups" in choice.reasons[0]
    assert en.metrics.choose_k(en.EAC(2).fit(votes)).k == 30
