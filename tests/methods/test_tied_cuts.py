"""Cuts between merges of equal height: the votes do not determine the clusters."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import average
from scipy.spatial.distance import squareform

import ensemblage as en
from ensemblage import flow

TREES = ("EAC", "WEAC", "LWEA", "PTA", "Consensus")


def nested(n_fine=8, size=20):
    """One coarse clustering of two, and three equal fine ones."""
    fine = np.repeat(np.arange(n_fine), size)
    return np.column_stack([fine // (n_fine // 2), fine, fine, fine])


def ties_of(model, votes):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(votes)
    return [str(one.message) for one in caught if one.category is en.TiedCutWarning]


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("k", [3, 4, 7])
def test_a_number_between_the_levels_of_nested_votes_warns(name, k):
    (message,) = ties_of(en.METHODS[name.lower()](k), nested())
    assert f"do not determine {k} clusters by {name}:" in message
    assert "Pass n_clusters=2 or 8." in message


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("k", [2, 8])
def test_the_levels_themselves_do_not(name, k):
    assert not ties_of(en.METHODS[name.lower()](k), nested())


def test_a_cut_warns_too_and_names_numbers_without_a_tie():
    model = en.Consensus(2).fit(nested())
    with pytest.warns(en.TiedCutWarning, match=r"n_clusters=2 or 8\."):
        model.cut(6)


def test_one_cluster_is_no_advice():
    """Each clustering joins another pair of three groups: below, only one cluster has no tie."""
    joined = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1]])
    with pytest.warns(en.TiedCutWarning, match=r"do not determine 2 .* Pass n_clusters=3\."):
        en.EAC(2).fit(np.repeat(joined.T, 10, axis=0))


def test_the_order_of_rows_decides_where_the_warning_is_given():
    votes = nested()
    order = np.random.default_rng(0).permutation(len(votes))
    agreement = {}
    for k in (2, 3, 8):
        moved = np.empty(len(votes), dtype=int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", en.TiedCutWarning)
            moved[order] = en.EAC(k).fit(votes[order]).labels_
            agreement[k] = en.metrics.ari(moved, en.EAC(k).fit(votes).labels_)
    assert agreement[2] == agreement[8] == 1.0
    assert agreement[3] < 1.0


def test_methods_without_a_tree_and_other_linkages_do_not_judge():
    assert not ties_of(en.EAC(3, linkage="complete"), nested())
    assert not ties_of(en.LWGP(3, random_state=0), nested())


def test_an_order_of_its_own_decides_no_ties():
    """ECMC sorts its rows: isolated ones tie, but in any order the clusters are the same."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 50)
    votes = np.column_stack([truth * 6 + rng.integers(0, 6, 150) for _ in range(8)] + [truth])
    order = rng.permutation(150)
    with warnings.catch_warnings():
        warnings.simplefilter("error", en.TiedCutWarning)
        one, other = en.ECMC(3).fit(votes), en.ECMC(3).fit(votes[order])
    assert flow.is_tied(one.linkage_matrix_, 3)
    assert en.metrics.ari(one.labels_[order], other.labels_) == 1.0


def test_groups_that_no_vote_links_have_their_own_warning():
    votes = np.repeat(np.arange(6), 5)[:, None].repeat(3, axis=1)
    assert not ties_of(en.EAC(4), votes)
    with pytest.warns(en.UnlinkedGroupsWarning):
        en.EAC(4).fit(votes)


@pytest.mark.parametrize("k", [3, 4])
def test_the_advice_does_not_join_groups_that_no_vote_links(k):
    """Two groups of three equally similar parts each, and an outlier: 2 has no tie."""
    fine = np.repeat(np.arange(7), [10] * 6 + [1])
    (message,) = ties_of(en.Consensus(k), np.column_stack([fine // 3, fine]))
    assert message.endswith("Pass n_clusters=7.")


@given(st.integers(0, 2**32 - 1), st.integers(4, 12), st.integers(1, 4))
def test_ties_are_those_of_the_heights(seed, n, n_values):
    """The twin compares all heights: some merge at the cut is as high as one before it."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(1, n_values + 1, n * (n - 1) // 2) / n_values
    tree = average(distances)
    for k in range(1, n + 1):
        before, after = tree[: n - k, 2], tree[n - k :, 2]
        tied = any(abs(a - b) <= 1e-12 for a in before for b in after)
        assert flow.is_tied(tree, k) == tied
        sized = flow.sized_tree(tree, np.full(n, 2))
        parts = flow.least_size_parts(sized, k, 2)
        assert flow.next_split_is_tied(sized, parts) == (tied and k > 1)


def test_splits_of_small_parts_are_not_ties():
    """An outlier merges as high as two clusters, but it is set aside."""
    merges = [[0, 1], [2, 3], [5, 6], [4, 7]]
    tree = np.column_stack([merges, [0.1, 0.2, 0.5, 0.5], [2, 2, 4, 5]]).astype(float)
    sized = flow.sized_tree(tree, np.array([9, 9, 9, 9, 1]))
    assert flow.is_tied(tree, 2)
    assert not flow.next_split_is_tied(sized, flow.least_size_parts(sized, 2, 4))


CROSSED = np.column_stack([np.tile([0, 0, 1, 1], 10), np.tile([0, 1, 0, 1], 10)])
RING = np.repeat([[0, 0], [0, 1], [1, 1], [1, 2], [2, 2], [2, 0]], 10, axis=0)
CHAIN = np.repeat([[0, 0], [0, 1], [1, 1]], 10, axis=0)


class TestRivalMerges:
    """Two parts merge, and a third one, in another cluster, is as similar."""

    @pytest.mark.parametrize("name", ["EAC", "WEAC", "LWEA", "SRS", "Consensus"])
    @pytest.mark.parametrize(("votes", "k"), [(CROSSED, 2), (RING, 3), (CHAIN, 2)])
    def test_they_warn_in_any_order_of_rows(self, name, votes, k):
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(len(votes))
            assert len(ties_of(en.METHODS[name.lower()](k), votes[order])) == 1

    @pytest.mark.parametrize("name", TREES)
    def test_a_few_objects_between_two_clusters_do_not(self, name):
        votes = np.repeat([[0, 0], [0, 1], [1, 1]], [48, 4, 48], axis=0)
        model = en.METHODS[name.lower()](2)
        assert not ties_of(model, votes)
        assert len(np.unique(model.labels_)) == 2

    def test_nor_does_a_third_part_of_the_same_cluster(self):
        votes = np.repeat([[0, 0, 0], [0, 1, 0], [1, 1, 0], [2, 2, 2]], 10, axis=0)
        assert not ties_of(en.EAC(2), votes)

    @given(st.integers(0, 2**32 - 1))
    def test_where_the_order_of_rows_decides_there_is_a_warning(self, seed):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, rng.integers(2, 4), (rng.integers(3, 9), rng.integers(2, 5)))
        votes, k = np.repeat(rows, 8, axis=0), int(rng.integers(2, 4))
        if len(np.unique(rows, axis=0)) < k:
            return
        found, warned = [], []
        for _ in range(4):
            order = rng.permutation(len(votes))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                labels = en.EAC(k).fit(votes[order]).labels_
            found.append(labels[np.argsort(order)])
            warned.append(bool(caught))
        if min(en.metrics.ari(found[0], other) for other in found) < 1 - 1e-9:
            assert all(warned)

    @given(st.integers(0, 2**32 - 1), st.integers(3, 10), st.integers(2, 4))
    def test_against_all_parts_one_by_one(self, seed, n, n_values):
        rng = np.random.default_rng(seed)
        distances = rng.integers(1, n_values + 1, n * (n - 1) // 2) / n_values
        similarity = 1 - squareform(distances)
        tree, sizes = average(distances), rng.integers(1, 12, n)
        mass = rng.integers(1, 4, n)
        for k in range(1, n + 1):
            labels = flow.cut_tree(tree, k)
            found = flow.has_rival(
                flow.sized_tree(tree, sizes), labels, mass, lambda rows, w: similarity[rows] @ w
            )
            assert found == _slow_rival(tree, sizes, labels, similarity, mass)


def _slow_rival(tree, sizes, labels, similarity, mass):
    """Follow the merges, and compare each pair of parts with all other parts of that height."""
    n = len(sizes)
    parts = [frozenset([i]) for i in range(n)]
    for a, b in tree[:, :2].astype(int):
        parts.append(parts[a] | parts[b])
    born = [-1.0] * n + tree[:, 2].tolist()
    merged = [next((h for a, b, h, _ in tree if i in (a, b)), 9.0) for i in range(len(parts))]
    large = [sum(sizes[i] for i in p) >= max(5, 0.05 * sizes.sum()) for p in parts]

    def mean(p, q):
        pairs = [(i, j) for i in p for j in q]
        return np.average(
            [similarity[i, j] for i, j in pairs], weights=[mass[i] * mass[j] for i, j in pairs]
        )

    for a, b, height in tree[:, :3].tolist():
        a, b = int(a), int(b)
        own = {labels[i] for i in parts[a] | parts[b]}
        if not (large[a] and large[b]) or len(own) > 1 or height > 1 - 1e-12:
            continue
        for c, part in enumerate(parts):
            there = born[c] < height - 1e-12 and merged[c] >= height - 1e-12
            if large[c] and there and labels[min(part)] not in own:
                rival = max(mean(parts[a], part), mean(parts[b], part))
                if rival >= mean(parts[a], parts[b]) - 1e-12:
                    return True
    return False


@pytest.mark.parametrize("name", ["Consensus", "LWEA"])
def test_clusters_that_no_vote_links_are_no_tie(name):
    """Similarities of 1e-13 within a cluster: its height does not differ from that of the root."""
    levels = [np.zeros(64, dtype=int)]
    for _ in range(39):  # each clustering halves the first of the largest clusters
        largest = np.flatnonzero(levels[-1] == np.bincount(levels[-1]).argmax())
        levels.append(levels[-1].copy())
        levels[-1][largest[len(largest) // 2 :]] = len(levels) - 1
    params = {"weights": "normalized"} if name == "LWEA" else {}
    model = en.METHODS[name.lower()](2, **params)
    assert not ties_of(model, np.column_stack(levels[1:]))
    assert sorted(np.bincount(model.labels_)) == [32, 32]
