"""Label matrices from features: draws, results, and independence of everything else."""

import feature_twins as twins
import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, AgglomerativeClustering, FeatureAgglomeration, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

import ensemblage as en
from ensemblage.ensembles import generate, members

BLOBS, _ = make_blobs(120, n_features=4, centers=4, random_state=0)


def member_generator(random_state, index):
    seed = int(np.random.default_rng(random_state).integers(2**63))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))


def assert_is_numbered(votes):
    for column in votes.T:
        np.testing.assert_array_equal(column, twins.by_first_appearance(column))


# -- the draws, by hand ----------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(0, 5), st.sampled_from([np.float64, np.float32]))
def test_a_kmeans_member_by_hand(seed, index, kind):
    features = BLOBS.astype(kind)
    rng = member_generator(seed, index)
    k = rng.integers(2, 10)
    starts = rng.choice(len(features), k, replace=False)
    expected = twins.by_first_appearance(twins.lloyd(features, starts)[1])
    votes = generate(features, index + 1, n_clusters_range=(2, 9), random_state=seed)
    np.testing.assert_array_equal(votes[:, index], expected)


@settings(max_examples=5)
@given(st.integers(0, 2**32))
def test_an_rpcl_member_by_hand(seed):
    features = BLOBS[:60]
    rng = member_generator(seed, 0)
    k = rng.integers(2, 10)
    starts = rng.choice(len(features), k, replace=False)
    rate, n_epochs = rng.uniform(0.01, 0.1), rng.integers(10, 21)
    _, labels = twins.rpcl(features, starts, rng, rate, n_epochs)
    votes = generate(features, 1, "rpcl", (2, 9), random_state=seed)
    np.testing.assert_array_equal(votes[:, 0], twins.by_first_appearance(labels))


def test_what_a_member_sees_by_hand():
    rng = member_generator(5, 0)
    k = rng.integers(2, 6)
    rows = np.sort(rng.choice(120, 60, replace=False))
    columns = np.sort(rng.choice(4, 3, replace=False))
    matrix = rng.standard_normal((3, 2)) / np.sqrt(2)
    seen = BLOBS[rows][:, columns] @ matrix
    labels = twins.lloyd(seen, rng.choice(60, k, replace=False))[1]
    votes = generate(
        BLOBS,
        1,
        n_clusters_range=(2, 5),
        subspace=3,
        projection=2,
        subsample=0.5,
        random_state=5,
    )
    np.testing.assert_array_equal(votes[rows, 0], twins.by_first_appearance(labels))
    assert (np.delete(votes[:, 0], rows) == -1).all()


# -- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", ["kmeans", "kmeans++", "rpcl", KMeans(n_init=1), ["kmeans", DBSCAN()]]
)
def test_the_label_matrix(method):
    votes = generate(BLOBS, 6, method, random_state=1)
    assert votes.shape == (120, 6)
    assert votes.dtype == np.int8
    assert_is_numbered(votes)


def test_by_position_and_by_keyword():
    by_position = generate(BLOBS, 3, "rpcl", (2, 4), "minmax", random_state=2)
    by_keyword = generate(
        features=BLOBS,
        n_members=3,
        method="rpcl",
        n_clusters_range=(2, 4),
        scale="minmax",
        random_state=2,
        n_jobs=1,
    )
    np.testing.assert_array_equal(by_position, by_keyword)


def test_default_range():
    features = np.random.default_rng(0).random((400, 2))
    sizes = generate(features, 200, random_state=0).max(axis=0) + 1
    assert set(sizes) == set(range(2, 11))
    assert set(generate(features[:3], 9, random_state=0).max(axis=0) + 1) == {2}


def test_labels_past_127_take_more_than_a_byte():
    features = np.arange(300.0)[:, None]
    votes = generate(features, 2, n_clusters_range=(200, 200), random_state=0)
    assert votes.dtype == np.int16
    assert (votes.max(axis=0) == 199).all()


@pytest.mark.parametrize("method", ["kmeans", "kmeans++", "rpcl", KMeans(n_init=1)])
def test_not_more_clusters_than_distinct_objects(method):
    features = np.repeat([[0.0, -0.0], [-0.0, 0.0], [1.0, 0.0], [2.0, 5.0]], 5, axis=0)
    votes = generate(features, 5, method, (4, 9), random_state=0)
    assert votes.max() <= 2
    assert (votes[0] == votes[5]).all()


@pytest.mark.parametrize("method", ["kmeans", "kmeans++", "rpcl"])
@pytest.mark.parametrize("features", [[[1.0]], [[3.0, 3.0]] * 4])
def test_nothing_to_tell_apart(method, features):
    assert (generate(features, 3, method, random_state=0) == 0).all()


# -- scaling ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["minmax", "standard"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8])
def test_scaling(scale, kind):
    features = (BLOBS * 9 + 100).clip(0, 255).astype(kind)
    features[:, 2] = 7
    wide = features.astype(np.float64)
    if scale == "minmax":
        width = np.ptp(wide, axis=0)
        by_hand = (wide - wide.min(axis=0)) / np.where(width > 0, width, 1)
    else:
        width = wide.std(axis=0)
        by_hand = (wide - wide.mean(axis=0)) / np.where(width > 0, width, 1)
    if kind != np.float64:
        by_hand = by_hand.astype(np.float32)
    settings = {"n_members": 8, "random_state": 0}
    scaled = generate(features, scale=scale, **settings)
    np.testing.assert_array_equal(scaled, generate(by_hand, **settings))
    stretched = features.astype(np.float64) * [1, 1000, 1, 1e-3]
    agreement = (generate(stretched, scale=scale, **settings) == scaled).mean()
    assert agreement > 0.9


def test_a_constant_column_changes_nothing():
    padded = np.column_stack([np.full(120, 0.1), BLOBS])  # the mean of 0.1 is not 0.1
    for scale in ("minmax", "standard"):
        np.testing.assert_array_equal(
            generate(padded, 5, scale=scale, random_state=0),
            generate(BLOBS, 5, scale=scale, random_state=0),
        )


# -- types of input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.tolist(),
        lambda x: pd.DataFrame(x, columns=list("abcd")),
        lambda x: pd.DataFrame(x).astype("Float64"),
        lambda x: x.astype(object),
        lambda x: x.astype(">f8"),
        np.asfortranarray,
        np.ma.array,
        lambda x: np.repeat(x, 2, axis=0)[::2],
    ],
)
def test_the_same_numbers_in_another_form(convert):
    np.testing.assert_array_equal(
        generate(convert(BLOBS), 4, random_state=0), generate(BLOBS, 4, random_state=0)
    )


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int32, np.float16, bool])
def test_small_types_give_what_floats_give(kind):
    features = (np.random.default_rng(0).random((200, 3)) * 90).astype(kind)
    np.testing.assert_array_equal(
        generate(features, 4, random_state=0),
        generate(features.astype(np.float64), 4, random_state=0),
    )


def test_features_are_left_alone():
    features = BLOBS.copy()
    features.flags.writeable = False
    generate(features, 4, ["kmeans", "rpcl", KMeans(n_init=1)], scale="minmax", random_state=0)
    np.testing.assert_array_equal(features, BLOBS)


# -- randomness and workers ------------------------------------------------------------------------

MIXED = ["kmeans", "rpcl", KMeans(n_init=1), GaussianMixture(reg_covar=0.1)]


@pytest.mark.parametrize("n_jobs", [2, 3, -1, None])
def test_n_jobs_changes_nothing(n_jobs):
    options = {"subspace": 0.7, "projection": 2, "subsample": 0.9, "random_state": 4}
    expected = generate(BLOBS, 8, MIXED, n_jobs=1, **options)
    np.testing.assert_array_equal(generate(BLOBS, 8, MIXED, n_jobs=n_jobs, **options), expected)


def test_a_backend_of_joblib_changes_nothing():
    expected = generate(BLOBS, 4, MIXED, random_state=4)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        np.testing.assert_array_equal(generate(BLOBS, 4, MIXED, random_state=4), expected)
    with joblib.parallel_config(n_jobs=1):
        np.testing.assert_array_equal(generate(BLOBS, 4, MIXED, random_state=4), expected)


@pytest.mark.parametrize("method", ["kmeans", MIXED])
def test_fewer_members_are_the_first_of_more(method):
    few, more = (generate(BLOBS, n, method, random_state=3) for n in (5, 9))
    np.testing.assert_array_equal(few, more[:, :5])


def test_random_state():
    votes = {seed: generate(BLOBS, 3, random_state=seed) for seed in (0, 1)}
    assert (votes[0] != votes[1]).any()
    np.testing.assert_array_equal(votes[0], generate(BLOBS, 3, random_state=0))
    rng = np.random.default_rng(0)
    first, second = (generate(BLOBS, 3, random_state=rng) for _ in range(2))
    assert (first != second).any()
    generate(BLOBS, 2, random_state=np.random.RandomState(0))
    generate(BLOBS, 2)


def test_members_come_one_by_one():
    found = dict(members(BLOBS, 7, ["kmeans", "rpcl"], random_state=0))
    votes = generate(BLOBS, 7, ["kmeans", "rpcl"], random_state=0)
    assert sorted(found) == list(range(7))
    for index, labels in found.items():
        np.testing.assert_array_equal(labels, votes[:, index])
    some = members(BLOBS, 50, random_state=0, n_jobs=2)
    next(some)
    some.close()  # and the rest is not made


def test_progress_where_there_is_no_terminal(capsys):
    generate(BLOBS, 2, random_state=0, progress=True)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    generate(BLOBS, 2, random_state=0, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "2/2" in err


# -- what members see ------------------------------------------------------------------------------


def test_subsample():
    votes = generate(BLOBS, 10, subsample=0.25, random_state=0)
    assert ((votes >= 0).sum(axis=0) == 30).all()
    assert_is_numbered(votes)
    assert len({tuple(column < 0) for column in votes.T}) == 10


def test_a_share_of_all_is_all():
    np.testing.assert_array_equal(
        generate(BLOBS, 3, subsample=1.0, random_state=0) >= 0, np.ones((120, 3), dtype=bool)
    )
    assert generate(BLOBS, 3, subspace=1.0, projection=1.0, random_state=0).min() == 0


def test_subspaces_differ():
    # Each feature parts the objects its own way, and a member that sees one follows it.
    features = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)] * 5, dtype=float)
    votes = generate(features, 30, n_clusters_range=(2, 2), subspace=1, random_state=0)
    kinds = {tuple(column) for column in votes.T}
    assert len(kinds) == 3


# -- estimators ------------------------------------------------------------------------------------


def test_an_estimator_is_cloned_and_varied():
    estimator = KMeans(n_clusters=99, n_init=1, random_state=7)
    votes = generate(BLOBS, 6, estimator, (2, 9), random_state=0)
    assert len(set(votes.max(axis=0))) > 2
    assert not hasattr(estimator, "labels_")
    assert estimator.n_clusters == 99


def test_parameters_inside_a_pipeline():
    pipeline = make_pipeline(PCA(n_components=2), KMeans(n_clusters=99, n_init=1))
    votes = generate(BLOBS, 6, pipeline, (2, 9), random_state=0)
    np.testing.assert_array_equal(votes, generate(BLOBS, 6, pipeline, (2, 9), random_state=0))
    assert 2 <= votes.max() < 9


def test_only_the_last_step_clusters():
    steps = FeatureAgglomeration(n_clusters=2), KMeans(n_init=1)
    votes = generate(BLOBS, 3, make_pipeline(*steps), (5, 5), random_state=0)
    assert (votes.max(axis=0) == 4).all()


def test_mixtures_count_components():
    votes = generate(BLOBS, 4, GaussianMixture(reg_covar=1.0), (3, 3), random_state=0)
    assert (votes.max(axis=0) == 2).all()


def test_noise_is_no_vote():
    votes = generate(np.vstack([BLOBS, [[99] * 4]]), 2, DBSCAN(eps=2), random_state=0)
    assert (votes[-1] == -1).all()
    assert votes.max() >= 3


class WithGaps(KMeans):
    """A clusterer without a label for the first objects, in its own notation."""

    def __init__(self, gap=None, n_clusters=8, n_init=1, random_state=None):
        super().__init__(n_clusters, n_init=n_init, random_state=random_state)
        self.gap = gap

    def fit_predict(self, X, y=None):
        labels = super().fit_predict(X).astype(object if self.gap is None else float)
        labels[:5] = self.gap
        return labels


@pytest.mark.parametrize("gap", [None, np.nan, -1])
def test_no_label_is_no_vote(gap):
    votes = generate(np.arange(40.0)[:, None], 3, WithGaps(gap), random_state=0)
    assert (votes[:5] == -1).all()
    assert (votes[5:] >= 0).all()
    assert (votes[5] == 0).all()


def test_a_clusterer_that_finds_the_number_itself():
    method = AgglomerativeClustering(n_clusters=None, distance_threshold=15.0)
    votes = generate(BLOBS, 2, method, random_state=0)
    assert (votes[:, 0] == votes[:, 1]).all()


def test_methods_in_turn():
    votes = generate(BLOBS, 4, ["kmeans", DBSCAN(eps=2)], random_state=0)
    np.testing.assert_array_equal(votes[:, 1], votes[:, 3])
    np.testing.assert_array_equal(votes[:, 0], generate(BLOBS, 1, random_state=0)[:, 0])


def test_votes_go_into_a_consensus():
    votes = generate(BLOBS, 20, subsample=0.8, random_state=0)
    assert en.PTGP(4, random_state=0).fit(votes).n_clusters_ == 4
