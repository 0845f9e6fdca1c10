import numpy as np
import pytest

import ensemblage as en
from ensemblage import metrics
from ensemblage.metrics import explain_seeds


@pytest.fixture(scope="module")
def unclear():
    """Votes that tell little, so that seeds matter."""
    return np.random.default_rng(1).integers(0, 4, (80, 6))


def test_seeds_matter_where_votes_are_noise(unclear):
    est = en.PTGP(n_clusters=4, random_state=0).fit(unclear)
    before = est.labels_.copy()
    found = metrics.seed_spread(est, n_seeds=4)
    assert not found.exact
    assert found.n_seeds == 4
    assert found.min_ari <= found.mean_ari < 1
    assert found.agreement.shape == (80,)
    assert set(np.unique(found.agreement * 4).tolist()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    np.testing.assert_array_equal(est.labels_, before)
    again = metrics.seed_spread(est, n_seeds=4)
    np.testing.assert_array_equal(found.agreement, again.agreement)


def test_it_is_what_refits_say(unclear):
    est = en.PTGP(n_clusters=4, random_state=0).fit(unclear)
    found = metrics.seed_spread(est, n_seeds=3, random_state=5)
    seed = np.random.default_rng(5).integers(2**63)
    seeds = np.random.default_rng(int(seed)).integers(2**31, size=3)
    fits = [en.PTGP(n_clusters=4, random_state=int(s)).fit_predict(unclear) for s in seeds]
    pairs = [metrics.ari(fits[i], fits[j]) for i, j in [(0, 1), (0, 2), (1, 2)]]
    assert found.mean_ari == pytest.approx(np.mean(pairs))
    assert found.min_ari == pytest.approx(min(pairs))


def test_clear_votes_do_not_depend_on_the_seed():
    truth = np.repeat([0, 1, 2], 10)
    found = metrics.seed_spread(en.PTGP(n_clusters=3).fit(np.column_stack([truth] * 3)))
    assert found.mean_ari == found.min_ari == 1.0
    assert (found.agreement == 1).all()


def test_names_are_matched_one_to_one():
    labels = np.array([0, 0, 0, 1, 1, 2])
    renamed = explain_seeds._renamed(labels, np.array([1, 1, 1, 0, 0, 2]), np.ones(6))
    np.testing.assert_array_equal(renamed, labels)
    # The first cluster is in two: only its larger part keeps the name.
    found = explain_seeds._renamed(labels, np.array([3, 3, 0, 1, 1, 2]), np.ones(6))
    assert found.tolist() == [0, 0, -1, 1, 1, 2]
    # By weight, the single object is the larger part.
    weights = np.array([1, 1, 9, 1, 1, 1])
    found = explain_seeds._renamed(labels, np.array([3, 3, 0, 1, 1, 2]), weights)
    assert found.tolist() == [-1, -1, 0, 1, 1, 2]


def test_methods_without_random_parts_are_exact(e3):
    for method in (en.PTA, en.EAC, en.Vote):
        found = metrics.seed_spread(method(n_clusters=2).fit(e3))
        assert found.exact
        assert found.n_seeds == 0
        assert found.agreement.tolist() == [1.0] * 8


def test_members_of_a_clusterer_of_features_stay(unclear):
    model = en.EnsembleClustering(n_clusters=3, n_members=6, random_state=0).fit(unclear * 1.0)
    assert metrics.seed_spread(model, n_seeds=2).agreement.shape == (80,)


def test_how_many_seeds(e3):
    est = en.PTGP(n_clusters=2).fit(e3)
    with pytest.raises(ValueError, match=r"'n_seeds' parameter of metrics\.seed_spread"):
        metrics.seed_spread(est, n_seeds=1)
