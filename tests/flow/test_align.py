import numpy as np
import pytest
import similarity_twins
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from ensemblage import flow
from ensemblage.testing.strategies import votes


@given(npst.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)),
                   elements=st.integers(0, 6).map(float)))  # fmt: skip
def test_matches_keep_as_many_objects_as_any_permutation(shared):
    label_of = flow.match(shared)
    assert (label_of[shared.max(axis=0) == 0] == -1).all()
    assert (label_of[shared.max(axis=0) > 0] >= 0).all()
    # Clusters that share a label: the best of them is the match, the others were left over.
    kept = sum(
        max(shared[label, label_of == label]) for label in set(label_of.tolist()) if label >= 0
    )
    assert kept >= similarity_twins.most_kept(shared)
    if shared.shape[0] >= shared.shape[1] and len(set(label_of.tolist())) == len(label_of):
        total = sum(shared[label, c] for c, label in enumerate(label_of) if label >= 0)
        assert total == pytest.approx(similarity_twins.most_kept(shared))


def test_left_over_clusters_take_the_label_of_most_of_their_objects():
    shared = np.array([[5.0, 4.0, 0.0, 0.0], [0.0, 1.0, 9.0, 0.0]])
    assert flow.match(shared).tolist() == [0, 0, 1, -1]
    # Given label 1, with which it shares nothing, the second would rather be 0.
    assert flow.match(np.array([[5.0, 4.0], [0.0, 0.0]])).tolist() == [0, 0]
    # One object in common is enough.
    assert flow.match(np.array([[3.0, 2.0], [1.0, 1.0]])).tolist() == [0, 1]


def test_plurality_ties_and_silence():
    table = np.array([[0, 0, -1], [0, 1, 0], [-1, -1, 0], [1, 0, 0]], dtype=np.int32)
    label_of = np.array([1, 0, 0, 1, -1])
    assert flow.plurality(flow.membership(table), label_of, 2).tolist() == [0, 1, -1, 0]


@given(votes(max_objects=16))
def test_agreement_of_clusters_is_that_of_their_objects(matrix):
    groups, _ = flow.microclusters(matrix)
    counts = flow.overlaps(groups.table, groups.sizes)
    owner = flow.owners(groups.table)
    codes = groups.table[groups.of_object]
    for member in set(owner.tolist()):
        agreement = flow.cluster_agreement(counts[owner == member], owner)
        clusters = [
            np.flatnonzero(codes[:, member] == c) for c in range(codes[:, member].max() + 1)
        ]
        for u, a in enumerate(clusters):
            for v, b in enumerate(clusters):
                pairs = [(codes[i], codes[j]) for i in a for j in b]
                same = sum(((x == y) & (x >= 0)).sum() for x, y in pairs)
                both = sum(((x >= 0) & (y >= 0)).sum() for x, y in pairs)
                assert agreement[u, v] == pytest.approx(same / both)


def test_votes_end_where_nothing_changes():
    table = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, -1], [1, 0, 1]],
                     dtype=np.int32)  # fmt: skip
    inputs = flow.membership(table), np.ones(6, dtype=np.int64), flow.owners(table)
    found = flow.vote(*inputs, np.array([0, 0, 1, 1, -1, -1]), 20)
    assert found.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_array_equal(flow.vote(*inputs, found, 1), found)


def test_who_shares_nothing_with_anyone_labelled_joins_the_largest():
    table = np.array([[0, -1], [1, -1], [-1, 0]], dtype=np.int32)
    sizes = np.array([1, 5, 2])
    found = flow.vote(flow.membership(table), sizes, flow.owners(table), np.array([0, 1, -1]), 20)
    assert found.tolist() == [0, 1, 1]
