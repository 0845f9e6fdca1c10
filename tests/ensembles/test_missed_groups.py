"""Compact groups that members from random starts miss, and starts that find them."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons

import ensemblage as en
from ensemblage import _validate, flow
from ensemblage.ensembles import _consensus, clustering


def groups(sizes, distance, n_features, seed):
    """Groups in a row (one feature) or in random directions, with standard deviation 1."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    centres = distance * np.arange(len(sizes))[:, None] * np.eye(1, n_features)
    return centres[truth] + rng.normal(size=(len(truth), n_features)), truth


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("sizes", [[400, 20, 20, 20, 20], [500, 20, 20], [60, 6, 6]])
def test_small_groups_far_apart_are_clusters(sizes, n_features, seed):
    features, truth = groups(sizes, 20, n_features, seed)
    model = en.EnsembleClustering(len(sizes), random_state=0).fit(features + 1e6)
    assert en.metrics.ari(truth, model.labels_) == 1.0
    assert (model.predict(features + 1e6) == model.labels_).all()


def test_members_are_made_again_by_other_starts_and_saved(tmp_path):
    features, _ = groups([400, 20, 20, 20, 20], 20, 1, 0)
    model = en.EnsembleClustering(5, random_state=0).fit(features)
    assert {member.method for member in model.members_} == {"kmeans++"}
    votes = en.ensembles.generate(features, 20, "kmeans++", n_clusters=5, random_state=0)
    np.testing.assert_array_equal(model.votes_[:, :20], votes)
    model.save(tmp_path / "m.ensemblage")
    loaded = en.load(tmp_path / "m.ensemblage")
    assert (loaded.predict(features) == model.labels_).all()
    assert loaded.method == "kmeans"


@pytest.mark.parametrize("method", [KMeans(n_init=1, init="random"), "rpcl", ["kmeans", "rpcl"]])
def test_other_methods_are_used_as_asked(method):
    features, _ = groups([400, 20, 20, 20, 20], 20, 1, 0)
    model = en.EnsembleClustering(5, method=method, random_state=0).fit(features)
    assert "kmeans++" not in {member.method for member in model.members_}


def test_groups_that_are_not_round_or_outliers_change_nothing():
    rng = np.random.default_rng(0)
    outliers = rng.normal(size=(300, 2))
    outliers[:3] = 1e4 * rng.normal(size=(3, 2))
    sets = [
        make_moons(300, noise=0.06, random_state=0)[0],
        make_circles(300, noise=0.05, factor=0.4, random_state=0)[0],
        rng.normal(size=(300, 3)),
        np.exp(2 * rng.normal(size=(300, 3))),
        outliers,
    ]
    for features in sets:
        model = en.EnsembleClustering(3, random_state=0).fit(features)
        assert {member.method for member in model.members_} == {"kmeans"}


def test_warnings_of_members_that_are_not_used_are_not_raised(monkeypatch):
    features, _ = groups([400, 20, 20, 20, 20], 20, 1, 0)
    found = []

    def find_consensus(*arguments):
        found.append(_consensus.find_consensus(*arguments))
        _validate.warn(f"of consensus {len(found)}", UserWarning)
        return found[-1]

    monkeypatch.setattr(clustering, "find_consensus", find_consensus)
    with pytest.warns(UserWarning, match="of consensus") as caught:
        en.EnsembleClustering(5, random_state=0).fit(features)
    assert [str(warning.message) for warning in caught] == ["of consensus 2"]


def test_other_warnings_are_raised_once_with_the_line_of_the_user():
    noise = np.random.default_rng(0).normal(size=(300, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        en.EnsembleClustering(random_state=0).fit(noise)
    (one,) = caught
    assert (one.category, one.filename) == (en.NoStructureWarning, __file__)


@given(st.integers(0, 2**32 - 1))
def test_starts_are_different_rows_also_of_equal_ones(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (int(rng.integers(1, 20)), 2)).astype(float)
    k = int(rng.integers(1, len(rows) + 1))
    starts = flow.spread_starts(rows, k, rng)
    assert len(set(starts.tolist())) == k
    assert len(np.unique(rows[starts], axis=0)) == min(k, len(np.unique(rows, axis=0)))


def test_starts_are_drawn_by_squared_distance():
    rows = np.array([[0.0], [1.0], [3.0]])
    drawn = [flow.spread_starts(rows, 2, np.random.default_rng(seed)) for seed in range(3000)]
    second = np.bincount([b for a, b in drawn if a == 0], minlength=3) / sum(
        a == 0 for a, _ in drawn
    )
    assert abs(second - [0, 0.1, 0.9]).max() < 0.03
