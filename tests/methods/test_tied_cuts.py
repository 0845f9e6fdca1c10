"""Cuts between merges of equal height: the votes do not determine the clusters."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import average

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
    assert f"do not determine {k} clusters" in message
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
