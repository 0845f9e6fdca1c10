"""A saved model is the model: what it was asked before, it answers after."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from threading import Barrier
from unittest.mock import Mock

import names
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.exceptions import NotFittedError

import ensemblage as en
from ensemblage.testing.strategies import votes

pytestmark = pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")


def make(name, n_clusters=3, **parameters):
    est = en.METHODS[name](n_clusters, **parameters)
    return est.set_params(random_state=0) if "random_state" in est.get_params() else est


def again(est, folder, **options):
    est.save(folder / "model.ensemblage", **options)
    return en.load(folder / "model.ensemblage")


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [30, 20, 25])
    found = np.where(rng.random((75, 8)) < 0.2, rng.integers(0, 3, (75, 8)), truth[:, None])
    found[rng.random(found.shape) < 0.05] = -1
    return found


@pytest.fixture(scope="module")
def unseen():
    return np.random.default_rng(1).integers(0, 4, (40, 8))


@pytest.mark.parametrize("name", names.METHODS)
def test_a_loaded_method_answers_as_before(name, matrix, unseen, tmp_path):
    est = make(name).fit(matrix)
    confidence, labels = est.confidence_, est.predict(unseen)
    found = again(est, tmp_path)
    assert repr(found) == repr(est)
    np.testing.assert_array_equal(found.labels_, est.labels_)
    np.testing.assert_array_equal(found.predict(unseen), labels)
    np.testing.assert_array_equal(found.confidence_, confidence)
    assert found.n_clusters_ == est.n_clusters_
    assert found.n_features_in_ == 8
    for k in (2, 4, 7):
        np.testing.assert_array_equal(found.cut(k), est.cut(k))


def test_a_variant_without_a_tree_comes_back(matrix, tmp_path):
    est = make("ecpcs", variant="mc").fit(matrix)
    np.testing.assert_array_equal(again(est, tmp_path).cut(4), est.cut(4))


@pytest.mark.parametrize("name", names.METHODS)
def test_what_fit_has_found_is_there_after_loading(name, matrix, tmp_path):
    est = make(name).fit(matrix)
    found = again(est, tmp_path)
    for attribute in [a for a in dir(est) if a.endswith("_") and not a.startswith("_")]:
        before, after = getattr(est, attribute), getattr(found, attribute)
        if attribute == "microclusters_":
            for ours, theirs in zip(after, before, strict=True):
                np.testing.assert_array_equal(ours, theirs)
        elif attribute == "estimator_":
            np.testing.assert_array_equal(after.cut(2), before.cut(2))
        else:
            np.testing.assert_array_equal(after, before, err_msg=attribute)
            assert isinstance(after, type(before)), attribute


@pytest.mark.parametrize("name", names.METHODS)
def test_without_objects_only_microclusters_are_known(name, matrix, unseen, tmp_path):
    est = make(name).fit(matrix)
    found = again(est, tmp_path, objects=False)
    np.testing.assert_array_equal(found.predict(unseen), est.predict(unseen))
    of_object = est.microclusters_.of_object
    np.testing.assert_array_equal(found.labels_[of_object], est.labels_)
    np.testing.assert_array_equal(found.confidence_[of_object], est.confidence_)
    np.testing.assert_array_equal(found.cut(4)[of_object], est.cut(4))


@pytest.mark.parametrize("name", ["srs", "lwea", "ecmc", "cspa", "hgpa"])
def test_levels_of_objects_are_saved_with_them(name, matrix, unseen, tmp_path):
    est = make(name, level="objects").fit(matrix)
    found = again(est, tmp_path)
    np.testing.assert_array_equal(found.labels_, est.labels_)
    np.testing.assert_array_equal(found.cut(5), est.cut(5))
    np.testing.assert_array_equal(found.predict(unseen), est.predict(unseen))
    with pytest.raises(ValueError, match=r"labelled single objects .* Leave out objects=False"):
        est.save(tmp_path / "small.ensemblage", objects=False)


@pytest.mark.parametrize("state", [None, np.random.default_rng(5), np.random.RandomState(5)])
def test_a_seed_that_was_drawn_is_kept(state, matrix, tmp_path):
    est = en.PTGP(3, random_state=state).fit(matrix)
    found = again(est, tmp_path)
    for k in (2, 5, 9, 14):
        np.testing.assert_array_equal(found.cut(k), est.cut(k))
    assert found.random_state is None


@given(matrix=votes(max_objects=12), data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_votes_come_back(tmp_path_factory, matrix, data):
    n = len(en.microclusters(matrix).sizes)
    name = data.draw(st.sampled_from(["eac", "ptgp", "usenc", "lwea", "vote"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est = make(name, data.draw(st.integers(1, n))).fit(matrix)
        found = again(est, tmp_path_factory.mktemp("any"), objects=data.draw(st.booleans()))
        np.testing.assert_array_equal(found.predict(matrix), est.predict(matrix))
        np.testing.assert_array_equal(found.predict(matrix + 1), est.predict(matrix + 1))


LABELS = st.one_of(
    st.integers(-(2**70), 2**70).filter(lambda label: label != -1),
    st.text(st.characters(), max_size=5),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda label: label != -1),
)


@given(column=st.lists(LABELS, min_size=2, max_size=12))
@settings(max_examples=100, deadline=None)
def test_labels_of_any_plain_type_come_back(tmp_path_factory, column):
    column = np.array([*column, None], dtype=object)
    table = np.column_stack([column, np.arange(len(column)).astype(object)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers that are not whole are labels here
        est = en.EAC(1).fit(table)
        found = again(est, tmp_path_factory.mktemp("labels"))
        for before, after in zip(est._ensemble.labels, found._ensemble.labels, strict=True):
            assert list(before) == after
            assert [type(label) for label in before] == [type(label) for label in after]
        np.testing.assert_array_equal(found.predict(table), est.labels_)


def test_names_are_kept_and_compared(tmp_path):
    frame = pd.DataFrame({"a": ["x", "x", "y"], "b": [1, 2, 2]}, index=["p", "q", "r"])
    found = again(en.EAC(2).fit(frame), tmp_path)
    assert found.feature_names_in_.tolist() == ["a", "b"]
    assert found.predict(frame).index.tolist() == ["p", "q", "r"]
    assert isinstance(found.cut(2), np.ndarray)
    assert found.predict(frame[["b", "a"]]).tolist() == found.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(frame.rename(columns={"b": "c"}))


def test_a_loaded_model_can_be_fitted_saved_and_cloned_again(matrix, unseen, tmp_path):
    first = again(en.PTGP(3, random_state=0).fit(matrix), tmp_path)
    second = again(first, tmp_path)
    np.testing.assert_array_equal(second.cut(6), en.PTGP(6, random_state=0).fit_predict(matrix))
    assert "labels_" not in vars(clone(second))
    other = second.fit(unseen)
    np.testing.assert_array_equal(other.labels_, en.PTGP(3, random_state=0).fit_predict(unseen))
    assert "_left_out" not in vars(other)


def test_what_was_left_out_can_be_asked_for_again_after_an_interruption(
    matrix, tmp_path, monkeypatch
):
    found = again(en.PTA(3).fit(matrix), tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(en.PTA, "fit", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            found.similarity_  # noqa: B018
    np.testing.assert_array_equal(found.similarity_, en.PTA(3).fit(matrix).similarity_)


@pytest.mark.parametrize("name", ["consensus", "ptgp"])
def test_threads_share_a_loaded_model(name, matrix, unseen, tmp_path):
    est = make(name).fit(matrix)
    asked = [lambda one, k=k: one.cut(k) for k in (2, 4)]
    asked.append(lambda one: one.predict(unseen, return_confidence=True)[1])
    if name == "ptgp":
        asked.append(lambda one: one.similarity_)
    expected = [ask(est) for ask in asked]
    found = again(est, tmp_path)
    meeting = Barrier(len(asked))

    def answer(ask):
        meeting.wait()
        return ask(found)

    with ThreadPoolExecutor(len(asked)) as pool:
        for one, other in zip(pool.map(answer, asked), expected, strict=True):
            np.testing.assert_allclose(one, other)
    pickle.loads(pickle.dumps(found)).cut(2)


def test_groups_of_a_stream_are_saved(tmp_path):
    table = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    groups = en.Ensemble.of_groups(table, np.array([20, 1, 10]), [[7, 8], [1, 2]], ["a", "b"])
    est = en.EAC(2).fit(groups)
    for objects in (True, False):
        found = again(est, tmp_path, objects=objects)
        assert found._ensemble.n_objects == 31
        np.testing.assert_array_equal(found.labels_, est.labels_)
        strange = pd.DataFrame({"a": [9], "b": [9]})
        with pytest.warns(en.UnknownLabelsWarning, match="'a', 'b' are unknown"):
            labels = found.predict(strange)
        assert labels.tolist() == [0]  # of the largest cluster, by its objects


def test_equal_models_are_equal_files(matrix, tmp_path):
    en.PTGP(3, random_state=0).fit(matrix).save(tmp_path / "a")
    en.PTGP(3, random_state=0).fit(matrix).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert np.load(tmp_path / "a")["table"].dtype == np.int32


def test_what_a_file_cannot_hold_is_refused(matrix, tmp_path):
    with pytest.raises(NotFittedError):
        en.EAC().save(tmp_path / "model")
    stamps = pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2020-01-02"]), "b": ["x", "x"]})
    stamps["a"] = stamps["a"].astype(object)
    with pytest.raises(TypeError, match=r"clustering 0 has the label .* to strings before fit"):
        en.EAC(1).fit(stamps).save(tmp_path / "model")
    with pytest.raises(TypeError, match="its parameter 'a' is"):
        en.Median(2, a=Fraction(1)).fit(matrix).save(tmp_path / "model")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        en.EAC(2).fit(matrix).save(tmp_path / "no" / "model")
    assert list(tmp_path.iterdir()) == []


# -- from features -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def features():
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, 4)) + np.repeat(np.eye(4)[:3] * 8, 30, axis=0)


@pytest.mark.parametrize(
    "settings_",
    [
        {},
        {"scale": "standard", "subspace": 3, "method": ["kmeans", "rpcl"]},
        {"scale": "minmax", "projection": 2, "subsample": 0.7, "consensus": en.PTA()},
        {"n_clusters_range": (4, 9), "consensus": en.LWGP(random_state=3)},
    ],
)
def test_a_clusterer_of_features_comes_back(settings_, features, tmp_path):
    new = features + 0.5
    model = en.EnsembleClustering(3, n_members=8, random_state=0, **settings_).fit(features)
    found = again(model, tmp_path)
    assert repr(found) == repr(model)
    np.testing.assert_array_equal(found.labels_, model.labels_)
    np.testing.assert_array_equal(found.votes_, model.votes_)
    np.testing.assert_array_equal(found.predict(new), model.predict(new))
    np.testing.assert_array_equal(found.cut(5), model.cut(5))
    np.testing.assert_array_equal(found.confidence_, model.confidence_)
    for before, after in zip(model.members_, found.members_, strict=True):
        np.testing.assert_array_equal(after.labels, before.labels)
        assert after.n_clusters == before.n_clusters
        assert after.n_clusters == before.labels.max() + 1
    np.testing.assert_array_equal(clone(found).fit(features).labels_, model.labels_)
    small = again(model, tmp_path, objects=False)
    np.testing.assert_array_equal(small.predict(new), model.predict(new))
    assert small.votes_.shape == (0, 8)


def test_a_chosen_k_comes_back_with_its_reasons(features, matrix, tmp_path):
    model = en.EnsembleClustering("auto", n_members=6, random_state=0).fit(features)
    est = en.PTA("auto").fit(matrix)
    for one in (model, est):
        found = again(one, tmp_path)
        assert found.n_clusters_ == one.n_clusters_ == found.k_choice_.k
        assert repr(found.k_choice_) == repr(one.k_choice_)
    assert not hasattr(en.EnsembleClustering(2, random_state=0).fit(features), "k_choice_")


def test_foreign_members_are_refused(features, tmp_path):
    model = en.EnsembleClustering(3, n_members=2, method=AgglomerativeClustering(), random_state=0)
    with pytest.raises(TypeError, match=r"members of AgglomerativeClustering: .*consensus_\.save"):
        model.fit(features).save(tmp_path / "model")
    model.consensus_.save(tmp_path / "model")
    np.testing.assert_array_equal(en.load(tmp_path / "model").labels_, model.labels_)


def test_names_of_features_are_kept(features, tmp_path):
    frame = pd.DataFrame(features, columns=list("abcd"))
    found = again(en.EnsembleClustering(3, n_members=3, random_state=0).fit(frame), tmp_path)
    assert found.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(found.predict(frame[list("bacd")]), found.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(frame.rename(columns={"a": "e"}))


@pytest.mark.parametrize("name", ["ptgp", "eac", "clustering"])
def test_models_saved_under_the_old_name_load(name):
    folder = Path(__file__).parent / "quorate"
    model = en.load(folder / f"{name}.quorate")
    if name != "clustering":
        np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], 8))
    votes = model.votes_ if name == "clustering" else np.load(folder / "votes.npy")
    consensus = model.consensus_ if name == "clustering" else model
    np.testing.assert_array_equal(consensus.predict(votes), model.labels_)


@pytest.mark.parametrize("name", ["k_choice_", "linkage_matrix_", "no_such_attribute"])
def test_attributes_that_the_fit_does_not_have_either_are_plain_errors(name, matrix, tmp_path):
    model = en.Median(random_state=0).fit(matrix)
    model.save(tmp_path / "m.ensemblage")
    for one in (model, en.load(tmp_path / "m.ensemblage")):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'$") as caught:
            getattr(one, name)
        assert caught.type is AttributeError
