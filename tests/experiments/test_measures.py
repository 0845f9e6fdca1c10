from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage.experiments.measures import links_by_weight, measure
from ensemblage.experiments.protocol import CLUSTER_NUMBERS, VARIANTS, Plan, score_tasks
from ensemblage.testing.strategies import votes

FOLDER = Path("unused")
ENSEMBLE = {"pool": "authors", "dataset": "MF", "members": 10, "draw": 1}


@pytest.fixture(autouse=True)
def world(small_world, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(small_world))
    return small_world


@given(votes(gaps=False), st.data())
def test_links_of_objects_counted_through_microclusters(matrix, data):
    n, m = matrix.shape
    truth = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    links, correct = np.zeros(m + 1, dtype=int), np.zeros(m + 1, dtype=int)
    for i in range(n):
        for j in range(i):
            agreements = int((matrix[i] == matrix[j]).sum())
            links[agreements] += 1
            correct[agreements] += truth[i] == truth[j]
    found = links_by_weight(en.Ensemble(matrix), truth)
    np.testing.assert_array_equal(found[0], links)
    np.testing.assert_array_equal(found[1], correct)


def test_scores_are_those_of_the_method_on_the_same_columns(world):
    record = measure(FOLDER, {"kind": "scores", **ENSEMBLE, "method": "PTA-CL", "seed": 0})
    pool = en.datasets.load_pool("MF")
    columns = np.random.default_rng([20160501, 10, 1]).choice(60, 10, replace=False)
    est = en.PTA(3, linkage="complete", ties="later").fit(pool.members[:, columns])
    assert record["scores"]["nmi_true"] == pytest.approx(en.metrics.nmi(pool.truth, est.labels_))
    assert record["scores"]["ari_true"] == pytest.approx(en.metrics.ari(pool.truth, est.labels_))
    best = max(
        en.metrics.nmi(pool.truth, est.cut(k))
        for k in (*CLUSTER_NUMBERS, 3)
        if k <= est.n_microclusters_
    )
    assert record["scores"]["nmi_best"] == pytest.approx(best)
    assert record["parameters"] == {"linkage": "complete", "ties": "later"}
    assert record["seconds"] > 0
    assert record["versions"]["ensemblage"] == en.__version__


def test_settings_reach_the_method():
    setting = {"n_neighbors": "all", "n_steps": 2}
    record = measure(FOLDER, {"kind": "settings", **ENSEMBLE, "method": "PTGP", **setting})
    pool = en.datasets.load_pool("MF")
    est = en.PTGP(3, random_state=0, **setting).fit(pool.draw(10, 1))
    assert record["scores"]["nmi_true"] == pytest.approx(en.metrics.nmi(pool.truth, est.labels_))


def test_graph_counts_links_by_definition():
    scores = measure(FOLDER, {"kind": "graph", **ENSEMBLE})["scores"]
    table = en.microclusters(en.datasets.load_pool("MF").draw(10, 1)).table
    similarity = (table[:, None] == table[None]).mean(axis=2)
    np.fill_diagonal(similarity, 0)
    assert scores["microclusters"] == len(table)
    assert scores["links"]["all"] == (np.triu(similarity) > 0).sum()
    thresholds = np.sort(similarity, axis=1)[:, -4]
    kept = (similarity >= np.minimum.outer(thresholds, thresholds)) & (similarity > 0)
    assert scores["links"]["4"] == np.triu(kept).sum()


def test_base_clusterings_are_scored_one_by_one():
    scores = measure(FOLDER, {"kind": "base", **ENSEMBLE})["scores"]
    pool = en.datasets.load_pool("MF")
    nmi = [en.metrics.nmi(pool.truth, column) for column in pool.draw(10, 1).T]
    assert scores["nmi_mean"] == pytest.approx(np.mean(nmi))
    assert scores["nmi_std"] == pytest.approx(np.std(nmi, ddof=1))


def test_time_is_taken_on_a_subset_and_refused_past_the_data():
    task = {"kind": "seconds", **ENSEMBLE, "method": "EAC-AL"}
    assert measure(FOLDER, {**task, "objects": 40})["scores"]["microclusters"] <= 40
    assert "60 objects" in measure(FOLDER, {**task, "objects": 61})["skipped"]


def test_the_plan_takes_authors_pools_where_they_are_at_hand():
    plan = Plan(datasets=("MF", "PD"), runs=2, at_hand=frozenset({"MF"}))
    assert [(e["dataset"], e["pool"], e["draw"]) for e in plan.ensembles(100)] == [
        ("MF", "authors", 0),
        ("PD", "own-200", 0),
        ("MF", "authors", 1),
        ("PD", "own-200", 1),
    ]
    assert Plan(pools="authors", at_hand=frozenset({"MF"})).chosen == ("MF",)
    assert Plan(pools="own", quick=True, at_hand=frozenset({"MF"})).pool_of("MF") == "own-20"


def test_slow_methods_get_fewer_draws():
    plan = Plan(datasets=("MF",), at_hand=frozenset({"MF"}))
    counts = dict.fromkeys(VARIANTS, 0)
    for task in score_tasks(plan, list(VARIANTS), 100):
        counts[task["method"]] += 1
    assert counts["PTGP"] == 100
    assert counts["CSPA"] == VARIANTS["CSPA"].most_draws < 100


def test_methods_of_the_paper_are_run_on_objects_while_that_is_possible():
    assert VARIANTS["CSPA"].parameters_for(2_000)["level"] == "objects"
    assert "level" not in VARIANTS["CSPA"].parameters_for(494_020)
    for variant in VARIANTS.values():
        variant.method(2, **variant.parameters_for(100))
