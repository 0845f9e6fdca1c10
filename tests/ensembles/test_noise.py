"""What EnsembleClustering says of features without groups."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import ensemblage as en
from ensemblage.ensembles import _judged, _noise
from ensemblage.ensembles._noise import _boxes, box
from ensemblage.metrics import KChoice
from ensemblage.metrics.choosing import Null


def test_noise_is_one_cluster_with_a_warning():
    model = en.EnsembleClustering(random_state=0)
    match = "No structure: clusterings of noise.* 2 to 9 clusters cannot show more groups than 9"
    with pytest.warns(en.NoStructureWarning, match=match):
        model.fit(np.random.default_rng(0).normal(size=(300, 2)))
    assert set(model.labels_) == {0}
    assert (model.k_choice_.k, model.k_choice_.evidence) == (1, "none")
    assert model.k_choice_.runners_up == []
    assert model.k_choice_.reasons[1].startswith("From the votes alone: Weak evidence for")


@pytest.mark.parametrize("noise_is_as_good", [False, True])
def test_moderate_evidence_becomes_weak_where_noise_is_as_good(monkeypatch, noise_is_as_good):
    features, _ = make_blobs(240, 3, centers=6, cluster_std=3.5, random_state=2)
    asked = []

    def compared(*_):
        asked.append(True)
        return _noise.Noise(Null(1.0, 2.0 if noise_is_as_good else 0.5), 1)

    monkeypatch.setattr(_noise, "compare_with_noise", compared)
    model = en.EnsembleClustering(random_state=0).fit(features)
    before = model.consensus_.k_choice_
    assert before.evidence == "moderate"
    assert asked == [True]
    assert model.k_choice_.k == before.k
    assert model.k_choice_.evidence == ("weak" if noise_is_as_good else "moderate")
    if noise_is_as_good:
        assert model.k_choice_.reasons[0].startswith(f"Weak evidence for {before.k} clusters: ")
        assert model.k_choice_.reasons[1] == f"From the votes alone: {before.reasons[0]}"


def test_groups_that_no_vote_links_are_clusters():
    features, truth = make_blobs([270, 30], 3, random_state=4)
    model = en.EnsembleClustering(random_state=4).fit(features)
    assert model.consensus_._ensemble.links.n_groups == 2
    assert en.metrics.ari(truth, model.labels_) == 1
    choice = model.k_choice_
    assert (choice.k, choice.evidence) == (2, "moderate")
    assert "2 groups, of 5 objects or more, that do not share a cluster" in choice.reasons[0]
    assert choice.reasons[1].startswith("Finer clusters are uncertain: clusterings of noise in")
    assert choice.reasons[2].startswith("From the votes alone: Weak evidence for")
    assert 2 not in choice.runners_up


@pytest.mark.parametrize(
    ("groups_of_noise", "within_exceeds", "kept"),
    [(1, True, True), (1, False, False), (2, 0, None)],
)
def test_finer_clusters_are_compared_with_noise_in_groups(
    monkeypatch, groups_of_noise, within_exceeds, kept
):
    features, _ = make_blobs([270, 30], 3, random_state=9)

    def compared(_plan, _n_members, _seed, groups=None):
        exceeds = within_exceeds and groups is not None
        return _noise.Noise(Null(1.0, 0.5 if exceeds else 2.0), groups_of_noise)

    monkeypatch.setattr(_noise, "compare_with_noise", compared)
    monkeypatch.setattr(_judged, "_clearer", lambda *_: None)  # which finds both blobs
    model = en.EnsembleClustering(random_state=9).fit(features)
    if kept:  # as from the votes
        assert (model.n_clusters_, model.k_choice_.evidence) == (5, "moderate")
    elif kept is None:  # noise has as many groups
        assert (model.n_clusters_, model.k_choice_.evidence) == (5, "weak")
    else:
        assert (model.n_clusters_, model.k_choice_.evidence) == (2, "moderate")
        assert model.k_choice_.runners_up[0] == 5


@pytest.mark.parametrize(("k", "kept"), [(1, False), (2, True), (3, True)])
def test_a_choice_of_the_groups_or_finer_ones_is_kept(k, kept, monkeypatch):
    """Noise in the groups gives less support."""

    def compared(_plan, _n_members, _seed, groups=None):
        return _noise.Noise(Null(1.0, 2.0 if groups is None else 0.5), 1)

    monkeypatch.setattr(_noise, "compare_with_noise", compared)
    fitted = SimpleNamespace(
        k_choice_=KChoice(k, np.arange(1, 5), "support", {}, {}, ["Weak."], [], evidence="weak"),
        _ensemble=SimpleNamespace(links=SimpleNamespace(of_row=np.array([0, 1]))),
        microclusters_=SimpleNamespace(sizes=np.array([9, 9]), of_object=np.repeat([0, 1], 9)),
    )
    doubt = _noise.doubted(fitted, SimpleNamespace(methods=["kmeans"]), 20, 0)
    assert (doubt is None) == kept
    assert kept or doubt.k == 2


def test_noise_in_groups_has_a_box_for_each():
    rng = np.random.default_rng(0)
    features = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(50, 1, (20, 2))])
    noise = _boxes(features, np.repeat([0, 1], [30, 20]), rng)
    assert np.abs(noise[:30]).max() < 10
    assert np.abs(noise[30:] - 50).max() < 10


def test_clear_groups_are_not_compared_with_noise(monkeypatch):
    monkeypatch.setattr(_noise, "compare_with_noise", None)
    features, _ = make_blobs(200, 3, centers=4, random_state=1)
    assert en.EnsembleClustering(random_state=0).fit(features).k_choice_.evidence == "strong"


def test_few_members_are_not_compared_with_noise():
    features = np.random.default_rng(0).normal(size=(60, 2))
    model = en.EnsembleClustering(n_members=4, random_state=0).fit(features)
    assert model.k_choice_.evidence != "none"


def test_a_box_of_noise_spans_the_features_along_their_axes():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 3)) * [10, 1, 0.1]
    points = box(features, rng)
    assert points.shape == features.shape
    assert np.ptp(points, axis=0) == pytest.approx(np.ptp(features, axis=0), rel=0.5)


def test_a_given_number_has_no_choice():
    model = en.EnsembleClustering(3, random_state=0).fit(np.random.default_rng(0).random((40, 2)))
    with pytest.raises(AttributeError, match="only with n_clusters='auto'"):
        model.k_choice_  # noqa: B018
