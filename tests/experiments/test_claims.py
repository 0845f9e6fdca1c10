"""Verdicts on the paper's claims follow from records alone."""

import pytest

from ensemblage.experiments.claims import findings
from ensemblage.experiments.evidence import FIFTY, Evidence
from ensemblage.experiments.paper import printed
from ensemblage.experiments.protocol import PAPER_METHODS, VARIANTS

SCORES = {"PTGP": 0.8, "PTA-AL": 0.79, "PTA-CL": 0.7, "PTA-SL": 0.6}


def record(method, dataset, draw, best, true, cuts=None):
    return {
        "what": {
            "kind": "scores",
            "pool": "authors",
            "dataset": dataset,
            "members": 10,
            "draw": draw,
            "method": method,
            "cuts": cuts or VARIANTS[method].cuts,
            "seed": 0,
        },
        "scores": {"nmi_best": best, "nmi_true": true},
    }


def records(**changed):
    """Return two draws of all methods on two datasets; `changed` are scores on IS."""
    return [
        record(method, dataset, draw, score + 0.01 * draw, score - 0.01 * draw)
        for dataset in ("MF", "IS")
        for method in PAPER_METHODS
        for score in [
            changed.get(method.replace("-", "_"), SCORES.get(method, 0.5))
            if dataset == "IS"
            else SCORES.get(method, 0.5)
        ]
        for draw in (0, 1)
    ]


def verdicts(found):
    return {
        finding.claim: finding.verdict for finding in findings(Evidence(found, printed(), None))
    }


def starting(found, words):
    [verdict] = [value for claim, value in verdicts(found).items() if claim.startswith(words)]
    return verdict


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [({}, "holds"), ({"HGPA": 0.9}, "holds in part")],
)
def test_a_claim_about_all_datasets_holds_only_if_it_is_true_on_all(changed, verdict):
    assert starting(records(**changed), "PTGP is better than the other five") == verdict


def test_a_claim_that_is_wrong_on_most_does_not_hold():
    found = [
        {**r, "scores": {"nmi_best": 0.9, "nmi_true": 0.9}}
        if r["what"]["method"] == "EAC-SL"
        else r
        for r in records()
    ]
    assert starting(found, "PTA with single link") == "does not hold"


def test_the_evidence_names_the_exceptions():
    [finding] = [
        f
        for f in findings(Evidence(records(HGPA=0.9), printed(), None))
        if f.claim.startswith("PTGP is better")
    ]
    assert "in 2 of 4 columns; not in IS best k (HGPA +0.100), IS true k" in finding.evidence


def test_no_records_no_claims():
    assert findings(Evidence([], printed(), None)) == []


def test_draws_that_were_scored_up_to_fifty_are_marked_and_replaced():
    """Of two records of a draw the one with all numbers of clusters counts."""
    old = [record("PTGP", "ODR", draw, 0.5, 0.4, FIFTY) for draw in range(3)]
    new = [record("PTGP", "ODR", 0, 0.8, 0.4)]
    words = {"method": "PTGP", "members": 10, "cuts": "all", "seed": 0}
    for found in (old + new, new + old):
        evidence = Evidence(found, {}, None)
        best = evidence.cell("nmi_best", "scores", "ODR", **words)
        assert best.ours == pytest.approx((0.8 + 0.5 + 0.5) / 3)
        assert (best.runs, best.mark) == (3, "†")
        assert best.remark == "best k up to 50 in 2 of 3 draws"
        true = evidence.cell("nmi_true", "scores", "ODR", **words)
        assert (true.runs, true.mark) == (3, "")


def test_scores_of_an_earlier_rule_are_left_out():
    stale = record("PTGP", "MF", 0, 0.9, 0.9)
    del stale["what"]["cuts"]
    assert Evidence([stale], {}, None).datasets("scores") == []


def test_the_papers_tables_and_figures_agree_with_each_other():
    """Its Figure 9 counts its Table 9; Figure 4 is the mean of Figure 10; Figure 1 is Table 1."""
    paper = printed()
    figures = paper["figures"]
    nine = [name for name in figures["10"] if name != "KDD99"]
    for method, line in figures["4"].items():
        for size, height in line.items():
            known = [figures["10"][name].get(method, {}).get(size) for name in nine]
            if None not in known:
                assert height == pytest.approx(sum(known) / 9, abs=1e-5)
    for weight, share in figures["1"].items():
        assert share == pytest.approx(
            paper["mnist_link_weights"][weight]["share_of_links"], abs=0.006
        )
    assert sum(figures["9"].values()) == 61
