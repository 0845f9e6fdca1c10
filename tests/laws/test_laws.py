"""What holds for every method and every ensemble, odd ones most of all (DESIGN's laws)."""

import pickle
import warnings

import names
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import noisy
from sklearn.base import clone

import ensemblage as en
from ensemblage.testing.strategies import named, odd_votes

#: Slow methods draw fewer clusters and objects.
SMALL = {"max_objects": 12, "max_clusterings": 4}
#: There are twenty methods, and six laws for each.
FEW = settings(max_examples=settings().max_examples // 4)
EVERY_METHOD = pytest.mark.parametrize("name", names.METHODS)
#: What an ensemble and the same twice have in common is all that these look at.
BY_COASSOCIATION = ["eac", "pta"]


#: Trees of which rounding breaks no ties, and the default, which is one most often.
IN_ANY_ORDER = ["consensus", "eac", "ecmc", "lwea", "pta", "srw", "weac"]


def make(name, k, **parameters):
    est = en.METHODS[name](k, **parameters)
    if "random_state" in est.get_params():
        est.set_params(random_state=0)
    return est


def fitted(name, votes, k, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        warnings.simplefilter("ignore", en.TransposedVotesWarning)
        warnings.simplefilter("ignore", en.IdsAsVotesWarning)
        warnings.simplefilter("ignore", en.UnlinkedGroupsWarning)
        return make(name, k, **parameters).fit(votes)


def quiet_cut(est, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        warnings.simplefilter("ignore", en.UnlinkedGroupsWarning)
        return est.cut(k)


def draw_votes_and_k(data):
    votes = data.draw(odd_votes(**SMALL))
    n = len(np.unique(votes, axis=0))
    return votes, data.draw(st.integers(1, n))


@EVERY_METHOD
@FEW
@given(data=st.data())
def test_labels_are_a_partition_into_k_or_say_how_many(name, data):
    votes, k = draw_votes_and_k(data)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        est = make(name, k).fit(votes)
    labels = est.labels_
    assert labels.dtype == np.int64
    assert labels.shape == (len(votes),)
    _, first = np.unique(labels, return_index=True)
    assert (np.diff(first) > 0).all()  # numbered by first appearance
    assert labels.max() + 1 == len(first) == est.n_clusters_
    fewer = [word for word in told if issubclass(word.category, en.FewerClustersWarning)]
    assert (est.n_clusters_ < k) == bool(fewer)
    assert est.n_clusters_ <= k
    of_object = est.microclusters_.of_object
    for group in range(est.n_microclusters_):
        assert len(set(labels[of_object == group])) == 1
    sure = est.confidence_
    assert ((sure >= 0) & (sure <= 1)).all()


@EVERY_METHOD
@FEW
@given(data=st.data())
def test_names_of_clusters_change_nothing(name, data):
    votes, k = draw_votes_and_k(data)
    renamed = data.draw(named(votes))
    np.testing.assert_array_equal(fitted(name, votes, k).labels_, fitted(name, renamed, k).labels_)


@EVERY_METHOD
@FEW
@given(data=st.data())
def test_cut_is_a_fit_at_that_k(name, data):
    votes, k = draw_votes_and_k(data)
    other = data.draw(st.integers(1, len(np.unique(votes, axis=0))))
    np.testing.assert_array_equal(
        quiet_cut(fitted(name, votes, k), other), fitted(name, votes, other).labels_
    )


@EVERY_METHOD
@FEW
@given(data=st.data())
def test_predict_knows_its_own_votes_again(name, data):
    votes, k = draw_votes_and_k(data)
    est = fitted(name, votes, k)
    np.testing.assert_array_equal(est.predict(votes), est.labels_)
    again = pickle.loads(pickle.dumps(est))
    np.testing.assert_array_equal(again.predict(votes), est.labels_)


@EVERY_METHOD
@FEW
@given(data=st.data())
def test_refits_clones_and_threads_are_equal(name, data):
    votes, k = draw_votes_and_k(data)
    est = fitted(name, votes, k, n_jobs=1)
    labels, sure = est.labels_, est.confidence_
    for other in (est, clone(est), clone(est).set_params(n_jobs=3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other.fit(votes)
        np.testing.assert_array_equal(other.labels_, labels)
        np.testing.assert_array_equal(other.confidence_, sure)


@EVERY_METHOD
@FEW
@given(data=st.data())
def test_groups_of_objects_are_as_good_as_objects(name, data):
    votes, k = draw_votes_and_k(data)
    whole = en.Ensemble(votes)
    table, sizes, of_object = whole.microclusters
    est = fitted(name, en.Ensemble.of_groups(table, sizes, whole.labels), k)
    np.testing.assert_array_equal(est.labels_[of_object], fitted(name, votes, k).labels_)


@pytest.mark.parametrize("name", IN_ANY_ORDER)
@given(data=st.data())
def test_the_order_of_clusterings_changes_nothing(name, data):
    many = st.integers(0, 2**32 - 1).map(lambda seed: noisy([12, 8, 5], 4, 0.5, seed)[0])
    votes = data.draw(odd_votes(**SMALL) | many)
    moved = votes[:, data.draw(st.permutations(range(votes.shape[1])))]
    for k in range(2, min(5, len(np.unique(votes, axis=0)) + 1)):
        one, other = fitted(name, votes, k), fitted(name, moved, k)
        if "lwgp" not in {vars(est).get("method_") for est in (one, other)}:  # which has ties
            np.testing.assert_array_equal(one.labels_, other.labels_)
            np.testing.assert_allclose(one.confidence_, other.confidence_, atol=1e-9)


@pytest.mark.parametrize("name", BY_COASSOCIATION)
@given(data=st.data())
def test_an_ensemble_twice_is_the_same_ensemble(name, data):
    votes, k = draw_votes_and_k(data)
    np.testing.assert_array_equal(
        fitted(name, np.hstack([votes, votes]), k).labels_, fitted(name, votes, k).labels_
    )


@given(data=st.data())
def test_similarity_moves_with_objects_and_clusterings(data):
    votes = data.draw(odd_votes())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    rows, columns = rng.permutation(len(votes)), rng.permutation(votes.shape[1])
    plain, moved = en.Ensemble(votes), en.Ensemble(votes[rows][:, columns])
    one, other = (en.trajectory_similarity(e, "auto", "auto") for e in (plain, moved))
    here, there = plain.microclusters.of_object[rows], moved.microclusters.of_object
    np.testing.assert_allclose(one[np.ix_(here, here)], other[np.ix_(there, there)], atol=1e-12)
