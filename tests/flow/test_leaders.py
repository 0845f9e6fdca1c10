"""Groups of rows by their leaders beside their definitions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow
from ensemblage.testing.strategies import votes


def prepared(matrix, seed=0):
    groups, _ = flow.microclusters(matrix)
    rng = np.random.default_rng(seed)
    members = rng.uniform(0.5, 2.0, matrix.shape[1])
    owner = flow.owners(groups.table)
    return groups, rng.uniform(0.1, 1.0, len(owner)) * members[owner], members


def similarity(groups, weight, members):
    """Return the similarity of all pairs of rows, vote by vote."""
    table = groups.table
    starts = np.append(0, np.cumsum(table.max(axis=0) + 1)[:-1])
    n, n_members = table.shape
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            both = [m for m in range(n_members) if table[i, m] >= 0 and table[j, m] >= 0]
            shared = [m for m in both if table[i, m] == table[j, m]]
            if both:
                sums = sum(weight[starts[m] + table[i, m]] for m in shared)
                result[i, j] = sums / members[both].sum()
    return result


@given(votes(), st.integers(1, 6))
def test_rows_join_the_most_similar_leader(matrix, n_groups):
    groups, weight, members = prepared(matrix)
    rows = flow.leader_rows(groups.table, groups.sizes, weight, n_groups)
    assert len(rows) <= n_groups
    found = flow.join_leaders(groups.table, rows, weight, members, n_jobs=2)
    expected = similarity(groups, weight, members)[:, rows]
    np.testing.assert_array_equal(found.group[rows], np.arange(len(rows)))
    for i in set(range(len(groups.table))) - set(rows.tolist()):
        assert abs(expected[i, found.group[i]] - expected[i].max()) < 1e-5
        assert abs(found.similarity[i] - expected[i].max()) < 1e-5


def check_similarity_of_groups(matrix, n_groups):
    groups, weight, members = prepared(matrix)
    table, sizes, _ = groups
    rows = flow.leader_rows(table, sizes, weight, n_groups)
    leaders = flow.join_leaders(table, rows, weight, members)
    found = flow.similarity_of_groups(table, sizes, leaders, weight, members)
    voted = (table >= 0).astype(float)
    pairs = sizes[:, None] * sizes * ((voted * members) @ voted.T)
    of_rows = similarity(groups, weight, members)
    for a in range(len(rows)):
        for b in range(len(rows)):
            some = np.ix_(leaders.group == a, leaders.group == b)
            sums, votes = (of_rows[some] * pairs[some]).sum(), pairs[some].sum()
            expected = sums / votes if votes else 0.0
            np.testing.assert_allclose(found.similarity[a, b], expected, atol=1e-12)
    np.testing.assert_array_equal(found.sizes, np.bincount(leaders.group, sizes))
    assert -1e-9 <= found.captured <= 1 + 1e-9


@given(votes(), st.integers(1, 6))
def test_similarity_of_groups_is_the_mean_over_pairs_of_votes(matrix, n_groups):
    check_similarity_of_groups(matrix, n_groups)


def test_clusterings_with_more_clusters_than_groups():
    rng = np.random.default_rng(0)
    coarse, fine = rng.integers(0, 3, (60, 3)), rng.permutation(60) // 2
    matrix = np.column_stack([coarse, fine, np.arange(60)])
    for n_groups in (1, 8, 50):  # five, two and one of the clusterings have more clusters
        check_similarity_of_groups(matrix, n_groups)
    matrix[::7, 3] = -1
    check_similarity_of_groups(matrix, 8)


@given(votes(max_objects=20), st.integers(1, 6))
def test_the_tree_of_rows_is_that_of_groups_with_rows_below(matrix, n_groups):
    groups, weight, members = prepared(matrix)
    table, sizes, _ = groups
    rows = flow.leader_rows(table, sizes, weight, n_groups)
    leaders = flow.join_leaders(table, rows, weight, members)
    found = flow.similarity_of_groups(table, sizes, leaders, weight, members)
    of_groups = flow.average_link(found.similarity, found.sizes)
    tree = flow.tree_of_rows(of_groups, leaders)
    assert tree.shape == (len(table) - 1, 4)
    assert (np.diff(tree[:, 2]) >= 0).all()
    for k in range(1, len(rows) + 1):
        expected = flow.cut_tree(of_groups, k)[leaders.group]
        same = flow.cut_tree(tree, k)
        assert len(set(zip(expected.tolist(), same.tolist(), strict=True))) == k


def test_leaders_represent_every_density_and_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [600, 300, 100])
    noisy = np.where(rng.random((1000, 12)) < 0.2, rng.integers(0, 3, (1000, 12)), truth[:, None])
    groups, _ = flow.microclusters(noisy)
    weight = np.ones(len(flow.owners(groups.table)))
    rows = flow.leader_rows(groups.table, groups.sizes, weight, 50)
    chosen = groups.table[rows]
    leads = np.array([np.bincount(row).argmax() for row in noisy[[np.flatnonzero(
        groups.of_object == row)[0] for row in rows]]])  # fmt: skip
    assert set(leads.tolist()) == {0, 1, 2}
    assert len(np.unique(chosen, axis=0)) == len(rows)
    order = rng.permutation(len(groups.table))
    again = flow.leader_rows(groups.table[order], groups.sizes[order], weight, 50)
    densities = [
        sorted(_density(groups.table, groups.sizes)[some].tolist()) for some in (rows, order[again])
    ]
    np.testing.assert_allclose(*densities)


def _density(table, sizes):
    members = flow.membership(table)
    return members @ (members.T @ sizes)
