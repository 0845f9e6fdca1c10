"""Cases that tell the metrics from metrics with a small mistake (tools/hand_mutants.toml)."""

import numpy as np
import pytest

import ensemblage as en
from ensemblage.metrics import agreement, explain


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
