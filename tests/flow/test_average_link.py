"""Average link with and without a matrix of all pairs, beside a chain in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from planted import noisy
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from ensemblage import flow
from ensemblage.flow import sparse_linkage
from ensemblage.flow._group_lists import close_gaps
from ensemblage.testing.strategies import odd_votes, votes


@st.composite
def tables(draw):
    """Draw microclusters, sizes, a weight of each cluster in 24ths, and what these add up to."""
    matrix = draw(st.one_of(votes(max_objects=14, gaps=False), odd_votes(gaps=False)))
    table, sizes, _ = flow.microclusters(matrix)[0]
    if draw(st.booleans()):
        sizes = np.array(
            draw(st.lists(st.integers(1, 9), min_size=len(table), max_size=len(table)))
        )
    n_codes = table.max(axis=0) + 1
    parts = draw(st.sampled_from(["equal", "by member", "by cluster"]))
    if parts == "equal":
        weight = np.full(n_codes.sum(), 24)
    elif parts == "by member":
        weight = np.repeat([draw(st.sampled_from([0, 8, 12, 24])) for _ in n_codes], n_codes)
    else:
        weight = np.array([draw(st.sampled_from([0, 8, 12, 24])) for _ in range(n_codes.sum())])
    return table, sizes, weight, 24 * table.shape[1]


def similarity_of(table, weight, total):
    """Return the weight of the clusters that two rows share, for all pairs, as fractions."""
    first = np.cumsum(table.max(axis=0) + 1) - (table.max(axis=0) + 1)
    clusters = [set((row + first).tolist()) for row in table]
    return [
        [Fraction(int(sum(weight[u] for u in a & b)), int(total)) for b in clusters]
        for a in clusters
    ]


def chain_of_fractions(similarity, sizes):
    """Return (similarity, rows, rows) merge by merge, by the rule that `average_link` states."""
    groups = {i: [i] for i in range(len(sizes))}
    merges, chain, done = [], [], set()

    def mean(a, b):
        total = sum(
            similarity[i][j] * int(sizes[i] * sizes[j]) for i in groups[a] for j in groups[b]
        )
        mass = sum(int(sizes[i] * sizes[j]) for i in groups[a] for j in groups[b])
        return total / mass

    while len(done) < len(groups):
        chain = chain or [min(groups.keys() - done)]
        tip, previous = chain[-1], chain[-2] if len(chain) > 1 else None
        others = {g: mean(tip, g) for g in groups if g != tip}
        largest = max(others.values(), default=0)
        if largest == 0:
            done.add(chain.pop())
        elif previous is not None and others[previous] == largest:
            chain = chain[:-2]
            a, b = sorted((tip, previous))
            merges.append((largest, groups[a], groups[b]))
            groups[a] = groups[a] + groups.pop(b)
        else:
            chain.append(min(g for g in others if others[g] == largest))
    merges.sort(key=lambda merge: -merge[0])  # of equal ones the first stays first
    objects = {g: sum(int(sizes[i]) for i in rows) for g, rows in groups.items()}
    by_size = sorted(groups, key=lambda g: (-objects[g], g))
    joined = groups[by_size[0]]
    for g in by_size[1:]:
        merges.append((Fraction(0), joined, groups[g]))
        joined = joined + groups[g]
    return merges


def check(tree, merges):
    """Compare a tree with merges of sets of rows."""
    n = len(merges) + 1
    rows = {i: frozenset([i]) for i in range(n)}
    for step, (similarity, a, b) in enumerate(merges):
        left, right = tree[step, :2].astype(int)
        assert {rows[left], rows[right]} == {frozenset(a), frozenset(b)}
        assert abs(tree[step, 2] - (1 - similarity)) < 1e-12
        rows[n + step] = rows[left] | rows[right]
        assert tree[step, 3] == len(rows[n + step])
    assert (np.diff(tree[:, 2]) >= 0).all()
    if n > 1:
        assert is_valid_linkage(tree)


@given(tables())
def test_both_routes_are_the_chain_of_exact_fractions(drawn):
    table, sizes, weight, total = drawn
    exact = similarity_of(table, weight, total)
    merges = chain_of_fractions(exact, sizes)
    check(flow.sparse_average_link(table, sizes, weight.astype(float), float(total)), merges)
    check(flow.average_link(np.array(exact, dtype=float), sizes), merges)


@given(tables())
def test_every_merge_joins_a_most_similar_pair(drawn):
    table, sizes, weight, total = drawn
    tree = flow.sparse_average_link(table, sizes, weight.astype(float), float(total))
    similarity = np.array(similarity_of(table, weight, total), dtype=float)
    groups = {i: [i] for i in range(len(sizes))}
    for step, (a, b, height, _) in enumerate(tree):
        means = {
            (g, h): (sizes[groups[g]] @ similarity[np.ix_(groups[g], groups[h])] @ sizes[groups[h]])
            / (sizes[groups[g]].sum() * sizes[groups[h]].sum())
            for g in groups
            for h in groups
            if g < h
        }
        assert means[int(a), int(b)] > max(means.values()) - 1e-12
        assert abs(height - (1 - means[int(a), int(b)])) < 1e-12
        groups[len(sizes) + step] = groups.pop(int(a)) + groups.pop(int(b))


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_clusterings_does_not_matter(drawn, random):
    table, sizes, weight, total = drawn
    columns = list(range(table.shape[1]))
    random.shuffle(columns)
    ends = np.cumsum(table.max(axis=0) + 1)
    moved = np.concatenate([np.split(weight, ends)[m] for m in columns]).astype(float)
    a = flow.sparse_average_link(table, sizes, weight.astype(float), float(total))
    b = flow.sparse_average_link(
        np.ascontiguousarray(table[:, columns]), sizes, moved, float(total)
    )
    np.testing.assert_array_equal(a[:, [0, 1, 3]], b[:, [0, 1, 3]])
    np.testing.assert_allclose(a[:, 2], b[:, 2], rtol=0, atol=1e-12)


@given(st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter_where_no_pairs_tie(seed):
    rng = np.random.default_rng(seed)
    table, sizes, _ = flow.microclusters(rng.integers(0, 2, (7, 6)))[0]
    weight = rng.uniform(0.1, 1, (table.max(axis=0) + 1).sum())
    similarity = flow.graded_coassociation(table, np.diag(weight))
    pairs = np.sort(similarity[np.triu_indices(len(table), 1)])
    assume((np.diff(pairs) > 1e-9).all())
    order = rng.permutation(len(table))
    a = flow.sparse_average_link(table, sizes, weight, 6.0)
    b = flow.sparse_average_link(table[order], sizes[order], weight, 6.0)
    np.testing.assert_allclose(a[:, 2:], b[:, 2:], atol=1e-12)
    for k in range(1, len(table)):
        both = zip(flow.cut_tree(a, k)[order].tolist(), flow.cut_tree(b, k).tolist(), strict=True)
        assert len(set(both)) == k


# -- groups that share nothing ---------------------------------------------------------------------


def test_groups_that_share_nothing_join_last_and_the_largest_first():
    table = np.array([[0, 0], [1, 1], [1, 2], [2, 3], [3, 4], [4, 5]], dtype=np.int32)
    sizes = np.array([2, 1, 1, 5, 2, 1])
    for tree in both_routes(table, sizes):
        assert tree[:, 2].tolist() == [0.5, 1, 1, 1, 1]
        # {1, 2} shares a cluster; then by size 3 (5), 0 (2), {1, 2} (2), 4 (2), 5 (1).
        assert tree[:, :2].tolist() == [[1, 2], [0, 3], [6, 7], [4, 8], [5, 9]]


def test_members_of_one_object_each_leave_everybody_alone():
    table = np.repeat(np.arange(4, dtype=np.int32)[:, None], 3, axis=1)
    for tree in both_routes(table, np.array([1, 3, 2, 3])):
        assert tree[:, :2].tolist() == [[1, 3], [2, 4], [0, 5]]
        assert (tree[:, 2] == 1).all()


def test_clusters_without_weight_are_as_if_not_there():
    table = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    sizes = np.ones(3, dtype=np.int64)
    tree = flow.sparse_average_link(table, sizes, np.array([1.0, 1, 0, 0]), 1.0)
    assert tree[:, :3].tolist() == [[0, 1, 0], [2, 3, 1]]
    tree = flow.sparse_average_link(table, sizes, np.zeros(4), 1.0)
    assert tree[:, :3].tolist() == [[0, 1, 1], [2, 3, 1]]


def test_similarities_too_small_for_heights_still_decide():
    """1 - 1e-30 is 1, but 1e-30 is more than 1e-40."""
    table = np.array([[0, 0], [1, 0], [0, 1], [2, 2]], dtype=np.int32)
    weight = np.array([1e-40, 1, 1, 1e-30, 1, 1])
    expected = [[0, 1], [2, 4], [3, 5]]
    sizes = np.ones(4, dtype=np.int64)
    assert flow.sparse_average_link(table, sizes, weight, 2.0)[:, :2].tolist() == expected
    similarity = flow.graded_coassociation(table, np.diag(weight))
    assert flow.average_link(similarity, sizes)[:, :2].tolist() == expected


@pytest.mark.parametrize("rounded_up", [1, 2])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_similarities_that_differ_by_rounding_tie_and_the_lowest_row_wins(rounded_up, order):
    table = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1]], dtype=np.int32)
    table[rounded_up, :2] = table[3 - rounded_up, 2] = 0  # 0.1 + 0.2 > 0.3 in floating point
    weight = np.repeat(np.array([0.1, 0.2, 0.3])[order], 2)
    sizes = np.ones(3, dtype=np.int64)
    table = np.ascontiguousarray(table[:, order])
    tree = sparse_linkage.sparse_average_link(table, sizes, weight, 1.0)
    assert tree[0, :2].tolist() == [0, 1]


def test_a_single_row_has_an_empty_tree():
    for tree in both_routes(np.zeros((1, 3), dtype=np.int32), np.array([7])):
        assert tree.shape == (0, 4)


def both_routes(table, sizes):
    n_members = table.shape[1]
    ones = np.ones((table.max(axis=0) + 1).sum())
    yield flow.sparse_average_link(table, sizes, ones, float(n_members))
    yield flow.average_link(flow.coassociation(table), sizes)


# -- thousands of rows -----------------------------------------------------------------------------


def ensemble(name):
    rng = np.random.default_rng(3)
    if name == "noise":
        return rng.integers(0, 12, (3000, 8))
    if name == "planted":
        return noisy([400] * 8, 9, 0.45, seed=3)[0]
    if name == "unequal":
        coarse = noisy([700, 700, 700, 900], 3, 0.3, seed=3)[0]
        fine, constant = rng.integers(0, 300, (3000, 2)), np.zeros(3000, dtype=int)
        return np.column_stack([coarse, fine, constant])
    points = rng.normal(size=(3200, 3))
    seeds = [points[rng.choice(3200, k, replace=False)] for k in rng.integers(3, 60, 10)]
    return np.column_stack(
        [np.linalg.norm(points[:, None] - s[None], axis=2).argmin(axis=1) for s in seeds]
    )


@pytest.mark.parametrize("weights", ["equal", "by member", "by cluster"])
@pytest.mark.parametrize("name", ["noise", "planted", "unequal", "space"])
def test_both_routes_give_one_tree_of_thousands(name, weights):
    table, sizes, _ = flow.microclusters(ensemble(name))[0]
    n_codes = table.max(axis=0) + 1
    rng = np.random.default_rng(4)
    weight = {
        "equal": np.ones(n_codes.sum()),
        "by member": np.repeat(rng.uniform(0.2, 1, len(n_codes)), n_codes),
        "by cluster": rng.uniform(0.01, 1, n_codes.sum()),
    }[weights]
    sparse = flow.sparse_average_link(table, sizes, weight, float(len(n_codes)))
    similarity = flow.graded_coassociation(table, np.diag(weight))
    dense = flow.average_link(similarity, sizes)
    np.testing.assert_array_equal(sparse[:, [0, 1, 3]], dense[:, [0, 1, 3]])
    np.testing.assert_allclose(sparse[:, 2], dense[:, 2], rtol=0, atol=1e-12)
    ties = np.diff(sparse[:, 2])
    assert not ((ties > 0) & (ties < 1e-13)).any()  # equal but for rounding is equal
    for k in [*range(1, 40), 100, 400, 1000]:
        np.testing.assert_array_equal(flow.cut_tree(sparse, k), flow.cut_tree(dense, k))


def test_the_tree_is_that_of_scipy_where_nothing_ties():
    table, sizes, of_object = flow.microclusters(noisy([60] * 4, 12, 0.4, seed=1)[0])[0]
    weight = np.random.default_rng(1).uniform(0.2, 1, (table.max(axis=0) + 1).sum())
    similarity = flow.graded_coassociation(table, np.diag(weight))
    tree = flow.sparse_average_link(table, sizes, weight, 12.0)
    distance = 1 - similarity[np.ix_(of_object, of_object)]
    distance[of_object[:, None] == of_object] = 0
    theirs = scipy_linkage(squareform(distance, checks=False), "average")
    np.testing.assert_allclose(tree[:, 2], theirs[-len(tree) :, 2], atol=1e-12)
    for k in (2, 3, 5, 10, 50):
        a, b = flow.cut_tree(tree, k)[of_object], flow.cut_tree(theirs, k)
        np.testing.assert_array_equal(a, b)


def test_rooms_of_groups_are_cleared_up(monkeypatch):
    """Unions take new room; where it is used up, gaps are closed."""
    calls = []
    monkeypatch.setattr(
        sparse_linkage, "close_gaps", lambda groups: (calls.append(1), close_gaps(groups))
    )
    table, sizes, _ = flow.microclusters(np.random.default_rng(0).integers(0, 9, (400, 6)))[0]
    sparse, dense = both_routes(table, sizes)
    assert calls
    np.testing.assert_array_equal(sparse[:, :2], dense[:, :2])
