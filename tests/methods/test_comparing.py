"""Many methods on one ensemble, side by side."""

import numpy as np
import pytest

import ensemblage as en
from ensemblage.methods import comparing

TRUTH = np.repeat([0, 1, 2], 10)


@pytest.fixture
def ensemble():
    rng = np.random.default_rng(0)
    votes = np.repeat(TRUTH[:, None], 6, axis=1)
    wrong = rng.random(votes.shape) < 0.1
    votes[wrong] = rng.integers(0, 3, wrong.sum())
    return en.Ensemble(votes)


def test_a_row_for_each_method_and_an_entry_for_each_pair(ensemble):
    rows, agreement = comparing.compare(ensemble, ["eac", "vote"], 3, truth=TRUTH)
    assert [row["method"] for row in rows] == ["eac", "vote"]
    for row in rows:
        assert tuple(row) == comparing.COLUMNS
        labels = en.METHODS[row["method"]](3).fit(ensemble).labels_
        assert row["ari"] == en.metrics.ari(TRUTH, labels)
        assert row["nmi_with_votes"] == en.metrics.ensemble_nmi(labels, ensemble)
        assert row["clusters"] == 3
        assert not row["outlier"]
    assert agreement["eac"]["vote"] == agreement["vote"]["eac"]
    assert agreement["eac"]["eac"] == 1.0


def test_without_a_truth_its_scores_are_missing(ensemble):
    rows, _ = comparing.compare(ensemble, ["eac"], 3)
    assert (rows[0]["nmi"], rows[0]["ari"]) == (None, None)


def test_a_method_that_fails_leaves_the_others(ensemble, monkeypatch):
    error = ValueError("No.")

    def fail(self, X, y=None):
        raise error

    monkeypatch.setattr(en.EAC, "fit", fail)
    rows, agreement = comparing.compare(ensemble, ["eac", "vote"], 3, truth=TRUTH)
    assert rows[0]["error"] is error
    assert rows[0]["clusters"] is None
    assert agreement == {"vote": {"vote": 1.0}}


def test_a_method_unlike_the_others_is_an_outlier(ensemble, monkeypatch):
    def odd(self, X, y=None):
        self.labels_ = np.arange(30) % 3
        return self

    monkeypatch.setattr(en.WEAC, "fit", odd)
    rows, _ = comparing.compare(ensemble, ["eac", "weac", "vote", "lwea", "cspa"], 3)
    assert [row["method"] for row in rows if row["outlier"]] == ["weac"]
