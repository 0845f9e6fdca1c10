import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ensemblage as en
from ensemblage import flow
from ensemblage.experiments import measures
from ensemblage.experiments.cuts import best_and_true, spanning_tree
from ensemblage.experiments.measures import links_by_weight, measure
from ensemblage.experiments.protocol import VARIANTS, Plan, cluster_numbers, score_tasks
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
    task = {"kind": "scores", **ENSEMBLE, "method": "PTA-CL", "cuts": "all", "seed": 0}
    record = measure(FOLDER, task)
    pool = en.datasets.load_pool("MF")
    columns = np.random.default_rng([20160501, 10, 1]).choice(60, 10, replace=False)
    est = en.PTA(3, linkage="complete", ties="later").fit(pool.members[:, columns])
    assert record["scores"]["nmi_true"] == pytest.approx(en.metrics.nmi(pool.truth, est.labels_))
    assert record["scores"]["ari_true"] == pytest.approx(en.metrics.ari(pool.truth, est.labels_))
    best = max(
        en.metrics.nmi(pool.truth, est.cut(k))
        for k in (*cluster_numbers(60), 3)
        if k <= est.n_microclusters_
    )
    assert record["scores"]["nmi_best"] == pytest.approx(best)
    assert record["parameters"] == {"linkage": "complete", "ties": "later"}
    assert record["seconds"] > 0
    assert record["versions"]["ensemblage"] == en.__version__


@pytest.mark.parametrize("name", [n for n in VARIANTS if n[-3:] in ("-CL", "-SL")])
def test_linkages_that_share_a_similarity_are_those_of_fits_of_their_own(name):
    """Each linkage after average link, whose similarity it takes, and alone."""
    method = name.rsplit("-", 1)[0]
    words = {"kind": "scores", **ENSEMBLE, "cuts": "all", "seed": 0}
    measure(FOLDER, {**words, "method": f"{method}-AL"})
    record = measure(FOLDER, {**words, "method": name})
    assert "reused" in record
    measure(FOLDER, {**words, "method": "GP-MGLA"})
    alone = measure(FOLDER, {**words, "method": name})
    assert "reused" not in alone
    assert record["scores"] == alone["scores"]


def _single_link(distance, k):
    """Return clusters of single link: a spanning tree from row 0, then its shortest links."""
    n = len(distance)
    reach, parent = distance[0].copy(), np.zeros(n, dtype=int)
    left, links = set(range(1, n)), []
    while left:
        new = min(left, key=lambda i: (reach[i], i))
        left.remove(new)
        links.append((reach[new], len(links), parent[new], new))
        for i in left:
            if distance[new, i] < reach[i]:
                reach[i], parent[i] = distance[new, i], new
    labels = np.arange(n)
    for _, _, a, b in sorted(links)[: n - k]:
        labels[labels == labels[b]] = labels[a]
    return labels


def test_single_link_follows_a_spanning_tree_from_the_first_row():
    pool = en.datasets.load_pool("MF")
    est = en.EAC(3).fit(pool.draw(10, 1))
    tree = spanning_tree(est)
    distance = np.round(1 - est.similarity_, 12)
    for k in range(1, est.n_microclusters_ + 1):
        assert en.metrics.ari(flow.cut_tree(tree, k), _single_link(distance, k)) == 1.0


def test_scores_of_cuts_are_those_of_their_labels():
    pool = en.datasets.load_pool("IS")
    est = en.EAC(4).fit(pool.draw(10, 2))
    numbers = tuple(range(1, 12))
    scores = best_and_true(est, est.linkage_matrix_, pool.truth, 4, numbers)
    nmi = {k: en.metrics.nmi(pool.truth, est.cut(k)) for k in numbers}
    assert scores["nmi_best"] == pytest.approx(max(nmi.values()))
    assert scores["nmi_true"] == pytest.approx(nmi[4])
    assert scores["k_best"] == max(nmi, key=nmi.get)
    by_cuts = best_and_true(est, None, pool.truth, 4, numbers)
    assert by_cuts == pytest.approx(scores)


@pytest.mark.parametrize(
    ("n_objects", "last"), [(2_000, (45, 50)), (5_620, (60, 70, 74)), (49_402, (210, 220, 222))]
)
def test_the_best_k_is_looked_for_up_to_the_root_of_n(n_objects, last):
    numbers = cluster_numbers(n_objects)
    assert numbers[-len(last) :] == last
    assert sorted(set(numbers)) == list(numbers)


def test_uncapped_parameters_follow_the_text():
    parameters = VARIANTS["PTGP uncapped"].parameters_for(11_000, 2_975)
    assert parameters == {"n_neighbors": 27, "n_steps": 27}
    assert VARIANTS["PTGP"].parameters_for(11_000, 2_975) == {}  # and so at most 20


def test_settings_reach_the_method():
    setting = {"n_neighbors": "all", "n_steps": 2}
    task = {"kind": "settings", **ENSEMBLE, "method": "PTGP", "cuts": "all", **setting}
    record = measure(FOLDER, task)
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
    assert measure(FOLDER, {**task, "objects": 40})["scores"]["microclusters"] < 40
    on_objects = measure(FOLDER, {**task, "objects": 40, "level": "objects"})
    assert on_objects["scores"]["microclusters"] == 40
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
    assert counts["CSPA"] == VARIANTS["CSPA"].draws < 100


def test_methods_of_the_paper_are_run_on_objects_while_that_is_possible():
    assert VARIANTS["CSPA"].parameters_for(2_000)["level"] == "objects"
    assert "level" not in VARIANTS["CSPA"].parameters_for(494_020)
    for variant in VARIANTS.values():
        variant.method(2, **variant.parameters_for(100))


def test_groups_that_no_vote_links_do_not_fill_the_screen_with_warnings(tmp_path):
    (tmp_path / "pools").mkdir()
    groups = np.repeat(np.arange(3), 4)
    members = np.tile(groups[:, None], (1, 10))
    np.savez(tmp_path / "pools" / "MF-own-10.npz", members=members, truth=groups // 2)
    task = {"kind": "scores", **ENSEMBLE, "pool": "own-10", "method": "EAC-AL"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        record = measure(tmp_path, {**task, "cuts": "all", "seed": 0})
    assert record["scores"]["k_best"] == 2


def test_scores_are_those_of_the_labels(tmp_path, monkeypatch):
    """A tree is not cut again where the method attaches small parts after its cut."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    matrix = np.where(rng.random((120, 8)) < 0.3, rng.integers(0, 6, (120, 8)), truth[:, None])
    matrix[[5, 45, 85], 1:] = [[7], [8], [9]]  # outliers
    ensemble = en.Ensemble(matrix)
    monkeypatch.setattr(measures, "drawn", lambda *_: (ensemble, truth))
    for method in ("Consensus", "LWEA"):
        words = {"pool": "authors", "dataset": "MF", "members": 8, "draw": 0, "seed": 0}
        task = {"kind": "scores", **words, "method": method, "cuts": "true"}
        found = measure(tmp_path, task)["scores"]["nmi_true"]
        kind = {"Consensus": en.Consensus(3, random_state=0), "LWEA": en.LWEA(3)}[method]
        assert found == pytest.approx(en.metrics.nmi(truth, kind.fit_predict(matrix)))
    plain = en.metrics.nmi(truth, en.LWEA(3, weights="normalized").fit_predict(matrix))
    assert plain != pytest.approx(
        en.metrics.nmi(truth, en.Consensus(3, random_state=0).fit_predict(matrix))
    )
