from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage.metrics import align

VOTES = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1], [2, 2, 2]])


def kept(numbers, earlier):
    return sum(a == b != -1 for a, b in zip(numbers, earlier, strict=True))


def most_kept(labels, earlier):
    """Objects that keep their number under the best of all renamings."""
    own = sorted(set(labels) - {-1})
    names = sorted(set(earlier) - {-1}) + [None] * len(own)
    return max(
        sum(dict(zip(own, chosen, strict=True)).get(a) == b != -1
            for a, b in zip(labels, earlier, strict=True))
        for chosen in permutations(names, len(own))
    )  # fmt: skip


columns = st.integers(1, 10).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-1, 3), min_size=n, max_size=n)] * 2)
)


@given(columns)
def test_as_many_objects_as_possible_keep_their_number(drawn):
    labels, earlier = drawn
    numbers = align(labels, to=earlier)
    assert kept(numbers, earlier) == most_kept(labels, earlier)
    # The same partition, objects without a label stay without.
    pairs = set(zip(labels, numbers.tolist(), strict=True))
    assert len(pairs) == len(set(labels)) == len(set(numbers.tolist()))
    assert [number == -1 for number in numbers] == [label == -1 for label in labels]
    # A number that was there is kept only by objects that had it; others are above all of them.
    for number in set(numbers.tolist()) - {-1}:
        if number in earlier:
            assert any(a == b == number for a, b in zip(numbers, earlier, strict=True))
        else:
            assert number > max(earlier)


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=12))
def test_a_clustering_keeps_its_own_numbers(labels):
    assert align(labels, to=labels).tolist() == labels


def test_labels_of_any_kind_and_gaps_in_many_ways():
    assert align(["b", "b", None, "a"], to=[3.0, 3.0, 1.0, np.nan]).tolist() == [3, 3, -1, 4]
    assert align([0, 1], to=[None, 5]).tolist() == [6, 5]
    assert align([], to=[]).tolist() == []


def test_series_are_matched_by_index():
    pd = pytest.importorskip("pandas")
    earlier = pd.Series([7, 7, 2], index=["a", "b", "gone"])
    labels = pd.Series([0, 1, 1, 2], index=["new", "b", "a", "other"], name="label")
    numbers = align(labels, to=earlier)
    assert numbers.tolist() == [8, 7, 7, 9]
    assert numbers.index.tolist() == ["new", "b", "a", "other"]
    assert numbers.name == "label"
    twice = pd.Series([1, 2], index=["a", "a"])
    with pytest.raises(en.ParameterError, match="several for 'a'"):
        align(labels, to=twice)
    assert align(labels, to=np.array([5, 6, 6, 1])).tolist() == [5, 6, 6, 1]


@pytest.mark.parametrize(
    ("earlier", "said"),
    [
        ([0, 1, 2], r"one for each of 2 objects\. Got 'an array of shape \(3,\)'"),
        (["x", "y"], r"integers\. Got 'x' instead"),
        ([0.5, 1.0], "integers"),
        ([[0, 1], [1, 0]], r"shape \(2, 2\)"),
    ],
)
def test_earlier_labels_that_cannot_be_used(earlier, said):
    with pytest.raises(en.ParameterError, match=said):
        align([0, 1], to=earlier)


def test_several_columns_are_refused():
    with pytest.raises(ValueError, match="single column"):
        align([[0, 1]], to=[0])


def test_large_integers_are_kept_or_refused():
    big = 2**60
    assert align([0, 0, 1, 1], [big, big, big + 1, None]).tolist() == [big, big, big + 1, big + 1]
    objects = np.array([np.int64(2**53 + 1), 2**53 + 1, 2.0, float("nan")], dtype=object)
    assert align([0, 0, 1, 1], objects).tolist() == [2**53 + 1, 2**53 + 1, 2, 2]
    assert align([0, 0, 1], np.array([2**62, 2**62, 7], np.uint64)).tolist() == [2**62, 2**62, 7]
    for far in (2**63 + 5, 2**63 - 1):
        for earlier in ([far, far, 1, 1], np.array([far, far, 1, 1], np.uint64), [far, 1, 1, None]):
            with pytest.raises(en.ParameterError, match=f"below 2.*Got {far} instead"):
                align([0, 0, 1, 2], earlier)
    with pytest.raises(en.ParameterError, match="'align_to'"):
        en.EAC(n_clusters=2).fit_predict(VOTES, align_to=np.full(7, 2**63 + 5, np.uint64))


# -- in the methods --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [en.EAC, en.Consensus, en.Vote])
def test_methods_keep_the_numbers_of_earlier_labels(method):
    earlier = [5, 5, 5, 2, 2, 2, 9]
    est = method(n_clusters=3)
    labels = est.fit_predict(VOTES, align_to=earlier)
    plain = est.labels_
    np.testing.assert_array_equal(labels, align(plain, to=earlier))
    assert set(plain.tolist()) == {0, 1, 2}  # its own numbers
    np.testing.assert_array_equal(est.cut(2, align_to=earlier), align(est.cut(2), to=earlier))
    new, sure = est.predict(VOTES[::-1], align_to=earlier, return_confidence=True)
    np.testing.assert_array_equal(new, labels[::-1])
    assert len(sure) == len(VOTES)


def test_a_table_with_an_index_finds_its_objects():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(VOTES, index=list("abcdefg"))
    earlier = pd.Series([4, 6], index=["f", "b"])
    labels = en.EAC(n_clusters=3).fit_predict(table, align_to=earlier)
    assert labels["b"] == 6
    assert labels["f"] == 4
    assert labels.tolist() == [6, 6, 6, 4, 4, 4, 7]


def test_features_keep_numbers_too():
    features = np.repeat([[0.0], [5.0], [9.0]], 10, axis=0)
    features = features + np.random.default_rng(0).normal(scale=0.1, size=features.shape)
    earlier = np.repeat([3, 1, -1], 10)
    est = en.EnsembleClustering(3, n_members=5, random_state=0)
    expected = np.repeat([3, 1, 4], 10)
    np.testing.assert_array_equal(est.fit_predict(features, align_to=earlier), expected)
    np.testing.assert_array_equal(est.cut(3, align_to=earlier), expected)
    np.testing.assert_array_equal(est.predict(features, align_to=earlier), expected)


def test_groups_without_objects_cannot_be_matched():
    groups = en.Ensemble.of_groups(
        np.array([[0, 0], [1, 1]], dtype=np.int32), np.array([2, 2]), [[0, 1], [0, 1]]
    )
    with pytest.raises(ValueError, match="needs a label for each of the 4 objects"):
        en.EAC(n_clusters=2).fit_predict(groups, align_to=[0, 0, 1, 1])
