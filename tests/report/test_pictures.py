"""What the pictures show, beside slow versions written from the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_inputs import noisy_votes
from scipy.cluster.hierarchy import dendrogram

import ensemblage as en
from ensemblage.report._facts import _next_clusters
from ensemblage.report._layout import (
    map_of_features,
    map_of_similarity,
    order_by_cluster,
    spread_apart,
)
from ensemblage.report._pictures import drawn_tree, heatmap, tree
from ensemblage.report._report import _subject
from ensemblage.report._sample import least_sure, representatives
from ensemblage.report._text import in_script, visible
from ensemblage.report._tsne import affinities, gradient


def subject_of(model):
    return _subject(model, features=None, truth=None, ids=None, names=None)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=80), st.integers(1, 30))
def test_representatives_cover_every_cluster_in_proportion(labels, most):
    labels = np.unique(labels, return_inverse=True)[1]
    chosen = representatives(labels, most)
    assert (np.diff(chosen) > 0).all()
    sizes, shown = np.bincount(labels), np.bincount(labels[chosen], minlength=labels.max() + 1)
    assert (shown >= 1).all()
    if len(labels) <= most:
        assert len(chosen) == len(labels)
    else:
        share = sizes * most / len(labels)
        assert (np.abs(shown - np.clip(share, 1, sizes)) <= 0.5).all()


def test_the_least_sure_are_the_least_sure():
    sure = np.random.default_rng(0).random(100)
    assert set(least_sure(sure, 10)) == set(np.argsort(sure)[:10])
    assert least_sure(sure[:5], 10).tolist() == [0, 1, 2, 3, 4]


@given(st.text(max_size=40))
def test_json_in_a_script_reads_back_and_cannot_end_it(text):
    import json

    found = str(in_script({"name": visible(text)}))
    assert json.loads(found) == {"name": visible(text)}
    assert not set("<>&'\u2028\u2029") & set(found)


@pytest.mark.parametrize("missing", [False, True])
def test_the_next_cluster_shares_most_votes(missing):
    votes, _ = noisy_votes(60, 7, 4, seed=3)
    if missing:
        votes[np.random.default_rng(1).random(votes.shape) < 0.2] = -1
        votes[:, 0] = np.where(votes[:, 0] < 0, 0, votes[:, 0])
    model = en.EAC(4).fit(votes)
    found = _next_clusters(model, np.arange(60))
    for i in range(60):
        shares = []
        for cluster in range(4):
            inside = votes[model.labels_ == cluster]
            both = (inside >= 0) & (votes[i] >= 0)
            agreed = (inside == votes[i]) & both
            own = cluster == model.labels_[i]
            shares.append(-1 if own else agreed.sum() / max(both.sum(), 1))
        assert shares[found[i]] == pytest.approx(max(shares))


def test_the_heatmap_is_the_co_association_in_cluster_order():
    import base64

    votes, _ = noisy_votes(50, 8, 3)
    model = en.PTA(3).fit(votes)
    found = heatmap(subject_of(model), np.arange(50))
    order = found["of"]
    assert sorted(order) == list(range(50))
    labels = model.labels_[order]
    assert (np.diff(labels) != 0).sum() == 2  # each cluster is one run
    levels = np.frombuffer(base64.b64decode(found["kinds"][0]["values"]), dtype=np.uint8)
    together = (votes[order][:, None] == votes[order][None]).mean(axis=2)
    assert np.abs(levels.reshape(50, 50) / 255 - together).max() <= 0.5 / 255 + 1e-9
    own = np.frombuffer(base64.b64decode(found["kinds"][1]["values"]), dtype=np.uint8)
    of = model.microclusters_.of_object[order]
    assert np.abs(own.reshape(50, 50) / 255 - model.similarity_[np.ix_(of, of)]).max() < 0.01
    assert found["kinds"][1]["title"] == "Random walks"


def test_order_by_cluster_keeps_clusters_whole():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 40)
    similarity = rng.random((40, 40))
    order = order_by_cluster((similarity + similarity.T) / 2, labels)
    assert sorted(order) == list(range(40))
    assert (np.diff(labels[order]) != 0).sum() == 4


@pytest.mark.parametrize("linkage", ["average", "single"])
def test_the_tree_is_the_top_of_the_whole_one(linkage):
    votes, _ = noisy_votes(200, 9, 4, seed=5)
    model = en.EAC(4, linkage=linkage).fit(votes)
    sizes, merges = model.microclusters_.sizes, model.linkage_matrix_
    found = drawn_tree(merges, sizes, model._micro_labels, 12)
    theirs = dendrogram(merges, truncate_mode="lastp", p=12, no_plot=True)
    assert len(found["size"]) == len(theirs["leaves"]) == 12
    assert sum(found["size"]) == 200
    heights = sorted(height for _, _, height in found["merges"])
    assert heights == pytest.approx(sorted(max(corners) for corners in theirs["dcoord"]), abs=1e-5)
    # Every node is merged once, and the last merge holds all.
    used = [node for a, b, _ in found["merges"] for node in (a, b)]
    assert sorted(used) == list(range(22))
    # No more leaves than microclusters, and the cut has as many branches as there are clusters.
    shown = tree(subject_of(model))
    below = sum(height <= shown["cut"] for _, _, height in shown["merges"])
    assert len(shown["size"]) - below == 4
    assert drawn_tree(merges, sizes, model._micro_labels, len(sizes))["size"].count(0) == 0


def test_map_gradient_is_that_of_the_divergence():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9, 4))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    attraction = affinities(distance, 2.5)
    assert attraction.sum() == pytest.approx(1.0)
    assert np.allclose(attraction, attraction.T)
    places = rng.normal(size=(9, 2))

    def divergence(places):
        kernel = 1 / (1 + ((places[:, None] - places) ** 2).sum(axis=2))
        np.fill_diagonal(kernel, 0)
        share = kernel / kernel.sum()
        off = ~np.eye(9, dtype=bool)
        return (attraction[off] * np.log(attraction[off] / share[off])).sum()

    numeric = np.zeros_like(places)
    for at in np.ndindex(places.shape):
        step = np.zeros_like(places)
        step[at] = 1e-6
        numeric[at] = (divergence(places + step) - divergence(places - step)) / 2e-6
    scratch = np.empty((9, 9)), np.empty((9, 9))
    assert gradient(places, attraction, scratch) == pytest.approx(numeric, abs=1e-7)


def test_rows_of_affinities_have_the_perplexity():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(30, 3))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    # One point far from all: still so many neighbours.
    distance[0, 1:] += 50
    distance[1:, 0] += 50
    found = affinities(distance, 5.0)
    assert np.isfinite(found).all()
    assert found[0].sum() >= 1 / 60 - 1e-12


def test_groups_are_apart_on_the_map():
    votes, truth = noisy_votes(150, 20, 3)
    similarity = (votes[:, None] == votes).mean(axis=2)
    places = map_of_similarity(similarity)
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(distance, np.inf)
    assert (truth[distance.argmin(axis=1)] == truth).mean() > 0.97
    assert np.array_equal(places, map_of_similarity(similarity))


def test_maps_of_nearly_nothing():
    assert map_of_similarity(np.ones((1, 1))).tolist() == [[0.0, 0.0]]
    assert np.isfinite(map_of_similarity(np.ones((20, 20)))).all()
    assert np.isfinite(map_of_similarity(np.eye(12))).all()
    for n in (27, 40, 60, 100):  # SciPy returns fewer of the equal eigenvalues than requested
        assert np.isfinite(map_of_similarity(np.eye(n))).all()
    places, share = map_of_features(np.full((5, 3), 7.0))
    assert (places.tolist(), share) == ([[0.0, 0.0]] * 5, 1.0)
    assert map_of_features(np.arange(4.0)[:, None])[0][:, 1].tolist() == [0.0] * 4
    huge = map_of_features(np.array([[1e300, 0.0], [-1e300, 1.0], [0.0, 2.0]]))[0]
    assert np.isfinite(huge).all()


def test_principal_components_are_those_of_the_features():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(40, 5)) * [5, 3, 1, 1, 1] + 100
    places, share = map_of_features(rows)
    values = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    assert places.var(axis=0, ddof=1) == pytest.approx(values[:2])
    assert share == pytest.approx(values[:2].sum() / values.sum())


def test_objects_of_a_microcluster_stand_around_its_place():
    places = np.array([[0.0, 0.0], [1.0, 1.0]])
    groups = np.array([0, 1, 1, 1, 0])
    found = spread_apart(places, groups)
    assert found[0].tolist() == [0.0, 0.0]
    assert found[1].tolist() == [1.0, 1.0]
    assert len(np.unique(found, axis=0)) == 5
    assert np.abs(found - places[groups]).max() < 0.05


def test_a_tree_of_objects_is_drawn_too():
    votes, _ = noisy_votes(60, 6, 3)
    model = en.ECMC(3, level="objects").fit(votes)
    assert len(model.linkage_matrix_) == 59
    found = tree(subject_of(model))
    assert sum(found["size"]) == 60
    of_cluster = np.bincount(found["cluster"], weights=found["size"])
    assert of_cluster.tolist() == np.bincount(model.labels_).tolist()
