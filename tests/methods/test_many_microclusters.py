"""EAC, WEAC and LWEA beyond the number of microclusters whose pairs are compared."""

import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted import noisy

import ensemblage as en
from ensemblage.methods import _placing, _shared_clusters
from ensemblage.plot._selection import similarity_of
from ensemblage.testing.strategies import odd_votes

METHODS = {
    "eac": en.EAC,
    "weac": en.WEAC,
    "lwea": en.LWEA,
    "lwea normalized": lambda k, **options: en.LWEA(k, weights="normalized", **options),
}


@pytest.fixture
def by_clusters(monkeypatch):
    """Let all trees be made by clusters, where that is possible."""
    monkeypatch.setattr(_shared_clusters, "MOST_PAIRED", 0)


def both(name, votes, monkeypatch, member_weight=None, n_clusters=3, **options):
    """Return the same fit with all pairs and without."""
    fits = []
    for most in (10**9, 0):
        monkeypatch.setattr(_shared_clusters, "MOST_PAIRED", most)
        fits.append(METHODS[name](n_clusters, **options).fit(votes, member_weight=member_weight))
        assert fits[-1]._goes_by_clusters("average", "mean") == (most == 0)
    return fits


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("weight", [None, [1, 2, 0.3, 0, 1, 1, 5, 1, 1]])
def test_fits_are_the_same_with_all_pairs_and_without(name, weight, monkeypatch):
    votes = noisy([70, 50, 40, 30, 10], 9, 0.4, seed=2)[0]
    for least in (1, "auto", 0.5):
        pairs, clusters = both(name, votes, monkeypatch, weight, min_cluster_size=least)
        a, b = pairs.linkage_matrix_, clusters.linkage_matrix_
        np.testing.assert_array_equal(a[:, [0, 1, 3]], b[:, [0, 1, 3]])
        np.testing.assert_allclose(a[:, 2], b[:, 2], rtol=0, atol=1e-12)
        for k in range(1, len(a) + 1):
            np.testing.assert_array_equal(pairs.cut(k), clusters.cut(k))
        np.testing.assert_allclose(pairs.confidence_, clusters.confidence_, atol=1e-12)
    np.testing.assert_array_equal(pairs.similarity_, clusters.similarity_)
    rows = np.array([5, 0, 17])
    np.testing.assert_allclose(
        METHODS[name](3).fit(votes, member_weight=weight)._similarity_between(rows),
        clusters.similarity_[np.ix_(rows, rows)],
    )


@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
@pytest.mark.parametrize("name", METHODS)
@given(votes=odd_votes(gaps=False))
def test_odd_votes_too(name, votes):
    with pytest.MonkeyPatch.context() as patch:
        pairs, clusters = both(name, votes, patch, n_clusters=1)
    a, b = pairs.linkage_matrix_, clusters.linkage_matrix_
    np.testing.assert_array_equal(a[:, [0, 1, 3]], b[:, [0, 1, 3]])
    np.testing.assert_allclose(a[:, 2], b[:, 2], rtol=0, atol=1e-12)


def test_objects_merge_the_same_with_all_pairs_and_without(monkeypatch):
    votes = noisy([70, 50, 40], 4, 0.3, seed=2)[0]
    pairs, clusters = both("lwea", votes, monkeypatch, level="objects")
    np.testing.assert_allclose(
        pairs.linkage_matrix_[:, 2], clusters.linkage_matrix_[:, 2], rtol=0, atol=1e-12
    )
    assert len(clusters.linkage_matrix_) == len(votes) - 1
    for k in (2, 3, 5, 10):
        np.testing.assert_array_equal(pairs.cut(k), clusters.cut(k))


@pytest.mark.usefixtures("by_clusters")
@pytest.mark.parametrize("change", [{"linkage": "complete"}, {"ties": "octave"}, {"votes": -1}])
def test_all_pairs_are_compared_where_clusters_do_not_decide(change):
    votes = noisy([20, 20], 5, 0.3, seed=1)[0]
    votes[0, 0] = change.pop("votes", votes[0, 0])
    assert en.EAC(2, **change).fit(votes)._similarity is not None


@pytest.mark.usefixtures("by_clusters")
def test_a_clustering_in_which_nobody_voted_is_not_a_missing_vote():
    votes = noisy([20, 20], 5, 0.3, seed=1)[0]
    silent = np.insert(votes, 2, -1, axis=1)
    for name in ("eac", "lwea"):
        a, b = (METHODS[name](2).fit(v) for v in (votes, silent))
        assert b._similarity is None
        np.testing.assert_allclose(a.linkage_matrix_, b.linkage_matrix_, atol=1e-12)


@pytest.mark.usefixtures("by_clusters")
@pytest.mark.parametrize("name", METHODS)
def test_saved_models_compute_their_similarity_when_asked(name, tmp_path):
    votes = noisy([40, 30, 20], 6, 0.4, seed=3)[0]
    fitted = METHODS[name](3, min_cluster_size="auto").fit(votes, member_weight=[1, 2, 3, 1, 1, 1])
    fitted.save(tmp_path / "m.ensemblage")
    loaded = en.load(tmp_path / "m.ensemblage")
    np.testing.assert_array_equal(loaded.cut(4), fitted.cut(4))
    np.testing.assert_array_equal(loaded.similarity_, fitted.similarity_)
    fitted.save(tmp_path / "m.ensemblage")  # now that it has one
    loaded = en.load(tmp_path / "m.ensemblage")
    np.testing.assert_array_equal(loaded.similarity_, fitted.similarity_)


def test_a_saved_model_of_a_similarity_says_what_it_lacks(tmp_path):
    similarity = np.eye(4) * 0.5 + 0.5
    en.EAC(2, affinity="precomputed").fit(similarity).save(tmp_path / "m.ensemblage")
    with pytest.raises(AttributeError, match="fitted on a similarity and saved without it"):
        _ = en.load(tmp_path / "m.ensemblage").similarity_


@pytest.mark.usefixtures("by_clusters")
@pytest.mark.parametrize("name", METHODS)
@given(votes=odd_votes(gaps=False), random=st.randoms(use_true_random=False))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
def test_the_order_of_clusterings_changes_nothing(name, votes, random):
    columns = list(range(votes.shape[1]))
    random.shuffle(columns)
    a, b = (METHODS[name](1).fit(v) for v in (votes, votes[:, columns]))
    np.testing.assert_allclose(a.linkage_matrix_, b.linkage_matrix_, rtol=0, atol=1e-12)
    for k in range(1, a.n_microclusters_ + 1):
        np.testing.assert_array_equal(a.cut(k), b.cut(k))


@pytest.mark.usefixtures("by_clusters")
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_objects_changes_nothing_where_nothing_ties(seed):
    """Clusters differ in weight, and no two pairs of rows share the same ones."""
    votes = noisy([60, 40, 30, 10], 15, 0.4, seed=seed)[0]
    order = np.random.default_rng(seed).permutation(len(votes))
    a, b = (en.LWEA(1, min_cluster_size="auto").fit(v) for v in (votes, votes[order]))
    heights = a.linkage_matrix_[:, 2]
    assert (np.diff(heights) > 1e-12).all()
    np.testing.assert_allclose(heights, b.linkage_matrix_[:, 2], rtol=0, atol=1e-12)
    for k in (2, 3, 4, 5, 10, 30):
        assert en.metrics.ari(a.cut(k)[order], b.cut(k)) == 1


@pytest.mark.usefixtures("by_clusters")
@pytest.mark.parametrize("name", METHODS)
def test_rows_seen_in_fit_are_known_again(name):
    votes = noisy([40, 30, 20], 6, 0.4, seed=3)[0]
    fitted = METHODS[name](3).fit(votes)
    labels, sure = fitted.predict(votes, return_confidence=True)
    np.testing.assert_array_equal(labels, fitted.labels_)
    np.testing.assert_allclose(sure, fitted.confidence_)


@pytest.mark.parametrize("name", METHODS)
def test_the_same_k_is_chosen_with_all_pairs_and_without(name, monkeypatch):
    votes = noisy([70, 50, 40, 30], 9, 0.2, seed=2)[0]
    pairs, clusters = both(name, votes, monkeypatch, n_clusters="auto")
    assert pairs.k_choice_.k == clusters.k_choice_.k == clusters.n_clusters_
    np.testing.assert_array_equal(pairs.labels_, clusters.labels_)


def test_the_default_method_is_the_same_with_all_pairs_and_without(monkeypatch):
    votes = noisy([70, 50, 40, 30], 9, 0.3, seed=2)[0]
    fits = []
    for most in (10**9, 0):
        monkeypatch.setattr(_shared_clusters, "MOST_PAIRED", most)
        fits.append(en.Consensus(random_state=0).fit(votes))
    assert fits[0].method_ == fits[1].method_ == "lwea"
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    np.testing.assert_allclose(fits[0].confidence_, fits[1].confidence_)


@pytest.mark.usefixtures("by_clusters")
def test_pictures_need_no_similarity_of_all_pairs():
    votes = noisy([40, 30, 20], 6, 0.4, seed=3)[0]
    fitted = en.LWEA(3).fit(votes)
    for draw in (en.plot.dendrogram, en.plot.heatmap):
        draw(fitted)
    plt.close("all")
    assert fitted._similarity is None


# -- memory ----------------------------------------------------------------------------------------


@pytest.fixture
def many(monkeypatch):
    """Return votes of more microclusters than can be compared in the memory there is."""
    votes = np.random.default_rng(0).integers(0, 40, (5000, 4))
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "100MB")
    return votes


@pytest.mark.parametrize("name", METHODS)
def test_many_microclusters_need_no_room_for_pairs(name, many):
    est = METHODS[name](5).fit(many)
    assert est.n_microclusters_ > 4000
    assert est.n_clusters_ == 5
    assert est.confidence_.shape == (5000,)
    with pytest.raises(
        en.MemoryBudgetError, match="does not need it for its tree, cuts and confidence"
    ):
        _ = est.similarity_
    rows = np.arange(50)
    assert similarity_of(est, rows)[0].shape == (50, 50)


def test_the_default_method_needs_no_room_for_pairs(many):
    assert en.Consensus(5, random_state=0).fit(many).n_clusters_ == 5


@pytest.mark.parametrize("name", METHODS)
def test_missing_votes_are_refused_where_pairs_do_not_fit(name, many):
    many[0, 0] = -1
    with pytest.raises(en.MemoryBudgetError, match=r"LWGP needs no .* no vote is missing"):
        METHODS[name](5).fit(many)


def test_lists_that_do_not_fit_are_refused(many, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1MB")
    with pytest.raises(en.MemoryBudgetError, match=r"EAC's tree of \d+ microclusters would take"):
        en.EAC(5).fit(many)


def test_new_rows_are_compared_in_blocks_of_few_bytes(monkeypatch):
    votes = noisy([700, 700, 700], 12, 0.6, seed=1)[0]
    new = np.random.default_rng(2).integers(0, 3, (1500, 12))
    model = en.EAC(3, n_jobs=1).fit(votes)
    labels, sure = model.predict(new, return_confidence=True)
    monkeypatch.setattr(_placing, "_MOST_BYTES", 1 << 20, raising=False)
    tracemalloc.start()
    again = model.predict(new, return_confidence=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(again[0], labels)
    np.testing.assert_allclose(again[1], sure, rtol=0, atol=1e-12)
    assert peak < 6e6  # two blocks of 1,024 rows would be 30 MB
