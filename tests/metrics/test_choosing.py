"""Choosing k: each curve beside its definition, the choice, its words and its errors."""

import json
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

import ensemblage as en
from ensemblage.metrics import KChoice, ari, choose_k, ensemble_nmi
from ensemblage.metrics.choosing import CRITERIA, _curves, _resampling, _verdict
from ensemblage.metrics.choosing._choice import format_ks
from ensemblage.metrics.choosing._default import default_ks
from ensemblage.testing.strategies import votes


def noisy(k=4, n=200, members=12, noise=0.1, seed=0):
    """Return votes of members that see k groups, some splitting each in two, with errors."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    columns = []
    for m in range(members):
        labels = 2 * truth + rng.integers(0, 2, n) if m % 3 == 0 else 2 * truth
        wrong = rng.random(n) < noise
        columns.append(np.where(wrong, rng.integers(0, 2 * k, n), labels))
    return np.column_stack(columns), truth


# -- curves beside their definitions ---------------------------------------------------------------


@given(votes(max_objects=12, gaps=False))
def test_a_lifetime_is_the_range_of_thresholds_that_leave_k_clusters(matrix):
    est = en.EAC(1).fit(matrix)
    n = est.n_microclusters_
    assume(n >= 2)
    heights = est.linkage_matrix_[:, 2]
    ks = np.arange(2, n + 1)
    # By definition: thresholds between two heights, and how many clusters each leaves.
    edges = np.unique(np.concatenate([[0.0], heights]))
    alive = dict.fromkeys(ks.tolist(), 0.0)
    for low, high in pairwise(edges):
        left = n - int((heights <= (low + high) / 2).sum())
        alive[left] = alive.get(left, 0.0) + high - low
    expected = [alive[k] for k in ks.tolist()]
    assert _curves.lifetimes(heights, ks) == pytest.approx(expected, abs=1e-12)


def test_a_gap_of_eigenvalues_by_hand():
    gaps = _curves.eigengaps(np.array([1.0, 0.7, 0.2, -1e-18]), np.array([2, 3, 4, 9]))
    assert gaps == pytest.approx([0.5, 0.2, 0.0, 0.0])


@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
@settings(max_examples=30)
@given(matrix=votes(max_objects=16), name=st.sampled_from(["eac", "pta", "usenc", "vote"]))
def test_agreement_and_confidence_are_those_of_the_objects(matrix, name):
    est = en.METHODS[name](1)
    if "random_state" in est.get_params():
        est.set_params(random_state=0)
    est.fit(matrix)
    assume(est.n_microclusters_ >= 2)
    choice = choose_k(est)
    for place, k in enumerate(choice.ks.tolist()):
        again = en.METHODS[name](
            k, **{w: v for w, v in est.get_params().items() if w != "n_clusters"}
        )
        if "random_state" in again.get_params():
            again.set_params(random_state=0)
        labels = again.fit_predict(matrix)
        expected = ensemble_nmi(labels, matrix, "geometric")
        assert choice.scores["ensemble_nmi"][place] == pytest.approx(expected, abs=1e-9)
        assert choice.scores["confidence"][place] == pytest.approx(
            again.confidence_.mean(), abs=1e-9
        )


@pytest.mark.parametrize("batch", [1, 1 << 27])
def test_few_cuts_at_a_time_or_all_at_once(monkeypatch, batch):
    matrix, _ = noisy()
    cuts = en.EAC(2).fit(matrix)._cuts()
    labels = [cuts.cut(k) for k in range(2, 9)]
    rng = np.random.default_rng(0)
    expected = _curves.agreement_and_confidence(cuts, labels, rng)
    monkeypatch.setattr(_curves, "_BATCH_BYTES", batch)
    found = _curves.agreement_and_confidence(cuts, labels, rng)
    assert np.array(found) == pytest.approx(np.array(expected), abs=1e-12)


def test_confidence_of_a_sample_is_close_to_that_of_all(monkeypatch):
    matrix, _ = noisy(n=2000)
    cuts = en.EAC(2).fit(matrix)._cuts()
    labels = [cuts.cut(k) for k in range(2, 9)]
    agreement, everybody = _curves.agreement_and_confidence(cuts, labels, np.random.default_rng(0))
    monkeypatch.setattr(_curves, "_MOST_ROWS", 300)
    same, some = _curves.agreement_and_confidence(cuts, labels, np.random.default_rng(0))
    assert same == pytest.approx(agreement, abs=1e-15)
    assert some == pytest.approx(everybody, abs=0.05)
    assert (some != everybody).all()


def test_a_flat_curve_adds_nothing_to_the_balance():
    flat, other = np.array([0.3, 0.3 + 1e-14, 0.3]), np.array([0.1, 0.5, 0.2])
    assert _curves.balance(flat, other) == pytest.approx([0.0, 1.0, 0.25])


# -- resampling ------------------------------------------------------------------------------------


@st.composite
def cuts_of_groups(draw):
    n, n_cuts = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    label = st.integers(-1, 3)
    cuts = [np.array(draw(st.lists(label, min_size=n, max_size=n))) for _ in range(n_cuts)]
    sizes = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    return cuts, sizes


def pairs_of_objects(cuts, sizes):
    """Return the consensus index of every pair of objects that some cut knows both of."""
    objects = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for a, b in combinations(objects.tolist(), 2):
        both = [cut for cut in cuts if cut[a] >= 0 and cut[b] >= 0]
        if both:
            found.append(sum(cut[a] == cut[b] for cut in both) / len(both))
    return np.array(found)


@given(cuts_of_groups())
def test_the_consensus_distribution_is_that_of_all_pairs_of_objects(drawn):
    cuts, sizes = drawn
    index = pairs_of_objects(cuts, sizes)
    found = _resampling.consensus_distribution(cuts, sizes, np.random.default_rng(0))
    if not len(index):
        assert found is None
        return
    expected = [(index <= value).mean() for value in _resampling.GRID]
    assert found.cdf == pytest.approx(expected, abs=1e-12)
    assert found.mean == pytest.approx(index.mean(), abs=1e-12)
    pac = ((index > 0.1) & (index <= 0.9)).mean()
    assert _resampling.ambiguous_share(found) == pytest.approx(pac, abs=1e-12)


@given(cuts_of_groups())
def test_stability_is_the_mean_ari_of_pairs_of_cuts(drawn):
    cuts, sizes = drawn
    objects = np.repeat(np.arange(len(sizes)), sizes)
    expected = [
        ari(a[objects], b[objects]) for a, b in combinations(cuts, 2) if ((a >= 0) & (b >= 0)).any()
    ]
    found = _resampling.stability(cuts, sizes)
    assert np.isnan(found) if not expected else found == pytest.approx(np.mean(expected))


def test_pairs_of_many_groups_are_sampled(monkeypatch):
    rng = np.random.default_rng(0)
    cuts = [rng.integers(0, 3, 400) for _ in range(6)]
    sizes = np.ones(400, dtype=np.int64)
    exact = _resampling.consensus_distribution(cuts, sizes, np.random.default_rng(0))
    monkeypatch.setattr(_resampling, "_MOST_GROUPS", 100)
    sampled = _resampling.consensus_distribution(cuts, sizes, np.random.default_rng(0))
    assert sampled.mean != exact.mean
    assert sampled.cdf == pytest.approx(exact.cdf, abs=0.05)


def test_halves_are_refits_of_the_method_on_these_members():
    matrix, _ = noisy(members=6)
    est = en.PTGP(2, random_state=3).fit(matrix)
    half = np.array([0, 2, 5])
    cut, largest = est._cuts().of_members(half)
    alone = en.PTGP(4, random_state=est._seed).fit(matrix[:, half])
    assert largest == alone.n_microclusters_
    assert ari(cut(4)[est.microclusters_.of_object], alone.labels_) == 1.0


def test_rows_that_a_half_knows_nothing_of_have_no_label():
    matrix = np.array([[0, 0, 1], [0, 1, 1], [1, -1, -1], [1, 2, 0]])
    cut, largest = en.EAC(1).fit(matrix)._cuts().of_members(np.array([1, 2]))
    assert cut(2).tolist() == [0, 0, -1, 1]
    assert largest == 3


def test_costly_criteria_repeat_and_depend_on_their_seed():
    matrix, _ = noisy(noise=0.4)
    est = en.EAC(2).fit(matrix)
    one, same = (choose_k(est, criteria="all", n_refits=4, random_state=1) for _ in range(2))
    other = choose_k(est, criteria="all", n_refits=4, random_state=2)
    assert one.to_dict() == same.to_dict()
    assert one.scores["pac"].tolist() != other.scores["pac"].tolist()
    assert one.cdf.shape == (len(one.ks), 101)
    assert (np.diff(one.cdf, axis=1) >= 0).all()
    assert one.cdf[:, -1] == pytest.approx(1.0)


def test_gain_in_area():
    assert _resampling.area_gains(np.array([0.0, 0.5, 0.6])) == pytest.approx([0.0, 0.0, 0.2])


# -- the choice ------------------------------------------------------------------------------------


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
