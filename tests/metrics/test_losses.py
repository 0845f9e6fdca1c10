"""Expected losses, the best member, and the credible ball."""

import median_twins as twins
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage.metrics import credible_ball, expected_loss, median_of
from ensemblage.testing.strategies import votes

W = np.array(
    [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
)
HALVES = np.repeat([0, 1], 4)


def test_worked_losses():
    worked = {"binder": 0.1875, "vi": 0.833333, "omari": 0.461538, "id": 0.603759, "nid": 0.386708}
    for loss, value in worked.items():
        assert expected_loss(HALVES, W, loss) == pytest.approx(value, abs=5e-7)
    assert expected_loss(HALVES, W, "binder", 0.5) == pytest.approx(0.239583, abs=5e-7)
    assert expected_loss(HALVES, W, a=0.5) == pytest.approx(1.020426, abs=5e-7)


@given(matrix=votes(max_objects=12), data=st.data())
def test_expected_loss_is_its_definition(matrix, data):
    n, count = matrix.shape
    labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)))
    loss = data.draw(st.sampled_from(twins.LOSSES))
    if not ((labels >= 0)[:, None] & (matrix >= 0)).any():
        with pytest.raises(ValueError, match="is undefined"):
            expected_loss(labels, matrix, loss)
        return
    expected = twins.expected(labels, matrix, loss, 1.0, weights)
    found = expected_loss(labels, matrix, loss, member_weight=weights)
    assert found == pytest.approx(expected, abs=1e-12)
    words = np.array(["x", "a", "b", "c", "d"])[labels + 1].astype(object)
    words[labels < 0] = None
    ensemble = en.Ensemble(matrix)
    assert expected_loss(words, ensemble, loss, member_weight=weights) == pytest.approx(found)


def test_labels_of_groups_count_their_objects():
    groups = en.microclusters(W)
    ensemble = en.Ensemble.of_groups(groups.table, groups.sizes, en.Ensemble(W).labels)
    labels = HALVES[np.unique(groups.of_object, return_index=True)[1]]
    assert expected_loss(labels, ensemble) == pytest.approx(expected_loss(HALVES, W))


@given(matrix=votes(max_objects=10, gaps=False), data=st.data())
def test_the_median_member_is_the_least_of_all(matrix, data):
    loss = data.draw(st.sampled_from(twins.LOSSES))
    found = median_of(matrix, loss=loss)
    expected = [twins.expected(member, matrix, loss) for member in matrix.T]
    np.testing.assert_allclose(found.expected_losses, expected, atol=1e-12)
    assert found.expected_loss == pytest.approx(min(expected), abs=1e-12)
    assert en.metrics.ari(found.labels, matrix[:, found.member]) == 1.0
    same = median_of(matrix, matrix, loss=loss)
    np.testing.assert_allclose(same.expected_losses, expected, atol=1e-12)


def test_candidates_of_ones_own():
    found = median_of(W, np.column_stack([W[:, 1], HALVES, np.arange(8)]))
    assert found.member == 1
    assert found.expected_loss == pytest.approx(0.833333, abs=5e-7)
    assert found.labels.tolist() == HALVES.tolist()
    with pytest.raises(ValueError, match="objects as the votes, got 3 labels"):
        median_of(W, [[1], [2], [3]])


@given(matrix=votes(max_objects=8, max_clusterings=9, gaps=False), data=st.data())
def test_the_credible_ball_is_its_definition(matrix, data):
    n, count = matrix.shape
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    level = data.draw(st.sampled_from([0.0, 0.5, 0.8, 0.95, 1.0]))
    weights = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)), float
    )
    ball = credible_ball(labels, matrix, level=level, member_weight=weights)
    distances = np.array([twins.loss_between(labels, member, "vi") for member in matrix.T])
    np.testing.assert_allclose(ball.distances, distances, atol=1e-12)
    shares = [weights[distances <= d + 1e-9].sum() / weights.sum() for d in distances]
    fits = [d for d, share in zip(distances, shares, strict=True) if share >= level - 1e-9]
    assert ball.radius == pytest.approx(min(fits), abs=1e-12)
    inside = distances <= ball.radius + 1e-9
    assert ball.share == pytest.approx(weights[inside].sum() / weights.sum())
    numbers = np.array([len(np.unique(member)) for member in matrix.T])
    np.testing.assert_array_equal(ball.n_clusters, numbers)
    for name, extreme in (("upper", min), ("lower", max), ("horizontal", None)):
        some = inside if extreme is None else inside & (numbers == extreme(numbers[inside]))
        farthest = np.flatnonzero(some & (distances >= distances[some].max() - 1e-9))
        np.testing.assert_array_equal(getattr(ball, name), farthest)


def test_a_draw_without_votes_is_in_no_ball():
    ball = credible_ball(HALVES, np.column_stack([W, np.full(8, -1)]), level=1.0)
    assert np.isnan(ball.distances[3])
    assert 3 not in ball.horizontal
    assert ball.share == pytest.approx(1.0)
    assert ball.n_clusters_of_estimate == 2


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: expected_loss(HALVES, W, "nmi"), "loss"),
        (lambda: expected_loss(HALVES, W, "vi", 3), "a"),
        (lambda: expected_loss(HALVES, W, "vi", "auto"), "a"),
        (lambda: expected_loss(HALVES, W, "nid", 0.5), "a"),
        (lambda: median_of(W, loss=None), "loss"),
        (lambda: credible_ball(HALVES, W, level=1.5), "level"),
    ],
)
def test_bad_parameters(call, parameter):
    with pytest.raises(en.ParameterError) as caught:
        call()
    assert caught.value.parameter == parameter


def test_a_candidate_without_votes_is_not_the_median():
    found = en.metrics.median_of([[-1, 0, 0], [-1, 0, 0], [-1, 1, 1]])
    assert found.member == 1
    assert np.isnan(found.expected_losses[0])
