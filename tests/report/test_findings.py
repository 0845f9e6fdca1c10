"""What a report says about doubtful results: weak clusters, and the warnings above the summary."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from report_inputs import noisy_votes

import ensemblage as en
from ensemblage.report._cautions import cautions
from ensemblage.report._facts import cluster_facts

BANNER = "Check this result before you use it"


def text_of(page):
    return " ".join(re.sub(r"<[^>]*>", " ", page.split("<script")[0]).split())


def quiet(est, votes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return est.fit(votes)


def with_labels(est, labels):
    """Return a fitted method with labels of our own, as a method that errs would have."""
    _, first = np.unique(est.microclusters_.of_object, return_index=True)
    est.labels_, est._micro_labels, est._confidence = labels, labels[first], None
    est.n_clusters_ = int(labels.max()) + 1
    return est


def weak(est):
    return cluster_facts(est, en.metrics.splits(est))["weak"]


def test_a_cluster_of_two_blocks_that_no_member_joined_is_named():
    truth = np.repeat(np.arange(5), 30)
    votes = np.column_stack([truth] * 8)
    page = text_of(en.report.html(with_labels(en.EAC(5).fit(votes), np.maximum(truth - 1, 0))))
    assert "90 of 150 objects (60 %) are at least twice as close" in page
    assert "Confidence does not show that a cluster is two groups" in page
    assert (
        "Cluster 0 (two groups, of 30 and 30 objects: together in 0 % of the clusterings; their"
        " border is as clear (confidence 1.00) as those of other clusters (1.00); confidence 0.00"
        " on average)" in page
    )
    assert BANNER in page
    assert "Cluster 0 may be two groups: see the heatmap." in page


def test_random_walks_on_too_few_microclusters_are_doubted():
    votes = np.r_[[[0, 0, 0]] * 100, [[1, 1, 1]] * 100, [[0, 0, 1]]]
    page = text_of(en.report.html(quiet(en.PTGP(2, random_state=0), votes)))
    assert BANNER in page
    assert "PTGP agrees less with the clusterings than the default method" in page
    assert "those of Consensus 1.00" in page or "those of Consensus 0.9" in page
    assert "two groups, of 100 and 100 objects" in page
    page = text_of(en.report.html(quiet(en.Consensus(2, method="ptgp", random_state=0), votes)))
    assert "PTGP agrees less with the clusterings than the default method" in page


@pytest.mark.parametrize("method", ["consensus", "eac", "lwgp", "vote", "lwea"])
def test_nothing_is_doubted_where_clusters_are_clear(method):
    votes, truth = noisy_votes(400, 15, 5, seed=1)
    est = en.METHODS[method](5).fit(votes)
    assert en.metrics.ari(truth, est.labels_) > 0.95
    page = text_of(en.report.html(est))
    assert BANNER not in page
    assert "Weak clusters None: in every cluster" in page
    assert "no cluster seems to be two groups" in page


def test_an_outlier_among_methods_is_doubted():
    votes, truth = noisy_votes(300, 12, 4, seed=2)
    strange = np.random.default_rng(0).integers(0, 4, 300)
    est = with_labels(en.EAC(4).fit(votes), strange)
    found = cautions(est, en.metrics.splits(est))[0]
    assert "EAC agrees less with the clusterings" in found
    assert re.search(
        r"EAC disagrees with other methods: its mean ARI with Consensus, LWGP and Vote is"
        r" -?0\.0\d; these have (0\.9\d|1\.00) with each other\.",
        found,
    )
    assert found.endswith("Compare with Consensus(n_clusters=4).")
    assert cautions(with_labels(est, truth), en.metrics.splits(with_labels(est, truth))) == []


def test_the_second_choice_of_the_default_method_is_said():
    votes, _ = noisy_votes(60, 9, 3)
    est = en.Consensus(3, random_state=0).fit(votes)
    assert cautions(est, en.metrics.splits(est)) == []
    est.method_, est._reasons = "lwgp", "The graph was taken.\nThe tree was not."
    assert cautions(est, en.metrics.splits(est))[0] == "The graph was taken. The tree was not."
    named = en.Consensus(3, method="lwgp", random_state=0).fit(votes)
    assert cautions(named, en.metrics.splits(named)) == []  # it was asked for


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (None, None),
        ("strong", None),
        ("moderate", None),
        ("weak", "The evidence for 3 clusters is weak. Also try 4 and 2."),
        ("none", "The clusterings show no structure, so all objects are in one cluster."),
    ],
)
def test_weak_evidence_for_k_is_said(evidence, text):
    votes, _ = noisy_votes(60, 9, 3)
    est = en.Consensus(random_state=0).fit(votes)
    est.k_choice_ = SimpleNamespace(k=3, runners_up=[4, 2])
    if evidence is not None:
        est.k_choice_.evidence = evidence
    found = cautions(est, en.metrics.splits(est))
    if text is None:
        assert found == []
    else:
        assert found[0].startswith(text)


def test_a_report_on_noise_says_that_there_is_no_structure():
    votes = np.random.default_rng(0).integers(0, 5, (200, 12))
    page = text_of(en.report.html(quiet(en.Consensus(random_state=0), votes)))
    assert f"{BANNER} The clusterings show no structure, so all objects are in one cluster." in page


def test_loose_and_unsure_clusters_are_weak():
    rng = np.random.default_rng(0)
    firm = np.repeat([0, 1, 2], 40)
    votes = np.column_stack([firm] * 12)
    votes[80:] = rng.integers(10, 40, (40, 12))  # together by chance only
    est = with_labels(en.EAC(3).fit(votes), firm)
    reasons = weak(est)
    assert reasons[:2] == ["", ""]
    assert re.fullmatch(
        r"loose: two of its objects are together in [2-5] % of the clusterings, in other clusters"
        r" in 100 %",
        reasons[2],
    )


def test_a_single_object_is_weak():
    est = en.EAC(2).fit([[0, 0], [0, 0], [1, 1]])
    assert weak(est) == ["", "a single object"]


def test_low_confidence_is_weak():
    votes, truth = noisy_votes(200, 12, 4, seed=3)
    mixed = truth.copy()
    mixed[truth < 2] = np.random.default_rng(0).integers(0, 2, int((truth < 2).sum()))
    reasons = weak(with_labels(en.EAC(4).fit(votes), mixed))
    assert all(re.search(r"confidence 0\.[012]\d on average", why) for why in reasons[:2])
    assert reasons[2:] == ["", ""]


def test_many_microclusters_are_not_compared(monkeypatch):
    from ensemblage.methods import _reliability

    votes = np.r_[[[0, 0, 0]] * 100, [[1, 1, 1]] * 100, [[0, 0, 1]]]
    est = quiet(en.PTGP(2, random_state=0), votes)
    monkeypatch.setattr(_reliability, "MOST_MICROCLUSTERS", 2)
    found = cautions(est, en.metrics.splits(est))
    assert all("agrees less" not in text for text in found)


def test_the_second_heatmap_of_weighted_votes_is_scaled():
    import base64

    from ensemblage.report._pictures import heatmap
    from ensemblage.report._report import _subject

    votes, _ = noisy_votes(50, 8, 3)
    est = en.Consensus(3).fit(votes)
    subject = _subject(est, features=None, truth=None, ids=None, names=None)
    kind = heatmap(subject, np.arange(50))["kinds"][1]
    assert kind["title"] == "Consensus similarity, scaled to 1"
    assert max(base64.b64decode(kind["values"])) == 255
