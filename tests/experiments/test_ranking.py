import pytest

import ensemblage as en
from ensemblage.experiments.evidence import Evidence
from ensemblage.experiments.protocol import VARIANTS, Plan
from ensemblage.experiments.tables.ranking import RANKING, RUNS


def record(method, score, *, members=10, draw=0, seed=0, dataset="MF"):
    what = {"kind": "scores", "pool": "authors", "dataset": dataset, "members": members}
    return {
        "what": {**what, "draw": draw, "method": method, "cuts": "true", "seed": seed},
        "scores": {"nmi_true": score, "ari_true": score},
        "cpu_seconds": 1.0,
    }


def grids(records):
    return {grid.name: grid for grid in RANKING.results(Evidence(records, {}, None)).grids}


def test_every_method_is_ranked():
    tasks = list(RANKING.tasks(Plan(datasets=("MF",), runs=1)))
    ranked = {VARIANTS[task["method"]].method for task in tasks}
    assert ranked == set(en.METHODS.values())


def test_draws_beyond_those_of_a_size_do_not_count():
    records = [
        record(method, draw, members=20, draw=draw)
        for method in ("PTGP", "LWEA")
        for draw in range(RUNS[20] + 5)
    ]
    grid = grids(records)["ranking-20"]
    assert grid.cell("LWEA", "draws").ours == RUNS[20]
    assert grid.cell("LWEA", "NMI true k").ours == pytest.approx((RUNS[20] - 1) / 2)


def test_only_methods_that_depend_on_a_seed_are_repeated():
    tasks = RANKING.tasks(Plan(datasets=("MF",), runs=1))
    seeds = {}
    for task in tasks:
        seeds.setdefault(task["method"], set()).add(task["seed"])
    assert seeds["Consensus"] == seeds["PTGP"] == set(range(5))
    assert seeds["LWEA"] == seeds["ECMC-AL"] == seeds["HGPA"] == {0}


def test_seed_spread_of_deterministic_methods_is_zero():
    records = [record("PTGP", 0.5), record("PTGP", 0.7, seed=1), record("LWEA", 0.6)]
    grid = grids(records)["ranking-10"]
    assert grid.cell("LWEA", "seed spread").ours == 0
    assert grid.cell("PTGP", "seed spread").ours == pytest.approx(0.02**0.5)


def test_means_are_over_all_datasets_or_not_shown():
    records = [record("PTGP", 0.5), record("PTGP", 0.1, dataset="IS"), record("LWEA", 0.4)]
    records += [record("LWEA", 0.3, dataset="IS"), record("NMF", 0.45)]
    grid = grids(records)["ranking-10"]
    assert grid.cell("LWEA", "NMI true k").ours == pytest.approx(0.35)
    assert grid.cell("NMF", "NMI true k").ours is None
    assert grid.cell("NMF", "NMI true k less PTGP").ours == pytest.approx(-0.05)
    assert grid.rows == ["LWEA", "PTGP", "NMF"]
