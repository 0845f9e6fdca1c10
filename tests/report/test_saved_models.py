"""Reports on models from files, with and without their objects."""

import json
import re

import numpy as np
import pytest
from report_inputs import noisy_votes

import ensemblage as en

VOTES, TRUTH = noisy_votes(120, 7, 4, seed=6)
METHODS = [en.Consensus(4, random_state=0), en.EAC(4), en.PTGP(4, random_state=0), en.Vote(4)]


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def saved(model, folder, **options):
    path = folder / "model.ensemblage"
    model.save(path, **options)
    return en.load(path)


@pytest.mark.parametrize("model", METHODS, ids=lambda model: type(model).__name__)
def test_a_model_with_objects_has_the_same_report(model, tmp_path):
    model.fit(VOTES)
    assert en.report.html(saved(model, tmp_path), truth=TRUTH) == en.report.html(model, truth=TRUTH)


@pytest.mark.parametrize("model", METHODS, ids=lambda model: type(model).__name__)
def test_votes_bring_the_objects_back(model, tmp_path):
    model.fit(VOTES)
    bare = saved(model, tmp_path, objects=False)
    page = en.report.html(bare, votes=VOTES, truth=TRUTH, ids=np.arange(120))
    assert data_of(page) == data_of(en.report.html(model, truth=TRUTH, ids=np.arange(120)))
    assert len(bare.labels_) == bare.n_microclusters_  # it is not changed


@pytest.mark.parametrize("gaps", [False, True])
def test_without_votes_all_figures_are_those_of_the_fit(gaps, tmp_path):
    votes = VOTES.copy()
    if gaps:
        votes[np.random.default_rng(0).random(votes.shape) < 0.1] = -1
        votes[:, 0] = np.maximum(votes[:, 0], 0)
    model = en.Consensus(random_state=0).fit(votes)
    page = en.report.html(saved(model, tmp_path, objects=False))
    found, whole = data_of(page), data_of(en.report.html(model))
    for part in ("clusters", "members", "tree", "k"):
        assert found[part] == whole[part]
    assert found["objects"]["row"] is None
    groups = [int(name.removeprefix("microcluster ")) for name in found["objects"]["id"]]
    np.testing.assert_array_equal(np.bincount(groups), model.microclusters_.sizes)
    assert found["objects"]["cluster"] == model._micro_labels[groups].tolist()
    assert sorted(found["objects"]["confidence"]) == sorted(whole["objects"]["confidence"])
    assert "The model was saved without its objects." in page


def test_groups_of_a_stream_have_a_report():
    whole = en.Ensemble(VOTES)
    groups = whole.microclusters
    parts = en.Ensemble.of_groups(groups.table, groups.sizes, whole.labels)
    found = data_of(en.report.html(en.EAC(4).fit(parts)))
    assert found["clusters"] == data_of(en.report.html(en.EAC(4).fit(VOTES)))["clusters"]


def test_a_model_with_weights_knows_its_votes(tmp_path):
    weight = [1, 0, 2, 1, 1, 1, 1]
    model = en.EAC(4).fit(VOTES, member_weight=weight)
    bare = saved(model, tmp_path, objects=False)
    page = en.report.html(bare, votes=VOTES)
    assert data_of(page) == data_of(en.report.html(model))


def test_a_clusterer_of_features_has_a_report(tmp_path):
    features = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([0, 4, 8], 20)[:, None]
    model = en.EnsembleClustering(n_clusters=3, n_members=6, random_state=1).fit(features)
    page = en.report.html(saved(model, tmp_path, objects=False))
    whole = data_of(en.report.html(model))
    assert data_of(page)["clusters"] == whole["clusters"]


def test_other_votes_are_refused(tmp_path):
    model = en.EAC(4).fit(VOTES)
    bare = saved(model, tmp_path, objects=False)
    with pytest.raises(
        ValueError, match=r"differ from those .* fitted on: 1 of 120 objects have unknown votes"
    ):
        en.report.html(bare, votes=np.r_[VOTES[:-1], [[9] * 7]])
    with pytest.raises(ValueError, match=r"got 119 objects, not the same as the 120 of the fit"):
        en.report.html(bare, votes=VOTES[:-1])
    with pytest.raises(ValueError, match=r"must be the 7 clusterings .* Got 6"):
        en.report.html(bare, votes=VOTES[:, :6])
    with pytest.raises(ValueError, match=r"another order than those"):
        en.report.html(model, votes=VOTES[::-1])
    with pytest.raises(ValueError, match=r"so ids, truth and features cannot be matched"):
        en.report.html(bare, truth=TRUTH, ids=range(120), features=VOTES)
    assert en.report.html(model, votes=VOTES) == en.report.html(model)


def test_too_many_objects_are_refused_before_they_are_made(tmp_path, monkeypatch):
    bare = saved(en.EAC(4).fit(VOTES), tmp_path, objects=False)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1000")
    with pytest.raises(MemoryError, match="A report on 120 objects of a model"):
        en.report.html(bare)
