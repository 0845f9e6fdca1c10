"""Cases that tell a report from one with a small mistake (tools/hand_mutants.toml)."""

import base64
import json

import numpy as np
import pytest

import ensemblage as en
from ensemblage.metrics.agreement import ari_of_groups
from ensemblage.report import _cautions, _facts, _findings, _sample
from ensemblage.report._text import Names, in_script, visible


@pytest.fixture(scope="module")
def subject():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [50, 30, 10])
    votes = np.repeat(truth[:, None], 6, axis=1)
    wrong = rng.random(votes.shape) < 0.25
    votes[wrong] = rng.integers(0, 3, wrong.sum())
    votes[:, 5] = rng.integers(0, 3, 90)
    fitted = en.EAC(3).fit(votes)
    classes = np.where(np.arange(90) % 9 == 0, None, np.array(["a", "b"], dtype=object)[truth % 2])
    return _facts.Subject(fitted, fitted, None, [f"m{m}" for m in range(6)], classes, None)


def test_objects_are_shown_with_their_own_numbers(subject):
    fitted, shown = subject.fitted, np.array([80, 3, 41])
    facts = _facts.object_facts(subject, shown, Names())
    assert facts["row"] == [80, 3, 41]
    assert facts["cluster"] == fitted.labels_[shown].tolist()
    np.testing.assert_allclose(facts["confidence"], fitted.confidence_[shown], atol=1e-4)
    assert all(a != b for a, b in zip(facts["next"], facts["cluster"], strict=True))


def test_classes_are_columns_and_missing_ones_are_not_counted(subject):
    facts = _facts.truth_facts(subject, np.arange(90), Names())
    counts = np.zeros((3, 2), dtype=int)
    order = [facts["name"].index(name) for name in facts["name"]]
    for label, name in zip(subject.fitted.labels_, subject.truth, strict=True):
        if name is not None:
            counts[label, facts["name"].index(name)] += 1
    assert facts["counts"] == counts[:, [order[place] for place in facts["shown"]]].tolist()
    assert facts["missing"] == 10


def test_similarities_of_members_stand_as_their_names_do(subject):
    facts = _facts.member_facts(subject, Names())
    levels = np.frombuffer(base64.b64decode(facts["pairs"]), dtype=np.uint8).reshape(6, 6)
    votes = subject.fitted.microclusters_.table[subject.fitted.microclusters_.of_object]
    for a, m in enumerate(facts["shown"]):
        for b, other in enumerate(facts["shown"]):
            similarity = en.metrics.member_similarity(votes)[m, other]
            assert levels[a, b] == pytest.approx(255 * similarity, abs=1)
    assert facts["shown"] != list(range(6))


def test_small_clusters_are_drawn_and_the_least_sure_are_listed():
    labels = np.repeat([0, 1], [1000, 2])
    assert 1 in labels[_sample.representatives(labels, 10)]
    sure = np.array([0.9, 0.1, 0.5, 0.2, 0.8])
    assert _sample.least_sure(sure, 2).tolist() == [1, 3]


def test_no_name_ends_the_script_or_breaks_the_page():
    text = str(in_script({"a": "</script><b>&'\u2028"}))
    assert not set("<>&'\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><b>&'\u2028"}
    assert visible("a\ud800b\udfffc") == "a\\ud800b\\udfffc"


def test_a_method_is_compared_with_the_others_only(subject):
    fitted = subject.fitted
    others = {"one": fitted._micro_labels, "two": np.zeros_like(fitted._micro_labels)}
    means, between = _cautions._agreement_with(fitted, others)
    sizes = fitted.microclusters_.sizes
    chance = ari_of_groups(fitted._micro_labels, others["two"], sizes)
    np.testing.assert_allclose(means, [(1 + chance) / 2, (1 + chance) / 2, chance])
    assert between == pytest.approx(chance)


def test_what_is_nearly_equal_is_not_shown_as_equal():
    assert _findings._below(0.99999) == "0.999"
    assert _findings._below(1.0) == "1.000"


def test_an_object_at_the_limit_is_sure():
    class Fitted:
        n_clusters_ = 2
        confidence_ = np.array([0.5, 0.4, 0.6])

    assert _findings._confidence(Fitted(), {"weak": []}).startswith("2 of 3 objects")


@pytest.mark.parametrize(("more", "compared"), [(0, True), (1, False)])
def test_seeds_are_compared_up_to_20_000_microclusters(more, compared, monkeypatch):
    class Fitted:
        n_microclusters_ = 20_000 + more

    monkeypatch.setattr(en.metrics, "seed_spread", lambda _: "compared")
    assert (_facts.seed_facts(Fitted()) == "compared") == compared
