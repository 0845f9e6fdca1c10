"""Choosing k: each curve beside its definition, the choice, its words and its errors."""

import json

import numpy as np
import pytest
from planted import halved as noisy
from sklearn.datasets import make_blobs

import ensemblage as en
from ensemblage.metrics import KChoice, ari, choose_k
from ensemblage.metrics.choosing import CRITERIA, _verdict
from ensemblage.metrics.choosing._choice import format_ks
from ensemblage.metrics.choosing._default import default_ks


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("name", ["ptgp", "pta", "eac", "lwea"])
def test_clear_groups_are_found(name, k):
    matrix, truth = noisy(k=k, n=60 * k, noise=0.05)
    est = en.METHODS[name]("auto")
    if "random_state" in est.get_params():
        est.set_params(random_state=0)
    est.fit(matrix)
    assert est.n_clusters_ == est.k_choice_.k == k
    assert est.k_choice_.evidence == "strong"
    assert ari(est.labels_, truth) > 0.95


def test_many_clear_groups_are_found():
    matrix, truth = noisy(k=16, n=640, members=20)
    est = en.Consensus("auto", random_state=0).fit(matrix)
    assert est.n_clusters_ == 16
    assert ari(est.labels_, truth) == 1.0


def test_members_that_are_fine_do_not_make_many_clusters():
    features, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    fine = en.ensembles.generate(features, n_clusters_range=(12, 24), random_state=0)
    choice = choose_k(en.Consensus(2, random_state=0).fit(fine))
    assert choice.k <= 4
    assert choice.recommended["ensemble_nmi"] > 12  # which follows the members


def test_votes_without_structure_have_one_cluster():
    votes = np.random.default_rng(0).integers(0, 4, (120, 8))
    est = en.Consensus("auto", random_state=0)
    with pytest.warns(en.NoStructureWarning, match=r"a single cluster\. No structure: the"):
        est.fit(votes)
    assert est.n_clusters_ == est.k_choice_.k == 1
    assert est.k_choice_.evidence == "none"
    assert est.k_choice_.null["excess"] <= est.k_choice_.null["limit"]
    assert est.k_choice_.runners_up == []
    choice = choose_k(est, range(2, 6), "lifetime")  # asking otherwise does not help
    assert (choice.k, choice.evidence) == (1, "none")


def test_a_single_clustering_has_the_clusters_it_has():
    choice = en.EAC("auto").fit(np.arange(60)[:, None] % 7).k_choice_
    assert (choice.k, choice.criterion, choice.evidence) == (7, "ensemble_nmi", "weak")
    assert choice.null is None
    assert "only one clustering to compare" in choice.reasons[0]


def test_all_criteria_find_groups_that_all_members_see():
    matrix = np.repeat(np.arange(4), 10)[:, None] * np.ones(6, dtype=int)
    matrix[::7, 0] = 9  # one member errs a little
    found = choose_k(en.EAC(2).fit(matrix), criteria="all")
    assert found.k == found.recommended["lifetime"] == found.recommended["ensemble_nmi"] == 4
    assert found.scores["subset_stability"][found.ks == 4] == 1.0
    assert found.scores["pac"][found.ks == 4] == 0.0
    assert choose_k(en.PTGP(2, random_state=0).fit(matrix)).recommended["eigengap"] == 4


def test_a_criterion_that_a_method_has_not_is_absent_with_a_reason():
    matrix, _ = noisy()
    assert choose_k(en.PTGP(2, random_state=0).fit(matrix)).absent == {
        "lifetime": "PTGP does not build a tree."
    }
    found = choose_k(en.PTA(2).fit(matrix[:, :1]), criteria="all")
    assert found.absent == {
        "support": "At least two clusterings are required.",
        "recurrence": "At least two clusterings are required.",
        "eigengap": "PTA does not cut by eigenvectors.",
        "subset_stability": "At least two clusterings are required.",
        "pac": "At least two clusterings are required.",
        "delta_area": "At least two clusterings are required.",
        "seed_stability": "PTA is deterministic.",
    }
    with pytest.raises(
        ValueError, match=r"PTA does not support the criterion 'eigengap'.* one of 'support'"
    ):
        choose_k(en.PTA(2).fit(matrix), criterion="eigengap")


def test_the_choice_does_not_depend_on_the_k_of_the_fit():
    matrix, _ = noisy(noise=0.3)
    few, many = (choose_k(en.PTGP(k, random_state=0).fit(matrix)) for k in (2, 9))
    assert few.to_dict() == many.to_dict()


def test_criteria_by_name_and_the_one_that_decides():
    est = en.EAC(2).fit(noisy()[0])
    found = choose_k(est, range(2, 9), "lifetime", criteria=["confidence"])
    assert list(found.scores) == ["confidence", "lifetime"]
    assert found.criterion == "lifetime"
    assert list(choose_k(est, criteria="pac", n_refits=2).scores) == ["support", "pac"]
    assert set(choose_k(est, criteria="all", n_refits=2).scores) | {
        "eigengap",
        "seed_stability",
    } == set(CRITERIA)


def default_range(votes):
    return format_ks(default_ks(en.EAC(1).fit(votes)._cuts()))


def test_default_range():
    rng = np.random.default_rng(0)
    assert default_range(rng.integers(0, 30, (300, 4))) == "2..30"
    assert default_range(rng.integers(0, 200, (600, 4))) == "2..50"
    assert default_range(rng.integers(0, 3, (300, 4))) == "2..20"
    few_fine = rng.integers(0, [3] * 9 + [40], (300, 10))
    assert default_range(few_fine) == "2..20"
    some_fine = rng.integers(0, [3] * 8 + [40] * 2, (900, 10))
    assert default_range(some_fine) == "2..40"
    assert default_range([[0], [1], [2]]) == "2..3"
    assert format_ks(np.array([2])) == "2"
    assert format_ks(np.array([2, 5])) == "2, 5"
    assert format_ks(np.arange(2, 30, 2)) == "14 of 2..28"


def test_one_group_is_one_cluster():
    choice = en.PTGP("auto").fit([[1, 1], [1, 1]]).k_choice_
    assert choice.k == 1
    assert choice.scores == {}
    assert choice.runners_up == []
    assert "do not separate the objects" in choice.reasons[0]


def test_balance_decides_where_clusters_are_not_found_again():
    choice = choose_k(en.EAC(2).fit(noisy(noise=0.3)[0]))
    at = choice.ks.tolist().index(choice.recommended["support"])
    assert choice.scores["recurrence"][at] < 0.9
    assert choice.criterion == "balance"
    assert choice.evidence == "weak"
    assert choice.k == choice.recommended["balance"]
    asked = choose_k(en.EAC(2).fit(noisy(noise=0.3)[0]), criterion="support")
    assert (asked.k, asked.criterion) == (asked.recommended["support"], "support")


def test_words_and_json():
    choice = choose_k(en.EAC(2).fit(noisy(noise=0.3)[0]), criteria="all", n_refits=3)
    start = f"KChoice(k={choice.k}, evidence='{choice.evidence}', ks=2..20, criterion="
    assert repr(choice).startswith(start)
    lines = str(choice).splitlines()
    assert lines[0] == f"k = {choice.k}"
    assert lines[1].startswith(f"{choice.evidence.capitalize()} evidence for {choice.k} clusters: ")
    assert lines[-1] == choice.alternatives
    assert not any(name in str(choice) for name in CRITERIA if "_" in name)
    assert all(reason.endswith(".") for reason in choice.reasons)
    again = json.loads(json.dumps(choice.to_dict()))
    assert again["k"] == choice.k
    assert again["evidence"] == choice.evidence
    assert again["null"] == choice.null
    assert again["scores"]["pac"] == choice.scores["pac"].tolist()
    assert choice.k not in choice.runners_up
    assert len(choice.runners_up) <= 3


def test_nan_is_null_in_json():
    found = KChoice(2, np.array([2, 3]), "pac", {"pac": np.array([0.5, np.nan])}, {}, [], [])
    assert found.to_dict()["scores"] == {"pac": [0.5, None]}


KS, ALL = np.arange(2, 7), np.ones(5, dtype=bool)


@pytest.mark.parametrize(
    ("name", "curve", "attained", "expected"),
    [
        ("lifetime", [1, 3, 2, 3, 0], ALL, 3),  # the smaller of two equals
        ("lifetime", [1, 3, 2, 3 + 1e-12, 0], ALL, 3),
        ("pac", [3, 1, 2, 1, 4], ALL, 3),
        ("pac", [3, np.nan, 2, 1, 4], ALL, 5),
        ("lifetime", [1, 3, 2, 0, 0], np.array([1, 0, 1, 1, 1], dtype=bool), 4),
        ("lifetime", [1, 3, 2, 0, 0], ~ALL, 3),
        ("lifetime", [2, 2, 2, 2, 2], ALL, None),
        ("lifetime", [np.nan] * 5, ALL, None),
        ("delta_area", [0.5, 0.2, 0.03, 0.01, 0.019], ALL, 4),
        ("delta_area", [0.01, 0.0, 0.0, 0.0, 0.0], ALL, 2),
    ],
)
def test_what_a_curve_recommends(name, curve, attained, expected):
    assert _verdict.recommend(name, np.array(curve, dtype=float), KS, attained) == expected


def findings(scores, decisive="support", attained=ALL, method="EAC"):
    scores = {name: np.array(curve, dtype=float) for name, curve in scores.items()}
    recommended = {n: _verdict.recommend(n, curve, KS, attained) for n, curve in scores.items()}
    return _verdict.Findings(method, KS, scores, recommended, decisive, attained, attained, 99)


def test_reasons_tell_what_makes_a_choice_less_sure():
    curve = np.array([0.0, 0.5, 0.99, 0.2, 1.0])
    found = findings(
        {"lifetime": curve, "confidence": -curve},
        "lifetime",
        np.array([1, 1, 1, 0, 1], dtype=bool),
        "MCLA",
    )
    k, evidence, reasons, others = _verdict.verdict(found)
    assert (k, evidence) == (6, "weak")
    assert others == [4]
    text = " ".join(reasons)
    assert "k = 6 has the largest lifetime in the tree (1) of 5 compared." in text
    assert "Different number by: mean confidence (2)." in text
    assert "Nearly as good: k = 4." in text
    assert "largest k compared" in text
    assert "MCLA gives fewer clusters than requested at k = 5." in text


def test_numbers_in_a_row_are_a_range():
    assert _verdict._some([4]) == "4"
    assert _verdict._some([4, 5, 7, 8, 9]) == "4, 5, 7 to 9"
    assert _verdict._some([2, 4, 6, 8, 10, 12]) == "2, 4, 6, 8, 10 and others"


def test_where_all_scores_are_the_same_the_smallest_k_is_taken():
    found = findings({"lifetime": np.zeros(5)}, "lifetime")
    k, _, reasons, _ = _verdict.verdict(found)
    assert k == 2
    assert "same at every k" in reasons[1]


@pytest.mark.parametrize(
    ("overlap", "support", "evidence", "words"),
    [
        (0.95, [0.1, 1, 4, 3.9, 3.2], "strong", "give the same ones (95% overlap on average), and"),
        (0.94, [0.1, 1, 4, 3.9, 3.2], "moderate", "give nearly the same ones (94% overlap"),
        (1.0, [3.3, 1, 4, 3.9, 3.2], "moderate", "and 2 clusters have nearly the same"),
        (0.89, [0.1, 1, 4, 3.9, 3.2], "weak", "partly different ones (89% overlap on average)."),
        (0.89, [0.1, 1, 4, 3.9, 3.3], "weak", "average), and 6 clusters have nearly the same"),
    ],
)
def test_strength_of_evidence(overlap, support, evidence, words):
    found = findings({"recurrence": np.full(5, overlap), "support": support})
    verdict = _verdict.verdict(found)
    assert (verdict.k, verdict.evidence) == (4, evidence)
    assert verdict.reasons[0].startswith(f"{evidence.capitalize()} evidence for 4 clusters: ")
    assert words in verdict.reasons[0]


def test_a_k_that_others_beat_is_not_strong():
    scores = {"recurrence": np.ones(5), "support": [1, 2, 3, 4, 5], "lifetime": [0, 1, 0, 0, 0]}
    verdict = _verdict.verdict(findings(scores, "lifetime"))
    assert (verdict.k, verdict.evidence) == (3, "moderate")
    assert "6 clusters have nearly the same or more support" in verdict.reasons[0]
