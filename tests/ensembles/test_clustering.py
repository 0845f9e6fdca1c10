"""EnsembleClustering: features in, consensus out."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler

import ensemblage as en
from ensemblage.ensembles._coarse import _refines

BLOBS, TRUTH = make_blobs(150, n_features=4, centers=4, cluster_std=1.5, random_state=0)
NEW, NEW_TRUTH = make_blobs(60, n_features=4, centers=4, cluster_std=1.5, random_state=0)


def test_blobs_are_found():
    model = en.EnsembleClustering(4, random_state=0).fit(BLOBS)
    assert en.metrics.nmi(model.labels_, TRUTH) > 0.95
    assert model.n_clusters_ == 4
    assert model.n_features_in_ == 4
    assert model.votes_.shape == (150, 20)
    assert len(model.members_) == 20
    assert model.confidence_.shape == (150,)
    assert isinstance(model.consensus_, en.Consensus)


def test_the_parts_are_those_of_generate_and_of_the_consensus():
    model = en.EnsembleClustering(4, n_clusters_range=(2, 9), random_state=0).fit(BLOBS)
    votes = en.ensembles.generate(BLOBS, 20, n_clusters_range=(2, 9), random_state=0)
    np.testing.assert_array_equal(model.votes_, votes)
    np.testing.assert_array_equal(model.consensus_.predict(votes), model.labels_)


def test_members_are_finer_than_the_consensus():
    features = np.random.default_rng(0).random((60, 3))
    model = en.EnsembleClustering(11, n_members=40, random_state=0).fit(features)
    sizes = [member.n_clusters for member in model.members_]
    assert max(sizes) >= 22
    assert model.n_clusters_ == 11


@pytest.mark.parametrize("consensus", [None, en.PTA(), en.EAC(2, linkage="single"), en.Vote()])
def test_consensus(consensus):
    model = en.EnsembleClustering(3, consensus=consensus, n_members=5, random_state=0).fit(BLOBS)
    assert model.n_clusters_ == 3
    assert model.consensus_ is not consensus
    if consensus is not None:
        assert not hasattr(consensus, "labels_")


def test_a_consensus_keeps_what_it_was_given():
    consensus = en.PTGP(random_state=5, n_jobs=1, n_steps=3)
    model = en.EnsembleClustering(3, consensus=consensus, random_state=0, n_jobs=2).fit(BLOBS)
    params = model.consensus_.get_params()
    assert params == {
        "n_clusters": 3, "random_state": 5, "n_jobs": 1, "n_steps": 3, "n_neighbors": "auto",
        "device": "cpu",
    }  # fmt: skip
    model = en.EnsembleClustering(3, random_state=0, n_jobs=2).fit(BLOBS)
    assert model.consensus_.n_jobs == 2
    assert model.consensus_.random_state is not None


@pytest.mark.parametrize("bad", [en.PTGP, "ptgp", KMeans()])
def test_what_is_no_consensus(bad):
    with pytest.raises(ValueError, match="'consensus' parameter of EnsembleClustering"):
        en.EnsembleClustering(2, consensus=bad).fit(BLOBS)


# -- predict ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "rpcl"},
        {"scale": "standard"},
        {"subspace": 0.5, "projection": 2},
        {"method": [KMeans(n_init=1), GaussianMixture(reg_covar=1.0)]},
        {"method": AgglomerativeClustering()},
        {"method": ["kmeans", DBSCAN(eps=3)]},
    ],
)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_objects_of_the_fit_get_their_labels_again(options, kind):
    features = BLOBS.astype(kind)
    model = en.EnsembleClustering(4, n_members=6, random_state=0, **options).fit(features)
    np.testing.assert_array_equal(model.predict(features), model.labels_)
    some = [model.predict(features[i : i + 1])[0] for i in range(0, 150, 17)]
    np.testing.assert_array_equal(some, model.labels_[::17])


def test_new_objects():
    model = en.EnsembleClustering(4, random_state=0).fit(BLOBS)
    assert en.metrics.nmi(model.predict(NEW), NEW_TRUTH) > 0.9
    with pytest.raises(ValueError, match="3 features"):
        model.predict(NEW[:, :3])
    with pytest.raises(ValueError, match="is NaN"):
        model.predict(np.full((1, 4), np.nan))


def test_not_fitted():
    for call in ("predict", "cut"):
        with pytest.raises(NotFittedError):
            getattr(en.EnsembleClustering(), call)(2)
    with pytest.raises(NotFittedError):
        en.EnsembleClustering().confidence_  # noqa: B018


# -- subsamples and noise --------------------------------------------------------------------------


def test_objects_that_no_member_has_seen():
    model = en.EnsembleClustering(4, n_members=5, subsample=0.3, random_state=0).fit(BLOBS)
    bare = en.ensembles.generate(
        BLOBS, 5, n_clusters_range=model._plan.n_clusters_range, subsample=0.3, random_state=0
    )
    silent = (bare < 0).all(axis=1)
    assert silent.any()
    assert (model.votes_[silent] >= 0).all()
    np.testing.assert_array_equal(model.votes_[~silent], bare[~silent])
    assert model.labels_.min() == 0


def test_noise_everywhere():
    far = np.vstack([BLOBS, [[999.0] * 4]])
    with pytest.raises(ValueError, match=r"5 of 151 object\(s\) have no vote: row\(s\) .*150"):
        en.EnsembleClustering(2, method=DBSCAN(eps=3), random_state=0).fit(far)


# -- edges -----------------------------------------------------------------------------------------


def test_few_distinct_objects():
    features = np.repeat([[0.0], [1.0], [5.0]], 10, axis=0)
    with pytest.warns(
        en.FewerClustersWarning, match="3 of the 8 requested clusters: there are only 3"
    ):
        model = en.EnsembleClustering(8, random_state=0).fit(features)
    assert model.n_clusters_ == 3


def test_more_clusters_than_objects():
    with pytest.raises(ValueError, match=r"n_clusters=8.*n_samples=3"):
        en.EnsembleClustering(8).fit(BLOBS[:3])


def test_members_too_coarse():
    with pytest.raises(ValueError, match="tells only 2 group"):
        en.EnsembleClustering(5, n_members=1, n_clusters_range=(2, 2)).fit(BLOBS)


@pytest.mark.parametrize("n_clusters", [1, 2, 5])
def test_as_many_clusters_as_objects(n_clusters):
    features = np.arange(n_clusters, dtype=float)[:, None] ** 2
    labels = en.EnsembleClustering(n_clusters, random_state=0).fit_predict(features)
    np.testing.assert_array_equal(labels, np.arange(n_clusters))


def test_a_failed_fit_leaves_nothing():
    model = en.EnsembleClustering(4, random_state=0).fit(BLOBS)
    with pytest.raises(ValueError, match="n_samples=2"):
        model.fit(BLOBS[:2])
    assert not hasattr(model, "labels_")


# -- the manners of the library --------------------------------------------------------------------


def test_n_jobs_changes_nothing():
    fits = [en.EnsembleClustering(4, random_state=0, n_jobs=n).fit(BLOBS) for n in (1, 3)]
    np.testing.assert_array_equal(fits[0].votes_, fits[1].votes_)
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)


def test_cut():
    model = en.EnsembleClustering(4, random_state=0).fit(BLOBS)
    assert len(np.unique(model.cut(3))) == 3
    np.testing.assert_array_equal(model.cut(4), model.labels_)


def test_frames_in_series_out():
    names = [f"object {i}" for i in range(150)]
    frame = pd.DataFrame(BLOBS, index=names, columns=list("abcd"))
    model = en.EnsembleClustering(4, random_state=0)
    labels = model.fit_predict(frame)
    assert list(labels.index) == names
    assert labels.name == "label"
    np.testing.assert_array_equal(
        labels, en.EnsembleClustering(4, random_state=0).fit_predict(BLOBS)
    )
    assert list(model.feature_names_in_) == list("abcd")
    pd.testing.assert_series_equal(model.predict(frame), labels)
    pd.testing.assert_series_equal(model.cut(4), labels)
    assert isinstance(model.labels_, np.ndarray)
    pd.testing.assert_series_equal(model.predict(frame[list("bacd")]), labels)
    with pytest.raises(ValueError, match=r"names should match(?s:.)*unseen at fit time:\n- e"):
        model.predict(frame.rename(columns={"d": "e"}))


@pytest.mark.parametrize("method", ["kmeans", AgglomerativeClustering()])
def test_pickles_and_clones(method):
    model = en.EnsembleClustering(4, method=method, n_members=4, random_state=0).fit(BLOBS)
    again = pickle.loads(pickle.dumps(model))
    assert (len(model._plan.features) > 0) == (method != "kmeans")  # kept where predict needs it
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert clone(model).get_params()["n_clusters"] == 4
    assert not hasattr(clone(model), "labels_")


def test_ties_go_where_they_went_in_fit():
    features = np.arange(1000.0)[:, None]
    model = en.EnsembleClustering(5, random_state=0, n_members=6, n_clusters_range=(20, 40))
    model.fit(features)
    placed = [member.place(model._plan, features) for member in model.members_]
    np.testing.assert_array_equal(np.column_stack(placed), model.votes_)
    np.testing.assert_array_equal(model.predict(features), model.labels_)


@pytest.mark.parametrize(
    "method",
    [
        make_pipeline(StandardScaler(copy=False), KMeans(n_init=1)),
        make_pipeline(PowerTransformer(copy=False), GaussianMixture()),
        KMeans(copy_x=False, n_init=1),
    ],
)
def test_clusterers_that_work_in_place(method):
    features = BLOBS.copy()
    en.EnsembleClustering(4, n_members=3, method=method, random_state=0).fit(features).predict(
        features
    )
    np.testing.assert_array_equal(features, BLOBS)


def test_features_that_change_after_fit():
    features = BLOBS.copy()
    model = en.EnsembleClustering(4, method=AgglomerativeClustering(), random_state=0)
    model.fit(features)
    features[:] = 0
    np.testing.assert_array_equal(model.predict(BLOBS), model.labels_)


class TestNestedMembers:
    @pytest.mark.parametrize("seed", range(4))
    def test_are_linked_by_a_coarse_one(self, seed):
        features, truth = make_blobs(200, centers=4, random_state=seed)
        model = en.EnsembleClustering(
            4, method=AgglomerativeClustering(), n_members=10, random_state=0
        ).fit(features)
        alone = AgglomerativeClustering(4).fit_predict(features)
        assert en.metrics.ari(truth, model.labels_) > en.metrics.ari(truth, alone) - 0.05
        assert model.votes_.shape == (200, 11)
        assert model.members_[-1].labels.max() == 3
        np.testing.assert_array_equal(model.predict(features), model.labels_)

    def test_are_not_evidence_for_a_number_of_clusters(self):
        features, _ = make_blobs(200, centers=4, random_state=0)
        model = en.EnsembleClustering(method=AgglomerativeClustering(), n_members=5, random_state=0)
        with pytest.warns(UserWarning, match=r"are nested: .* or subsample=0\.8\."):
            model.fit(features)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            model.set_params(subsample=0.8).fit(features)
            en.EnsembleClustering(random_state=0).fit(features)
        assert not [one for one in raised if "nested" in str(one.message)]

    def test_with_gaps_are_not_nested(self):
        coarse, fine = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])
        assert _refines(fine, coarse)
        assert not _refines(coarse, fine)
        assert not _refines(np.array([0, 1, 2, -1]), coarse)
        assert not _refines(fine, np.array([0, 0, 1, -1]))

    def test_keep_the_range_that_was_asked_for(self):
        model = en.EnsembleClustering(
            4, method=AgglomerativeClustering(), n_clusters_range=(9, 12), random_state=0
        )
        with pytest.warns(en.UnlinkedGroupsWarning, match="into 9 groups, but 4 clusters"):
            model.fit(BLOBS)
        assert model.votes_.shape == (150, 20)

    def test_that_are_linked_stay_as_they_are(self):
        assert en.EnsembleClustering(4, random_state=0).fit(BLOBS).votes_.shape == (150, 20)
