"""Cases that tell the metrics from metrics with a small mistake (tools/hand_mutants.toml)."""

import numpy as np
import pytest

import ensemblage as en
from ensemblage.metrics import agreement, explain
from ensemblage.metrics.choosing import _default, _null, _verdict
from ensemblage.metrics.choosing._verdict import Findings


def test_the_mean_agreement_with_members_goes_by_their_weights():
    table = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, -1]], dtype=np.int32)
    sizes, labels = np.array([3, 2, 4, 1]), np.array([0, 0, 1, 1])
    each = [agreement.nmi_of_groups(labels, m, sizes, "geometric") for m in table.T]
    assert len(set(each)) > 1
    weight = np.array([1.0, 5.0, 2.0])
    found = agreement.nmi_with_members(labels, table, sizes, weight)
    assert found == pytest.approx(np.average(each, weights=weight))
    assert agreement.nmi_with_members(labels, table, sizes) == pytest.approx(np.mean(each))
    alone = agreement.nmi_with_members(labels, table, sizes, np.array([0.0, 1.0, 0.0]))
    assert alone == pytest.approx(each[1])


@pytest.mark.parametrize("level", [0.25, 0.5, 0.75, 1.0])
def test_a_ball_ends_at_the_member_that_reaches_its_level(level):
    labels = np.repeat([0, 1, 2], 12)
    members = np.repeat(labels[:, None], 4, axis=1)
    for moved in range(4):
        members[:moved, moved] = 5
    ball = en.metrics.credible_ball(labels, members, level=level)
    np.testing.assert_allclose(ball.radius, np.sort(ball.distances)[round(4 * level) - 1])
    assert ball.share == pytest.approx(level)


def test_blocks_of_rows_change_no_summary(monkeypatch):
    rng = np.random.default_rng(0)
    votes = np.where(rng.random((40, 5)) < 0.2, -1, rng.integers(0, 3, (40, 5)))
    votes[:, 0] = np.arange(40) % 3
    fitted = en.EAC(3).fit(votes)
    whole = en.metrics.clusters(fitted)
    monkeypatch.setattr(explain, "ROWS_TO_COMPARE", 7)
    parts = en.metrics.clusters(fitted)
    np.testing.assert_allclose(parts.consensus, whole.consensus)
    np.testing.assert_allclose(parts.nearest_similarity, whole.nearest_similarity)


def test_equal_objects_are_no_small_cluster_when_k_is_chosen():
    """The first group is one microcluster of forty objects."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 40)
    votes = np.repeat(groups[:, None], 10, axis=1)
    votes[:, :3] = np.where(groups < 2, 0, 2)[:, None]
    noise = (rng.random(votes.shape) < 0.1) & (groups > 0)[:, None]
    votes = np.where(noise, rng.integers(0, 3, votes.shape), votes)
    choice = en.Consensus("auto").fit(votes).k_choice_
    assert (choice.k, choice.evidence) == (3, "strong")


@pytest.mark.parametrize("most", [59 * 60, 60 * 60])
def test_groups_that_votes_link_are_compared_while_there_is_room(most, monkeypatch):
    monkeypatch.setattr(_default, "_MOST_ENTRIES", most)
    cuts = en.EAC(1).fit(np.arange(120)[:, None] // 2)._cuts()
    expected = [*range(2, 51), *([60] if most == 3600 else [])]
    assert _default.default_ks(cuts).tolist() == expected


KS = np.arange(2, 7)


def verdict_of(scores, decisive="support", attained=(1,) * 5, exact=(1,) * 5, largest=99):
    scores = {name: np.array(curve, dtype=float) for name, curve in scores.items()}
    counts, reached = (np.array(marks, dtype=bool) for marks in (attained, exact))
    best = {name: _verdict.recommend(name, curve, KS, counts) for name, curve in scores.items()}
    found = _verdict.Findings("LWEA", KS, scores, best, decisive, counts, reached, largest)
    return _verdict.verdict(found)


def test_small_clusters_are_told_where_other_k_have_none():
    curve = {"lifetime": [1, 2, 9, 8.9, 0]}
    found = verdict_of(curve, "lifetime", attained=[1, 1, 1, 0, 1])
    text = " ".join(found.reasons)
    assert "Not considered, because some clusters are very small: k = 5." in text
    assert "fewer clusters" not in text
    assert "Nearly as good" not in text
    text = " ".join(verdict_of(curve, "lifetime", attained=[0] * 5).reasons)
    assert "Not considered" not in text


def test_evidence_is_weak_where_the_largest_support_does_not_recur():
    curves = {
        "support": [1, 2, 3, 9, 1],
        "recurrence": [1, 1, 1, 0.8, 1],
        "lifetime": [0, 1, 0, 0, 0],
    }
    found = verdict_of(curves, "lifetime")
    assert (found.k, found.evidence) == (3, "weak")
    assert "the 5 clusters with the largest support do not recur (80% overlap" in found.reasons[0]


def test_peaks_in_the_lower_half_are_no_runners_up():
    assert verdict_of({"lifetime": [9, 0, 1, 0, 5]}, "lifetime").runners_up == [6]


def test_scores_within_a_twentieth_of_the_range_are_close():
    assert verdict_of({"lifetime": [0, 9, 8, 0, 0]}, "lifetime").runners_up == []
    assert verdict_of({"lifetime": [0, 9, 8.6, 0, 0]}, "lifetime").runners_up == [4]


def test_an_outlier_is_three_deviations_below_the_median():
    """The deviation is 1.4826 times the median of all, here 0.2."""
    found = explain.lowest_usual(np.array([0.8, 0.5, 0.6, 0.9, 0.2]))
    assert found == pytest.approx(0.6 - 3 * 1.4826 * 0.2)


@pytest.mark.parametrize(("largest", "told"), [(6, False), (7, True)])
def test_no_number_above_the_largest_possible_one_is_advised(largest, told):
    reasons = verdict_of({"lifetime": [0, 1, 2, 3, 9]}, "lifetime", largest=largest).reasons
    assert ("consider numbers above 6" in " ".join(reasons)) == told


def test_rounding_is_no_structure():
    assert not _null.Null(0.1 + 0.2, 0.3).exceeded
    assert _null.Null(0.31, 0.3).exceeded


def test_members_are_compared_with_permuted_ones_at_their_own_number(monkeypatch):
    """Of the drawn members, with their weights; a missing vote is no cluster."""
    votes = np.random.default_rng(0).integers(0, 30, (300, 6))
    votes[np.random.default_rng(1).random(votes.shape) < 0.1] = -1
    weight = np.arange(1.0, 7.0)
    cuts = en.EAC(2).fit(votes, member_weight=weight)._cuts()
    asked = []

    def agreement(_cuts, _table, weights, ks):
        asked.append((weights.tolist(), ks.tolist()))
        return np.zeros(len(ks))

    monkeypatch.setattr(_null, "_agreement", agreement)
    monkeypatch.setattr(_null, "_MOST_MEMBERS", 4)
    _null.compare_with_permuted(cuts, np.array([2, 3]), np.random.default_rng(0))
    weights, ks = asked[0]
    assert len(weights) == len(set(weights)) == 4
    assert set(weights) < set(weight.tolist())
    assert ks == [2, 3, 30]
    assert all(one == asked[0] for one in asked)


def test_missing_votes_stay_where_they_are_when_votes_are_permuted():
    table = np.array([[0, -1], [1, 0], [2, -1], [-1, 1], [3, 2]] * 5, dtype=np.int32)
    mixed = _null.permuted(table, np.random.default_rng(0))
    np.testing.assert_array_equal(mixed < 0, table < 0)
    np.testing.assert_array_equal(np.sort(mixed, axis=0), np.sort(table, axis=0))
    assert (mixed != table).any()


@pytest.mark.parametrize(("n_groups", "joins"), [(4, False), (5, False), (6, True)])
def test_groups_are_joined_where_there_are_more_than_the_largest_k(n_groups, joins):
    ks = np.arange(2, 6)
    all_ks = np.ones(4, dtype=bool)
    found = Findings("EAC", ks, {}, {}, "support", all_ks, all_ks, 9, n_groups)
    assert found.joins_groups == joins
