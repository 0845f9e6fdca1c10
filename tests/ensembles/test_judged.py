"""The number of clusters that `EnsembleClustering` chooses, judged by the features."""

from dataclasses import replace

import numpy as np
import pytest

import ensemblage as en
from ensemblage.ensembles import _judged


def groups_in_a_row(seed, sizes=(200, 20, 20), distance=20.0):
    """Return round groups of standard deviation 1, at equal distances, and their numbers."""
    truth = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.random.default_rng(seed).normal(size=(len(truth), 2))
    return noise + np.column_stack([distance * truth, 0 * truth]), truth


@pytest.mark.parametrize("seed", range(4))
def test_a_large_group_is_not_split_where_small_ones_are_far(seed):
    features, truth = groups_in_a_row(seed)
    model = en.EnsembleClustering(random_state=0).fit(features + 1e10)
    assert en.metrics.ari(model.labels_, truth) == 1.0
    choice = model.k_choice_
    assert choice.evidence == "moderate"
    assert "compact and far apart" in choice.reasons[0]
    assert choice.reasons[1].startswith("From the votes alone: ")
    assert model.n_clusters_ == choice.k
    assert choice.runners_up


@pytest.mark.parametrize("gap", [5, 10])
def test_clear_clusters_within_groups_that_are_far_apart_are_kept(gap):
    corners = np.array([(0, 0), (1, 0), (0, 1)])
    centres = np.vstack([gap * corners, gap * corners + 50])
    truth = np.repeat(np.arange(6), 100)
    features = centres[truth] + np.random.default_rng(0).normal(size=(600, 2))
    model = en.EnsembleClustering(random_state=0).fit(features)
    assert model.n_clusters_ == 6
    assert model.k_choice_.evidence == "strong"
    assert en.metrics.ari(model.labels_, truth) > 0.9


def test_a_choice_stays_if_the_sample_lacks_one_of_its_clusters(monkeypatch):
    features, truth = groups_in_a_row(0, (300, 300, 5), 12.0)
    model = en.EnsembleClustering(2, random_state=0).fit(features)
    consensus = en.Consensus(random_state=0).fit(np.column_stack([truth] * 5))
    assert consensus.n_clusters_ == 3
    monkeypatch.setattr(_judged, "_MOST_OBJECTS", 50)  # none of the five objects with this seed
    plan = replace(model._plan, features=features)
    assert _judged._clearer(consensus, plan, consensus.k_choice_, 20, 1) is None


def test_a_choice_below_that_of_the_votes_stays_too_if_the_sample_lacks_a_cluster(monkeypatch):
    features, truth = groups_in_a_row(0)
    model = en.EnsembleClustering(2, random_state=0).fit(features)
    consensus = en.Consensus(random_state=0).fit(np.column_stack([truth] * 5))
    first_alone = (np.arange(len(truth)) > 0).astype(int)
    monkeypatch.setattr(_judged, "cuts_of", lambda _: lambda k: truth if k == 3 else first_alone)
    monkeypatch.setattr(_judged, "_MOST_OBJECTS", 100)
    choice = replace(consensus.k_choice_, k=2)
    plan = replace(model._plan, features=features)
    assert _judged._clearer(consensus, plan, choice, 20, 0) is None


def test_the_votes_decide_where_clusters_are_not_clear():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 2)) + 4 * rng.integers(0, 3, 300)[:, None]
    choice = en.EnsembleClustering(random_state=0).fit(features).k_choice_
    assert choice.k == 3
    assert "silhouette" not in " ".join(choice.reasons)


def test_long_tails_are_no_strong_evidence():
    rng = np.random.default_rng(0)
    with pytest.warns(en.NoStructureWarning):
        model = en.EnsembleClustering(random_state=0).fit(rng.standard_t(2, (400, 2)))
    assert model.n_clusters_ == 1
    model = en.EnsembleClustering(random_state=0).fit(rng.lognormal(0, 1.5, (400, 1)))
    assert model.k_choice_.evidence != "strong"


def test_a_consensus_of_another_kind_and_a_wanted_number():
    features, truth = groups_in_a_row(2)
    model = en.EnsembleClustering(consensus=en.EAC("auto"), random_state=0).fit(features)
    assert en.metrics.ari(model.labels_, truth) > 0.95
    wanted = en.EnsembleClustering(4, random_state=0).fit(features)
    assert wanted.n_clusters_ == 4


@pytest.mark.parametrize(
    ("distance", "from_k", "expected"),
    [(12, 4, 2), (12, 2, None), (12, 1, None), (4, 4, None)],  # silhouettes 0.8, and 0.6 at 4
)
def test_only_clear_clusters_change_a_choice(distance, from_k, expected):
    features, _ = groups_in_a_row(0, (60, 60), distance)
    model = en.EnsembleClustering(random_state=0).fit(features)
    given = replace(model.consensus_.k_choice_, k=from_k)
    plan = replace(model._plan, features=features)
    choice = _judged._clearer(model.consensus_, plan, given, 20, 0)
    assert (None if choice is None else choice.k) == expected
