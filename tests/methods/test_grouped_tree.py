"""The default beyond the exact tree: limits are lowered so that small data reaches it."""

import numpy as np
import pytest

import ensemblage as en
from ensemblage.methods import _fitted, _shared_clusters


def planted(seed, n=600, k=4, n_members=15, noise=0.2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    votes = np.empty((n, n_members), dtype=np.int64)
    for m in range(n_members):
        names = rng.integers(0, 2 * k, 2 * k)
        votes[:, m] = names[2 * truth + rng.integers(0, 2, n)]
        wrong = rng.random(n) < noise
        votes[wrong, m] = rng.integers(0, 2 * k, wrong.sum())
    return votes, truth


@pytest.fixture
def grouped(monkeypatch):
    monkeypatch.setattr(_shared_clusters, "MOST_PAIRED", 50)
    monkeypatch.setattr(_shared_clusters, "MOST_STEPS", 1000)
    monkeypatch.setattr(_shared_clusters, "N_GROUPS", 120)


@pytest.mark.parametrize("seed", range(3))
def test_labels_are_close_to_those_of_the_exact_tree(seed, request):
    votes, truth = planted(seed)
    exact = en.Consensus(4, random_state=0).fit(votes)
    request.getfixturevalue("grouped")
    model = en.Consensus(4, random_state=0).fit(votes)
    assert en.metrics.ari(exact.labels_, model.labels_) > 0.95
    assert en.metrics.ari(truth, model.labels_) > en.metrics.ari(truth, exact.labels_) - 0.02
    assert not any("approximate" in reason for reason in exact.reasons_)


@pytest.mark.usefixtures("grouped")
def test_it_says_so_and_everything_works():
    votes, _ = planted(5)
    model = en.Consensus(4, random_state=0).fit(votes)
    assert "The tree is approximate" in model.reasons_[-1]
    assert f"{model.n_microclusters_} different rows" in model.reasons_[-1]
    assert model.linkage_matrix_.shape == (model.n_microclusters_ - 1, 4)
    np.testing.assert_array_equal(model.predict(votes), model.labels_)
    assert model.confidence_.min() >= 0
    assert len(np.unique(model.cut(200))) == 200  # more than there are groups
    assert len(np.unique(model.cut(2))) == 2


@pytest.mark.usefixtures("grouped")
def test_threads_and_names_do_not_matter():
    votes, _ = planted(6)
    model = en.Consensus(4, random_state=0, n_jobs=1).fit(votes)
    other = en.Consensus(4, random_state=0, n_jobs=3).fit(100 - votes)
    np.testing.assert_array_equal(model.labels_, other.labels_)


@pytest.mark.usefixtures("grouped")
def test_methods_by_name_stay_exact():
    votes, _ = planted(7)
    exact = en.LWEA(4, weights="normalized").fit(votes)
    assert exact._captured is None


@pytest.mark.usefixtures("grouped")
def test_a_saved_model_cuts_the_same(tmp_path):
    votes, _ = planted(8)
    model = en.Consensus(4, random_state=0).fit(votes)
    model.save(tmp_path / "model.ensemblage")
    np.testing.assert_array_equal(en.load(tmp_path / "model.ensemblage").cut(3), model.cut(3))


@pytest.mark.parametrize("seed", range(2))
def test_many_rows_with_gaps_are_grouped(seed, request, monkeypatch):
    votes, truth = planted(seed)
    votes[np.random.default_rng(seed).random(votes.shape) < 0.15] = -1
    exact = en.Consensus(4, random_state=0).fit(votes)
    request.getfixturevalue("grouped")
    monkeypatch.setattr(_fitted, "MOST_WITH_GAPS", 100)
    model = en.Consensus(4, random_state=0).fit(votes)
    assert "The tree is approximate" in model.reasons_[-1]
    assert en.metrics.ari(exact.labels_, model.labels_) > 0.9
    assert en.metrics.ari(truth, model.labels_) > en.metrics.ari(truth, exact.labels_) - 0.03
    same = exact.labels_ == model.labels_
    assert np.abs(exact.confidence_ - model.confidence_)[same].mean() < 0.03
    np.testing.assert_array_equal(model.predict(votes), model.labels_)
    assert len(np.unique(model.cut(10))) == 10
