"""What a report says about doubtful results: weak clusters, and the warnings above the summary."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from report_inputs import noisy_votes
from sklearn.datasets import load_iris

import ensemblage as en
from ensemblage.report._cautions import _agreeing, cautions
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
    choice = None
    if evidence is not None:
        choice = SimpleNamespace(k=3, runners_up=[4, 2], evidence=evidence)
    found = cautions(est, en.metrics.splits(est), choice)
    if text is None:
        assert found == []
    else:
        assert found[0].startswith(text)


def test_a_report_on_noise_says_that_there_is_no_structure():
    votes = np.random.default_rng(0).integers(0, 5, (200, 12))
    page = text_of(en.report.html(quiet(en.Consensus(random_state=0), votes)))
    assert f"{BANNER} The clusterings show no structure, so all objects are in one cluster." in page


@pytest.fixture(scope="module")
def structureless():
    """Return an EnsembleClustering of one cluster, because noise has the same support."""
    features = np.random.default_rng(1).normal(size=(300, 2))
    model = quiet(en.EnsembleClustering(random_state=1), features)
    assert (model.n_clusters_, model.k_choice_.evidence) == (1, "none")
    return model


def test_a_comparison_with_noise_weakens_the_evidence():
    model = en.EnsembleClustering(random_state=0).fit(load_iris().data)
    assert model.k_choice_.evidence == "weak"
    assert model.consensus_.k_choice_.evidence == "moderate"
    page = text_of(en.report.html(model))
    assert f"{BANNER} The evidence for {model.n_clusters_} clusters is weak. Also try" in page
    assert f"{model.n_clusters_}, as recommended. Weak evidence for" in page


def test_a_model_without_structure_is_not_contradicted(structureless, tmp_path):
    page = text_of(en.report.html(structureless))
    assert f"{BANNER} The clusterings show no structure, so all objects are in one cluster." in page
    assert "Number of clusters 1, as recommended. No structure: clusterings of noise" in page
    assert "are recommended" not in page
    assert "may be two groups" not in page
    assert "Weak clusters None: there is a single cluster, and no evidence that it is two" in page
    structureless.save(tmp_path / "one.ensemblage")
    assert (
        text_of(en.report.html(en.load(tmp_path / "one.ensemblage"))).split("In Python")[0]
        == (page.split("In Python")[0])
    )


def test_one_cluster_is_not_compared_with_others(structureless):
    page = text_of(en.report.html(structureless))
    assert "136 microclusters 1 cluster 0.25 mean confidence" in page
    assert "Consensus merged them into 1 cluster. Confidence There is a single cluster" in page
    assert "All objects with their cluster and its confidence." in page
    two = [[0, 0, 0]] * 5 + [[1, 1, 1]] * 5 + [[0, 0, 1]]
    est = en.EAC(1).fit(two)  # requested, so its two groups are reported
    page = text_of(en.report.html(est, truth=["a"] * 11))
    assert "Cluster 0 may be two groups: see the heatmap. Confidence does not show" in page
    assert "A larger k may fit better." in page
    assert "their border is clear (confidence 0.93)). Check it in the heatmap before" in page
    assert "This report has 1; 2 are recommended." in page
    assert "ARI 1.000 with 1 true class;" in page
    facts = cluster_facts(est, en.metrics.splits(est))
    assert (facts["nearest"], facts["nearestSimilarity"]) == ([-1], [None])


def test_one_object_is_singular():
    page = text_of(en.report.html(en.EAC(1).fit([[1]])))
    assert "1 object 1 clustering 1 microcluster 1 cluster" in page
    assert "1 object was clustered 1 time. The clustering separates 1 group of objects" in page
    assert "It is the only cluster. Confidence There is a single cluster, so" in page


def test_one_recommended_cluster_is_singular():
    votes = np.random.default_rng(0).integers(0, 5, (200, 12))
    page = text_of(en.report.html(en.EAC(2).fit(votes)))
    assert "This report has 2; 1 is recommended. No structure:" in page


def test_two_clusters_are_compared_with_each_other():
    truth = np.repeat([0, 1, 2], 30)
    est = with_labels(en.EAC(2).fit(np.column_stack([truth] * 8)), np.maximum(truth - 1, 0))
    page = text_of(en.report.html(est))
    assert (
        "30 of 90 objects (33.3 %) are at least twice as close to their own cluster as to the"
        in (page)
    )
    assert "from 0 (as close to the other cluster) to 1 (never together with the other" in page
    assert re.search(r"as clear \(confidence 1\.00\) as that of the other cluster \(\d", page)
    loose = np.column_stack([truth[:60]] * 12)
    loose[30:] = np.random.default_rng(0).integers(10, 40, (30, 12))
    assert weak(with_labels(en.EAC(2).fit(loose), truth[:60]))[1].endswith(
        "% of the clusterings, in the other cluster in 100 %"
    )


def test_the_default_method_is_not_compared_with_itself():
    truth, rng = np.repeat([0, 1], 60), np.random.default_rng(1)
    votes = np.where(rng.random((120, 10)) < 0.1, 1 - truth[:, None], truth[:, None])
    votes[3:5] = 2  # two objects that every clustering separates from the others
    est = en.Consensus(2, random_state=0).fit(votes)
    assert cautions(est, en.metrics.splits(est))[0] == (
        "Consensus disagrees with other methods: its mean ARI with LWGP, EAC and Vote is -0.00;"
        " these have 1.00 with each other. Compare with LWGP, EAC and Vote at n_clusters=2."
        " Clusters with fewer objects than min_cluster_size were not formed. With"
        " min_cluster_size=1 the mean ARI is 1.00: small clusters may be real."
    )
    small = en.Consensus(2, min_cluster_size=1, random_state=0).fit(votes)
    (text,) = cautions(small, en.metrics.splits(small))
    assert text.startswith(
        "Consensus with min_cluster_size=1 agrees less with the clusterings than with the default"
        " min_cluster_size: its clusters have a mean NMI of 0.33 with them, those of the default"
    )


def test_only_methods_that_agree_with_each_other_are_named():
    votes, truth = noisy_votes(300, 12, 4, seed=2)
    est = with_labels(en.Consensus(4).fit(votes), np.random.default_rng(0).integers(0, 4, 300))
    found = cautions(est, en.metrics.splits(est))[0]
    assert "Compare with LWGP, EAC and Vote at n_clusters=4." in found
    groups = est.microclusters_
    _, first = np.unique(groups.of_object, return_index=True)
    right, wrong = truth[first], est._micro_labels
    others = {"LWGP": right, "EAC": wrong, "Vote": right}
    assert _agreeing(est, others) == ["LWGP", "Vote"]


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
