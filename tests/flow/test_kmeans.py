"""k-means of embedded rows: its starts, its rounds, and what wide rows save of them."""

import feature_twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow
from ensemblage.flow import kmeans
from ensemblage.flow.kmeans import _choose_centres

WIDTHS = st.sampled_from([1, 2, 5, 64, 256, 257, 300, 330])


@st.composite
def embedded(draw, whole=False):
    """Rows and weights: the first dimensions may hold most; whole numbers tie, and exactly."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    width, n = draw(WIDTHS), draw(st.integers(1, 25))
    weights = rng.integers(1, 6, n).astype(float)
    if whole:
        distinct = rng.integers(-1, 2, (n, width)).astype(float)
        return distinct[rng.integers(0, n, n)], weights, rng
    scale = 0.97 ** np.arange(width) if draw(st.booleans()) else np.ones(width)
    return rng.normal(size=(n, width)) * scale, weights, rng


@given(embedded() | embedded(whole=True), st.integers(1, 9), st.integers(1, 4))
def test_starts_agree_with_their_definition(case, k, n_trials):
    rows, weights, rng = case
    draws = rng.random((k, n_trials))
    centres = _choose_centres(rows, weights, draws, 1)
    chosen = feature_twins.greedy_starts(rows, weights, draws)
    np.testing.assert_array_equal(centres, rows[chosen])


@given(embedded(), st.integers(1, 9), st.sampled_from([1, 2, 3, 100]))
def test_rounds_agree_with_their_definition(case, k, max_iter):
    rows, weights, rng = case
    starts = rng.integers(0, len(rows), k)
    given_centres = rows[starts].copy()
    found = flow.lloyd(rows, given_centres, weights=weights, max_iter=max_iter)
    _, expected = feature_twins.lloyd(rows, starts, max_iter, weights)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(given_centres, rows[starts])  # left alone


@given(embedded(whole=True), st.integers(1, 9))
def test_ties_go_to_the_lowest_centre(case, k):
    rows, _, rng = case
    centres = rows[rng.integers(0, len(rows), k)]
    distances = feature_twins.squared_distances(rows, centres)
    found = flow.lloyd(rows, centres, max_iter=0)
    np.testing.assert_array_equal(found, distances.argmin(axis=1))


def test_ties_with_a_centre_that_has_moved_go_to_the_lowest_too():
    """Centre 0 goes from -9 by -5 to -1, where 3 is as far from it as from 7, which rests."""
    rows = np.array([[-1.0], [3], [-9], [-12], [11]])
    centres = np.array([[-9.0], [8], [-10]])
    assert flow.lloyd(rows, centres).tolist() == [0, 0, 2, 2, 1]


def test_an_empty_cluster_takes_no_row_that_is_alone():
    """10 is the farthest, but its cluster would be empty then: of 0 and 1 the farther one goes."""
    rows, centres = np.array([[0.0], [1], [10]]), np.array([[0.4], [100], [15]])
    assert flow.lloyd(rows, centres).tolist() == [0, 1, 2]


def test_an_empty_cluster_that_nothing_can_fill_stays_where_it_is():
    rows, centres = np.array([[0.0], [0], [1]]), np.array([[1.0], [1], [0]])
    assert flow.lloyd(rows, centres).tolist() == [2, 2, 0]


def inertia(rows, labels, weights):
    total = 0.0
    for c in set(labels.tolist()):
        members, w = rows[labels == c], weights[labels == c]
        total += (w[:, None] * (members - np.average(members, axis=0, weights=w)) ** 2).sum()
    return total


def test_kmeans_finds_separated_groups():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(6), 50)
    rows = rng.normal(size=(6, 4))[truth] * 10 + rng.normal(size=(300, 4)) * 0.1
    labels = kmeans(rows, 6, np.random.default_rng(1))
    assert len(set(zip(labels.tolist(), truth.tolist(), strict=True))) == 6


@given(st.integers(0, 50))
def test_kmeans_ends_where_no_row_is_nearer_another_centre(seed):
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(40, 3)), rng.integers(1, 9, 40).astype(float)
    labels = kmeans(rows, 5, rng, weights=weights)
    assert set(labels.tolist()) == set(range(5))
    centres = np.array(
        [np.average(rows[labels == c], axis=0, weights=weights[labels == c]) for c in range(5)]
    )
    nearest = ((rows[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(labels, nearest)


def test_kmeans_weights_stand_for_copies():
    rng = np.random.default_rng(3)
    rows, weights = rng.normal(size=(30, 2)), rng.integers(1, 4, 30)
    copies = np.repeat(np.arange(30), weights)
    best = {}
    for name, r, w in (("weights", rows, weights.astype(float)), ("copies", rows[copies], None)):
        labels = kmeans(r, 3, np.random.default_rng(0), weights=w, n_starts=30)
        best[name] = inertia(r, labels, np.ones(len(r)) if w is None else w)
    assert best["weights"] == pytest.approx(best["copies"])


def test_more_starts_are_never_worse_and_sometimes_better():
    rows = np.random.default_rng(6).normal(size=(120, 3))
    found = [kmeans(rows, 9, np.random.default_rng(0), n_starts=count) for count in range(1, 9)]
    totals = [inertia(rows, labels, np.ones(120)) for labels in found]
    assert (np.diff(totals) <= 1e-9).all()
    assert totals[-1] < totals[0] - 1e-3


def test_kmeans_threads_and_seeds():
    rows = np.random.default_rng(4).normal(size=(500, 6))
    one, three = (kmeans(rows, 9, np.random.default_rng(0), n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_kmeans_of_fewer_distinct_rows_than_clusters():
    labels = kmeans(np.repeat([[0.0, 1.0], [1.0, 0.0]], 4, axis=0), 5, np.random.default_rng(0))
    assert len(set(labels.tolist())) == 2


def test_farthest_first_by_hand():
    rows = np.array([[0.0], [1], [9], [4], [-5], [9]])
    assert flow.farthest_first(rows, 4).ravel().tolist() == [0, 9, -5, 4]
    assert flow.farthest_first(rows[:2], 4).ravel().tolist() == [0, 1, 0, 0]  # all are used
    tied = np.array([[0.0], [2], [-2]])
    assert flow.farthest_first(tied, 2).ravel().tolist() == [0, 2]  # the earliest


def test_least_aligned_by_hand():
    turn = np.deg2rad([0, 90, 100, 45, 180])
    rows = np.column_stack([np.cos(turn), np.sin(turn)])
    found = flow.least_aligned(rows, 5, 3)  # 45° first; 0°, 90° and 180° tie, then |cos| adds up
    angles = np.rad2deg(np.arctan2(found[:, 1], found[:, 0])).round().tolist()
    assert angles[0] == 45
    assert sorted(angles) == [0, 45, 90, 100, 180]
    assert np.rad2deg(np.arctan2(*flow.least_aligned(rows, 2, 0)[1][::-1])).round() == 90


def test_lloyd_gives_an_empty_cluster_the_heaviest_of_the_far():
    rows = np.array([[0.0], [1], [10]])
    start = np.array([[0.0], [100]])
    assert flow.lloyd(rows, start).tolist() == [0, 0, 1]
    # The heavy one is taken, the other two have their centre at 5, and 0 is nearer to 1 than that.
    heavy = np.array([1, 500, 1])
    assert flow.lloyd(rows, start, weights=heavy, max_iter=1).tolist() == [1, 1, 0]


def test_centroids():
    rows = np.array([[0.0, 1], [3, 1], [5, 5]])
    found = flow.centroids(rows, np.array([1, 1, 0]), np.array([2, 1, 4]))
    np.testing.assert_allclose(found, [[5, 5], [1, 1]])


@given(st.integers(0, 100))
def test_least_aligned_agrees_with_its_definition(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chosen = [int(rng.integers(12))]
    while len(chosen) < 7:
        left = [i for i in range(12) if i not in chosen]
        chosen.append(min(left, key=lambda i: sum(abs(rows[i] @ rows[c]) for c in chosen)))
    np.testing.assert_array_equal(flow.least_aligned(rows, 7, chosen[0]), rows[chosen])


def test_as_many_clusters_as_rows_need_no_run():
    """With 1,500 clusters the starts alone took half a minute."""

    class NoDraws:
        def spawn(self, n):
            raise AssertionError(f"{n} starts")

    rows = np.random.default_rng(0).normal(size=(30, 30))
    np.testing.assert_array_equal(flow.kmeans(rows, 30, NoDraws()), np.arange(30))
    rows[7] = rows[3]
    labels = flow.kmeans(rows, 30, np.random.default_rng(0), weights=np.ones(30))
    assert labels[7] == labels[3]
    assert len(np.unique(labels)) == 29
