"""The contract that every consensus estimator keeps."""

import pickle
import warnings

import names
import numpy as np
import pandas as pd
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import ensemblage as en
from ensemblage import metrics
from ensemblage.testing.strategies import votes

#: Methods that may end with fewer clusters than asked for, with a warning, and why.
ENDS_WITH_FEWER = {
    "mcla",  # meta-clusters without an object are dropped
    "nmf",  # where there are more columns than co-association has rank
    "vote",  # votes cannot split what no clustering splits, and those here have three clusters
}

NAMES = [
    pytest.param(name, marks=pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning"))
    if name in ENDS_WITH_FEWER
    else name
    for name in names.METHODS
]

#: Methods that promise less than recovering three noisy groups of unequal size, and why.
WEAK_ON_BLOBS = {
    # Balance: groups of 50, 30 and 40 objects are to become parts of about 40 each.
    "cspa": 0.7,
    "hgpa": 0.2,  # and nearly every cluster is broken, which counts once however it is broken
    # Objects that nearly all clusterings keep apart from all others vanish from the completed
    # matrix and stay alone to the end: at the true k two of them are clusters. The groups are
    # there at k = 10, and at k = 3 with penalty=1 or with (low, high) = (0.3, 0.6).
    "ecmc": 0.0,
    # Three small seeds among a hundred microclusters that are all linked: a walker forgets where
    # it came from and meets the largest. With exponential weights it does recover the groups.
    "srw": 0.0,
}


def make(name, n_clusters=2, **parameters):
    est = en.METHODS[name](n_clusters, **parameters)
    return est.set_params(random_state=0) if "random_state" in est.get_params() else est


def renamed(matrix, rng):
    """Give clusters other names: large, negative, in any order; gaps stay gaps."""
    names = rng.permutation(np.concatenate([np.arange(-50, -1), np.arange(10, 60)]))
    return np.where(matrix < 0, -1, names[matrix])


@pytest.fixture(scope="module")
def blobs():
    """Twelve clusterings of three groups, each vote wrong one time in five, some missing."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [50, 30, 40])
    matrix = np.where(rng.random((120, 12)) < 0.2, rng.integers(0, 3, (120, 12)), truth[:, None])
    matrix[rng.random(matrix.shape) < 0.05] = -1
    return matrix, truth


@pytest.mark.parametrize("name", NAMES)
def test_a_noisy_ensemble_is_seen_through(name, blobs):
    matrix, truth = blobs
    members = [metrics.ari(truth, column) for column in matrix.T]
    found = metrics.ari(truth, make(name, 3).fit_predict(matrix))
    assert found > WEAK_ON_BLOBS.get(name, max(0.9, *members))


@pytest.mark.parametrize("name", NAMES)
@given(matrix=votes(), data=st.data())
def test_labels_are_0_to_k_by_first_appearance_and_constant_on_microclusters(name, matrix, data):
    n = len(en.microclusters(matrix).sizes)
    k = data.draw(st.integers(1, n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        est = make(name, k).fit(matrix)
    labels = est.labels_
    assert labels.dtype == np.int64
    assert est.n_clusters_ == labels.max() + 1 <= k
    firsts = [labels.tolist().index(c) for c in range(est.n_clusters_)]
    assert firsts == sorted(firsts)
    for micro in range(n):
        assert len(set(labels[est.microclusters_.of_object == micro].tolist())) == 1
    assert ((est.confidence_ >= 0) & (est.confidence_ <= 1)).all()
    np.testing.assert_array_equal(est.predict(matrix), labels)


@pytest.mark.parametrize("name", NAMES)
def test_cut_is_what_fitting_with_that_k_gives(name, blobs):
    matrix, _ = blobs
    est = make(name, 3).fit(matrix)
    for k in (1, 2, 3, 7, 40):
        np.testing.assert_array_equal(est.cut(k), make(name, k).fit_predict(matrix))
    assert est.n_clusters_ == 3  # cut changes nothing


@pytest.mark.parametrize("name", NAMES)
def test_names_of_clusters_change_nothing_at_all(name, blobs):
    matrix, _ = blobs
    other = renamed(matrix, np.random.default_rng(1))
    a, b = make(name, 4).fit(matrix), make(name, 4).fit(other)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.confidence_, b.confidence_)
    np.testing.assert_array_equal(a.microclusters_.table, b.microclusters_.table)


@given(matrix=votes(), seed=st.integers(0, 9))
def test_similarity_does_not_depend_on_any_order(matrix, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
    shuffled = matrix[rows][:, columns]
    a, b = en.trajectory_similarity(matrix, 2, 3), en.trajectory_similarity(shuffled, 2, 3)
    of_a, of_b = en.microclusters(matrix).of_object[rows], en.microclusters(shuffled).of_object
    np.testing.assert_allclose(a[np.ix_(of_a, of_a)], b[np.ix_(of_b, of_b)], atol=1e-12)


def test_labels_of_pta_do_not_depend_on_any_order(blobs):
    matrix, _ = blobs
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
    a, b = make("pta", 3).fit(matrix), make("pta", 3).fit(matrix[rows][:, columns])
    assert metrics.ari(a.labels_[rows], b.labels_) == 1.0


def test_the_whole_ensemble_twice_is_the_same_similarity(blobs):
    matrix, _ = blobs
    np.testing.assert_allclose(
        en.trajectory_similarity(matrix), en.trajectory_similarity(np.hstack([matrix, matrix])),
        atol=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_threads_seeds_clones_and_pickles(name, blobs):
    matrix, _ = blobs
    est = make(name, 5, n_jobs=1).fit(matrix)
    for other in (
        make(name, 5, n_jobs=3).fit(matrix),
        make(name, 5, n_jobs=-1).fit(matrix),
        clone(est).fit(matrix),
        pickle.loads(pickle.dumps(est)),
        est.fit(matrix),
    ):
        np.testing.assert_array_equal(other.labels_, est.labels_)
        np.testing.assert_array_equal(other.confidence_, est.confidence_)
        np.testing.assert_array_equal(other.predict(matrix), est.labels_)


@pytest.mark.parametrize("name", NAMES)
def test_an_ensemble_in_place_of_votes(name, blobs):
    matrix, _ = blobs
    ensemble = en.Ensemble(matrix)
    est = make(name, 3).fit(ensemble)
    np.testing.assert_array_equal(est.labels_, make(name, 3).fit(matrix).labels_)
    np.testing.assert_array_equal(est.predict(ensemble), est.labels_)
    assert est.microclusters_ is ensemble.microclusters
    assert est.n_features_in_ == 12
    with pytest.raises(ValueError, match="expecting 12 features"):
        est.predict(en.Ensemble(matrix[:, :3]))


@pytest.mark.parametrize("name", NAMES)
def test_dataframes_come_back_as_series(name, blobs):
    matrix, _ = blobs
    frame = pd.DataFrame(matrix, index=[f"object {i}" for i in range(120)]).add_prefix("run")
    est = make(name, 3)
    expected = make(name, 3).fit_predict(matrix)
    for found in (est.fit_predict(frame), est.predict(frame), est.cut(3)):
        assert isinstance(found, pd.Series)
        assert found.name == "label"
        assert found.index.equals(frame.index)
        np.testing.assert_array_equal(found, expected)
    assert isinstance(est.labels_, np.ndarray)
    assert est.feature_names_in_.tolist() == frame.columns.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_label_says_the_same(name, blobs):
    matrix, _ = blobs
    expected = make(name, 3).fit(matrix).labels_
    words = np.where(matrix < 0, None, np.char.add("c", matrix.astype(str)).astype(object))
    frame = pd.DataFrame(words).astype("category")
    mixed = frame.copy()
    mixed[0] = pd.array(np.where(matrix[:, 0] < 0, None, matrix[:, 0]), dtype="Int64")
    mixed[1] = np.where(matrix[:, 1] < 0, np.nan, matrix[:, 1])
    for same in (
        words,
        words.tolist(),
        frame,
        mixed,
        pd.DataFrame(words),
        np.where(matrix < 0, np.nan, matrix),
        matrix.astype(np.float32),
        matrix.astype(np.int8),
        matrix.tolist(),
        np.where(matrix < 0, -1, matrix + 10**17),
        np.where(matrix < 0, -1, (matrix - 1) * (2**62)),
    ):
        np.testing.assert_array_equal(make(name, 3).fit(same).labels_, expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_inputs(name):
    assert make(name, 1).fit_predict([[5]]).tolist() == [0]
    assert make(name, 1).fit_predict([[5], [5], [5]]).tolist() == [0, 0, 0]
    assert make(name, 2).fit_predict([["a"], ["b"], ["a"]]).tolist() == [0, 1, 0]
    one = make(name, 1).fit([[0, 1], [1, 1], [1, 0]])
    assert one.labels_.tolist() == [0, 0, 0]
    np.testing.assert_allclose(one.confidence_, [0.25, 0.5, 0.25])  # mean co-association
    constant = make(name, 2).fit([[0, 0, 7], [0, 0, 7], [1, 1, 7], [1, 1, 7]])
    assert constant.labels_.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_confidence_agrees_with_its_definition(name, blobs):
    matrix, _ = blobs
    for k in (2, 3, 60):
        est = make(name, k).fit(matrix)
        micro = np.unique(est.microclusters_.of_object, return_index=True)[1]
        similarity = twins.coassociation(est.microclusters_.table)
        expected = twins.confidence(similarity, est.labels_[micro], est.microclusters_.sizes)
        np.testing.assert_allclose(
            est.confidence_, expected[est.microclusters_.of_object], atol=1e-9
        )


def test_an_object_like_nobody_has_no_confidence():
    votes_ = [[3, 2, 2], [2, 1, 1], [1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    for est in (make("ptgp", 2), make("pta", 2)):
        est.fit(votes_)
        others = est.similarity_ - np.eye(est.n_microclusters_)
        alone = (others.max(axis=1) == 0)[est.microclusters_.of_object]
        single = est.microclusters_.sizes[est.microclusters_.of_object] == 1
        np.testing.assert_array_equal(est.trajectory_confidence_[alone & single], 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_predict_by_agreement(name):
    #  two clear clusters; the first is larger
    matrix = np.array([[0, 0, 0]] * 5 + [[0, 0, 1]] * 2 + [[1, 1, 2]] * 4)
    est = make(name, 2).fit(matrix)
    big, small = est.labels_[0], est.labels_[-1]
    found = est.predict([[1, 1, 0], [0, 1, -1], [8, 8, 8], [9, 9, 2], [-1, -1, 1], [0.0, 0.0, 9.0]])
    assert found.tolist() == [small, big, big, small, big, big]
    with pytest.raises(ValueError, match="no vote in any clustering"):
        est.predict([[-1, -1, -1]])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_there_before_fit(name):
    est = make(name, 2)
    for attribute in ("labels_", "confidence_", "similarity_", "microclusters_"):
        assert not hasattr(est, attribute)
    for call in (lambda: est.cut(2), lambda: est.predict([[1]])):
        with pytest.raises(NotFittedError):
            call()


def test_all_links_and_isolated_nodes(e3):
    every = en.PTA(2, n_neighbors="all", n_steps=3).fit(e3)
    assert every.n_neighbors_ == 3
    np.testing.assert_allclose(
        every.similarity_, en.PTGP(2, n_neighbors=3, n_steps=3).fit(e3).similarity_, atol=1e-15
    )
    alone = np.array([[0, 0], [0, 1], [1, 0], [7, 7]])
    for name in ("pta", "ptgp"):
        labels = make(name, 2, n_neighbors=2, n_steps=2).fit_predict(alone)
        assert labels.tolist() == [0, 0, 0, 1]


def test_worked_trees_of_pta(e2, e3):
    for n_steps, first, second in (
        (1, 0.445300, 0.552786), (2, 0.379530, 0.435695), (3, 0.289810, 0.346071)
    ):  # fmt: skip
        for linkage in ("average", "complete", "single"):
            est = en.PTA(2, linkage=linkage, n_neighbors=1, n_steps=n_steps).fit(e2)
            np.testing.assert_allclose(est.linkage_matrix_[:, 2], [first, second, 1], atol=5e-7)
            assert est.linkage_matrix_[:, :2].tolist() == [[1, 3], [0, 2], [4, 5]]
            assert est.labels_.tolist() == [0, 0, 0, 1, 0, 0, 1, 1]
    est = en.PTA(2, n_neighbors=2, n_steps=3).fit(e3)
    np.testing.assert_allclose(est.linkage_matrix_[:, 2], [0.192477, 0.251566, 0.477627], atol=5e-7)
    assert est.linkage_matrix_[:, :2].tolist() == [[0, 3], [1, 2], [4, 5]]


def test_worked_cut_of_ptgp(e2):
    est = en.PTGP(2, n_neighbors=1, n_steps=2, random_state=0).fit(e2)
    cut = est._transfer_cut
    np.testing.assert_allclose(cut.eigenvalues(5), [1, 0.418256, 0.038613, 0.023727, 0], atol=5e-7)
    expected = [[0.784760, 0.619800], [0.897192, 0.441640], [0.902128, 0.431468],
                [0.804935, 0.593362]]  # fmt: skip
    np.testing.assert_allclose(np.abs(cut.embedding(2)), expected, atol=5e-7)
    assert est.labels_.tolist() == [0, 0, 0, 1, 0, 0, 1, 1]


def test_ptgp_with_more_clusters_than_the_ensemble_has():
    matrix = np.array([[0, -1], [0, 0], [-1, 0], [1, 0], [1, -1]])
    est = make("ptgp", 4).fit(matrix)  # 3 clusters in the ensemble, 5 microclusters
    assert est.n_clusters_ == 4


def test_ptgp_builds_no_square_matrix(blobs, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("PTS was built")

    monkeypatch.setattr("ensemblage.flow.trajectory_similarity", refuse)
    est = make("ptgp", 3).fit(blobs[0])
    est.confidence_, est.cut(4), est.predict(blobs[0])
    with pytest.raises(AssertionError, match="PTS was built"):
        est.similarity_  # noqa: B018


def test_estimated_lengths_give_the_same_clusters_here(blobs, monkeypatch):
    matrix, truth = blobs
    monkeypatch.setattr("ensemblage.methods.ptgp._EXACT_NORMS", 10)
    assert metrics.ari(truth, make("ptgp", 3).fit_predict(matrix)) > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_what_was_fitted_is_what_is_cut(name, blobs):
    """Parameters that change after fit, and a fit that fails, do not change what was found."""
    matrix, _ = blobs
    est = make(name, 3).fit(matrix)
    expected = est.cut(2)
    words = {"solver": "partition", "partitioner": "mtkahypar", "variant": "mc", "level": "objects"}
    est.set_params(**{word: v for word, v in words.items() if word in est.get_params()})
    np.testing.assert_array_equal(est.cut(2), expected)
    with pytest.raises(ValueError, match="n_clusters"):
        est.set_params(n_clusters=0).fit(matrix)
    assert not hasattr(est, "labels_")
    with pytest.raises(NotFittedError):
        est.cut(2)


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_cuts_the_same(name):
    rng = np.random.default_rng(0)
    base = rng.integers(0, 4, 50)
    matrix = np.where(rng.random((50, 5)) < 0.6, base[:, None], rng.integers(0, 4, (50, 5)))
    est = make(name, 3).fit(matrix)
    other = pickle.loads(pickle.dumps(est))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        for k in (2, 5, 15, 20, est.n_microclusters_):
            np.testing.assert_array_equal(est.cut(k), other.cut(k))
