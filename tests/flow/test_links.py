"""Groups that votes link, and rules that no order of rows decides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow
from ensemblage.testing.strategies import odd_votes


def linked_by_hand(table):
    """Spread the number of a row to all that share a cluster with it, until nothing changes."""
    group = np.arange(len(table))
    if (table >= 0).all():  # a clustering that joins all prefers no groups
        table = table[:, (table != table[0]).any(axis=0)]
        group = group if table.shape[1] else np.zeros_like(group)
    changed = True
    while changed:
        changed = False
        for column in table.T:
            for code in np.unique(column[column >= 0]):
                rows = column == code
                if (group[rows] != group[rows].min()).any():
                    group[rows], changed = group[rows].min(), True
    return np.unique(group, return_inverse=True)[1]


def grouped(votes):
    groups, _ = flow.microclusters(votes)
    return groups.table, groups.sizes, groups.of_object


@given(odd_votes())
def test_groups_are_those_of_the_definition(votes):
    table, _, _ = grouped(votes)
    links = flow.links_of(table)
    np.testing.assert_array_equal(links.of_row, linked_by_hand(table))
    assert links.n_groups == links.of_row.max() + 1


@given(st.lists(odd_votes(max_objects=6), min_size=2, max_size=5))
def test_groups_of_more_clusterings_than_are_needed(several):
    n = min(map(len, several))
    votes = np.hstack([matrix[:n] for matrix in several for _ in range(3)])
    table, _, _ = grouped(votes[(votes >= 0).any(axis=1)])
    np.testing.assert_array_equal(flow.links_of(table).of_row, linked_by_hand(table))


def test_a_clustering_of_one_cluster_links_nothing():
    table = np.array([[0, 0, 0], [1, 0, 1], [2, 0, 2], [3, 0, 2]], dtype=np.int32)
    np.testing.assert_array_equal(flow.links_of(table).of_row, [0, 1, 2, 2])
    np.testing.assert_array_equal(flow.links_of(table[:, 1:2]).of_row, [0, 0, 0, 0])
    table[0, 0] = -1  # with a gap it may be all that two objects have in common
    np.testing.assert_array_equal(flow.links_of(table).of_row, [0, 0, 0, 0])


def test_a_row_may_have_its_first_vote_in_the_last_clustering():
    table = np.full((3, 12), -1, dtype=np.int32)
    table[:2, :11] = table[2, 11] = 0
    np.testing.assert_array_equal(flow.links_of(table).of_row, [0, 0, 1])


def test_groups_of_very_many_clusters(monkeypatch):
    monkeypatch.setattr("ensemblage.flow.links._MOST_MARKED", 4)
    table = np.array([[0, 0], [0, 1], [1, 2], [2, 2], [3, 3]], dtype=np.int32)
    np.testing.assert_array_equal(flow.links_of(table).of_row, [0, 0, 1, 1, 2])


@given(odd_votes(), st.integers(0, 2**32 - 1))
def test_structure_moves_with_rows_and_ignores_names_and_clusterings(votes, seed):
    rng = np.random.default_rng(seed)
    table, sizes, of_object = grouped(votes)
    numbers = flow.structure(table, sizes)[of_object]
    rows, columns = rng.permutation(len(votes)), rng.permutation(votes.shape[1])
    renamed = np.where(votes < 0, -1, rng.permutation(votes.max() + 1)[votes])
    twice = np.hstack([renamed, renamed])[rows]
    other, others, places = grouped(twice[:, np.concatenate([columns, columns])])
    np.testing.assert_array_equal(flow.structure(other, others)[places], numbers[rows])


@given(odd_votes(), st.integers(0, 2**32 - 1))
def test_structure_of_clusters_is_that_of_their_rows(votes, seed):
    rng = np.random.default_rng(seed)
    table, sizes, of_object = grouped(votes)
    rows = rng.permutation(len(votes))
    other, others, places = grouped(votes[rows])
    numbers = flow.structure_of_clusters(table, sizes)
    moved = flow.structure_of_clusters(other, others)
    first, last = (np.cumsum(one.max(axis=0) + 1) for one in (table, other))
    assert len(numbers) == first[-1]
    for m in range(votes.shape[1]):
        one, two = table[of_object[rows], m], other[places, m]
        at_one, at_two = first[m] - table[:, m].max() - 1, last[m] - other[:, m].max() - 1
        np.testing.assert_array_equal(
            numbers[at_one + one[one >= 0]], moved[at_two + two[two >= 0]]
        )


@given(odd_votes(), st.integers(0, 2**32 - 1))
def test_own_order_gives_the_same_table_for_any_order(votes, seed):
    rng = np.random.default_rng(seed)
    table, sizes, _ = grouped(votes)
    moved, moved_sizes, _ = grouped(votes[rng.permutation(len(votes))])
    numbers = flow.structure(table, sizes)
    (order, one), (other_order, other) = (
        flow.in_own_order(table, sizes),
        flow.in_own_order(moved, moved_sizes),
    )
    np.testing.assert_array_equal(sizes[order], moved_sizes[other_order])
    if len(np.unique(numbers)) == len(numbers):  # no two rows of the same structure
        np.testing.assert_array_equal(one, other)


def test_groups_are_ordered_by_objects_then_structure():
    links = flow.Links(3, np.array([0, 1, 1, 2]))
    sizes = np.array([2, 1, 1, 9])
    numbers = np.array([5, 3, 4, 1], dtype=np.uint64)
    first, *others = flow.groups_in_order(links, sizes, numbers)
    assert first == 2
    moved = flow.groups_in_order(flow.Links(3, np.array([1, 0, 0, 2])), sizes, numbers)
    assert [int({0: 1, 1: 0}.get(group, group)) for group in moved] == [first, *others]


@given(odd_votes(gaps=False))
def test_groups_join_last_and_the_rest_of_the_tree_stays(votes):
    table, sizes, _ = grouped(votes)
    links = flow.links_of(table)
    tree = flow.agglomerate(1.0 - flow.coassociation(table), "average", sizes)
    if len(tree) == 0:
        return
    order = np.random.default_rng(0).permutation(links.n_groups)
    moved = flow.groups_last(tree, links.of_row, order)
    np.testing.assert_array_equal(flow.cut_tree(moved, links.n_groups), links.of_row)
    np.testing.assert_allclose(moved[:, 2], tree[:, 2], atol=1e-12)
    assert moved[-1, 3] == len(table)
    for k in range(links.n_groups, len(table) + 1):
        a, b = (flow.cut_tree(one, k) for one in (tree, moved))
        np.testing.assert_array_equal(a[:, None] == a, b[:, None] == b)


def test_merges_across_groups_are_taken_apart():
    """A tree that joins the halves of two groups crosswise first."""
    tree = np.array([[0, 2, 0.5, 2], [1, 3, 0.6, 2], [4, 5, 0.7, 4]])
    moved = flow.groups_last(tree, np.array([0, 0, 1, 1]), np.array([0, 1]))
    np.testing.assert_array_equal(moved, [[0, 1, 0.7, 2], [2, 3, 0.7, 2], [4, 5, 0.7, 4]])


@pytest.mark.parametrize("n_clusters", [2, 3, 4])
def test_the_largest_groups_stay_and_the_others_share_a_cluster(n_clusters):
    links = flow.Links(5, np.arange(5))
    labels = flow.join_smallest(links, np.array([3, 1, 0, 4, 2]), n_clusters)
    assert len(np.unique(labels)) == n_clusters
    alone = [3, 1, 0, 4, 2][: n_clusters - 1]
    assert [int((labels == labels[group]).sum()) for group in alone] == [1] * (n_clusters - 1)
